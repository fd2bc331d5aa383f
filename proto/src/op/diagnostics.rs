//! `diagnostics`: what the page wrote to its console, its errors, and its requests (contract 7.5).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, in_range, seconds};
use crate::result::{DiagnosticKind, DiagnosticLevel, Diagnostics as Told};

/// Tell console messages, page errors and requests, kept from the target's start
///
/// The newest 500 of a target are kept; what made room is counted. With --after the oldest come first, so that the
/// answer's `next` reads on; without it the newest are told. URLs have neither credentials nor query values, wherever
/// they stand; headers and bodies are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Diagnostics {
    /// Only these: console, error, request
    #[arg(long = "kind", value_name = "KIND", value_enum)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<DiagnosticKind>,
    /// Only what came after this cursor, the `next` of an earlier answer
    #[arg(long, value_name = "CURSOR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only what came at or after this time, in milliseconds since 1970
    #[arg(long, value_name = "MS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Only this level and worse
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<DiagnosticLevel>,
    /// Only page errors, requests that failed, and those answered with a status of 400 or more
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed_only: bool,
    /// At most so many, 1 to 500; 100 without it
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u16>,
    /// Wait at most this time for the first one that fits, in milliseconds, up to 30000
    #[arg(long, value_name = "MS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 30_000))]
    pub duration_ms: Option<u32>,
    /// Whether console messages show what was written, in short; without it they do, as far as policy lets them
    #[arg(long, value_name = "BOOL", num_args = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<bool>,
}

impl Diagnostics {
    /// Entries when no limit is given.
    pub const LIMIT: u16 = 100;
    /// The most entries, and how many of a target are kept.
    pub const MAX_LIMIT: u16 = 500;
    /// The longest wait, in milliseconds.
    pub const MAX_DURATION_MS: u32 = 30_000;

    /// Whether the call may show console values: what needs [`Capability::ConsoleValues`]. Where policy denies that
    /// and the call does not ask for them by name, they are left out by setting `values` to false.
    pub fn shows_values(&self) -> bool {
        self.values != Some(false)
    }
}

impl Operation for Diagnostics {
    const FACTS: Facts = Facts {
        name: "diagnostics",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Watch,
        needs: Needs::OpenPage,
        timeout: seconds(35),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Told;

    fn also_needs(&self) -> Vec<Capability> {
        if self.values == Some(true) { vec![Capability::ConsoleValues] } else { Vec::new() }
    }

    fn check(&self) -> Result<(), InvalidParams> {
        if let Some(limit) = self.limit {
            in_range("limit", limit.into(), 1..=Self::MAX_LIMIT.into())?;
        }
        in_range("durationMs", self.duration_ms.unwrap_or(0), 0..=Self::MAX_DURATION_MS)
    }
}
