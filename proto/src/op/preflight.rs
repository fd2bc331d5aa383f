//! `preflight`: whether an action would find its element ready, without acting (contract 4.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Preflighted;

/// Say whether an element could be acted on now, without acting
///
/// Looks once: nothing is scrolled and no input is sent. An element that is out of view is told as such; the action
/// itself would scroll it into view first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Preflight {
    /// The element
    #[schemars(with = "String")]
    pub target: Locator,
    /// What shall be done with it
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub action: Action,
}

/// What an element must be ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// A press
    #[default]
    Click,
    /// Two presses
    DoubleClick,
    /// The pointer over it; it may be disabled
    Hover,
    /// Text in place of what it holds
    Fill,
    /// Text at its caret
    Type,
    /// Ticking it
    Check,
    /// Unticking it
    Uncheck,
}

impl Operation for Preflight {
    const FACTS: Facts = Facts {
        name: "preflight",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = Preflighted;

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }
}
