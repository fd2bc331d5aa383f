//! `submit`: submit a form (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Acted;

/// Submit a form
///
/// Presses its submit button, or Enter in its first field where it has none. That the page saw a submit event is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Submit {
    /// The form, or anything in it
    #[schemars(with = "String")]
    pub target: Locator,
}

impl Operation for Submit {
    const FACTS: Facts = Facts {
        name: "submit",
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
