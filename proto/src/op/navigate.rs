//! `navigate`: load a page (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Navigated;

/// Load a page
///
/// A URL without a scheme gets https://, and http:// for localhost and IP addresses. HTTP errors (404, 500) are
/// completed navigations with their status; a page that cannot be reached is navigation_failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Navigate {
    /// Where to go
    pub url: String,
    /// When the page counts as loaded
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub wait_until: WaitUntil,
    /// Take an HTTP status of 400 and above as navigation_failed
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_http: bool,
}

/// When a navigation ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum WaitUntil {
    /// The DOM is ready, then at most 2 s more for load
    #[default]
    Auto,
    /// The new document has begun
    Commit,
    /// The DOM is ready
    #[value(name = "domcontentloaded")]
    DomContentLoaded,
    /// Everything that the document asked for has come
    Load,
    /// No request for half a second
    #[value(name = "networkidle")]
    NetworkIdle,
}

impl Operation for Navigate {
    const FACTS: Facts = Facts {
        name: "navigate",
        capability: Capability::Navigate,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::StartsSession,
        timeout: seconds(20),
        guarded: true,
        targeted: true,
        framed: false,
    };
    type Output = Navigated;
}
