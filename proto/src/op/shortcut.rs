//! `shortcut`: press a chord with a modifier (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Chord, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Acted;

/// Press a shortcut
///
/// One chord with a modifier, such as Control+a or ControlOrMeta+Shift+p; everything is released again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Shortcut {
    /// The chord
    #[arg(value_name = "CHORD")]
    #[schemars(with = "String")]
    pub shortcut: Chord,
}

impl Operation for Shortcut {
    const FACTS: Facts = Facts {
        name: "shortcut",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: true,
        targeted: true,
        framed: false,
    };
    const NAVIGATES: bool = true;
    type Output = Acted;

    fn check(&self) -> Result<(), super::InvalidParams> {
        if self.shortcut.modifiers.is_empty() {
            return Err(super::InvalidParams(
                "a shortcut has a modifier; key presses single keys".to_owned(),
            ));
        }
        Ok(())
    }
}
