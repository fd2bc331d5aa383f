//! The machine form (contract 12.7): one object on one line.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use glass_proto::escape::is_hidden;
use glass_proto::{OpError, Outcome};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Report, SessionSeen};
use crate::error::Failure;

/// Version of the machine form. Within one version fields are only added.
const SCHEMA: u32 = 1;

/// What `--json` prints: one object with a result or an error.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Answer")]
pub(crate) struct Envelope<'a> {
    /// Version of this form. Within one version fields are only added.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// Whether there is a result. The exit code is 0 then, but for Ctrl-C.
    ok: bool,
    /// The session, for operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SessionSeen")]
    session: Option<&'a SessionSeen>,
    /// The attempt, for operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    execution_id: Option<&'a str>,
    /// How it ended, for operations and errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Outcome")]
    outcome: Option<Outcome>,
    /// What the command answers, when ok. A batch that a step ended has it beside its error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Value")]
    result: Option<&'a RawValue>,
    /// What went wrong, when not ok.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OpError")]
    error: Option<&'a OpError>,
    /// What was going on when it failed, where `--trace-on-error` asked for it: at most 8 KiB. Fields named `page…` are page
    /// data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Value")]
    trace: Option<&'a serde_json::Value>,
}

pub(super) fn report(report: &Report) -> io::Result<String> {
    line(&Envelope {
        schema: SCHEMA,
        ok: report.error.is_none(),
        session: report.session.as_ref(),
        execution_id: report.execution_id.as_deref(),
        outcome: report.outcome,
        result: Some(&report.result),
        error: report.error.as_deref(),
        trace: inner(report.trace.as_ref()),
    })
}

pub(super) fn failure(failure: &Failure) -> io::Result<String> {
    line(&Envelope {
        schema: SCHEMA,
        ok: false,
        session: failure.session.as_ref(),
        execution_id: failure.error.execution_id.as_ref().map(AsRef::as_ref),
        outcome: Some(failure.error.outcome),
        result: None,
        error: Some(&failure.error),
        trace: inner(failure.trace.as_ref()),
    })
}

fn inner(trace: Option<&serde_json::Value>) -> Option<&serde_json::Value> {
    trace.and_then(|trace| trace.get("trace"))
}

fn line(envelope: &Envelope<'_>) -> io::Result<String> {
    let text = serde_json::to_string(envelope).map_err(io::Error::other)?;
    Ok(for_terminals(&text).into_owned())
}

/// Writes what a terminal would act on as `\uXXXX`. Outside ASCII a JSON text has strings only, where that means
/// the same; of ASCII, JSON itself leaves only U+007F unescaped.
fn for_terminals(json: &str) -> Cow<'_, str> {
    let bad = |c: char| is_hidden(c) && c != '\n';
    if !json.chars().any(bad) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if !bad(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 12.7
    #[test]
    fn an_answer_is_one_line_with_the_parts_in_order() {
        let answer = Report {
            session: Some(SessionSeen { name: "default".into(), started: "new".into() }),
            execution_id: Some("01J".into()),
            outcome: Some(Outcome::Completed),
            result: RawValue::from_string(r#"{"value":1}"#.into()).unwrap(),
            text: String::new(),
            error: None,
            trace: None,
            exit_code: 0,
            printed: false,
        };
        assert_eq!(
            report(&answer).unwrap(),
            r#"{"schema":1,"ok":true,"session":{"name":"default","started":"new"},"executionId":"01J","outcome":"completed","result":{"value":1}}"#
        );
    }

    #[test]
    fn an_error_has_the_shape_of_the_contract() {
        let text = failure(&Failure::invalid("m", "r")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["schema"], 1);
        assert_eq!(json["ok"], false);
        assert_eq!(json["outcome"], "rejected");
        assert_eq!(json["error"]["kind"], "invalid_argument");
        assert_eq!(json["error"]["phase"], "preflight");
        assert!(json.get("result").is_none() && json.get("session").is_none());
    }

    #[test]
    fn a_terminal_sees_no_control_character_and_a_parser_the_same_text() {
        let page = "a\u{9b}31m\u{202e}b\u{7f}\u{e0041}\u{1b}[0m é😀";
        let json = serde_json::to_string(page).unwrap();
        let safe = for_terminals(&json);
        assert!(!safe.chars().any(is_hidden), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), page);
    }
}
