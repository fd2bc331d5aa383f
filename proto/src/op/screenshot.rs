//! `screenshot`: a picture of the page (contract 3.8).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Shot;

/// Take a picture of the viewport, the whole page or one element
///
/// What lies beyond the viewport is pictured by making the viewport larger for a moment; a page can notice that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Screenshot {
    /// Where to write it; without it screenshot-N.png, never overwriting
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub output: Option<PathBuf>,
    /// Only this element
    #[arg(long, value_name = "LOCATOR", conflicts_with = "full_page")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target: Option<Locator>,
    /// The whole page, at most 16384 pixels high
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_page: bool,
    /// The file format
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub format: ImageFormat,
    /// Quality of jpeg and webp (1 to 100)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub quality: Option<u32>,
}

/// The format of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ImageFormat {
    /// Without loss
    #[default]
    Png,
    /// Small, for photographs
    Jpeg,
    /// Small
    Webp,
}

impl ImageFormat {
    /// The name, which is also the file ending.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
        }
    }
}

impl Screenshot {
    /// Longest side, in pixels.
    pub const MAX_SIDE: u32 = 16_384;
    /// Largest file, in bytes.
    pub const MAX_BYTES: usize = 8 * 1024 * 1024;
}

impl Operation for Screenshot {
    const FACTS: Facts = Facts {
        name: "screenshot",
        capability: Capability::Screenshot,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(10),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Shot;

    fn locators(&self) -> Vec<&Locator> {
        self.target.iter().collect()
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        if self.full_page && self.target.is_some() {
            return Err(super::InvalidParams("target and fullPage exclude each other".to_owned()));
        }
        match self.quality {
            Some(_) if self.format == ImageFormat::Png => {
                Err(super::InvalidParams("quality is for jpeg and webp; png has none".to_owned()))
            }
            Some(quality) => super::in_range("quality", quality, 1..=100),
            None => Ok(()),
        }
    }
}
