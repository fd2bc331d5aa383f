//! `Page`'s frames: the tree and what happens to it.

use serde::{Deserialize, Serialize};

use crate::cdp::command::command;

/// A frame and the document in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// The frame.
    pub id: String,
    /// Its parent, when it has one.
    pub parent_id: Option<String>,
    /// The document; a new one for each that is loaded.
    #[serde(default)]
    pub loader_id: String,
    /// The frame's name.
    pub name: Option<String>,
    /// Address without the fragment.
    pub url: String,
    /// The fragment with its `#`.
    pub url_fragment: Option<String>,
    /// Its origin.
    #[serde(default)]
    pub security_origin: String,
    /// The document's type.
    #[serde(default)]
    pub mime_type: String,
    /// The address that could not be reached, when this is an error page.
    pub unreachable_url: Option<String>,
}

/// A frame and its children.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameTree {
    /// The frame.
    pub frame: Frame,
    /// Those in the same process.
    #[serde(default)]
    pub child_frames: Vec<FrameTree>,
}

/// Asks for the frames of the session's process.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct GetFrameTree {}
command!(GetFrameTree = "Page.getFrameTree" -> FrameTreeReply);

/// The frames of the session's process.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameTreeReply {
    /// The root.
    pub frame_tree: FrameTree,
}

/// A frame was added.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameAttached {
    /// The frame.
    pub frame_id: String,
    /// Its parent.
    pub parent_frame_id: String,
}

impl FrameAttached {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.frameAttached";
}

/// A new document was committed.
#[derive(Clone, Debug, Deserialize)]
pub struct FrameNavigated {
    /// The frame with its new document.
    pub frame: Frame,
    /// `Navigation` or `BackForwardCacheRestore`.
    #[serde(rename = "type", default)]
    pub kind: String,
}

impl FrameNavigated {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.frameNavigated";

    /// Whether the document came back from the back/forward cache instead of being loaded.
    pub fn is_restored(&self) -> bool {
        self.kind == "BackForwardCacheRestore"
    }
}

/// A frame is gone, or moved to another process.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameDetached {
    /// The frame.
    pub frame_id: String,
    /// Which of the two.
    pub reason: DetachReason,
}

impl FrameDetached {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.frameDetached";
}

/// Why a frame is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DetachReason {
    /// It was removed from the page.
    Remove,
    /// It moved to another process.
    Swap,
    /// A value that this version does not know.
    #[serde(other)]
    Other,
}

/// The address changed and the document stayed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NavigatedWithinDocument {
    /// The frame.
    pub frame_id: String,
    /// The new address.
    pub url: String,
    /// `fragment`, `historyApi` or `other`.
    #[serde(default)]
    pub navigation_type: String,
}

impl NavigatedWithinDocument {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.navigatedWithinDocument";
}

/// The page asked for a navigation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameRequestedNavigation {
    /// The frame.
    pub frame_id: String,
    /// Such as `anchorClick`, `formSubmissionPost`, `scriptInitiated`.
    #[serde(default)]
    pub reason: String,
    /// Where to.
    pub url: String,
    /// `currentTab`, `newTab`, `newWindow` or `download`.
    #[serde(default)]
    pub disposition: String,
}

impl FrameRequestedNavigation {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.frameRequestedNavigation";
}

/// A navigation started.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameStartedNavigating {
    /// The frame.
    pub frame_id: String,
    /// Where to.
    pub url: String,
    /// The document to be.
    pub loader_id: String,
    /// Such as `differentDocument`, `sameDocument`, `reload`, `historyDifferentDocument`.
    #[serde(default)]
    pub navigation_type: String,
}

impl FrameStartedNavigating {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.frameStartedNavigating";
}

/// A frame began to load.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameStartedLoading {
    /// The frame.
    pub frame_id: String,
}

impl FrameStartedLoading {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.frameStartedLoading";
}

/// A frame stopped to load.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameStoppedLoading {
    /// The frame.
    pub frame_id: String,
}

impl FrameStoppedLoading {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.frameStoppedLoading";
}
