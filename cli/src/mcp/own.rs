//! Tools that are about sessions and executions, not about a page: asked of the daemon directly (contract 9.5).

use std::sync::Arc;
use std::time::Duration;

use glass_proto::wire::client as pb;
use glass_proto::{ErrorKind, ExecutionId, OpError, Phase, SessionName};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::link::Link;
use super::tools::{self, Listed};
use crate::execution::{self, Execution};

/// One tool: name, title, description, its string arguments, and whether it only reads.
struct Row {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [(&'static str, &'static str)],
    required: &'static [&'static str],
    reads: bool,
}

const ROWS: [Row; 4] = [
    Row {
        name: "listSessions",
        title: "List sessions",
        description: "List the sessions that this server may use, with state and age. Starts nothing.",
        arguments: &[],
        required: &[],
        reads: true,
    },
    Row {
        name: "closeSession",
        title: "Close session",
        description: "End a session and everything of it: pages, logins, downloads. The next navigate begins a new one.",
        arguments: &[("session", "Its name; this server's own when absent")],
        required: &[],
        reads: false,
    },
    Row {
        name: "executionStatus",
        title: "Execution status",
        description: "Tell how far a call is, or how it ended, by its execution id: for one that was cancelled or given up \
                      while it ran. The last 64 of each session are remembered, with outcome and error, without result.",
        arguments: &[("executionId", "As answers and errors give it")],
        required: &["executionId"],
        reads: true,
    },
    Row {
        name: "cancelExecution",
        title: "Cancel execution",
        description: "Cancel a call that still runs, by its execution id. What was sent to the page cannot be undone.",
        arguments: &[("executionId", "As answers and errors give it")],
        required: &["executionId"],
        reads: false,
    },
];

/// Whether there is such a tool here.
pub fn has(name: &str) -> bool {
    self::name(name).is_some()
}

/// The name, where it is one of these.
pub fn name(name: &str) -> Option<&'static str> {
    ROWS.iter().find(|row| row.name == name).map(|row| row.name)
}

/// Those that are listed.
pub fn listed(listed: &Listed) -> Vec<Tool> {
    ROWS.iter().filter(|row| listed.has(row.name)).map(describe).collect()
}

fn describe(row: &Row) -> Tool {
    let properties: Map<String, Value> = row
        .arguments
        .iter()
        .map(|(name, text)| ((*name).to_owned(), json!({ "type": "string", "description": text })))
        .collect();
    let mut input = JsonObject::new();
    input.insert("type".to_owned(), "object".into());
    input.insert("properties".to_owned(), Value::Object(properties));
    if !row.required.is_empty() {
        input.insert("required".to_owned(), row.required.into());
    }
    let output = json!({ "type": "object", "properties": output(row.name), "required": always(row.name) });
    let output = output.as_object().cloned().unwrap_or_default();
    let annotations = ToolAnnotations::new()
        .read_only(row.reads)
        .destructive(!row.reads)
        // To close or cancel twice comes to the same.
        .idempotent(true)
        .open_world(false);
    Tool::new(row.name, row.description, Arc::new(input))
        .with_title(row.title)
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(output))
}

/// The properties of what a tool answers: small objects that stay as they are.
fn output(name: &str) -> Value {
    let of = |kind: &str| json!({ "type": kind });
    let (text, number, truth) = (of("string"), of("integer"), of("boolean"));
    match name {
        "listSessions" => json!({ "sessions": { "type": "array", "items": {
            "type": "object",
            "properties": {
                "name": text, "own": truth, "kind": text, "state": text, "ageMs": number, "idleMs": number,
                "targets": number, "running": text,
            },
            "required": ["name", "own", "kind", "state", "ageMs", "idleMs", "targets", "running"],
        } } }),
        "closeSession" => json!({ "closed": { "type": "array", "items": text } }),
        "executionStatus" => json!({
            "executionId": text, "session": text, "operation": text,
            "state": { "type": "string", "enum": ["waiting", "running", "ended"] },
            "outcome": { "type": "string", "enum": ["rejected", "completed", "failed", "unknown"] },
            "dispatched": { "type": "string", "enum": ["no", "yes", "unknown"] },
            "tookMs": number, "endedAgoMs": number, "error": of("object"),
        }),
        _ => json!({ "cancelled": text }),
    }
}

/// Which of them are always there.
fn always(name: &str) -> &'static [&'static str] {
    match name {
        "listSessions" => &["sessions"],
        "closeSession" => &["closed"],
        "executionStatus" => &["executionId", "operation", "state", "dispatched", "tookMs"],
        _ => &["cancelled"],
    }
}

/// Runs one of them.
pub async fn call(link: &Link, name: &str, arguments: &Map<String, Value>) -> CallToolResult {
    let answered = match name {
        "listSessions" => list(link, arguments).await,
        "closeSession" => close(link, arguments).await,
        "executionStatus" => status(link, arguments).await,
        _ => cancel(link, arguments).await,
    };
    match answered {
        Ok((text, facts)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(facts);
            result
        }
        Err(error) => tools::failure(&error, None),
    }
}

type Answer = Result<(String, Value), OpError>;

