//! `doubleClick`: press a mouse button on an element twice (contract 5.1, 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Button, Capability, Effect, Facts, Lane, Locator, Modifier, Needs, Operation, Point, seconds};
use crate::result::Acted;

/// Double-click an element
///
/// As click, twice in a row. When the second press would reach something else, it is stopped and that is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DoubleClick {
    /// The element
    #[schemars(with = "String")]
    pub target: Locator,
    /// The mouse button
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub button: Button,
    /// Keys held down meanwhile
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEYS")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
    /// Where in the element, in CSS pixels from its top left; the middle of what can be reached otherwise
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Point>,
}

impl Operation for DoubleClick {
    const FACTS: Facts = Facts {
        name: "doubleClick",
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
