//! An execution as glassd knows it: how far it is, or how it ended (contract 2.2, 9.4). For glassctl and `glass --mcp`.

use std::fmt::Write as _;

use glass_proto::escape::visible;
use glass_proto::wire::client as pb;
use glass_proto::{ErrorKind, ExecutionId, OpError, Phase};
use serde::Serialize;

use crate::output::duration;

/// An execution in the machine form.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution<'a> {
    execution_id: &'a str,
    /// Absent where the call named none that could be one.
    #[serde(skip_serializing_if = "str::is_empty")]
    session: &'a str,
    operation: &'a str,
    /// `waiting`, `running`, `ended`
    state: &'a str,
    /// How it ended.
    #[serde(skip_serializing_if = "str::is_empty")]
    outcome: &'a str,
    /// Whether anything that can have an effect was sent to the browser.
    dispatched: &'a str,
    took_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_ago_ms: Option<u64>,
    /// Where it ended in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<OpError>,
}

impl<'a> Execution<'a> {
    /// From what glassd says.
    pub fn of(info: &'a pb::ExecutionInfo) -> Self {
        Self {
            execution_id: &info.execution_id,
            session: &info.session,
            operation: &info.operation,
            state: &info.state,
            outcome: &info.outcome,
            dispatched: &info.dispatched,
            took_ms: info.took_ms,
            ended_ago_ms: (info.state == "ended").then_some(info.ended_ago_ms),
            error: error(info),
        }
    }
}

/// The error that it ended in.
pub fn error(info: &pb::ExecutionInfo) -> Option<OpError> {
    serde_json::from_slice(&info.error_json).ok()
}

/// On one line: `click in default: ended 3 s ago, completed, dispatched: yes, took 0.2 s`.
pub fn line(info: &pb::ExecutionInfo) -> String {
    let mut line = info.operation.clone();
    if !info.session.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(line, " in {}", info.session);
    }
    let _ = match info.state.as_str() {
        "ended" => {
            let ago = duration(info.ended_ago_ms);
            write!(line, ": ended {ago} ago, {}, dispatched: {}", info.outcome, info.dispatched)
        }
        state => write!(line, ": {state}, dispatched: {}", info.dispatched),
    };
    let _ = write!(line, ", took {}", duration(info.took_ms));
    visible(&line, false).into_owned()
}

/// Nothing is known of it.
pub fn unknown(id: &ExecutionId) -> OpError {
    OpError::rejected(
        ErrorKind::TargetNotFound,
        Phase::Preflight,
        format!(
            "glassd knows of no execution {id}: it never was, or is forgotten, or glassd began anew since"
        ),
        "observe to see what the page holds now",
    )
    .reason("no_such_execution")
}

/// It can no longer be cancelled.
pub fn over(info: &pb::ExecutionInfo) -> OpError {
    OpError::rejected(
        ErrorKind::TargetNotFound,
        Phase::Preflight,
        format!("it has ended: {}", info.outcome),
        "there is nothing to cancel; observe to see what came of it",
    )
    .reason("execution_ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 9.4
    #[test]
    fn one_that_ended_is_told_with_its_error_and_one_that_runs_without() {
        let id = ExecutionId::generate();
        let error = OpError::unknown("timeout", "the deadline passed", "observe").of(&id);
        let mut info = pb::ExecutionInfo {
            execution_id: id.to_string(),
            session: "default".into(),
            operation: "click".into(),
            state: "ended".into(),
            dispatched: "yes".into(),
            took_ms: 1500,
            ended_ago_ms: 3000,
            outcome: "unknown".into(),
            error_json: glass_proto::wire::encode_error(&error),
        };
        let json = serde_json::to_value(Execution::of(&info)).unwrap();
        assert_eq!((&json["error"]["reason"], &json["endedAgoMs"]), (&"timeout".into(), &3000.into()));
        assert!(line(&info).contains("click in default: ended") && line(&info).contains("unknown"));
        info = pb::ExecutionInfo {
            state: "running".into(),
            outcome: String::new(),
            error_json: Vec::new(),
            ..info
        };
        let json = serde_json::to_value(Execution::of(&info)).unwrap();
        assert!(
            json.get("error").is_none() && json.get("outcome").is_none() && json.get("endedAgoMs").is_none()
        );
        assert!(line(&info).contains(": running, dispatched: yes"));
    }
}
