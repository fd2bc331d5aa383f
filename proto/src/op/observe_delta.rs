//! `observeDelta`: what of the outline changed since a revision (contract 3.8).

use std::num::NonZeroU64;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Observe, Operation, seconds};
use crate::result::Delta;

/// Show what changed in the outline since a revision
///
/// Rows that came, went and changed. The last 8 revisions of a page are kept; older ones are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ObserveDelta {
    /// The revision that was seen, such as 7
    #[arg(value_name = "REVISION")]
    #[schemars(with = "u64")]
    pub since_revision: NonZeroU64,
    /// Longest answer in bytes (1024 to 204800)
    #[arg(long, value_name = "BYTES", default_value_t = Observe::default_max_bytes(), value_parser = clap::value_parser!(u32).range(1024..=204_800))]
    #[serde(default = "Observe::default_max_bytes")]
    #[schemars(range(min = 1024, max = 204_800))]
    pub max_bytes: u32,
}

impl Operation for ObserveDelta {
    const FACTS: Facts = Facts {
        name: "observeDelta",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = Delta;

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::in_range("maxBytes", self.max_bytes, 1024..=204_800)
    }
}
