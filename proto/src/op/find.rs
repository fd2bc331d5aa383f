//! `find`: what a locator could mean, without acting (contract 4.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Found;

/// List the elements that a locator fits, without acting
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Find {
    /// What to look for
    #[schemars(with = "String")]
    pub target: Locator,
    /// Most elements listed (1 to 100)
    #[arg(long, default_value_t = Find::LIMIT, value_parser = clap::value_parser!(u32).range(1..=100))]
    #[serde(default = "Find::default_limit")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: u32,
    /// Count and list hidden elements too
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

impl Find {
    /// Elements listed when the call does not say.
    pub const LIMIT: u32 = 20;

    fn default_limit() -> u32 {
        Self::LIMIT
    }
}

impl Operation for Find {
    const FACTS: Facts = Facts {
        name: "find",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = Found;

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::in_range("limit", self.limit, 1..=100)
    }
}
