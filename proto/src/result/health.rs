//! What `health` and `recover` answer (contract 7.7).

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape::visible;

/// How a session stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Health {
    /// The browser's version; it runs, else nothing would answer.
    pub browser: String,
    /// Its pages.
    pub targets: Vec<TargetHealth>,
    /// Operations that run, the oldest first; this one is not among them.
    pub running: Vec<RunningRow>,
    /// Bounds in use.
    pub quotas: Vec<QuotaRow>,
}

/// How a page stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetHealth {
    /// The target.
    pub id: String,
    /// Its URL, at most 512 bytes. Page data.
    pub page_url: String,
    /// Its renderer died.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub crashed: bool,
    /// A dialog is open: the page stands still until it is answered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dialog: bool,
    /// Whether it answered a question within 40 ms; absent where none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsive: Option<bool>,
    /// For how long it has owed an answer, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_ms: Option<u64>,
}

/// An operation that runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunningRow {
    /// The attempt.
    pub execution_id: String,
    /// The operation.
    pub operation: String,
    /// page, watch or control.
    pub lane: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    /// Whether anything that can have an effect was sent.
    pub dispatched: bool,
    /// For how long it has run, in milliseconds.
    pub ms: u64,
}

/// A bound of the session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaRow {
    /// What is bounded: targets, or spool, in bytes.
    pub quota: String,
    /// In use.
    pub used: u64,
    /// The most.
    pub limit: u64,
}

/// What `recover` did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Recovered {
    /// The operation.
    pub action: String,
    /// What was ended: close_target or restart_browser.
    pub method: String,
    /// The operation that was stuck.
    pub execution_id: String,
    /// Its name.
    pub operation: String,
    /// The page that was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    /// Pages that are still open; none after the end of the browser.
    pub left: u64,
}

pub(super) fn text(health: &Health) -> String {
    let mut out = format!("browser {}", visible(&health.browser, false));
    for target in &health.targets {
        let state = match (target.crashed, target.dialog, target.responsive) {
            (true, ..) => "crashed",
            (_, true, _) => "dialog open",
            (_, _, Some(true)) => "answers",
            (_, _, Some(false)) => "does not answer",
            (_, _, None) => "not asked",
        };
        let _ = write!(out, "\ntarget {} {state}", target.id);
        if let Some(ms) = target.silent_ms {
            let _ = write!(out, " for {ms} ms");
        }
        let _ = write!(out, " {}", visible(&target.page_url, false));
    }
    for row in &health.running {
        let sent = if row.dispatched { "sent" } else { "nothing sent" };
        let _ = write!(out, "\nruns {} {} for {} ms, {sent}", row.operation, row.execution_id, row.ms);
        if let Some(target) = &row.target_id {
            let _ = write!(out, " · target {target}");
        }
    }
    for row in &health.quotas {
        let _ = write!(out, "\n{} {} of {}", row.quota, row.used, row.limit);
    }
    out
}

pub(super) fn recovered_text(recovered: &Recovered) -> String {
    let what = match &recovered.target_id {
        Some(target) => format!("closed target {target} · {} left", recovered.left),
        None => "the browser ends; the next navigate begins a new one".to_owned(),
    };
    format!("ended {} {} · {what}", recovered.operation, recovered.execution_id)
}