/// The one string argument, where there is one; anything else is named.
fn only<'a>(arguments: &'a Map<String, Value>, known: Option<&str>) -> Result<Option<&'a str>, OpError> {
    let mut found = None;
    for (name, value) in arguments.iter().filter(|(_, value)| !value.is_null()) {
        match (Some(name.as_str()) == known, value.as_str()) {
            (true, Some(text)) => found = Some(text),
            (true, None) => {
                return Err(OpError::invalid(format!("{name} is a string"), "see the tool's schema"));
            }
            (false, _) => {
                let shown = glass_proto::escape::visible(name, false);
                let shown = glass_proto::escape::cut(&shown, 64).into_owned();
                return Err(OpError::invalid(format!("this tool takes no {shown}"), "see the tool's schema"));
            }
        }
    }
    Ok(found)
}

async fn list(link: &Link, arguments: &Map<String, Value>) -> Answer {
    only(arguments, None)?;
    let mut sessions = link.client().await?.list_sessions().await?;
    sessions.retain(|info| {
        info.name
            .parse()
            .is_ok_and(|name: SessionName| link.resolve(Some(&name)).is_ok_and(|found| found == name))
    });
    let own = link.session().as_str();
    let row = |info: &pb::SessionInfo| {
        json!({
            "name": info.name, "own": info.name == own, "kind": info.kind, "state": info.state,
            "ageMs": info.age_ms, "idleMs": info.idle_ms, "targets": info.targets, "running": info.running,
        })
    };
    let rows: Vec<Value> = sessions.iter().map(row).collect();
    let mut text = format!("{} sessions; this server's own is {own}", rows.len());
    for info in &sessions {
        text.push_str(&format!(
            "\n{} {} · {} targets · idle {} s",
            info.name,
            info.state,
            info.targets,
            info.idle_ms / 1000
        ));
    }
    Ok((text, json!({ "sessions": rows })))
}

async fn close(link: &Link, arguments: &Map<String, Value>) -> Answer {
    let named = match only(arguments, Some("session"))? {
        Some(text) => Some(
            text.parse::<SessionName>()
                .map_err(|error| OpError::invalid(error.to_string(), "see listSessions"))?,
        ),
        None => None,
    };
    let name = link.resolve(named.as_ref())?;
    let closed = link.client().await?.close_session(name.clone().into(), false).await?;
    Ok((format!("closed {name}"), json!({ "closed": closed })))
}

fn execution_id(arguments: &Map<String, Value>) -> Result<ExecutionId, OpError> {
    let given = only(arguments, Some("executionId"))?.unwrap_or_default();
    let wrong = "executionId is an id as answers give it";
    given.parse().map_err(|_| OpError::invalid(wrong, "copy it from an answer or an error"))
}

async fn known(link: &Link, id: &ExecutionId) -> Result<pb::ExecutionInfo, OpError> {
    let found = link.client().await?.show_execution(id.to_string(), Duration::ZERO).await?;
    found.ok_or_else(|| execution::unknown(id))
}

async fn status(link: &Link, arguments: &Map<String, Value>) -> Answer {
    let id = execution_id(arguments)?;
    let info = known(link, &id).await?;
    let facts = serde_json::to_value(Execution::of(&info)).unwrap_or_default();
    let mut text = format!("{id} {}", execution::line(&info));
    if let Some(error) = execution::error(&info) {
        text.push('\n');
        text.push_str(&tools::error_text(&error));
    }
    Ok((text, facts))
}

async fn cancel(link: &Link, arguments: &Map<String, Value>) -> Answer {
    let id = execution_id(arguments)?;
    let info = known(link, &id).await?;
    // Calls act on the sessions that this process may use, and on no others.
    let session = info.session.parse::<SessionName>().ok();
    if !session.is_some_and(|name| link.resolve(Some(&name)).is_ok_and(|found| found == name)) {
        return Err(OpError::rejected(
            ErrorKind::Denied,
            Phase::Policy,
            "that call belongs to a session that this server may not use",
            "cancel calls of this server's own session alone",
        )
        .reason("sessions_not_allowed"));
    }
    if info.state == "ended" || !link.client().await?.cancel(id.to_string()).await? {
        return Err(execution::over(&known(link, &id).await?));
    }
    Ok((
        format!("asked {id} to end; its own answer says how it ended"),
        json!({ "cancelled": id.to_string() }),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_named_and_never_ignored() {
        let object = |value: Value| value.as_object().unwrap().clone();
        assert_eq!(only(&object(json!({ "session": "a" })), Some("session")).unwrap(), Some("a"));
        assert_eq!(only(&object(json!({ "session": null })), Some("session")).unwrap(), None);
        assert!(only(&object(json!({ "session": 5 })), Some("session")).is_err());
        assert!(
            only(&object(json!({ "other": "a" })), Some("session")).unwrap_err().message.contains("other")
        );
        assert!(only(&object(json!({ "session": "a" })), None).is_err());
    }

    // contract: 9.5
    #[test]
    fn they_are_listed_with_their_set_alone() {
        assert!(listed(&Listed::default()).is_empty());
        assert_eq!(listed(&"session".parse().unwrap()).len(), ROWS.len());
        assert!(ROWS.iter().all(|row| has(row.name)));
        for row in &ROWS {
            let output = output(row.name);
            assert!(always(row.name).iter().all(|name| output.get(*name).is_some()), "{}", row.name);
        }
    }
}
