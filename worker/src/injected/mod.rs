//! The page engine: plain script that runs in an isolated world of every document.
//!
//! Owns the script's parts and their order. Refuses to know the browser: installing and calling it is `page`'s work.
//! Tests here are a lint over the text of the parts; what the engine does is tested in a real browser.

#[cfg(test)]
mod lint;

/// Grows with every change of the engine's methods, their arguments or their answers.
pub const ENGINE_VERSION: &str = "4";

/// Name of the binding in the isolated world through which a guard says what it saw, before the page can go away.
pub const REPORT: &str = "glassReport";

/// The engine, ready for `Page.addScriptToEvaluateOnNewDocument` with a world of its own.
///
/// It defines one global of that world, `glass`, whose `call(method, args, handles)` answers plain JSON.
pub const ENGINE: &str = concat!(
    "(()=>{'use strict';if(Object.hasOwn(globalThis,'glass')&&globalThis.glass.made===globalThis.document)return;const VERSION='4';\n",
    include_str!("captured.js"),
    include_str!("text.js"),
    include_str!("tree.js"),
    include_str!("visible.js"),
    include_str!("area.js"),
    include_str!("names.js"),
    include_str!("fallback.js"),
    include_str!("states.js"),
    include_str!("labels.js"),
    include_str!("refs.js"),
    include_str!("facts.js"),
    include_str!("walk.js"),
    include_str!("rows.js"),
    include_str!("live.js"),
    include_str!("revision.js"),
    include_str!("history.js"),
    include_str!("observe.js"),
    include_str!("serialize.js"),
    include_str!("dom.js"),
    include_str!("frames.js"),
    include_str!("point.js"),
    include_str!("actionable.js"),
    include_str!("semantic.js"),
    include_str!("locate.js"),
    include_str!("textlocate.js"),
    include_str!("inspect.js"),
    include_str!("consent.js"),
    include_str!("guard.js"),
    include_str!("edit.js"),
    include_str!("files.js"),
    include_str!("caret.js"),
    include_str!("choose.js"),
    include_str!("scroll.js"),
    include_str!("forms.js"),
    include_str!("wait.js"),
    include_str!("reveal.js"),
    include_str!("api.js"),
    include_str!("session.js"),
    "})();\n//# sourceURL=glass-engine\n",
);
