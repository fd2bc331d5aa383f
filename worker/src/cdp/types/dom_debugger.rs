//! `DOMDebugger`: listeners of one node.

use serde::{Deserialize, Serialize};

use crate::cdp::command::command;

/// Asks for the listeners of one object, those of its descendants left out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetEventListeners<'a> {
    /// The object, of the page's own world.
    pub object_id: &'a str,
}
command!(GetEventListeners<'a> = "DOMDebugger.getEventListeners" -> Listeners);

/// Listeners.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Listeners {
    /// Of the object.
    pub listeners: Vec<Listener>,
}

/// A listener.
#[derive(Clone, Debug, Deserialize)]
pub struct Listener {
    /// The type of events.
    #[serde(rename = "type")]
    pub kind: String,
}
