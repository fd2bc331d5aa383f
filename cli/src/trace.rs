//! What was going on, for a failure whose call asks for it (contract 2.6): the error, the phases and their times, the page
//! as last seen, targets, frames and the newest events, in at most 8 KiB. Page data stands in fields named `page…`.

use glass_proto::op::{AnyOperation, CallOptions};
use glass_proto::{OpError, TargetId};
use serde_json::{Map, Value, json};

/// The largest trace.
const MAX: usize = 8 * 1024;
/// How long each question may take.
const TIMEOUT_MS: u64 = 500;
/// Events that are told.
const EVENTS: usize = 20;

/// What is asked: an operation, the list in its answer, and the name of that in the trace.
const ASKED: [(&str, &str, &str); 3] = [
    ("listTargets", "targets", "pageTargets"),
    ("listFrames", "frames", "pageFrames"),
    ("events", "events", "pageEvents"),
];

/// The times of a call's phases, in milliseconds from its beginning; absent where it did not come so far.
pub fn times(connected: Option<u64>, accepted: Option<u64>, ended: u64) -> Value {
    let mut times = Map::new();
    for (name, time) in [("connectedMs", connected), ("acceptedMs", accepted), ("endedMs", Some(ended))] {
        if let Some(time) = time {
            times.insert(name.to_owned(), time.into());
        }
    }
    Value::Object(times)
}

/// Something that is asked for a trace: an operation that only reads.
#[derive(Debug)]
pub struct Question {
    /// The operation.
    pub operation: AnyOperation,
    /// The options of its call.
    pub options: CallOptions,
    list: &'static str,
    name: &'static str,
}

/// What is asked.
pub fn questions(target: Option<&TargetId>) -> Vec<Question> {
    let asked = ASKED.into_iter().filter_map(|(operation, list, name)| {
        let operation = AnyOperation::decode(operation, b"{}").ok()?;
        let target_id = target.filter(|_| operation.facts().targeted).cloned();
        let options = CallOptions { timeout_ms: Some(TIMEOUT_MS), target_id, ..CallOptions::default() };
        Some(Question { operation, options, list, name })
    });
    asked.collect()
}

/// Puts a trace together. `page` is the page in the last answer that had one; a question without an answer is left out.
pub fn trace(
    error: &OpError,
    times: &Value,
    page: Option<Value>,
    answers: Vec<(Question, Option<Value>)>,
) -> Value {
    let mut parts = vec![("pageLastSeen", page)];
    for (question, mut answer) in answers {
        let rows = answer.as_mut().and_then(|answer| answer.get_mut(question.list)).map(Value::take);
        parts.push((question.name, rows.map(newest)));
    }
    bounded(error, times, parts)
}

/// The last rows of a list.
fn newest(rows: Value) -> Value {
    match rows {
        Value::Array(mut rows) => Value::Array(rows.split_off(rows.len().saturating_sub(EVENTS))),
        other => other,
    }
}

fn bounded(error: &OpError, times: &Value, parts: Vec<(&str, Option<Value>)>) -> Value {
    let mut trace = json!({
        "kind": error.kind.name(),
        "message": error.message,
        "phase": error.phase,
        "outcome": error.outcome.name(),
        "dispatched": error.dispatched,
        "times": times,
    });
    if let Some(reason) = &error.reason {
        trace["reason"] = reason.as_str().into();
    }
    if let Some(execution) = &error.execution_id {
        trace["executionId"] = execution.to_string().into();
    }
    let mut left_out = Vec::new();
    for (name, part) in parts {
        let Some(mut part) = part else { continue };
        let room = (MAX - 128).saturating_sub(trace.to_string().len() + name.len());
        while part.to_string().len() > room {
            // The newest events and the first targets matter most.
            let rows = part.as_array_mut().filter(|rows| rows.len() > 1);
            match rows {
                Some(rows) if name == "pageEvents" => drop(rows.remove(0)),
                Some(rows) => drop(rows.pop()),
                None => {
                    part = Value::Null;
                    break;
                }
            }
            if !left_out.contains(&name) {
                left_out.push(name);
            }
        }
        match part {
            Value::Null => left_out.push(name),
            part => trace[name] = part,
        }
    }
    left_out.dedup();
    if !left_out.is_empty() {
        trace["leftOut"] = left_out.into();
    }
    json!({ "trace": trace })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_within_its_bound_and_says_what_it_left_out() {
        let error = OpError::invalid("x", "y");
        let row = |size: usize| json!({ "title": "x".repeat(size) });
        let rows = |count: usize, size: usize| Value::Array(vec![row(size); count]);
        let small = bounded(&error, &times(Some(1), None, 5), vec![("pageTargets", Some(rows(2, 10)))]);
        assert_eq!(
            (&small["trace"]["times"], small["trace"].get("leftOut")),
            (&json!({ "connectedMs": 1, "endedMs": 5 }), None)
        );
        let parts = vec![
            ("pageLastSeen", Some(row(3000))),
            ("pageTargets", Some(rows(20, 300))),
            ("pageFrames", Some(row(9000))),
            ("pageEvents", Some(rows(20, 100))),
        ];
        let large = bounded(&error, &times(None, None, 5), parts);
        assert!(large.to_string().len() <= MAX, "{}", large.to_string().len());
        let left = large["trace"]["leftOut"].as_array().unwrap();
        assert!(left.contains(&json!("pageTargets")) && left.contains(&json!("pageFrames")), "{left:?}");
        assert!(large["trace"]["pageTargets"].is_array() && large["trace"]["pageLastSeen"].is_object());
    }

    #[test]
    fn the_newest_rows_are_told() {
        let rows: Value = (0..30).collect::<Vec<_>>().into();
        assert_eq!(newest(rows)[0], 10);
    }
}
