//! `Page`'s scripts at document start and isolated worlds.

use serde::{Deserialize, Serialize};

use super::super::empty::Empty;
use crate::cdp::command::command;

/// Runs a script in every new document of the session's process before the page's own.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddScriptToEvaluateOnNewDocument<'a> {
    /// The script.
    pub source: &'a str,
    /// The isolated world; the page's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_name: Option<&'a str>,
    /// Whether it also runs in the documents that exist.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub run_immediately: bool,
    /// Whether the console's helper functions are there.
    #[serde(rename = "includeCommandLineAPI", skip_serializing_if = "std::ops::Not::not")]
    pub include_command_line_api: bool,
}
command!(AddScriptToEvaluateOnNewDocument<'a> = "Page.addScriptToEvaluateOnNewDocument" -> ScriptAdded);

/// The script's handle.
#[derive(Clone, Debug, Deserialize)]
pub struct ScriptAdded {
    /// For `removeScriptToEvaluateOnNewDocument`.
    pub identifier: String,
}

/// Takes such a script back.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RemoveScriptToEvaluateOnNewDocument<'a> {
    /// Its handle.
    pub identifier: &'a str,
}
command!(RemoveScriptToEvaluateOnNewDocument<'a> = "Page.removeScriptToEvaluateOnNewDocument" -> Empty);

/// Makes an isolated world in a frame, or finds the one of that name.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateIsolatedWorld<'a> {
    /// The frame.
    pub frame_id: &'a str,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_name: Option<&'a str>,
    /// Whether it reaches across origins (the protocol spells it so).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub grant_univeral_access: bool,
}
command!(CreateIsolatedWorld<'a> = "Page.createIsolatedWorld" -> WorldCreated);

/// The world.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldCreated {
    /// Its context.
    pub execution_context_id: i64,
}

/// Turns the page's content security policy off for inserted scripts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetBypassCSP {
    /// Whether it is off.
    pub enabled: bool,
}
command!(SetBypassCSP = "Page.setBypassCSP" -> Empty);
