//! `observe`: what the page shows, as a bounded outline with refs (contract 3.1).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Observation;

/// Show the page as an outline with refs
///
/// Reads only: nothing on the page changes. What is left out is counted, never silently cut. With --scope only what
/// lies within that element.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Observe {
    /// Longest answer in bytes (1024 to 204800)
    #[arg(long, value_name = "BYTES", default_value_t = Observe::MAX_BYTES, value_parser = clap::value_parser!(u32).range(1024..=204_800))]
    #[serde(default = "Observe::default_max_bytes")]
    #[schemars(range(min = 1024, max = 204_800))]
    pub max_bytes: u32,
    /// Deepest level of the outline (1 to 50)
    #[arg(long, default_value_t = Observe::DEPTH, value_parser = clap::value_parser!(u32).range(1..=50))]
    #[serde(default = "Observe::default_depth")]
    #[schemars(range(min = 1, max = 50))]
    pub depth: u32,
    /// Only what can be acted on
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interactive: bool,
}

impl Observe {
    /// Bytes of an answer when the call names none.
    pub const MAX_BYTES: u32 = 24 * 1024;
    /// Depth of an outline when the call names none.
    pub const DEPTH: u32 = 50;

    fn default_max_bytes() -> u32 {
        Self::MAX_BYTES
    }

    fn default_depth() -> u32 {
        Self::DEPTH
    }
}

impl Operation for Observe {
    const FACTS: Facts = Facts {
        name: "observe",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = Observation;

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::in_range("maxBytes", self.max_bytes, 1024..=204_800)?;
        super::in_range("depth", self.depth, 1..=50)
    }

    fn takes_scope(&self) -> bool {
        true
    }
}
