//! `Page`'s history of a tab.

use serde::{Deserialize, Serialize};

use super::super::empty::Empty;
use crate::cdp::command::command;

/// Asks for the history. Answered by the browser itself, not by the page.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct GetNavigationHistory {}
command!(GetNavigationHistory = "Page.getNavigationHistory" -> NavigationHistory);

/// The history of a tab.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NavigationHistory {
    /// Which entry is shown.
    pub current_index: i64,
    /// The oldest first.
    pub entries: Vec<NavigationEntry>,
}

/// One entry of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NavigationEntry {
    /// Its id.
    pub id: i64,
    /// Address.
    #[serde(default)]
    pub url: String,
    /// Such as `typed`, `link`, `form_submit`, `reload`.
    #[serde(default)]
    pub transition_type: String,
}

/// Goes to an entry. Replied to at once; the events tell what comes of it.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NavigateToHistoryEntry {
    /// The entry.
    pub entry_id: i64,
}
command!(NavigateToHistoryEntry = "Page.navigateToHistoryEntry" -> Empty);

/// Forgets all entries but the present one.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ResetNavigationHistory {}
command!(ResetNavigationHistory = "Page.resetNavigationHistory" -> Empty);
