//! `inspect`: everything that is known of one element (contract 3.8).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Inspected;

/// Show everything that is known of one element
///
/// Attributes, states, box, visibility, value, what it owns or controls. Hidden elements count. Runs no script of the
/// page, and never shows what passwords and one-time codes hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Inspect {
    /// The element
    #[schemars(with = "String")]
    pub target: Locator,
}

impl Inspect {
    /// Characters of an answer at most (contract 3.8).
    pub const MAX_CHARS: usize = 10_000;
}

impl Operation for Inspect {
    const FACTS: Facts = Facts {
        name: "inspect",
        capability: Capability::ReadFormValues,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = Inspected;

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }
}
