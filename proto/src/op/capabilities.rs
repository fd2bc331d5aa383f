//! `capabilities`: what kind of document a target shows, and what can be done with it (contract 7.7).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Capabilities as Told;

/// Tell what kind of document a target shows, and which operations and exports work there
///
/// Answers from what is known, without a look at the page. `null` means that nobody has tried it on that kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Capabilities {}

impl Operation for Capabilities {
    const FACTS: Facts = Facts {
        name: "capabilities",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Control,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Told;
}
