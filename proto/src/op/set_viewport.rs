//! `setViewport`: the size of a page's viewport (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, in_range, seconds};
use crate::result::ViewportSet;

/// Set the size of the page's viewport, or give it back
///
/// Holds for this page until `--reset`. The answer has the size that the page really got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SetViewport {
    /// Width in CSS pixels (1 to 4096)
    #[arg(required_unless_present = "reset", requires = "height", value_parser = clap::value_parser!(u32).range(1..=4096))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub width: Option<u32>,
    /// Height in CSS pixels (1 to 4096)
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub height: Option<u32>,
    /// Give the session's own size back
    #[arg(long, conflicts_with = "width")]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

impl Operation for SetViewport {
    const FACTS: Facts = Facts {
        name: "setViewport",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = ViewportSet;

    fn check(&self) -> Result<(), InvalidParams> {
        match (self.reset, self.width, self.height) {
            (true, None, None) => Ok(()),
            (false, Some(width), Some(height)) => {
                in_range("width", width, 1..=4096)?;
                in_range("height", height, 1..=4096)
            }
            _ => Err(InvalidParams("width and height are wanted together, or reset alone".to_owned())),
        }
    }
}
