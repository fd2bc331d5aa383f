//! Asking glassctl in its machine form: run, check the answer, and take the part that a test is about.

use std::time::Duration;

use serde_json::Value;

use crate::answer::Answer;
use crate::run::Running;
use crate::world::World;

impl World {
    /// Runs glassctl with `--json`, and checks its answer.
    #[track_caller]
    pub fn ask(&self, arguments: &[&str]) -> Answer {
        let before = self.oracle.before(arguments);
        let answer = self.started(arguments).answer();
        self.oracle.judge(arguments, &answer.json, before);
        answer
    }

    /// Starts glassctl with `--json`.
    pub fn begin(&self, arguments: &[&str]) -> Asking {
        self.oracle.look_away();
        self.started(arguments)
    }

    fn started(&self, arguments: &[&str]) -> Asking {
        let command = arguments.first().copied().unwrap_or_default().to_owned();
        Asking { command, running: self.start(["--json"].iter().chain(arguments)) }
    }

    /// Runs it, asserts that it completes, and returns the result.
    #[track_caller]
    pub fn ok(&self, arguments: &[&str]) -> Value {
        self.ask(arguments).result().clone()
    }

    /// Runs it, asserts that it ends with an error of this kind, and returns the error.
    #[track_caller]
    pub fn fails(&self, kind: &str, arguments: &[&str]) -> Value {
        self.ask(arguments).fails(kind).clone()
    }

    /// Evaluates in the page and returns the value.
    #[track_caller]
    pub fn eval(&self, expression: &str) -> Value {
        self.ok(&["evaluate", "--", expression])["value"].clone()
    }

    /// The same in the session of that name.
    #[track_caller]
    pub fn eval_in(&self, session: &str, expression: &str) -> Value {
        self.ok(&["evaluate", "--session", session, "--", expression])["value"].clone()
    }
}

/// A glassctl that runs with `--json`.
#[derive(Debug)]
pub struct Asking {
    command: String,
    /// The run itself.
    pub running: Running,
}

impl Asking {
    /// Waits for its end and checks its answer.
    #[track_caller]
    pub fn answer(self) -> Answer {
        Answer::read(&self.command, self.running.finish())
    }

    /// As `answer`, within this time.
    #[track_caller]
    pub fn answer_within(self, limit: Duration) -> Answer {
        Answer::read(&self.command, self.running.within(limit))
    }
}
