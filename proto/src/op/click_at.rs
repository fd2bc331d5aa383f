//! `clickAt`: press a mouse button at a point (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Button, Capability, Effect, Facts, Lane, Modifier, Needs, Operation, Point, seconds};
use crate::result::Acted;

/// Click at a point
///
/// For what has no element of its own, such as a picture or a canvas. The answer says what received it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ClickAt {
    /// To the right, in CSS pixels of the viewport; with screenshotId in pixels of that picture
    #[arg(allow_hyphen_values = true)]
    pub x: f64,
    /// Down
    #[arg(allow_hyphen_values = true)]
    pub y: f64,
    /// The mouse button
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub button: Button,
    /// 1 for a click, 2 for a double click
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2))]
    pub count: Option<u8>,
    /// The picture that the point is read off, by its screenshotId; refused once the page navigated, scrolled or changed
    /// its size, and after 60 s
    #[arg(long, value_name = "ID")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot_id: Option<String>,
    /// Keys held down meanwhile
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEYS")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
}

impl Operation for ClickAt {
    const FACTS: Facts = Facts {
        name: "clickAt",
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
        super::in_range("count", u32::from(self.count.unwrap_or(1)), 1..=2)?;
        if let Some(id) = &self.screenshot_id {
            super::at_least_one("screenshotId", id.len())?;
            super::at_most("screenshotId", id.len(), 64)?;
        }
        super::position(Some(Point { x: self.x, y: self.y }))
    }
}
