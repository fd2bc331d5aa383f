//! The machine form of an answer, held against contract 2.6 and 12.7 each time that one is read.

use glass_proto::error::{ErrorKind, MAX_TEXT, OpError};
use glass_proto::id::ExecutionId;
use glass_proto::op::Facts;
use glass_proto::outcome::{Dispatched, Outcome};
use serde_json::Value;

use crate::run::Run;
use crate::schemas;

/// What `--json` printed.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The whole object.
    pub json: Value,
    /// The run that printed it.
    pub run: Run,
}

impl Answer {
    /// Reads the answer of `command`, and checks everything that holds for every answer.
    ///
    /// # Panics
    /// When it is not as the contract says.
    #[track_caller]
    pub fn read(command: &str, run: Run) -> Self {
        let text = run.stdout.strip_suffix('\n').unwrap_or_else(|| panic!("no line on stdout: {run}"));
        assert!(!text.contains('\n'), "more than one line: {run}");
        let json: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {run}"));
        let answer = Self { json, run };
        answer.check(command);
        answer
    }

    #[track_caller]
    fn check(&self, command: &str) {
        let Self { json, run } = self;
        assert_eq!(json["schema"], 1, "{run}");
        let wrong = schemas::wrong_answer(json);
        assert!(wrong.is_empty(), "the answer is not as its schema says: {wrong:?}: {run}");
        let ok = json["ok"].as_bool().unwrap_or_else(|| panic!("no `ok`: {run}"));
        // Ctrl-C ends with 130 whatever the outcome (12.3).
        assert_eq!(ok, run.code == Some(0), "`ok` and the exit code differ: {run}");
        // A batch that a step ended has what came of the others beside its error.
        let partly = command == "batch" && json.get("result").is_some();
        assert_eq!(ok || partly, json.get("result").is_some(), "{run}");
        let operation = Facts::of(command);
        if let Some(operation) = operation.filter(|_| partly) {
            check_result(operation, &json["result"], run);
        }
        assert_eq!(!ok, json.get("error").is_some(), "{run}");
        if let Some(operation) = operation.filter(|_| ok) {
            assert!(json["session"]["name"].is_string(), "{run}");
            assert!(matches!(json["session"]["started"].as_str(), Some("new" | "running")), "{run}");
            let id = json["executionId"].as_str().unwrap_or_default();
            assert!(id.parse::<ExecutionId>().is_ok(), "no execution id: {run}");
            assert_eq!(json["outcome"], "completed", "{run}");
            check_result(operation, &json["result"], run);
        }
        if !ok {
            self.check_error();
        }
    }

    #[track_caller]
    fn check_error(&self) {
        let Self { json, run } = self;
        let error: OpError = serde_json::from_value(json["error"].clone())
            .unwrap_or_else(|why| panic!("the error has not the shape of contract 2.6: {why}: {run}"));
        assert_eq!(error.failure_kind, error.kind.failure_kind(), "{run}");
        if run.code != Some(130) {
            assert_eq!(run.code, Some(i32::from(error.kind.exit_code())), "{run}");
        }
        assert!(error.message.len() <= MAX_TEXT && error.remedy.len() <= MAX_TEXT, "{run}");
        assert!(!error.message.is_empty(), "{run}");
        assert!(!error.remedy.is_empty(), "an error says what to do next: {run}");
        assert!(error.candidates.len() <= 8, "{run}");
        assert!(error.candidates.iter().all(|one| one.label.len() <= 160), "{run}");
        assert!(json["error"].to_string().len() <= 8192, "{run}");
        assert_eq!(error.outcome == Outcome::Unknown, error.kind == ErrorKind::UnknownOutcome, "{run}");
        if error.retry == glass_proto::error::Retry::Safe {
            assert_eq!(error.dispatched, Dispatched::No, "{run}");
        }
        if error.outcome == Outcome::Rejected {
            assert_eq!(error.dispatched, Dispatched::No, "{run}");
        }
    }

    /// The result of an operation that completed.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn result(&self) -> &Value {
        assert_eq!(self.json["ok"], true, "{}", self.run);
        &self.json["result"]
    }

    /// The error of an operation that did not complete.
    ///
    /// # Panics
    /// When it did.
    #[track_caller]
    pub fn error(&self) -> &Value {
        assert_eq!(self.json["ok"], false, "{}", self.run);
        &self.json["error"]
    }

    /// The error, which is of this kind.
    ///
    /// # Panics
    /// When there is none, or of another kind.
    #[track_caller]
    pub fn fails(&self, kind: &str) -> &Value {
        assert_eq!(self.error()["kind"], kind, "{}", self.run);
        self.error()
    }

    /// The kind of the error, if there is one.
    pub fn kind(&self) -> Option<&str> {
        self.json["error"]["kind"].as_str()
    }
}

/// A result is as its published schema says, and holds nothing that the schema does not name.
#[track_caller]
fn check_result(operation: &Facts, result: &Value, run: &Run) {
    let wrong = schemas::wrong_result(operation.name, result);
    assert!(wrong.is_empty(), "the result is not as its schema says: {wrong:?}: {run}");
    if let Some((before, after)) = result["previousRevision"]
        .as_u64()
        .zip(result["revision"].as_u64().or(result["page"]["revision"].as_u64()))
    {
        assert!(before <= after, "a revision only grows: {run}");
    }
}
