//! `back`, `forward` and `reload` (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, WaitUntil, seconds};
use crate::result::Navigated;

/// Go back one page in the history
///
/// A page that was the answer to a form is shown again as far as the browser has kept it; the form is not sent again
/// unless --resubmit is given. At the start of the history nothing is sent and target_not_found says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Back {
    /// When the page counts as loaded
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub wait_until: WaitUntil,
    /// Send a form again where the page cannot be had without
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resubmit: bool,
    /// Take an HTTP status of 400 and above as navigation_failed
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_http: bool,
}

/// Go forward one page in the history
///
/// As back, the other way. At the end of the history nothing is sent and target_not_found says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Forward {
    /// When the page counts as loaded
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub wait_until: WaitUntil,
    /// Send a form again where the page cannot be had without
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resubmit: bool,
    /// Take an HTTP status of 400 and above as navigation_failed
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_http: bool,
}

/// Load the page again
///
/// A page that is the answer to a sent form (POST) is refused unless --resubmit is given, since loading it again
/// sends the form again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Reload {
    /// When the page counts as loaded
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub wait_until: WaitUntil,
    /// Ask the server for everything, also for what the browser's cache has
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignore_cache: bool,
    /// Send the form again that this page is the answer to
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resubmit: bool,
    /// Take an HTTP status of 400 and above as navigation_failed
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_http: bool,
}

const fn facts(name: &'static str) -> Facts {
    Facts {
        name,
        capability: Capability::Navigate,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(20),
        guarded: true,
        targeted: true,
        framed: false,
    }
}

impl Operation for Back {
    const FACTS: Facts = facts("back");
    type Output = Navigated;
}

impl Operation for Forward {
    const FACTS: Facts = facts("forward");
    type Output = Navigated;
}

impl Operation for Reload {
    const FACTS: Facts = facts("reload");
    type Output = Navigated;
}
