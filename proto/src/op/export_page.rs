//! `exportPage`: the page as a file (contract 7.8).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, at_most, seconds};
use crate::result::Exported;

/// Write the page to a file: text, HTML without scripts, PDF, MHTML, one of its assets, or its requests
///
/// `assets` lists what the page has loaded; with `--asset URL` it writes that one. `har` is the requests that diagnostics
/// knows as an HTTP archive, without sensitive headers, cookies and query values. Nothing is fetched again
/// unless `--refetch` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ExportPage {
    /// What is written
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Where to write it; without it page-N with the format's ending, never overwriting
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub output: Option<PathBuf>,
    /// With the format assets: write this one, by the URL that the list shows
    #[arg(long, value_name = "URL")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asset: Option<String>,
    /// Where the browser has not kept an asset, or a PDF, as it came: ask the site for it once more
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refetch: bool,
    /// With the format har: with the bodies that the browser keeps
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bodies: bool,
}

/// A form of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// Visible text of the page and its frames
    Text,
    /// The document as it is now, without scripts; passwords left out, frames not in it
    Html,
    /// As it would be printed; where the page is a PDF, that document as it came
    Pdf,
    /// With everything that it has loaded, in one file
    Mhtml,
    /// The list of what it has loaded, or one of these
    Assets,
    /// The page's requests as an HTTP archive, HAR 1.2
    Har,
}

impl ExportFormat {
    /// Every format.
    pub const ALL: &[Self] = &[Self::Text, Self::Html, Self::Pdf, Self::Mhtml, Self::Assets, Self::Har];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Html => "html",
            Self::Pdf => "pdf",
            Self::Mhtml => "mhtml",
            Self::Assets => "assets",
            Self::Har => "har",
        }
    }

    /// The ending of a file, where the format has one of its own.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Html => "html",
            Self::Pdf => "pdf",
            Self::Mhtml => "mhtml",
            Self::Assets => "bin",
            Self::Har => "har",
        }
    }
}

impl ExportPage {
    /// Largest file, in bytes.
    pub const MAX_BYTES: usize = 20 * 1024 * 1024;
    /// Largest asset, in bytes.
    pub const MAX_ASSET: usize = 8 * 1024 * 1024;

    /// Whether the answer comes with a file.
    pub fn writes(&self) -> bool {
        self.format != ExportFormat::Assets || self.asset.is_some()
    }
}

impl Operation for ExportPage {
    const FACTS: Facts = Facts {
        name: "exportPage",
        capability: Capability::ExportPage,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(20),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Exported;

    fn also_needs(&self) -> Vec<Capability> {
        if self.bodies { vec![Capability::NetworkBodies] } else { Vec::new() }
    }

    fn check(&self) -> Result<(), InvalidParams> {
        let wrong = |text: &str| Err(InvalidParams(text.to_owned()));
        if self.bodies && self.format != ExportFormat::Har {
            return wrong("bodies is for the format har");
        }
        if self.refetch && self.asset.is_none() && self.format != ExportFormat::Pdf {
            return wrong("refetch is for one asset, and for the format pdf");
        }
        match &self.asset {
            Some(_) if self.format != ExportFormat::Assets => wrong("asset is for the format assets"),
            Some(url) => at_most("asset", url.len(), 8192),
            None if self.output.is_some() && !self.writes() => {
                wrong("the list of assets is no file; name one with asset")
            }
            None => Ok(()),
        }
    }
}
