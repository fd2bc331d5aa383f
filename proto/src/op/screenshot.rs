//! `screenshot`: a picture of the page (contract 3.8).

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Shot;

/// Take a picture of the viewport, the whole page or one element
///
/// What lies beyond the viewport is pictured by making the viewport larger for a moment; a page can notice that. The
/// answer's `screenshotId` lets coordinates of the picture be used for 60 s, until the page scrolls or changes size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
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
    /// Only this part of the viewport, in CSS pixels: X,Y,WIDTH,HEIGHT
    #[arg(long, value_name = "X,Y,W,H", conflicts_with_all = ["full_page", "target"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<Clip>,
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
    /// Longest side in pixels (16 to 16384); a larger picture is scaled down
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(16..=16_384))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 16_384))]
    pub max_side: Option<u32>,
    /// Draw the refs of what can be acted on into the picture
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub annotate: bool,
    /// How long to wait for fonts that are loading, in milliseconds (0 to 10000)
    #[arg(long, value_name = "MS", default_value_t = Screenshot::WAIT_FONTS_MS, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    #[serde(default = "Screenshot::default_wait_fonts_ms")]
    #[schemars(range(min = 0, max = 10_000))]
    pub wait_fonts_ms: u32,
}

/// A part of the viewport, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clip {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl FromStr for Clip {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "four numbers are wanted: X,Y,WIDTH,HEIGHT";
        let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        match numbers.as_deref() {
            Ok(&[x, y, width, height]) => Ok(Self { x, y, width, height }),
            _ => Err(FORM),
        }
    }
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

impl Default for Screenshot {
    fn default() -> Self {
        Self {
            output: None,
            target: None,
            clip: None,
            full_page: false,
            format: ImageFormat::default(),
            quality: None,
            max_side: None,
            annotate: false,
            wait_fonts_ms: Self::WAIT_FONTS_MS,
        }
    }
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
    /// Longest side of a picture that a model gets when the call names none, in pixels (contract 3.8).
    pub const MODEL_SIDE: u32 = 1568;
    /// How long fonts are waited for when the call says nothing.
    pub const WAIT_FONTS_MS: u32 = 250;
    /// How long a picture's id can be used, in seconds.
    pub const ID_SECONDS: u64 = 60;

    fn default_wait_fonts_ms() -> u32 {
        Self::WAIT_FONTS_MS
    }

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
        let parts = [self.full_page, self.target.is_some(), self.clip.is_some()];
        if parts.into_iter().filter(|given| *given).count() > 1 {
            return Err(super::InvalidParams("target, clip and fullPage exclude each other".to_owned()));
        }
        if let Some(clip) = &self.clip {
            let max = f64::from(Self::MAX_SIDE);
            let fits = |side: f64| (1.0..=max).contains(&side);
            let near = |edge: f64| (0.0..max).contains(&edge);
            if !(fits(clip.width) && fits(clip.height) && near(clip.x) && near(clip.y)) {
                return Err(super::InvalidParams(
                    "clip has edges from 0 and sides from 1 to 16384 CSS pixels".to_owned(),
                ));
            }
        }
        if let Some(side) = self.max_side {
            super::in_range("maxSide", side, 16..=Self::MAX_SIDE)?;
        }
        super::in_range("waitFontsMs", self.wait_fonts_ms, 0..=10_000)?;
        if self.annotate && self.format == ImageFormat::Webp && self.quality.is_some() {
            return Err(super::InvalidParams(
                "an annotated webp is without loss and takes no quality".to_owned(),
            ));
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
