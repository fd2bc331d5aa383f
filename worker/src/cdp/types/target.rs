//! `Target`: tabs, frames with a process of their own, workers, and sessions attached to them.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use crate::cdp::command::command;

/// What a target is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfo {
    /// The target; equals the main frame's id for a tab, the frame's id for a cross-process frame.
    pub target_id: String,
    /// `page`, `iframe`, `worker`, `service_worker`, `tab`, ….
    #[serde(rename = "type")]
    pub kind: String,
    /// Document title.
    #[serde(default)]
    pub title: String,
    /// Address; empty when a cross-process frame has just attached.
    #[serde(default)]
    pub url: String,
    /// Whether a client is attached.
    #[serde(default)]
    pub attached: bool,
    /// The target that opened it.
    pub opener_id: Option<String>,
    /// The frame that opened it.
    pub opener_frame_id: Option<String>,
    /// The parent frame, for cross-process frames.
    pub parent_frame_id: Option<String>,
    /// Whether `window.opener` works.
    #[serde(default)]
    pub can_access_opener: bool,
    /// Its browser context.
    pub browser_context_id: Option<String>,
    /// Such as `prerender`.
    pub subtype: Option<String>,
}

/// One rule of which targets are meant; the first that fits decides.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FilterEntry<'a> {
    /// The kind; any when absent.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'a str>,
    /// Whether such targets are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude: bool,
}

/// Turns target events on or off.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetDiscoverTargets<'a> {
    /// Whether they are sent.
    pub discover: bool,
    /// Which targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<&'a [FilterEntry<'a>]>,
}
command!(SetDiscoverTargets<'a> = "Target.setDiscoverTargets" -> Empty);

/// Attaches to targets as they appear beneath this session.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetAutoAttach<'a> {
    /// Whether to attach.
    pub auto_attach: bool,
    /// Whether new targets wait for `Runtime.runIfWaitingForDebugger`.
    pub wait_for_debugger_on_start: bool,
    /// Sessions in this connection, by `sessionId`; always set it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flatten: bool,
    /// Which targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<&'a [FilterEntry<'a>]>,
}
command!(SetAutoAttach<'a> = "Target.setAutoAttach" -> Empty);

/// Lists the targets.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GetTargets<'a> {
    /// Which targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<&'a [FilterEntry<'a>]>,
}
command!(GetTargets<'a> = "Target.getTargets" -> Targets);

/// The targets.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Targets {
    /// In no certain order.
    pub target_infos: Vec<TargetInfo>,
}

/// Asks what a target is.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTargetInfo<'a> {
    /// The target; the session's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<&'a str>,
}
command!(GetTargetInfo<'a> = "Target.getTargetInfo" -> TargetInfoReply);

/// What a target is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfoReply {
    /// The target.
    pub target_info: TargetInfo,
}

/// Attaches to a target.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachToTarget<'a> {
    /// The target.
    pub target_id: &'a str,
    /// A session in this connection; always set it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flatten: bool,
}
command!(AttachToTarget<'a> = "Target.attachToTarget" -> Attached);

/// A new session.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    /// The session.
    pub session_id: String,
}

/// Detaches a session.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetachFromTarget<'a> {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<&'a str>,
}
command!(DetachFromTarget<'a> = "Target.detachFromTarget" -> Empty);

/// Opens a tab.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateTarget<'a> {
    /// First address.
    pub url: &'a str,
    /// Width in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Height in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// Its context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<&'a str>,
    /// Whether it gets a window of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new_window: bool,
    /// Whether it stays behind the front tab.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Whether it is no tab, and ends with the connection that made it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}
command!(CreateTarget<'a> = "Target.createTarget" -> Created);

/// A new tab.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    /// The target.
    pub target_id: String,
}

/// Closes a tab.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseTarget<'a> {
    /// The target.
    pub target_id: &'a str,
}
command!(CloseTarget<'a> = "Target.closeTarget" -> Empty);

/// Brings a tab to the front.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivateTarget<'a> {
    /// The target.
    pub target_id: &'a str,
}
command!(ActivateTarget<'a> = "Target.activateTarget" -> Empty);

/// A session began.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedToTarget {
    /// The session.
    pub session_id: String,
    /// Its target.
    pub target_info: TargetInfo,
    /// Whether the target waits for `Runtime.runIfWaitingForDebugger`.
    #[serde(default)]
    pub waiting_for_debugger: bool,
}

impl AttachedToTarget {
    /// The name of the event.
    pub const METHOD: &'static str = "Target.attachedToTarget";
}

/// A session ended; its calls in flight fail as `Detached`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DetachedFromTarget {
    /// The session.
    pub session_id: String,
    /// Its target.
    pub target_id: Option<String>,
}

impl DetachedFromTarget {
    /// The name of the event.
    pub const METHOD: &'static str = "Target.detachedFromTarget";
}

/// A target exists.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetCreated {
    /// The target.
    pub target_info: TargetInfo,
}

impl TargetCreated {
    /// The name of the event.
    pub const METHOD: &'static str = "Target.targetCreated";
}

/// A target's title, address or state changed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfoChanged {
    /// The target.
    pub target_info: TargetInfo,
}

impl TargetInfoChanged {
    /// The name of the event.
    pub const METHOD: &'static str = "Target.targetInfoChanged";
}

/// A target is gone.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetDestroyed {
    /// The target.
    pub target_id: String,
}

impl TargetDestroyed {
    /// The name of the event.
    pub const METHOD: &'static str = "Target.targetDestroyed";
}

/// A target's process died.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetCrashed {
    /// The target.
    pub target_id: String,
    /// Such as `crashed`, `oom`, `killed`.
    #[serde(default)]
    pub status: String,
    /// The process's exit code.
    #[serde(default)]
    pub error_code: i64,
}

impl TargetCrashed {
    /// The name of the event.
    pub const METHOD: &'static str = "Target.targetCrashed";
}
