//! `DOMStorage`: localStorage and sessionStorage of documents that a page shows.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use crate::cdp::command::command;

/// Which storage.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StorageId<'a> {
    /// The origin with a slash after it.
    pub storage_key: &'a str,
    /// Whether localStorage is meant.
    pub is_local_storage: bool,
}

/// Asks for all items.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetDOMStorageItems<'a> {
    /// Of which storage.
    pub storage_id: StorageId<'a>,
}
command!(GetDOMStorageItems<'a> = "DOMStorage.getDOMStorageItems" -> Items);

/// All items.
#[derive(Clone, Debug, Deserialize)]
pub struct Items {
    /// Pairs of key and value.
    pub entries: Vec<(String, String)>,
}

/// Sets an item.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDOMStorageItem<'a> {
    /// In which storage.
    pub storage_id: StorageId<'a>,
    /// Its key.
    pub key: &'a str,
    /// Its value.
    pub value: &'a str,
}
command!(SetDOMStorageItem<'a> = "DOMStorage.setDOMStorageItem" -> Empty);
