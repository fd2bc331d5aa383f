//! Results about the pages of a session and their frames (contract 7.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acted::{Evidence, PageLine};

/// The pages of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Targets {
    /// In the order of their beginning.
    pub targets: Vec<TargetRow>,
}

/// One page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetRow {
    /// Its id, at most 128 bytes.
    pub id: String,
    /// Its URL, at most 4 KiB. Page data.
    pub url: String,
    /// Its title, at most 256 bytes. Page data.
    pub title: String,
    /// page, or crashed; internal for what is a part of somebody else's browser, or a file: it is not driven.
    pub kind: String,
    /// The target that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opener: Option<String>,
    /// The target that opened it is closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opener_closed: bool,
    /// Whose it is: glass, for what the session or its pages opened; user, for what was in a browser that it attached to.
    pub owner: String,
    /// How long it stays: temporary, until the session ends; retain, beyond that.
    pub retention: String,
    /// In a browser that the session attached to: whether it is this session's. select-target claims one that is nobody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<bool>,
    /// Whether this client's operations go to it.
    pub selected: bool,
    /// False when it was asked and did not answer at once: its script runs and runs, or its process stands still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responsive: Option<bool>,
    /// A dialog is open in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dialog: bool,
}

/// A page that was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetMade {
    /// The operation.
    pub action: String,
    /// The new page's id.
    pub target_id: String,
    /// Always false: what is new is never selected by itself.
    pub selected: bool,
    /// The page now.
    pub page: PageLine,
    /// Whether load was reached.
    pub loaded: bool,
    /// Requests still under way when it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What was measured.
    pub evidence: Evidence,
}

/// What later operations of this client go to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetSelected {
    /// The operation.
    pub action: String,
    /// The page.
    pub target_id: String,
    /// The frame that locators are confined to; absent: they look into every frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
    /// URL of the page or the frame, at most 4 KiB. Page data.
    pub page_url: String,
    /// Title of the page, at most 256 bytes. Page data.
    pub page_title: String,
}

/// A page that was closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetClosed {
    /// The operation.
    pub action: String,
    /// The page.
    pub target_id: String,
    /// It was this client's selected one: now none is.
    pub was_selected: bool,
    /// Pages that are left.
    pub left: u64,
}

/// The frames of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Frames {
    /// The page.
    pub target_id: String,
    /// The main one first, then in the order of their documents' beginning.
    pub frames: Vec<FrameRow>,
    /// Frames that are left out since there are more than 128.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One frame's document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrameRow {
    /// `main` or `f2`. A new document in the frame has a new one.
    pub id: String,
    /// The frame that it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// URL of its document, at most 4 KiB; empty when it has not begun to load. Page data.
    pub url: String,
    /// Its name attribute, at most 256 bytes. Page data.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// loading, interactive or complete.
    pub ready_state: String,
    /// It runs in a process of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_process: bool,
    /// It was asked and did not answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// Whether this client's locators are confined to it.
    pub selected: bool,
}
