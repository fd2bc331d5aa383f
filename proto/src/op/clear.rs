//! `clear`: empty a field (contract 5.3, 5.6).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Acted;

/// Empty a field
///
/// The field is read back: one that does not stay empty is an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Clear {
    /// The field
    #[schemars(with = "String")]
    pub target: Locator,
}

impl Operation for Clear {
    const FACTS: Facts = Facts {
        name: "clear",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: true,
        targeted: true,
        framed: true,
    };
    type Output = Acted;

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }
}
