//! What `observe` answers (contract 3.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acted::{ChooserSeen, DialogSeen, DownloadSeen, PageLine, PopupSeen};
use super::read::Shot;

/// A bounded picture of the page's meaning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// The page.
    pub page: PageLine,
    /// Names what was seen, for the call that reads on. Empty where nothing could be read.
    pub snapshot_id: String,
    /// What was searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Queried>,
    /// Media type of the document, where it is not HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The outline as text, one row a thing; the same that a person sees. Page data.
    pub outline: String,
    /// The rows of the outline in full form.
    pub nodes: Vec<Node>,
    /// Visible text, bounded. Page data.
    pub text: String,
    /// Size of the whole visible text in bytes.
    pub text_bytes: u64,
    /// The open dialog, while which nothing of the page can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<DialogSeen>,
    /// Pages opened since the last observation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub popups: Vec<PopupSeen>,
    /// File choosers that wait for files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choosers: Vec<ChooserSeen>,
    /// Downloads in progress.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<DownloadSeen>,
    /// The elements as HTML, when asked for. Page data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dom: Option<String>,
    /// What is to know of the picture, when one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<Shot>,
    /// What was left out, and how to read it. Empty: everything is here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<LeftOut>,
}

/// A search and how much it found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Queried {
    /// What was searched for.
    pub text: String,
    /// Rows that hold it.
    pub matches: u64,
    /// Rows that are listed.
    pub shown: u64,
    /// Rows left out before them.
    pub offset: u64,
}

/// One row of the outline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Node {
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Indent.
    pub depth: u32,
    /// Computed role.
    pub role: String,
    /// Computed accessible name, at most 256 characters. Page data.
    pub name: String,
    /// Characters of the whole name, when it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_length: Option<u64>,
    /// Heading or tree level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// States such as disabled, checked, expanded, focused, modal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Value of a control, at most 256 characters; never of a password or one-time code. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Options of a select.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<u64>,
    /// Rows of a table or items of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_total: Option<u64>,
    /// Left, top, width and height in CSS pixels of its frame's viewport, when asked for.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub rect: Option<[i64; 4]>,
    /// The frame that this row holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// URL of that frame's document. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Something that the answer does not hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct LeftOut {
    /// What kind of thing: rows, text, depth, frame.
    pub kind: String,
    /// How much of it, in rows or bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Where.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Why, when it is not only too much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How to read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl LeftOut {
    /// In one line.
    pub fn line(&self) -> String {
        let count = match (self.kind.as_str(), self.count) {
            ("text", Some(count)) => format!(" {}", size(count)),
            (_, Some(count)) => format!(" {count}"),
            (_, None) => String::new(),
        };
        let at = self.reference.as_ref().map_or(String::new(), |reference| format!(" of {reference}"));
        let why = self.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        let hint = self.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        format!("left out:{count} {}{at}{why}{hint}", self.kind)
    }
}

/// A number of bytes for a person.
pub fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let tenths = bytes * 10 / 1024;
    format!("{}.{} KiB", tenths / 10, tenths % 10)
}
