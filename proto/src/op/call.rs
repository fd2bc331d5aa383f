//! What every operation takes beside its own parameters (contract 2.3, 2.7, 3.6, 7.1).

use std::num::NonZeroU64;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Facts, Locator};
use crate::id::TargetId;

/// Longest deadline, in milliseconds (contract 2.7).
pub const MAX_TIMEOUT_MS: u64 = 300_000;

// No doc comment here: clap would take it as the text about every subcommand that flattens this struct.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct CallOptions {
    /// Deadline of the whole operation in milliseconds, queueing included (1 to 300000)
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=300_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 300_000))]
    pub timeout_ms: Option<u64>,
    /// Act on this target (see list-targets) instead of the selected one
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target_id: Option<TargetId>,
    /// Look for the element only within the one that this names
    #[arg(long, value_name = "LOCATOR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub scope: Option<Locator>,
    /// Refuse, with nothing sent, unless the target is at this revision
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u64>")]
    pub expected_revision: Option<NonZeroU64>,
    /// How much of the page --expected-revision guards
    #[arg(long, value_enum, value_name = "SCOPE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard_scope: Option<GuardScope>,
    /// Refused until receipts exist; never ignored
    #[arg(long, value_name = "KEY", hide = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// How much of the page `expectedRevision` guards (contract 3.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum GuardScope {
    /// The target's own frame and the frames it lies in
    #[default]
    Frame,
    /// The target's nearest dialog, form, row or landmark
    Region,
    /// All frames
    Page,
}

/// Options that do not fit their bounds.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidOptions {
    /// `timeoutMs` out of range.
    #[error("timeoutMs is 1 to {MAX_TIMEOUT_MS}")]
    Timeout,
    /// `guardScope` without `expectedRevision`.
    #[error("guardScope says how much expectedRevision guards, and there is no expectedRevision")]
    ScopeAlone,
    /// `expectedRevision` for an operation that it does not guard.
    #[error("this operation takes no expectedRevision")]
    Unguarded,
    /// `scope` for an operation that looks for no element.
    #[error("this operation looks for no element, so it takes no scope")]
    Unscoped,
    /// `targetId` for an operation that is about all targets.
    #[error("this operation takes no targetId")]
    Untargeted,
}

impl CallOptions {
    /// Checks what the types cannot.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        if self.timeout_ms.is_some_and(|ms| !(1..=MAX_TIMEOUT_MS).contains(&ms)) {
            return Err(InvalidOptions::Timeout);
        }
        if self.guard_scope.is_some() && self.expected_revision.is_none() {
            return Err(InvalidOptions::ScopeAlone);
        }
        Ok(())
    }

    /// Checks that the operation takes what is given: nothing is ignored in silence.
    ///
    /// # Errors
    /// `expectedRevision` where it guards nothing, `targetId` where all targets are meant.
    pub fn check_for(&self, facts: &Facts) -> Result<(), InvalidOptions> {
        if self.expected_revision.is_some() && !facts.guarded {
            return Err(InvalidOptions::Unguarded);
        }
        if self.target_id.is_some() && !facts.targeted {
            return Err(InvalidOptions::Untargeted);
        }
        Ok(())
    }

    /// The deadline of this call, `default` when it names none.
    pub fn timeout(&self, default: Duration) -> Duration {
        self.timeout_ms.map_or(default, Duration::from_millis)
    }
}
