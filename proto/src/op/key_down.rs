//! `keyDown`: press a key and keep it down (contract 5.3, 5.7).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Chord, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Acted;

/// Press a key and keep it down
///
/// It stays down for the operations that follow, until key-up, and is sent again as a repeat when it is down already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KeyDown {
    /// The key: a character, or a name of the web's KeyboardEvent.key such as Shift or ArrowDown
    #[arg(value_name = "KEY")]
    #[schemars(with = "String")]
    pub key: Chord,
}

impl Operation for KeyDown {
    const FACTS: Facts = Facts {
        name: "keyDown",
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
