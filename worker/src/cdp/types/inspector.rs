//! `Inspector`: the end of a target's renderer.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use crate::cdp::command::command;

/// Turns these events on.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Enable {}
command!(Enable = "Inspector.enable" -> Empty);

/// The session's renderer died; calls in flight fail as `Crashed`.
#[derive(Clone, Debug, Deserialize)]
pub struct TargetCrashed {}

impl TargetCrashed {
    /// The name of the event.
    pub const METHOD: &'static str = "Inspector.targetCrashed";
}

/// The session has a renderer again.
#[derive(Clone, Debug, Deserialize)]
pub struct TargetReloadedAfterCrash {}

impl TargetReloadedAfterCrash {
    /// The name of the event.
    pub const METHOD: &'static str = "Inspector.targetReloadedAfterCrash";
}

/// The session ended.
#[derive(Clone, Debug, Deserialize)]
pub struct Detached {
    /// Why.
    pub reason: String,
}

impl Detached {
    /// The name of the event.
    pub const METHOD: &'static str = "Inspector.detached";
}
