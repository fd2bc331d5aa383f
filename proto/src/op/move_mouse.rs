//! `moveMouse`: move the pointer (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Modifier, Needs, Operation, Point, seconds};
use crate::result::Acted;

/// Move the pointer to a point
///
/// It stays there. The answer says what is under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MoveMouse {
    /// To the right, in CSS pixels of the viewport
    #[arg(allow_hyphen_values = true)]
    pub x: f64,
    /// Down
    #[arg(allow_hyphen_values = true)]
    pub y: f64,
    /// Keys held down meanwhile
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEYS")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
}

impl Operation for MoveMouse {
    const FACTS: Facts = Facts {
        name: "moveMouse",
        capability: Capability::CoordinateInput,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: true,
        targeted: true,
        framed: false,
    };
    const NAVIGATES: bool = true;
    const POINTS: bool = true;
    type Output = Acted;

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::position(Some(Point { x: self.x, y: self.y }))
    }
}
