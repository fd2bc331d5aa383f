//! `glassctl events --follow`: what happens in a session, a line each, as long as somebody wants to know (contract 7.6).
//!
//! Each question waits in the session until something happened, beside everything else; a cursor leads from one answer to
//! the next, and what had to make room in between is told.

use std::io;
use std::time::{Duration, Instant};

use glass_proto::op::{CallOptions, Events};
use glass_proto::result::{self, EventKind};
use glass_proto::wire::client as pb;
use glass_proto::{AnyOperation, ErrorKind, OpError, Outcome, Phase};
use pb::ended::Answer as Raw;
use serde_json::json;

use crate::client::Server;
use crate::error::{self, Failure};
use crate::follow::Following;
use crate::output::{Output, Report};
use crate::signals::Cancel;

/// What is followed.
#[derive(Debug)]
pub(super) struct Followed<'a> {
    pub(super) events: &'a Events,
    pub(super) options: &'a CallOptions,
    pub(super) session: &'a str,
}

/// Prints what comes until it ends: by `until`, by its time, by a signal, or with the session.
///
/// # Errors
/// `timeout` where `until` did not come; what the session or the way to it answers.
pub(super) async fn follow(
    followed: Followed<'_>,
    server: &Server,
    output: Output,
    mut cancel: Cancel,
) -> Result<Report, Failure> {
    let Followed { events, options, session } = followed;
    let end = options.timeout_ms.map(|limit| Instant::now() + Duration::from_millis(limit));
    let Some(client) = cancel.race(server.connect()).await else { return done(0) };
    let client = client?;
    let mut asked = Events { follow: false, until: None, ..events.clone() };
    if asked.after.is_none() {
        // From now on: where the cursor stands.
        let now = Events { limit: Some(1), ..asked.clone() };
        let here = CallOptions { timeout_ms: None, ..options.clone() };
        let Some(told) = ask(&client, now, here, session, &mut cancel).await? else { return done(0) };
        asked.after = Some(told.next);
    }
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return match events.until {
                None => done(0),
                Some(_) => Err(missed().into()),
            };
        }
        let wait = left.unwrap_or(Duration::MAX).min(Duration::from_millis(Events::MAX_WAIT_MS));
        let wait = u64::try_from(wait.as_millis()).unwrap_or(Events::MAX_WAIT_MS).max(1);
        let options = CallOptions { timeout_ms: Some(wait), ..options.clone() };
        let Some(told) = ask(&client, asked.clone(), options, session, &mut cancel).await? else {
            return done(0);
        };
        asked.after = Some(told.next);
        match print(&told, events.until, output) {
            Ok(true) => return done(0),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return done(crate::run::EXIT_PIPE),
            Err(error) => return Err(full(&error).into()),
        }
    }
}

/// One question; `None` when it was given up.
async fn ask(
    client: &crate::client::Client,
    events: Events,
    options: CallOptions,
    session: &str,
    cancel: &mut Cancel,
) -> Result<Option<result::Events>, Failure> {
    let unwritable = |_| Failure::invalid("the parameters cannot be written as JSON", "");
    let operation = AnyOperation::Events(events);
    let (params, json) = (operation.encode().map_err(unwritable)?, options.encode().map_err(unwritable)?);
    let mut call = Following::new(client.clone(), &operation, &options);
    let running = call.run(session.to_owned(), params, json, std::future::pending());
    let Some(ended) = cancel.race(running).await else { return Ok(None) };
    let unreadable = || Failure::from(error::unreadable("answer"));
    match ended?.answer {
        Some(Raw::ResultJson(json)) => serde_json::from_slice(&json).map(Some).map_err(|_| unreadable()),
        Some(Raw::ErrorJson(json)) => {
            let error: OpError = serde_json::from_slice(&json).map_err(|_| unreadable())?;
            let mut failure = Failure::from(error);
            failure.session = call.seen.session;
            Err(failure)
        }
        None => Err(unreadable()),
    }
}

/// Prints what was told; `true` when what was waited for is among it, which is the last that is printed.
fn print(told: &result::Events, until: Option<EventKind>, output: Output) -> io::Result<bool> {
    if told.dropped > 0 {
        output.line(&match output.is_json() {
            true => json!({ "dropped": told.dropped }).to_string(),
            false => format!("[left out: {} that had to make room]", told.dropped),
        })?;
    }
    for event in &told.events {
        output.line(&match output.is_json() {
            true => serde_json::to_string(event)?,
            false => result::event_row(event),
        })?;
        if Some(event.kind) == until {
            return Ok(true);
        }
    }
    Ok(false)
}

fn done(exit_code: u8) -> Result<Report, Failure> {
    Ok(Report { printed: true, exit_code, ..Report::of(&(), String::new())? })
}

fn missed() -> OpError {
    OpError::rejected(
        ErrorKind::Timeout,
        Phase::Verification,
        "what was waited for did not happen in time",
        "see what did; give it longer with --timeout-ms",
    )
}

fn full(error: &io::Error) -> OpError {
    OpError::failed(
        ErrorKind::Transport,
        Phase::Transport,
        format!("standard output takes no more: {error}"),
        "make room for it",
    )
    .ended(Outcome::Completed, glass_proto::Dispatched::No)
}
