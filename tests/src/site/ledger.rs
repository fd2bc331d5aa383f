//! What pages say happened to them.
//!
//! `ledger.js` posts each input event from a capture listener at the window, by a synchronous request: when an operation
//! has been acknowledged, its events are here.

use serde::Deserialize;

/// One event that reached a page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Event {
    /// click, mousedown, keydown, input, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Id of the innermost element of its path that has one.
    pub id: String,
    /// Value of the element, where it has one.
    pub value: String,
    /// Key of a key event; button of a mouse event.
    pub key: String,
    /// Modifiers that were held, such as `Control+Shift`.
    pub held: String,
    /// Whether a person or the browser made it, and not a script.
    pub trusted: bool,
}
