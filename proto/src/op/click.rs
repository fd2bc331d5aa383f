//! `click`: press a mouse button on an element (contract 5.1, 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, Point, seconds};
use crate::result::Acted;

/// Click an element
///
/// Waits until the element is visible, enabled, still, in view and not covered; then sends trusted input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Click {
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

/// A mouse button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Button {
    /// The main button
    #[default]
    Left,
    /// The context menu button
    Right,
    /// The wheel
    Middle,
}

/// A modifier key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "PascalCase")]
#[value(rename_all = "PascalCase")]
pub enum Modifier {
    /// Alt or Option
    Alt,
    /// Control
    Control,
    /// Command or the Windows key
    Meta,
    /// Shift
    Shift,
    /// Control, and Meta on macOS
    ControlOrMeta,
}

impl Operation for Click {
    const FACTS: Facts = Facts {
        name: "click",
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

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::position(self.position)
    }

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }
}
