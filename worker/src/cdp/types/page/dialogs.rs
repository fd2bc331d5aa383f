//! `Page`'s JavaScript dialogs and file choosers.

use serde::{Deserialize, Serialize};

use super::super::empty::Empty;
use crate::cdp::command::command;

/// Which dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DialogType {
    /// A message.
    Alert,
    /// Yes or no.
    Confirm,
    /// A text.
    Prompt,
    /// Whether to leave the page.
    Beforeunload,
    /// A value that this version does not know.
    #[serde(other)]
    Other,
}

/// A dialog is open; the page's script stands still.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JavascriptDialogOpening {
    /// Address of the frame.
    #[serde(default)]
    pub url: String,
    /// The frame.
    pub frame_id: Option<String>,
    /// Its text; page content.
    #[serde(default)]
    pub message: String,
    /// Which dialog.
    #[serde(rename = "type")]
    pub kind: DialogType,
    /// Whether a person could answer it.
    #[serde(default)]
    pub has_browser_handler: bool,
    /// Text that a prompt starts with.
    pub default_prompt: Option<String>,
}

impl JavascriptDialogOpening {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.javascriptDialogOpening";
}

/// A dialog was answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JavascriptDialogClosed {
    /// The frame.
    pub frame_id: Option<String>,
    /// Whether it was accepted.
    #[serde(default)]
    pub result: bool,
    /// The text of a prompt.
    #[serde(default)]
    pub user_input: String,
}

impl JavascriptDialogClosed {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.javascriptDialogClosed";
}

/// Has file choosers told instead of shown.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SetInterceptFileChooserDialog {
    /// Whether they are.
    pub enabled: bool,
}
command!(SetInterceptFileChooserDialog = "Page.setInterceptFileChooserDialog" -> Empty);

/// A page asks for files.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChooserOpened {
    /// The frame.
    pub frame_id: String,
    /// `selectSingle` or `selectMultiple`.
    #[serde(default)]
    pub mode: String,
    /// The input; absent where script asked without one, which the browser refuses by itself.
    pub backend_node_id: Option<i64>,
}

impl FileChooserOpened {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.fileChooserOpened";
}

/// Answers the open dialog.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandleJavaScriptDialog<'a> {
    /// Whether to accept it.
    pub accept: bool,
    /// The text of a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_text: Option<&'a str>,
}
command!(HandleJavaScriptDialog<'a> = "Page.handleJavaScriptDialog" -> Empty);
