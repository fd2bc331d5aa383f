//! `keyUp`: let go of a key (contract 5.3, 5.7).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Chord, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Acted;

/// Let go of a key that key-down pressed
///
/// Refused for a key that is not down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KeyUp {
    /// The key: a character, or a name of the web's KeyboardEvent.key such as Shift or ArrowDown
    #[arg(value_name = "KEY")]
    #[schemars(with = "String")]
    pub key: Chord,
}

impl Operation for KeyUp {
    const FACTS: Facts = Facts {
        name: "keyUp",
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
        if self.key.modifiers.is_empty() {
            return Ok(());
        }
        Err(super::InvalidParams(
            "key is one key without modifiers; key and shortcut press chords".to_owned(),
        ))
    }
}
