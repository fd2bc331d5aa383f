//! Results about downloads and uploads (contract 7.3, 7.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The downloads of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Downloads {
    /// In the order of their beginning; at most 256.
    pub downloads: Vec<DownloadRow>,
    /// Older ones that are no longer known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How a download stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DownloadState {
    /// Bytes are coming.
    InProgress,
    /// The whole file is kept.
    Completed,
    /// It broke off.
    Failed,
    /// It was given up.
    Canceled,
    /// The file is kept, and could not be handed out; retryDownloadCapture does it again.
    CaptureFailed,
}

/// One download.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DownloadRow {
    /// What the other operations take.
    pub download_id: String,
    /// How it stands.
    pub state: DownloadState,
    /// Why it failed, where that is known: quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The name that the site suggests, at most 256 bytes. Page data.
    pub page_file_name: String,
    /// Where it comes from, at most 4 KiB. Page data.
    pub page_url: String,
    /// The target that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    /// Bytes so far.
    pub bytes: u64,
    /// Bytes that the site announces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// A client has taken it.
    pub taken: bool,
}

/// A download that was handed out, or that ended otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Downloaded {
    /// The operation.
    pub action: String,
    /// The download.
    pub download_id: String,
    /// completed: the file is at `path`. failed or canceled: there is none.
    pub state: DownloadState,
    /// Why it failed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The name that the site suggests. Page data.
    pub page_file_name: String,
    /// Where the client wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// What became of a download that was to be given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DownloadEnded {
    /// The operation.
    pub action: String,
    /// The download.
    pub download_id: String,
    /// canceled; or completed or failed, when it ended before.
    pub state: DownloadState,
}

/// A file that was given to a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileGiven {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

/// A file that an input holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileHeld {
    /// Its name, as the page sees it.
    pub name: String,
    /// Its size in bytes, as the page sees it.
    pub size: u64,
}

/// Files that were given to a file input or a chooser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Uploaded {
    /// The operation.
    pub action: String,
    /// The input, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<super::acted::Target>,
    /// The chooser, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chooser_id: Option<String>,
    /// The page.
    pub target_id: String,
    /// The frame, when not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
    /// What was given.
    pub files: Vec<FileGiven>,
    /// What the input holds after the page has dealt with it. Absent: it could not be read, the page went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Vec<FileHeld>>,
    /// What a person should know: the input holds something else, or asks for files of another kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Revision when the operation began.
    pub previous_revision: u64,
    /// Revision when it ended.
    pub revision: u64,
    /// What was measured. `valueMatches`: the input holds exactly the files that were given.
    pub evidence: super::acted::Evidence,
}
