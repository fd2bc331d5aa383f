//! `key`: press keys (contract 5.3, 5.7).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Chord, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Acted;

/// Press keys, one chord after the other
///
/// Names are those of the web's KeyboardEvent.key, such as Enter, Tab, ArrowDown or a; with modifiers: Control+a.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Key {
    /// Chords, such as Enter or Control+a
    #[arg(required = true, value_name = "CHORD")]
    #[schemars(with = "Vec<String>")]
    pub keys: Vec<Chord>,
}

impl Key {
    /// Most chords in one call.
    pub const MAX_CHORDS: usize = 100;
}

impl Operation for Key {
    const FACTS: Facts = Facts {
        name: "key",
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
        super::at_least_one("keys", self.keys.len())?;
        super::at_most("keys", self.keys.len(), Self::MAX_CHORDS)
    }
}
