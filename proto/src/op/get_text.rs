//! `getText`: the visible text of the page or of one element (contract 3.8).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::TextRead;

/// Print the visible text
///
/// At most 64 KiB; what is left out is said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GetText {
    /// Only the text of this element
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target: Option<Locator>,
}

impl GetText {
    /// Longest text, in bytes.
    pub const MAX_BYTES: usize = 64 * 1024;
}

impl Operation for GetText {
    const FACTS: Facts = Facts {
        name: "getText",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = TextRead;

    fn locators(&self) -> Vec<&Locator> {
        self.target.iter().collect()
    }

    fn takes_scope(&self) -> bool {
        true
    }
}
