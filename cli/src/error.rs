//! What a command ends with when it does not end well: the contract's error with what belongs beside it.
//!
//! Owns the words of the errors that glassctl itself makes: no daemon, a broken connection, files. The exit code
//! follows from the kind (contract 2.6), never from a decision here.

use std::path::Path;

use glass_proto::escape::visible;
use glass_proto::outcome::{Progress, interrupted};
use glass_proto::{Dispatched, ErrorKind, OpError, Outcome, Phase, Retry};
use serde_json::Value;
use tonic::{Code, Status};

use crate::output::SessionSeen;

/// A command that did not end well.
#[derive(Debug)]
pub struct Failure {
    /// The error, in the contract's shape.
    pub error: Box<OpError>,
    /// The session, once the daemon has named it.
    pub session: Option<SessionSeen>,
    /// How the command is called; for wrong calls only.
    pub usage: Option<String>,
    /// What was going on, where that was asked for.
    pub trace: Option<Value>,
}

impl From<OpError> for Failure {
    fn from(error: OpError) -> Self {
        Self { error: Box::new(error), session: None, usage: None, trace: None }
    }
}

impl Failure {
    /// A call that is wrong in itself.
    pub fn invalid(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        OpError::invalid(message, remedy).into()
    }

    /// The exit code of the command line.
    pub fn exit_code(&self) -> u8 {
        self.error.exit_code()
    }
}

/// Nobody answers at the socket; nothing was sent.
pub fn unreachable(socket: &Path, why: &str, remedy: &str) -> OpError {
    let message = format!("no glassd answers at {}: {why}", visible(&socket.to_string_lossy(), false));
    OpError::rejected(ErrorKind::DaemonUnreachable, Phase::Transport, message, remedy)
}

/// How far a request came before the connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It can have no effect, whatever became of it.
    Harmless,
    /// It may have been dispatched to the browser, and can have an effect there.
    MayHaveEffect,
}

/// An error for a request whose answer never came. `reason` is one of `timeout, cancelled, daemon_lost`.
pub fn lost(sent: Sent, reason: &str, kind: ErrorKind, message: &str) -> OpError {
    let (outcome, dispatched) = interrupted(Progress::Dispatched, sent == Sent::MayHaveEffect);
    if outcome == Outcome::Unknown {
        let remedy = "look with `glassctl observe` before you do it again; Glass never repeats it by itself";
        return OpError::unknown(reason, message, remedy).ended(outcome, Dispatched::Unknown);
    }
    OpError::rejected(kind, Phase::Transport, message, "the same command may be given again")
        .reason(reason)
        .ended(outcome, dispatched)
}

/// An error for a request that the daemon answered with a bare gRPC status.
pub fn from_status(status: &Status, sent: Sent) -> OpError {
    // A refusal that is no transport's: policy's, mostly.
    if let Ok(error) = serde_json::from_slice::<OpError>(status.details()) {
        return error;
    }
    let said = visible(status.message(), false).into_owned();
    let refused = |kind, phase, remedy: &str| OpError::rejected(kind, phase, said.clone(), remedy);
    match status.code() {
        Code::InvalidArgument | Code::OutOfRange => {
            refused(ErrorKind::InvalidArgument, Phase::Preflight, "see `glassctl help`")
        }
        Code::NotFound => refused(
            ErrorKind::TargetNotFound,
            Phase::Preflight,
            "`glassctl session list` names the sessions that there are",
        ),
        Code::PermissionDenied | Code::Unauthenticated => {
            refused(ErrorKind::Denied, Phase::Policy, "glassd serves only the user that it runs as")
        }
        Code::ResourceExhausted => {
            refused(ErrorKind::Overloaded, Phase::Policy, "try again in a moment").ended_safe()
        }
        Code::FailedPrecondition => refused(
            ErrorKind::Transport,
            Phase::Transport,
            "use the glassctl and glassd of one installation; `glassctl daemon stop` ends the running one",
        )
        .reason("version_mismatch")
        .never(),
        Code::Unimplemented => refused(
            ErrorKind::Unsupported,
            Phase::Preflight,
            "the running glassd is older: `glassctl daemon stop`, the next command starts the new one",
        ),
        Code::DeadlineExceeded => {
            lost(sent, "timeout", ErrorKind::Timeout, "glassd did not answer within the deadline")
        }
        _ => lost(
            sent,
            "daemon_lost",
            ErrorKind::Transport,
            "the connection to glassd broke before the answer",
        ),
    }
}

/// An answer that this build cannot read.
pub fn unreadable(what: &str) -> OpError {
    OpError::failed(
        ErrorKind::Transport,
        Phase::Transport,
        format!("glassd's {what} cannot be read by this glassctl"),
        "use the glassctl and glassd of one installation",
    )
}

/// The caller gave up before anything was sent.
pub fn cancelled() -> OpError {
    OpError::rejected(
        ErrorKind::Cancelled,
        Phase::Preflight,
        "cancelled; nothing was sent",
        "the same command may be given again",
    )
}

trait Retrying {
    fn never(self) -> Self;
    fn ended_safe(self) -> Self;
}

impl Retrying for OpError {
    fn never(mut self) -> Self {
        self.retry = Retry::Never;
        self
    }

    fn ended_safe(mut self) -> Self {
        self.retry = Retry::Safe;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 2.1, 2.6
    #[test]
    fn a_lost_mutation_is_unknown_and_a_lost_reading_may_be_repeated() {
        let error = from_status(&Status::unavailable("x"), Sent::MayHaveEffect);
        assert_eq!((error.kind, error.exit_code()), (ErrorKind::UnknownOutcome, 7));
        assert_eq!((error.outcome, error.retry), (Outcome::Unknown, Retry::AfterObserve));
        let error = from_status(&Status::unavailable("x"), Sent::Harmless);
        assert_eq!((error.kind, error.exit_code()), (ErrorKind::Transport, 10));
        assert_eq!((error.outcome, error.retry), (Outcome::Rejected, Retry::Safe));
    }

    #[test]
    fn other_versions_are_said_and_never_worth_a_retry() {
        let error = from_status(&Status::failed_precondition("speaks 2.0"), Sent::MayHaveEffect);
        assert_eq!(error.reason.as_deref(), Some("version_mismatch"));
        assert_eq!(error.retry, Retry::Never);
        assert!(error.message.contains("speaks 2.0"));
    }

    #[test]
    fn what_another_process_says_is_escaped() {
        let error = from_status(&Status::not_found("no \x1b[31mx"), Sent::Harmless);
        assert_eq!(error.message, "no \\u{1b}[31mx");
    }
}
