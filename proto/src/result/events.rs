//! What `events` answers (contract 7.6).

use std::fmt::Write as _;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape::{quoted, visible};

/// What an event tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum EventKind {
    /// A dialog opened, was answered by Glass itself, or closed
    Dialog,
    /// A page asked for a file
    Chooser,
    /// A download began or ended
    Download,
    /// The main frame shows another document, or another URL of the same
    Navigation,
    /// A page opened another, or one that was opened so went
    Popup,
    /// A page asked for a permission
    Permission,
    /// A page asked to be printed
    Print,
    /// A mutation ended
    Action,
    /// A renderer died
    Crash,
    /// A bound of the session was hit
    Quota,
    /// Something was refused by policy
    Denied,
}

impl EventKind {
    fn word(self) -> &'static str {
        match self {
            Self::Dialog => "dialog",
            Self::Chooser => "chooser",
            Self::Download => "download",
            Self::Navigation => "navigation",
            Self::Popup => "popup",
            Self::Permission => "permission",
            Self::Print => "print",
            Self::Action => "action",
            Self::Crash => "crash",
            Self::Quota => "quota",
            Self::Denied => "denied",
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    /// The oldest first.
    pub events: Vec<Event>,
    /// The cursor for `after`.
    pub next: u64,
    /// Events after the cursor that had to make room before they were read; without a cursor all that had to. Of each
    /// target the newest 200 are kept.
    pub dropped: u64,
    /// Events that fit and are not given: newer ones where there is a cursor, else older ones.
    pub left_out: u64,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its number in the session.
    pub sequence: u64,
    /// When it was heard of, in milliseconds since 1970.
    pub time_ms: u64,
    /// What it tells of.
    pub kind: EventKind,
    /// What happened to it: opened, closed, answered, asked, began, committed, ended, crashed, refused; of a
    /// quota near, renderer_ended, exceeded.
    pub what: String,
    /// The target, where it is of one. That of a popup is its opener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    /// The operation that was at work on the target when it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// What more there is to say of it.
    #[serde(flatten)]
    pub of: EventOf,
}

/// What is told of an event beside its kind; which of it there is depends on that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EventOf {
    /// The dialog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog_id: Option<String>,
    /// alert, confirm, prompt or beforeunload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog_type: Option<String>,
    /// What the dialog says, at most 1 KiB. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_message: Option<String>,
    /// The file chooser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chooser_id: Option<String>,
    /// The download.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_id: Option<String>,
    /// How the download stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<super::DownloadState>,
    /// The download's name as the site suggests it. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_file_name: Option<String>,
    /// The target that was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub popup_id: Option<String>,
    /// Where it went, or what asked; without credentials, query values and fragment, at most 1 KiB. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// The URL changed and the document stayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_document: Option<bool>,
    /// The operation that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Its outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The kind of its error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The permission, the bound, or the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The rule that denied it: whose it is, its list or preset, itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// What the session may use of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// What it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
}

/// Events as rows for people.
pub(super) fn text(told: &Events) -> String {
    let mut lines = Vec::new();
    if told.dropped > 0 {
        lines.push(format!("[left out: {} that had to make room]", told.dropped));
    }
    lines.extend(told.events.iter().map(row));
    if told.events.is_empty() {
        lines.push("nothing that fits".to_owned());
    }
    let more = match told.left_out {
        0 => String::new(),
        n => format!(" · {n} more"),
    };
    lines.push(format!("next {}{more}", told.next));
    lines.join("\n")
}

/// An event as a row for people.
pub fn row(event: &Event) -> String {
    let mut out = format!("{} {} {}", event.sequence, event.kind.word(), visible(&event.what, false));
    let of = &event.of;
    let ids = [
        &of.dialog_type,
        &of.dialog_id,
        &of.chooser_id,
        &of.download_id,
        &of.popup_id,
        &of.operation,
        &of.outcome,
        &of.error,
        &of.name,
        &of.rule_id,
    ];
    for word in ids.into_iter().flatten() {
        let _ = write!(out, " {}", visible(word, false));
    }
    if let (Some(used), Some(limit)) = (of.used, of.limit) {
        let _ = write!(out, " {used} of {limit}");
    }
    if let Some(state) = of.state {
        let _ = write!(out, " {}", super::text::download_state(state));
    }
    for page in [&of.page_message, &of.page_file_name].into_iter().flatten() {
        let _ = write!(out, " {}", quoted(page));
    }
    if let Some(url) = &of.page_url {
        let _ = write!(out, " {}", visible(url, false));
    }
    if of.same_document == Some(true) {
        out.push_str(" (same document)");
    }
    if let Some(target) = &event.target_id {
        let _ = write!(out, " · target {}", visible(target, false));
    }
    if let Some(execution) = &event.execution_id {
        let _ = write!(out, " · {}", visible(execution, false));
    }
    out
}
