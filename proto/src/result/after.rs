//! What call options add to the answer of a mutation (contract 2.5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Observation;

/// What `observe` adds.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct After {
    /// The page after the mutation, when asked for: all of it, or what is new or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    /// What `expect` named holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// Why it was not observed, though it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unobserved: Option<Unobserved>,
}

/// What was expected holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Expected {
    /// How long it took to, in milliseconds.
    pub waited_ms: u64,
    /// The page's revision then, where it could be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

/// Why a page was not observed after a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unobserved {
    /// It is closed.
    PageClosed,
    /// Its renderer crashed.
    PageCrashed,
    /// It did not answer before the deadline.
    Timeout,
    /// The call was cancelled meanwhile.
    Cancelled,
    /// It could not be read.
    Unreadable,
}

impl Unobserved {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::PageClosed => "the page is closed",
            Self::PageCrashed => "the page crashed",
            Self::Timeout => "the page did not answer in time",
            Self::Cancelled => "the call was cancelled",
            Self::Unreadable => "the page could not be read",
        }
    }
}
