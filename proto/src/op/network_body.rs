//! `networkBody`: the body of an answer that the page got (contract 7.5).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, at_least_one, at_most, in_range,
    seconds,
};
use crate::result::NetworkBody as Told;

/// Show the body of an answer that the page got, by the id that diagnostics gives
///
/// Text as it is, anything else as Base64. The browser keeps bodies for a while: up to 8 MiB each, those of the document
/// that is shown; what is no longer kept is said, and never asked for again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct NetworkBody {
    /// The request's id
    pub request_id: String,
    /// At most so many bytes of it, 1 to 1048576; 65536 without it
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_bytes: Option<u32>,
    /// From this byte on, to read further
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// The whole body as a file or resource instead of in the answer; on the command line -o does it
    #[arg(skip)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_resource: bool,
    /// Write the whole body to this file instead
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["max_bytes", "offset"])]
    #[serde(skip)]
    pub output: Option<PathBuf>,
}

impl NetworkBody {
    /// Bytes when none are given.
    pub const BYTES: u32 = 64 * 1024;
    /// The most bytes of one answer.
    pub const MAX_BYTES: u32 = 1024 * 1024;
    /// Longest id, in bytes.
    pub const MAX_ID: usize = 128;
}

impl Operation for NetworkBody {
    const FACTS: Facts = Facts {
        name: "networkBody",
        capability: Capability::NetworkBodies,
        effect: Effect::Read,
        lane: Lane::Watch,
        needs: Needs::OpenPage,
        timeout: seconds(10),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Told;

    fn check(&self) -> Result<(), InvalidParams> {
        at_least_one("requestId", self.request_id.len())?;
        at_most("requestId", self.request_id.len(), Self::MAX_ID)?;
        if self.as_resource && (self.max_bytes.is_some() || self.offset.is_some()) {
            return Err(InvalidParams(
                "asResource is the whole body; maxBytes and offset are for a part".to_owned(),
            ));
        }
        in_range("maxBytes", self.max_bytes.unwrap_or(1), 1..=Self::MAX_BYTES)
    }
}
