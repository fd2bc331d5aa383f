//! Results of mutations (contract 2.4). A field that was not measured is absent, never `false`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::Point;

/// What a mutation did, as far as it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Acted {
    /// The operation.
    pub action: String,
    /// What was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The page.
    pub target_id: String,
    /// The frame of the target, when not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
    /// Revision when the operation began.
    pub previous_revision: u64,
    /// Revision when it ended.
    pub revision: u64,
    /// What was measured.
    pub evidence: Evidence,
}

/// The element that was acted on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Role and name, at most 160 bytes. Page data.
    pub label: String,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// "carried" when the ref was given at an earlier revision and still names the same node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<bool>,
}

/// What was measured of an effect: before dispatch and after the settle of contract 5.4.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Evidence {
    /// Whether the URL of the target changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_changed: Option<bool>,
    /// The URL now, when it changed. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// Whether the title changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_changed: Option<bool>,
    /// Whether another document is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_changed: Option<bool>,
    /// Rows of the outline that came, went and changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic_diff: Option<SemanticDiff>,
    /// Whether the control holds the wanted value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_matches: Option<bool>,
    /// Whether the target has the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focused: Option<bool>,
    /// A dialog that the operation opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<DialogSeen>,
    /// Pages that the operation opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub popups: Vec<PopupSeen>,
    /// Downloads that it began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<DownloadSeen>,
    /// File choosers that it opened; `upload` answers them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choosers: Vec<ChooserSeen>,
    /// A navigation that it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub navigation: Option<NavigationSeen>,
    /// The element that received the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_target: Option<Hit>,
    /// The target's page closed itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_closed: Option<bool>,
    /// The value was set by the native setter, since no trusted input exists for this kind of control (5.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_setter: Option<bool>,
    /// The control was in the wanted state before, and nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already: Option<bool>,
    /// Keys that are down and stay so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_keys: Vec<String>,
    /// UTF-16 units that are selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_length: Option<u64>,
    /// How a drag was done: by the pointer alone, or by the browser's own drag and drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drag: Option<DragKind>,
    /// Whether the page saw the form's submit event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted: Option<bool>,
    /// When it was pressed, the page took the element away, focused it, or opened or closed what it stands for; no click reached it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressed_only: Option<bool>,
    /// Panes that the scrolling moved; empty when nothing moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrolled: Option<Vec<Pane>>,
    /// Where nothing moved: other panes that could, at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub panes: Vec<Pane>,
    /// The consent dialog that was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentSeen>,
}

/// A consent dialog and how it was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentSeen {
    /// Whose dialog it is.
    pub vendor: String,
    /// What was chosen.
    pub choice: ConsentChoice,
    /// What was pressed, in order.
    pub pressed: Vec<Target>,
}

/// What a consent dialog was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConsentChoice {
    /// No to everything that can be refused.
    Rejected,
    /// Yes: there was no way to reject.
    Accepted,
}

impl ConsentChoice {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Accepted => "accepted",
        }
    }
}

/// How a drag was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DragKind {
    /// By pointer and mouse events alone.
    Pointer,
    /// By the browser's own drag and drop; the destination received the drop.
    Native,
}

/// One field of a form that was filled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldFilled {
    /// The field.
    pub target: Target,
    /// Whether it holds the wanted value; absent when the page took it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_matches: Option<bool>,
    /// It was in the wanted state before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub already: Option<bool>,
    /// The native setter did it (5.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_setter: Option<bool>,
}

/// What filling a form did. Every field was filled: one that fails ends the operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormFilled {
    /// The operation.
    pub action: String,
    /// The page.
    pub target_id: String,
    /// Revision when the operation began.
    pub previous_revision: u64,
    /// Revision when it ended.
    pub revision: u64,
    /// The fields, in the order given.
    pub fields: Vec<FieldFilled>,
    /// What was measured.
    pub evidence: Evidence,
}

/// Something that scrolls, in CSS pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pane {
    /// Its ref; absent for a document.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Its frame, when not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
    /// Its role; `document` for a document.
    pub role: String,
    /// Its name, at most 160 bytes. Page data.
    pub label: String,
    /// Where it stood before.
    pub from: Point,
    /// Where it stands.
    pub at: Point,
    /// The farthest that it goes.
    pub end: Point,
}

/// The element that received input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its role.
    pub role: String,
    /// Its name, at most 160 bytes. Page data.
    pub label: String,
}

/// Counts of outline rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SemanticDiff {
    /// Rows that came.
    pub added: u64,
    /// Rows that went.
    pub removed: u64,
    /// Rows whose name, state or value changed.
    pub changed: u64,
}

/// A JavaScript dialog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialogSeen {
    /// alert, confirm, prompt or beforeunload.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its text, at most 1 KiB. Page data.
    pub page_message: String,
    /// What acceptDialog and dismissDialog take.
    pub dialog_id: String,
    /// The page that shows it, where that is another one, whose script this page shares and waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
}

/// A page that was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PopupSeen {
    /// Its target id.
    pub target_id: String,
    /// The target that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opener_id: Option<String>,
    /// Its URL as far as known, at most 4 KiB. Page data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// It has been closed again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// target_limit, when Glass closed it since the session has as many targets as it may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A download that was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DownloadSeen {
    /// Its id.
    pub download_id: String,
    /// The name that the site suggests. Page data.
    pub page_file_name: String,
}

/// A file chooser that a page opened. It is not shown; `upload` answers it, and it ends with its document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChooserSeen {
    /// What `upload` takes.
    pub chooser_id: String,
    /// Whether it takes more than one file.
    pub multiple: bool,
    /// The frame that opened it, when not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
}

/// A navigation, as far as measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NavigationSeen {
    /// The URL asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_url: Option<String>,
    /// The URL shown. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_url: Option<String>,
    /// HTTP status, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Redirects followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirects: Option<u32>,
    /// Milliseconds from the request to the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_ms: Option<u64>,
    /// The document stayed and only its URL changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_document: Option<bool>,
    /// The document's response came from the browser's cache, and no server was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_cache: Option<bool>,
    /// The `net::` error, where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net_error: Option<String>,
    /// Whether the navigation that was expected came. That it did not is no reason to repeat the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<bool>,
    /// Whether its page came as far as was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded: Option<bool>,
}

/// The page in one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageLine {
    /// Its URL. Page data.
    pub url: String,
    /// Its title, at most 256 bytes. Page data.
    pub title: String,
    /// The target.
    pub target_id: String,
    /// The frame that the operation was confined to, when not the main one: URL, title and ready state are its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
    /// Document ready state: loading, interactive or complete.
    pub ready_state: String,
    /// Its revision.
    pub revision: u64,
    /// Status of the document's response, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Why the browser shows its own page for an error, by Chromium's name; what that page says may be something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net_error: Option<String>,
}

/// What a navigation came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Navigated {
    /// The operation.
    pub action: String,
    /// The page now.
    pub page: PageLine,
    /// Revision when the operation began.
    pub previous_revision: u64,
    /// Whether load was reached.
    pub loaded: bool,
    /// Requests still under way when it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// What a person should know: an HTTP error, a page that is still loading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What was measured.
    pub evidence: Evidence,
}

/// What became of a dialog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialogAnswered {
    /// The operation.
    pub action: String,
    /// The page.
    pub target_id: String,
    /// The dialog that was answered.
    pub dialog: DialogSeen,
    /// Whether the browser said that it closed.
    pub closed: bool,
    /// The navigation that was expected, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub navigation: Option<NavigationSeen>,
}
