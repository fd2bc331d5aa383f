//! `createTarget`, `selectTarget` and `closeTarget` (contract 7.1).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, WaitUntil, seconds};
use crate::id::TargetId;
use crate::result::{TargetClosed, TargetMade, TargetSelected};

/// Open a new page beside the others
///
/// It is not selected: use select-target, or name it with --target-id. A page that cannot be loaded leaves no target
/// behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CreateTarget {
    /// Where to go, by the rules of navigate; about:blank when absent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// When the page counts as loaded
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub wait_until: WaitUntil,
    /// Take an HTTP status of 400 and above as navigation_failed
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_http: bool,
}

/// Choose the page that later commands go to
///
/// One-shot commands of glassctl share one selection a session; a shell, an MCP process and an HTTP token have each
/// their own. The selection of a frame ends with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SelectTarget {
    /// The page, as list-targets names it
    #[schemars(with = "String")]
    pub id: TargetId,
}

/// Close a page
///
/// Answers also while the page spins or shows a dialog; what it asks before it is left is not shown. When it was the
/// selected one, none is selected afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CloseTarget {
    /// The page, as list-targets names it
    #[schemars(with = "String")]
    pub id: TargetId,
}

impl Operation for CreateTarget {
    const FACTS: Facts = Facts {
        name: "createTarget",
        capability: Capability::Navigate,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::StartsSession,
        timeout: seconds(20),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = TargetMade;
}

impl Operation for SelectTarget {
    const FACTS: Facts = Facts {
        name: "selectTarget",
        capability: Capability::Read,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = TargetSelected;
}

impl Operation for CloseTarget {
    const FACTS: Facts = Facts {
        name: "closeTarget",
        capability: Capability::Navigate,
        effect: Effect::Mutation,
        lane: Lane::Control,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = TargetClosed;
}
