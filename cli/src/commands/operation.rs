//! Runs any operation: sends it, follows it to its end, and cancels it when the caller gives up (contract 2.8).

use std::time::Duration;

use glass_proto::op::{CallOptions, Effect, OperationCommand, Screenshot};
use glass_proto::result::Answer;
use glass_proto::wire::client as pb;
use glass_proto::{AnyOperation, ErrorKind, ExecutionId, OpError, Outcome, Phase};
use pb::ended::Answer as Raw;
use pb::execute_event::Kind;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::picture::Picture;
use super::text;
use crate::client::{Client, Server};
use crate::error::{self, Failure, Sent};
use crate::output::{Output, Report, SessionSeen};
use crate::session::SessionChoice;
use crate::signals::Cancel;

/// How much longer than the operation's own deadline the daemon may take to answer: it ends what runs over.
const GRACE: Duration = Duration::from_secs(10);
/// How long a cancelled operation's outcome is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// An operation that is ready to be sent.
#[derive(Debug)]
pub(super) struct Prepared {
    operation: AnyOperation,
    options: CallOptions,
    session: String,
    picture: Option<Picture>,
}

/// Reads and checks everything that can be checked without the daemon.
///
/// # Errors
/// `invalid_argument`.
pub(super) fn prepare(command: OperationCommand, session: &SessionChoice) -> Result<Prepared, Failure> {
    let (mut operation, options) = command.split();
    let see_help = "see --help of the command";
    options.check().map_err(|error| Failure::invalid(error.to_string(), see_help))?;
    let picture = match &operation {
        AnyOperation::Screenshot(screenshot) => Some(Picture::of(screenshot)?),
        _ => None,
    };
    let session = session.for_execute().map_err(super::invalid)?;
    text::take(&mut operation)?;
    operation.check().map_err(|error| Failure::invalid(error.to_string(), see_help))?;
    Ok(Prepared { operation, options, session, picture })
}

/// Runs the operation.
///
/// # Errors
/// The operation's own error, or that of the way to the daemon.
pub(super) async fn run(
    prepared: Prepared,
    server: &Server,
    output: Output,
    mut cancel: Cancel,
) -> Result<Report, Failure> {
    let Prepared { operation, options, session, picture } = prepared;
    let not_json = |_| Failure::invalid("the parameters cannot be written as JSON", "");
    let params = operation.encode().map_err(not_json)?;
    let json = options.encode().map_err(not_json)?;
    let Some(client) = cancel.race(server.connect()).await else {
        return Err(error::cancelled().into());
    };
    let facts = operation.facts();
    let mut call = Call {
        client: client?,
        cancel,
        sent: if facts.effect == Effect::Read { Sent::Harmless } else { Sent::MayHaveEffect },
        deadline: Instant::now() + options.timeout(facts.timeout) + GRACE,
        seen: Seen::default(),
    };
    let ended = call.run(session, facts.name, params, json).await;
    let seen = call.seen;
    match ended.and_then(|ended| answer(&operation, &ended, &seen, picture.as_ref(), output)) {
        Ok(report) => Ok(report),
        Err(mut failure) => {
            failure.session = seen.session;
            failure.error.execution_id = failure.error.execution_id.or(seen.execution);
            Err(failure)
        }
    }
}

/// What an operation has said of itself so far.
#[derive(Debug, Default)]
struct Seen {
    execution: Option<ExecutionId>,
    session: Option<SessionSeen>,
    file: Vec<u8>,
}

impl Seen {
    fn take(&mut self, event: pb::ExecuteEvent) -> Result<Option<pb::Ended>, Failure> {
        match event.kind {
            Some(Kind::Accepted(accepted)) => self.note(&accepted.execution_id, accepted.session),
            Some(Kind::Artifact(artifact)) => {
                // The daemon bounds it; this bounds the daemon.
                if self.file.len() + artifact.data.len() > 2 * Screenshot::MAX_BYTES {
                    return Err(OpError::failed(
                        ErrorKind::ResultTooLarge,
                        Phase::Transport,
                        "the file of the answer is larger than its bound",
                        "ask for a smaller part of the page",
                    )
                    .into());
                }
                self.file.extend_from_slice(&artifact.data);
            }
            Some(Kind::Ended(ended)) => {
                self.note(&ended.execution_id, ended.session.clone());
                return Ok(Some(ended));
            }
            // Something that a newer daemon of this protocol tells beside.
            None => {}
        }
        Ok(None)
    }

    fn note(&mut self, execution: &str, session: Option<pb::SessionRef>) {
        self.execution = execution.parse().ok().or(self.execution.take());
        if let Some(session) = session {
            self.session = Some(SessionSeen { name: session.name, started: session.started });
        }
    }
}

struct Call {
    client: Client,
    cancel: Cancel,
    sent: Sent,
    deadline: Instant,
    seen: Seen,
}

