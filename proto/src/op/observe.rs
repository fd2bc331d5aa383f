//! `observe`: what the page shows, as a bounded outline with refs (contract 3.1).

use std::path::PathBuf;

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
    #[arg(long, value_name = "BYTES", default_value_t = Observe::default_max_bytes(), value_parser = clap::value_parser!(u32).range(1024..=204_800))]
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
    /// Only rows whose role, name, text, placeholder or test id holds this text, without regard to case
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Most rows that --query lists (1 to 100, otherwise 20)
    #[arg(long, value_name = "N", requires = "query", value_parser = clap::value_parser!(u32).range(1..=100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// Leave out so many rows at the beginning, to read on (0 to 10000)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 10_000))]
    pub offset: Option<u32>,
    /// Refuse when the page changed since the observation that had this snapshotId
    #[arg(long, value_name = "ID")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// Whether what controls hold is shown (otherwise yes, as far as policy allows)
    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<bool>,
    /// Add the elements as HTML, at most 64 KiB beside the outline
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_dom: bool,
    /// Add a picture of the viewport
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_screenshot: bool,
    /// Where the picture is written; without it screenshot-N.png, never overwriting
    #[arg(short, long, value_name = "FILE", requires = "include_screenshot")]
    #[serde(skip)]
    pub output: Option<PathBuf>,
    /// Tell where each row is
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub boxes: bool,
}

impl Observe {
    /// Depth of an outline when the call names none.
    pub const DEPTH: u32 = 50;
    /// Rows that a query lists when the call does not say.
    pub const QUERIED: u32 = 20;
    /// Longest HTML beside the outline, in bytes.
    pub const MAX_DOM: u32 = 64 * 1024;
    /// Longest query in bytes.
    pub const MAX_QUERY: usize = 1024;

    /// Bytes of an answer when the call names none; of what came after a revision too.
    pub fn default_max_bytes() -> u32 {
        24 * 1024
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

    fn also_needs(&self) -> Vec<Capability> {
        let values = (self.values == Some(true)).then_some(Capability::ReadFormValues);
        let picture = self.include_screenshot.then_some(Capability::Screenshot);
        values.into_iter().chain(picture).collect()
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::in_range("maxBytes", self.max_bytes, 1024..=204_800)?;
        super::in_range("depth", self.depth, 1..=50)?;
        super::in_range("offset", self.offset.unwrap_or(0), 0..=10_000)?;
        match &self.query {
            Some(query) => {
                super::at_least_one("query", query.trim().len())?;
                super::at_most("query", query.len(), Self::MAX_QUERY)?;
                super::in_range("limit", self.limit.unwrap_or(Self::QUERIED), 1..=100)
            }
            None if self.limit.is_some() => {
                Err(super::InvalidParams("limit is about query, and there is no query".to_owned()))
            }
            None => Ok(()),
        }
    }

    fn takes_scope(&self) -> bool {
        true
    }
}
