//! A page as a file.

use serde::{Deserialize, Serialize};

use super::Frame;
use crate::cdp::command::command;

/// Prints the page.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintToPDF {
    /// Whether backgrounds are printed too.
    pub print_background: bool,
    /// Whether the page's own paper size counts.
    #[serde(rename = "preferCSSPageSize")]
    pub prefer_css_page_size: bool,
}
command!(PrintToPDF = "Page.printToPDF" -> Printed);

/// A printed page.
#[derive(Clone, Debug, Deserialize)]
pub struct Printed {
    /// The PDF in base64.
    pub data: String,
}

/// Takes the page with what it has loaded as MHTML.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct CaptureSnapshot {}
command!(CaptureSnapshot = "Page.captureSnapshot" -> Snapshot);

/// A page as MHTML.
#[derive(Clone, Debug, Deserialize)]
pub struct Snapshot {
    /// The MHTML.
    pub data: String,
}

/// Lists what the frames of a session have loaded.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct GetResourceTree {}
command!(GetResourceTree = "Page.getResourceTree" -> ResourceTree);

/// What frames have loaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTree {
    /// The root frame's.
    pub frame_tree: FrameResources,
}

/// What one frame has loaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameResources {
    /// The frame.
    pub frame: Frame,
    /// What it has loaded.
    #[serde(default)]
    pub resources: Vec<Resource>,
    /// Frames in it.
    #[serde(default)]
    pub child_frames: Vec<FrameResources>,
}

/// Something that was loaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its URL; page content.
    pub url: String,
    /// Such as `Image`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its media type; page content.
    #[serde(default)]
    pub mime_type: String,
    /// Bytes, where they are known.
    pub content_size: Option<f64>,
    /// It could not be loaded.
    #[serde(default)]
    pub failed: bool,
    /// It was given up.
    #[serde(default)]
    pub canceled: bool,
}

/// Takes something that was loaded from the browser's memory.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetResourceContent<'a> {
    /// The frame that loaded it.
    pub frame_id: &'a str,
    /// Its URL.
    pub url: &'a str,
}
command!(GetResourceContent<'a> = "Page.getResourceContent" -> ResourceContent);

/// Content.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContent {
    /// Text, or bytes in base64.
    pub content: String,
    /// Which of them.
    pub base64_encoded: bool,
}
