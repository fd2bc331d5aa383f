//! Downloads: `listDownloads`, `download`, `cancelDownload`, `retryDownloadCapture` (contract 7.3).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, seconds};
use crate::id::DownloadId;
use crate::result::{DownloadEnded, Downloaded, Downloads};

fn here() -> PathBuf {
    PathBuf::from(".")
}

/// List the downloads of the session
///
/// Every download is caught, whether somebody waits for it or not, and kept until the session closes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ListDownloads {}

/// Put a download into a directory
///
/// Without --download-id and --next it takes the oldest one that has ended and was not taken, else it waits for one
/// to end. The file appears whole, under the name that the site suggests made safe, and replaces nothing: where the
/// name is taken a number is added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Download {
    /// A directory that is there, inside the file root: the directory that the client was started in
    #[arg(default_value = ".")]
    #[serde(default = "here")]
    #[schemars(with = "String")]
    pub destination: PathBuf,
    /// This one, as list-downloads names it; it is waited for while it is in progress
    #[arg(long, value_name = "ID", conflicts_with = "next")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub download_id: Option<DownloadId>,
    /// The next one that ends from now on
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub next: bool,
}

/// Give up a download that is in progress
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CancelDownload {
    /// The download, as list-downloads names it
    #[schemars(with = "String")]
    pub download_id: DownloadId,
}

/// Put a download that was taken, or could not be, into a directory once more
///
/// From the file that Glass has kept; the site is not asked again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RetryDownloadCapture {
    /// The download, as list-downloads names it
    #[schemars(with = "String")]
    pub download_id: DownloadId,
    /// A directory that is there, inside the file root
    #[arg(default_value = ".")]
    #[serde(default = "here")]
    #[schemars(with = "String")]
    pub destination: PathBuf,
}

const fn facts(name: &'static str, effect: Effect, lane: Lane, seconds_: u64) -> Facts {
    Facts {
        name,
        capability: Capability::Download,
        effect,
        lane,
        needs: Needs::OpenPage,
        timeout: seconds(seconds_),
        guarded: false,
        targeted: false,
        framed: false,
    }
}

impl Operation for ListDownloads {
    const FACTS: Facts =
        Facts { capability: Capability::Read, ..facts("listDownloads", Effect::Read, Lane::Watch, 5) };
    type Output = Downloads;
}

impl Operation for Download {
    const FACTS: Facts = facts("download", Effect::Mutation, Lane::Watch, 30);
    type Output = Downloaded;

    fn check(&self) -> Result<(), InvalidParams> {
        if self.next && self.download_id.is_some() {
            return Err(InvalidParams("downloadId names one download and next another".to_owned()));
        }
        Ok(())
    }
}

impl Operation for CancelDownload {
    const FACTS: Facts = facts("cancelDownload", Effect::Mutation, Lane::Control, 5);
    type Output = DownloadEnded;
}

impl Operation for RetryDownloadCapture {
    const FACTS: Facts = facts("retryDownloadCapture", Effect::Mutation, Lane::Watch, 30);
    type Output = Downloaded;
}
