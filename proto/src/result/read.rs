//! Results of operations that read, and of `evaluate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acted::{Evidence, PageLine};
use super::observation::LeftOut;
use crate::error::Candidate;

/// Visible text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TextRead {
    /// The page.
    pub page: PageLine,
    /// The text, at most 64 KiB. Page data.
    pub text: String,
    /// Size of the whole text in bytes.
    pub text_bytes: u64,
    /// Bytes left out.
    pub left_out: u64,
    /// Frames that did not answer in time: their text is not in it, and not in its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames_unread: Option<u64>,
}

/// Elements of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DomRead {
    /// The page.
    pub page: PageLine,
    /// html or tree.
    pub format: String,
    /// The elements as text. Page data.
    pub dom: String,
    /// What was left out, and how to read it. Empty: everything is here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<LeftOut>,
}

/// What a locator could mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// The page.
    pub page: PageLine,
    /// Elements that fit.
    pub total: u64,
    /// Of those that fit, hidden ones; not in `total` unless all was asked for.
    pub hidden: u64,
    /// The first of them.
    pub matches: Vec<Candidate>,
    /// Frames that did not answer, so that nobody knows what fits there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames_unread: Option<u64>,
}

/// The value of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evaluated {
    /// The value. Page data.
    pub value: serde_json::Value,
    /// The page.
    pub target_id: String,
    /// The frame that it ran in, when not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
    /// Revision when the operation began.
    pub previous_revision: u64,
    /// Revision when it ended.
    pub revision: u64,
    /// What was measured beside it.
    pub evidence: Evidence,
    /// Files that the script kept, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactKept>,
}

/// A file that a script kept by `glassArtifact`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactKept {
    /// Its name, at most 255 bytes. Page data.
    pub page_name: String,
    /// Its media type, as the script says.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
    /// Where the command line wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Shot {
    /// Where the command line wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The format.
    pub format: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Size of the file.
    pub bytes: u64,
    /// The page.
    pub page: PageLine,
    /// Height of the page that is not in the picture, in CSS pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_height: Option<u32>,
    /// Names this picture, so that its coordinates can be used; good for 60 s, until the page navigates, scrolls or
    /// changes size.
    pub screenshot_id: String,
    /// Pixels of the picture for one CSS pixel.
    pub scale: f64,
    /// Where the picture's upper left corner lies in the viewport, in CSS pixels.
    pub origin: [f64; 2],
    /// Where the mouse pointer is, in pixels of the picture: `X,Y`, or `unknown`.
    pub pointer: String,
    /// Fonts were still loading; text in them is missing or in another font.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fonts_pending: bool,
    /// What was drawn into the picture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Elements that were not looked at or not marked since there are too many; some of them may be in the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks_left_out: Option<u64>,
}

/// A ref that was drawn into a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// The ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its role.
    pub role: String,
    /// Its name, at most 256 characters. Page data.
    pub name: String,
    /// Its box in the picture: left, upper, width, height in pixels.
    pub area: [u32; 4],
}

/// A condition that came to hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waited {
    /// The kind of condition.
    pub condition: String,
    /// Milliseconds waited.
    pub waited_ms: u64,
    /// The page now.
    pub page: PageLine,
    /// What was seen of it last. Page data.
    pub seen: serde_json::Value,
}

/// A predicate that holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// The page.
    pub page: PageLine,
    /// Milliseconds that it was waited for.
    pub waited_ms: u64,
    /// What each part of it saw, at most 16.
    pub parts: Vec<SeenPart>,
}

/// What one part of a predicate saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeenPart {
    /// Which part: the keys on the way to it, those in lists with their number, as in `all[2].not.visible`.
    pub part: String,
    /// Whether it holds; absent where nobody can say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// What was seen. Page data.
    pub seen: serde_json::Value,
}
