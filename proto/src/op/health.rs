//! `health`: how the session stands, without a look at its pages (contract 7.7).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Health as Told;

/// Tell how the session stands: browser, pages that do not answer, running operations, bounds in use
///
/// Answers at once, also while a page spins or a dialog is open. No script runs for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Health {}

impl Operation for Health {
    const FACTS: Facts = Facts {
        name: "health",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Control,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = Told;
}
