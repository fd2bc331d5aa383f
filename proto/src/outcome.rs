//! The four outcomes of an operation (contract 2.1), and how far it came.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an operation ended (contract 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Refused before anything was sent to the browser. Nothing happened.
    Rejected,
    /// Dispatched, acknowledged, and checked as far as the result says. No proof that the site did what was wanted.
    Completed,
    /// Dispatched, and known not to have had its effect.
    Failed,
    /// Dispatched, and nobody can say. Never sent again by Glass.
    Unknown,
}

impl Outcome {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    /// The outcome of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Rejected, Self::Completed, Self::Failed, Self::Unknown].into_iter().find(|o| o.name() == name)
    }
}

/// Whether anything that can have an effect was sent to the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dispatched {
    /// Proved not.
    No,
    /// It was.
    Yes,
    /// Nobody can say.
    Unknown,
}

impl Dispatched {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Yes => "yes",
            Self::Unknown => "unknown",
        }
    }
}

/// How far an operation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Waiting for its turn, or admitted, and nothing was sent.
    BeforeDispatch,
    /// Something that can have an effect was sent, or may have been.
    Dispatched,
}

/// What a cancel, a deadline or a crash makes of an operation (the one table, contract 2.1 and 2.8).
///
/// `can_have_effect` is false for operations that only read.
pub fn interrupted(progress: Progress, can_have_effect: bool) -> (Outcome, Dispatched) {
    match (progress, can_have_effect) {
        (Progress::BeforeDispatch, _) | (Progress::Dispatched, false) => (Outcome::Rejected, Dispatched::No),
        (Progress::Dispatched, true) => (Outcome::Unknown, Dispatched::Yes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sent_and_can_have_an_effect_is_unknown() {
        assert_eq!(interrupted(Progress::BeforeDispatch, true), (Outcome::Rejected, Dispatched::No));
        assert_eq!(interrupted(Progress::Dispatched, true), (Outcome::Unknown, Dispatched::Yes));
        assert_eq!(interrupted(Progress::Dispatched, false), (Outcome::Rejected, Dispatched::No));
    }
}
