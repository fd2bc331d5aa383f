//! `uncheck`: untick a check box or switch (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Acted;

/// Untick a check box or switch
///
/// Presses at most once, and not at all when it is unchecked already. The state is read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Uncheck {
    /// The control; a hidden native one is pressed by its label
    #[schemars(with = "String")]
    pub target: Locator,
}

impl Operation for Uncheck {
    const FACTS: Facts = Facts {
        name: "uncheck",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: true,
        targeted: true,
        framed: true,
    };
    const NAVIGATES: bool = true;
    const POINTS: bool = true;
    type Output = Acted;

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }
}