impl Call {
    async fn run(
        &mut self,
        session: String,
        name: &str,
        params: Vec<u8>,
        options: Vec<u8>,
    ) -> Result<pb::Ended, Failure> {
        let mut stream = tokio::select! {
            opened = self.client.execute(session, name, params, options) => {
                opened.map_err(|status| error::from_status(&status, self.sent))?
            }
            () = self.cancel.asked() => return Err(self.gave_up().into()),
            () = sleep_until(self.deadline) => return Err(self.ran_over().into()),
        };
        let mut patience = None;
        loop {
            tokio::select! {
                biased;
                event = stream.message() => match event {
                    Ok(Some(event)) => {
                        if let Some(ended) = self.seen.take(event)? {
                            return Ok(ended);
                        }
                    }
                    Ok(None) => return Err(self.broke().into()),
                    Err(status) => return Err(error::from_status(&status, self.sent).into()),
                },
                () = self.cancel.asked(), if patience.is_none() => {
                    let Some(id) = &self.seen.execution else { return Err(self.gave_up().into()) };
                    let until = Instant::now() + PATIENCE;
                    patience = Some(until);
                    // Whatever this answers, the operation's own stream says how it ended; and if that breaks
                    // off, leaving it cancels the operation too.
                    let _ = timeout_at(until, self.client.cancel(id.to_string())).await;
                }
                () = sleep_until(patience.unwrap_or(self.deadline)) => {
                    return Err(if patience.is_some() { self.gave_up() } else { self.ran_over() }.into());
                }
            }
        }
    }

    fn gave_up(&self) -> OpError {
        error::lost(
            self.sent,
            "cancelled",
            ErrorKind::Cancelled,
            "cancelled before the operation's end was known",
        )
    }

    fn ran_over(&self) -> OpError {
        error::lost(
            self.sent,
            "timeout",
            ErrorKind::Timeout,
            "glassd did not answer, also not some seconds after the operation's deadline",
        )
    }

    fn broke(&self) -> OpError {
        error::lost(
            self.sent,
            "daemon_lost",
            ErrorKind::Transport,
            "glassd ended the connection before it said how the operation ended",
        )
    }
}

fn answer(
    operation: &AnyOperation,
    ended: &pb::Ended,
    seen: &Seen,
    picture: Option<&Picture>,
    output: Output,
) -> Result<Report, Failure> {
    let unreadable = || Failure::from(error::unreadable("answer"));
    let json = match &ended.answer {
        Some(Raw::ErrorJson(json)) => {
            let error: OpError = serde_json::from_slice(json).map_err(|_| unreadable())?;
            return Err(error.into());
        }
        Some(Raw::ResultJson(json)) => json,
        None => return Err(unreadable()),
    };
    let json = match picture {
        Some(picture) => with_path(json, &picture.write(&seen.file)?.to_string_lossy()),
        None => String::from_utf8(json.clone()).ok(),
    };
    let result = json.and_then(|json| RawValue::from_string(json).ok()).ok_or_else(unreadable)?;
    let text = match output.is_json() {
        true => String::new(),
        false => Answer::decode(operation, result.get().as_bytes()).map_err(|_| unreadable())?.text(),
    };
    Ok(Report {
        session: seen.session.clone(),
        execution_id: seen.execution.as_ref().map(ToString::to_string),
        outcome: Outcome::from_name(&ended.outcome),
        result,
        text,
    })
}

/// The result with the place of its file in it.
fn with_path(json: &[u8], path: &str) -> Option<String> {
    let mut result: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(json).ok()?;
    result.insert("path".to_owned(), path.into());
    serde_json::to_string(&result).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_daemon_tells_is_kept() {
        let mut seen = Seen::default();
        let id = ExecutionId::generate();
        let session = Some(pb::SessionRef { name: "s".into(), started: "new".into() });
        let accepted = pb::Accepted { execution_id: id.to_string(), session };
        let event = |kind| pb::ExecuteEvent { kind: Some(kind) };
        assert!(seen.take(event(Kind::Accepted(accepted))).unwrap().is_none());
        let ended = pb::Ended { outcome: "completed".into(), ..pb::Ended::default() };
        // An end that repeats neither the id nor the session takes nothing away.
        assert!(seen.take(event(Kind::Ended(ended))).unwrap().is_some());
        assert_eq!(seen.execution, Some(id));
        assert_eq!(seen.session.map(|session| session.started).as_deref(), Some("new"));
    }

    #[test]
    fn a_file_without_bound_is_not_collected() {
        let mut seen = Seen::default();
        let piece = pb::Artifact { data: vec![0; Screenshot::MAX_BYTES], ..pb::Artifact::default() };
        let mut take = || seen.take(pb::ExecuteEvent { kind: Some(Kind::Artifact(piece.clone())) });
        assert!(take().is_ok() && take().is_ok());
        assert_eq!(take().unwrap_err().error.kind, ErrorKind::ResultTooLarge);
    }
}
