//! `tap`: touch an element (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, Point, seconds};
use crate::result::Acted;

/// Tap an element as with a finger
///
/// Waits as click does; the page gets touch events and the click that follows them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Tap {
    /// The element
    #[schemars(with = "String")]
    pub target: Locator,
    /// Where in the element, in CSS pixels from its top left; the middle of what can be reached otherwise
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Point>,
}

impl Operation for Tap {
    const FACTS: Facts = Facts {
        name: "tap",
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
    type Output = Acted;

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::position(self.position)
    }
}
