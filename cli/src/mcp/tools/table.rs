//! What only MCP knows of a tool: its toolset, whether the Glass seed has it, and other forms of its arguments.

use glass_proto::op::{Effect, Facts};
use serde_json::{Map, Value, json};

macro_rules! toolsets {
    ($($(#[$doc:meta])* $set:ident = $name:literal: [$($tool:literal),* $(,)?];)*) => {
        /// Tools that are listed together.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Toolset { $($(#[$doc])* $set,)* }

        impl Toolset {
            const ALL: &[Self] = &[$(Self::$set,)*];

            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$set => $name,)* }
            }

            fn tools(self) -> &'static [&'static str] {
                match self { $(Self::$set => &[$($tool,)*],)* }
            }
        }
    };
}

toolsets! {
    /// What nearly every task needs (contract 9.5).
    Core = "core": [
        "navigate", "back", "observe", "find", "getText", "click", "hover", "type", "fill", "key", "fillForm", "check",
        "select", "scroll", "wait", "verify", "screenshot", "evaluate", "batch", "acceptDialog", "dismissDialog",
        "listTargets", "selectTarget", "reconcileReferences",
    ];
    /// More ways to fill in forms and to press.
    Forms = "forms": [
        "uncheck", "clear", "selectText", "submit", "drag", "doubleClick", "keyDown", "keyUp", "shortcut", "tap",
        "preflight", "dismissConsent",
    ];
    /// Tabs, frames and history.
    Tabs = "tabs": [
        "createTarget", "closeTarget", "clickExpectPopup", "listFrames", "selectFrame", "forward", "reload",
        "tabLifecycle", "present",
    ];
    /// Files in and out.
    Files = "files": [
        "upload", "download", "listDownloads", "cancelDownload", "retryDownloadCapture", "exportPage", "createUpload",
        "createDownload", "transferStatus", "cancelTransfer", "readFile",
    ];
    /// What the page loads and says.
    Network = "network": ["diagnostics", "events", "networkBody", "emulate", "route", "listRoutes", "removeRoute"];
    /// What a session keeps.
    State = "state": ["storageState", "cookies", "clipboard", "captureSecrets", "listSecrets", "deleteSecrets"];
    /// Deep looks.
    Debug = "debug": ["getDOM", "inspect", "observeDelta"];
    /// By coordinates.
    Vision = "vision": ["clickAt", "moveMouse", "setViewport"];
    /// Sessions and executions.
    Session = "session": [
        "listSessions", "openSession", "sleepSession", "closeSession", "executionStatus", "cancelExecution",
        "capabilities", "health", "recover",
    ];
}

impl Toolset {
    /// The set of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|set| set.name() == name)
    }

    /// All names, for a message.
    pub fn names() -> String {
        Self::ALL.iter().map(|set| set.name()).collect::<Vec<_>>().join(", ")
    }
}

/// The set of a tool; a tool that no set names is a deep look.
pub(super) fn toolset(tool: &str) -> Toolset {
    Toolset::ALL.iter().copied().find(|set| set.tools().contains(&tool)).unwrap_or(Toolset::Debug)
}

/// The table of the Glass seed.
const SEED: &[&str] = &[
    "navigate",
    "click",
    "clickExpectPopup",
    "doubleClick",
    "verify",
    "hover",
    "drag",
    "type",
    "key",
    "keyDown",
    "keyUp",
    "shortcut",
    "clear",
    "check",
    "uncheck",
    "select",
    "fillForm",
    "upload",
    "screenshot",
    "observe",
    "getDOM",
    "getText",
    "evaluate",
    "scroll",
    "batch",
    "wait",
    "diagnostics",
    "acceptDialog",
    "dismissDialog",
    "dismissConsent",
    "download",
    "listTargets",
    "createTarget",
    "selectTarget",
    "closeTarget",
    "listFrames",
    "selectFrame",
];

pub(super) fn in_seed(tool: &str) -> bool {
    SEED.contains(&tool)
}

/// Mutations that destroy nothing: the pointer moves, something is shown, another page is looked at.
pub(super) fn is_mild(tool: &str) -> bool {
    [
        "hover",
        "scroll",
        "moveMouse",
        "selectTarget",
        "selectFrame",
        "createTarget",
        "setViewport",
        "emulate",
        "selectText",
        "present",
        "openSession",
        "sleepSession",
        "reconcileReferences",
    ]
    .contains(&tool)
}

/// Mutations that come to the same when they are made twice.
pub(super) fn is_idempotent(tool: &str) -> bool {
    [
        "selectTarget",
        "selectFrame",
        "check",
        "uncheck",
        "fill",
        "clear",
        "setViewport",
        "emulate",
        "closeTarget",
    ]
    .contains(&tool)
}

/// Operations whose answer has a listed schema: small objects that stay as they are, of tools that are not in every list.
/// Where there is a schema, clients insist on the structured form of each success.
pub(super) fn has_output(tool: &str) -> bool {
    tool == "health"
}

/// The options of every call that a tool lists: each costs every client its room at every turn. The others are taken as
/// well, and the instructions name them; refs and locators reach into frames without `frame`, and what acts on another
/// tab than the selected one selects it first, or looks into it.
pub(super) fn listed_options(facts: &Facts) -> &'static [&'static str] {
    match (facts.effect, facts.targeted) {
        (Effect::Mutation, true) if facts.guarded => &["expectedRevision", "timeoutMs", "observe", "expect"],
        (_, true) => &["timeoutMs", "targetId"],
        (_, false) => &["timeoutMs"],
    }
}

/// Arguments that stand for another one of the operation: (other form, argument).
pub(super) const OTHER_FORMS: [(&str, &str); 2] = [("selector", "target"), ("key", "keys")];

/// Whether an argument of the operation has another form, so that it is not required by itself.
pub(super) fn has_other_form(tool: &str, argument: &str) -> bool {
    (argument == "keys" && tool == "key") || (argument == "target" && takes_selector(tool))
}

fn takes_selector(tool: &str) -> bool {
    ["click", "doubleClick", "clickExpectPopup"].contains(&tool)
}

/// The other forms that a tool lists, with their schemas.
pub(super) fn argument_forms(tool: &str, params: &Map<String, Value>) -> Vec<(&'static str, Value)> {
    let mut forms = Vec::new();
    if tool == "key" && params.contains_key("keys") {
        forms.push(("key", json!({ "type": "string", "description": "One chord, in place of keys" })));
    }
    if takes_selector(tool) {
        forms.push((
            "selector",
            json!({ "type": "string", "description": "A CSS selector, in place of target" }),
        ));
    }
    forms
}

#[cfg(test)]
mod tests {
    use glass_proto::op::OPERATIONS;

    use super::*;

    #[test]
    fn every_operation_stands_in_one_set() {
        for facts in OPERATIONS {
            let sets = Toolset::ALL.iter().filter(|set| set.tools().contains(&facts.name)).count();
            assert_eq!(sets, 1, "{}", facts.name);
        }
    }
}
