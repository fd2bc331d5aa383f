//! `listTargets`: the pages of a session (contract 7.1).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Targets;

/// List the pages of the session
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ListTargets {}

impl Operation for ListTargets {
    const FACTS: Facts = Facts {
        name: "listTargets",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Watch,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = Targets;
}
