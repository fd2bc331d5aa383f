//! `Log`: what the browser itself writes to the console.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use crate::cdp::command::command;

/// Turns the events on; what was written before is announced.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Enable {}
command!(Enable = "Log.enable" -> Empty);

/// Something was written.
#[derive(Clone, Debug, Deserialize)]
pub struct EntryAdded {
    /// It.
    pub entry: Entry,
}

impl EntryAdded {
    /// The name of the event.
    pub const METHOD: &'static str = "Log.entryAdded";
}

/// A message of the browser.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Such as `network`, `security`, `deprecation`.
    #[serde(default)]
    pub source: String,
    /// `verbose`, `info`, `warning` or `error`.
    #[serde(default)]
    pub level: String,
    /// Its text; page content.
    #[serde(default)]
    pub text: String,
    /// Of the script.
    pub url: Option<String>,
    /// Line, from 0.
    pub line_number: Option<i64>,
}
