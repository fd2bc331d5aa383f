//! The only place that prints.
//!
//! Answers go to standard output; errors for people go to standard error, and in the machine form (contract 12.7)
//! to standard output. Nothing that a page, a file name or another client chose reaches a terminal unescaped.

mod human;
mod json;
mod table;

use std::io::{self, Write};

use glass_proto::{OpError, Outcome};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

pub use human::{amount, duration};
pub(crate) use json::Envelope;
pub use table::Table;

use crate::error::Failure;

/// The session that an answer names (contract 1.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionSeen {
    /// Its name.
    pub name: String,
    /// `new` when the command began it, else `running`; empty where there is no browser.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub started: String,
}

/// What a command answers when it ends well.
#[derive(Debug)]
pub struct Report {
    /// The session, for operations.
    pub session: Option<SessionSeen>,
    /// The attempt, for operations.
    pub execution_id: Option<String>,
    /// How it ended, for operations.
    pub outcome: Option<Outcome>,
    /// For machines.
    pub result: Box<RawValue>,
    /// For people; ends without a line break.
    pub text: String,
    /// What ended it, where it has a result all the same: a batch.
    pub error: Option<Box<OpError>>,
    /// What was going on when it ended so, where that was asked for.
    pub trace: Option<serde_json::Value>,
    /// What glassctl exits with; 0 but for commands whose answer has degrees.
    pub exit_code: u8,
    /// The command has printed all there is.
    pub printed: bool,
}

impl Report {
    /// The answer of a command that is no operation.
    ///
    /// # Errors
    /// When `result` cannot be written as JSON.
    pub fn of(result: &impl Serialize, text: String) -> Result<Self, Failure> {
        let result = serde_json::value::to_raw_value(result)
            .map_err(|_| Failure::from(crate::error::unreadable("answer")))?;
        Ok(Self {
            session: None,
            execution_id: None,
            outcome: None,
            result,
            text,
            error: None,
            trace: None,
            exit_code: 0,
            printed: false,
        })
    }
}

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    json: bool,
}

impl Output {
    /// Machine form or text.
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether the machine form was asked for.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Prints an answer.
    ///
    /// # Errors
    /// When standard output does not take it.
    pub fn report(self, report: &Report) -> io::Result<()> {
        if report.printed {
            return Ok(());
        }
        self.line(&if self.json { json::report(report)? } else { human::report(report) })?;
        match &report.trace {
            Some(trace) if !self.json => diagnostic(&human::trace(trace)),
            _ => Ok(()),
        }
    }

    /// Prints an error.
    ///
    /// # Errors
    /// When the stream does not take it.
    pub fn failure(self, failure: &Failure) -> io::Result<()> {
        if self.json {
            return self.line(&json::failure(failure)?);
        }
        diagnostic(&human::failure(failure, human::colour()))
    }

    /// Prints text as it is, with a line break where it has none: help, and the demo's steps.
    ///
    /// # Errors
    /// When standard output does not take it.
    pub fn line(self, text: &str) -> io::Result<()> {
        write_line(io::stdout().lock(), text)
    }
}

/// Tells a person something beside the answer, on standard error.
///
/// # Errors
/// When standard error does not take it.
pub fn diagnostic(text: &str) -> io::Result<()> {
    write_line(io::stderr().lock(), text)
}

/// Asks a person something, on standard error, as it is.
///
/// # Errors
/// When standard error does not take it.
pub(crate) fn prompt(text: &str) -> io::Result<()> {
    let mut to = io::stderr().lock();
    to.write_all(text.as_bytes())?;
    to.flush()
}

fn write_line(mut to: impl Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        to.write_all(b"\n")?;
    }
    to.flush()
}
