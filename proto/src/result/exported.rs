//! What `exportPage` answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acted::PageLine;

/// A page as a file, or the list of its assets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Exported {
    /// Where the command line wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The format.
    pub format: String,
    /// Media type of the file.
    pub media_type: String,
    /// Size of the file; 0 for a list.
    pub bytes: u64,
    /// The page.
    pub page: PageLine,
    /// `unverified` where nobody can tell whether all of the page is in it; `original` where it is the document as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completeness: Option<String>,
    /// The site was asked for it once more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fetched: bool,
    /// Frames that are not in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames_left_out: Option<u64>,
    /// What the page has loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assets: Vec<Asset>,
    /// Requests in the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Older entries of diagnostics that had to make room, requests among them, and requests that were forgotten before they
    /// ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_gone: Option<u64>,
    /// Bodies that are not kept, or were too much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies_left_out: Option<u64>,
    /// Assets that the list does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assets_left_out: Option<u64>,
}

/// Something that a page has loaded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Asset {
    /// Its URL, at most 4 KiB. Page data.
    pub page_url: String,
    /// Such as Image, Stylesheet, Font.
    pub kind: String,
    /// Its media type. Page data.
    pub media_type: String,
    /// Its size in bytes, where the browser knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}
