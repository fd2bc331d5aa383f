//! What was going on, for a failure whose call asks for it (contract 2.6): the error, the phases and their times, the page
//! as last seen, targets, frames and the newest events, in at most 8 KiB. Page data stands in fields named `page…`.

use glass_proto::op::{AnyOperation, CallOptions};
use glass_proto::{OpError, TargetId, redact};
use serde_json::{Map, Value, json};

/// The largest trace.
const MAX: usize = 8 * 1024;
/// How long each question may take.
const TIMEOUT_MS: u64 = 500;
/// Rows of a list that are told.
const ROWS: usize = 20;

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
        // None of these needs a parameter; that each is asked has a test.
        let operation = AnyOperation::decode(operation, b"{}").ok()?;
        let target_id = target.filter(|_| operation.facts().targeted).cloned();
        let options = CallOptions { timeout_ms: Some(TIMEOUT_MS), target_id, ..CallOptions::default() };
        Some(Question { operation, options, list, name })
    });
    asked.collect()
}

/// Puts a trace together. `page` is the page in the last answer that had one; a question without an answer is told among
/// what is left out.
pub fn trace(
    error: &OpError,
    times: &Value,
    page: Option<Value>,
    answers: Vec<(Question, Option<Value>)>,
) -> Value {
    let mut parts = Vec::new();
    parts.extend(page.map(|page| ("pageLastSeen", page)));
    for (question, mut answer) in answers {
        let rows = answer.as_mut().and_then(|answer| answer.get_mut(question.list)).map(Value::take);
        parts.push((question.name, rows.unwrap_or_default()));
    }
    bounded(error, times, parts)
}

/// The newest event and the first target and frame matter most: the session's first, the page's own.
const NEWEST: &str = "pageEvents";

/// Takes the row that matters least out of a list; false where only one is left.
fn shorten(name: &str, rows: &mut Vec<Value>) -> bool {
    if rows.len() <= 1 {
        return false;
    }
    let least = if name == NEWEST { 0 } else { rows.len() - 1 };
    rows.remove(least);
    true
}

/// The trace of these parts; null for one that nobody could tell.
fn bounded(error: &OpError, times: &Value, parts: Vec<(&str, Value)>) -> Value {
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
    for (name, mut part) in parts {
        redact::texts(&mut part);
        let room = (MAX - 128).saturating_sub(trace.to_string().len() + name.len());
        while part.as_array().is_some_and(|rows| rows.len() > ROWS) || part.to_string().len() > room {
            if !part.as_array_mut().is_some_and(|rows| shorten(name, rows)) {
                part = Value::Null;
                break;
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
        let small = bounded(&error, &times(Some(1), None, 5), vec![("pageTargets", rows(2, 10))]);
        assert_eq!(
            (&small["trace"]["times"], small["trace"].get("leftOut")),
            (&json!({ "connectedMs": 1, "endedMs": 5 }), None)
        );
        let parts = vec![
            ("pageLastSeen", row(3000)),
            ("pageTargets", rows(30, 300)),
            ("pageFrames", row(9000)),
            ("pageEvents", rows(20, 100)),
        ];
        let large = bounded(&error, &times(None, None, 5), parts);
        assert!(large.to_string().len() <= MAX, "{}", large.to_string().len());
        let left = large["trace"]["leftOut"].as_array().unwrap();
        assert!(left.contains(&json!("pageTargets")) && left.contains(&json!("pageFrames")), "{left:?}");
        assert!(large["trace"]["pageTargets"].is_array() && large["trace"]["pageLastSeen"].is_object());
    }

    #[test]
    fn the_newest_events_and_the_first_targets_and_frames_are_told() {
        let rows = || Value::from((0..30).collect::<Vec<_>>());
        let names = ["pageTargets", "pageFrames", "pageEvents"];
        let cut = bounded(
            &OpError::invalid("x", "y"),
            &times(None, None, 5),
            names.iter().map(|name| (*name, rows())).collect(),
        );
        let ends = |name: &str| (cut["trace"][name][0].clone(), cut["trace"][name][ROWS - 1].clone());
        assert_eq!(ends("pageTargets"), (0.into(), 19.into()));
        assert_eq!(ends("pageFrames"), (0.into(), 19.into()));
        assert_eq!(ends("pageEvents"), (10.into(), 29.into()));
        assert_eq!(cut["trace"]["leftOut"], json!(names));
    }

    #[test]
    fn everything_is_asked_and_what_nobody_could_tell_is_left_out_and_said() {
        let asked = questions(None);
        assert_eq!(asked.len(), ASKED.len());
        let answer = |name: &str| (name == "pageFrames").then(|| json!({ "frames": [1] }));
        let answers = asked.into_iter().map(|question| {
            let answer = answer(question.name);
            (question, answer)
        });
        let told = trace(&OpError::invalid("x", "y"), &times(None, None, 5), None, answers.collect());
        assert_eq!(told["trace"]["pageFrames"], json!([1]));
        assert_eq!(told["trace"]["leftOut"], json!(["pageTargets", "pageEvents"]));
    }
}
