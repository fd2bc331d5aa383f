//! `hover`: move the pointer over an element (contract 5.1, 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Modifier, Needs, Operation, Point, seconds};
use crate::result::Acted;

/// Move the pointer over an element
///
/// Waits until the pointer can reach it, as click does, and presses nothing. The pointer stays there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Hover {
    /// The element
    #[schemars(with = "String")]
    pub target: Locator,
    /// Keys held down meanwhile
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEYS")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
    /// Where in the element, in CSS pixels from its top left; the middle of what can be reached otherwise
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Point>,
}

impl Operation for Hover {
    const FACTS: Facts = Facts {
        name: "hover",
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

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::position(self.position)
    }
}
