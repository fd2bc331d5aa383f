//! What becomes of an operation that was interrupted (contract 2.1, 2.6, 2.8).
//!
//! One table (`glass_proto::outcome::interrupted`) decides the outcome; here it gets its words.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::outcome::{Outcome, Progress, interrupted};

use crate::session::CloseReason;
use crate::supervise::LossReason;

/// What interrupted an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its deadline passed.
    Deadline,
    /// Its client cancelled it or has gone.
    Cancelled,
    /// Worker or browser died.
    Lost(LossReason),
    /// Its session was closed.
    Closed(CloseReason),
    /// The daemon ends.
    Stopping,
    /// The worker's answer broke off or made no sense; the text is for people.
    Broken(String),
}

impl Cause {
    /// The reason in errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Deadline => "timeout",
            Self::Cancelled => "cancelled",
            Self::Lost(reason) => reason.name(),
            Self::Closed(CloseReason::Shutdown) | Self::Stopping => "daemon_lost",
            Self::Closed(_) => "session_closed",
            Self::Broken(_) => "worker_lost",
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Deadline => "the deadline passed".to_owned(),
            Self::Cancelled => "the operation was cancelled".to_owned(),
            Self::Lost(reason) => reason.to_string(),
            Self::Closed(why) => format!("the session was closed: {}", why.text()),
            Self::Stopping => "the daemon ends".to_owned(),
            Self::Broken(why) => format!("the worker's answer broke off: {why}"),
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Deadline => ErrorKind::Timeout,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Lost(LossReason::Browser | LossReason::Left) => ErrorKind::BrowserCrashed,
            Self::Lost(LossReason::Worker(_) | LossReason::Quota(_)) | Self::Closed(_) => {
                ErrorKind::SessionFailed
            }
            Self::Stopping => ErrorKind::DaemonUnreachable,
            Self::Broken(_) => ErrorKind::Transport,
        }
    }

    fn remedy(&self) -> &'static str {
        match self {
            Self::Deadline => "try again, or give it more time (timeoutMs)",
            Self::Cancelled => "call it again when you want it after all",
            Self::Lost(LossReason::Quota(_)) => {
                "begin the session anew with navigate; `glassctl quota` shows what a session may use"
            }
            Self::Lost(_) | Self::Closed(_) => "begin the session anew with navigate",
            Self::Stopping => "call it again; the next command starts a new daemon",
            Self::Broken(_) => "try again; if it happens again, close the session",
        }
    }
}

/// The error of an operation that `cause` interrupted when it had come as far as `progress`.
pub(super) fn error(cause: &Cause, progress: Progress, can_have_effect: bool) -> OpError {
    let (outcome, _) = interrupted(progress, can_have_effect);
    if outcome == Outcome::Unknown {
        return OpError::unknown(
            cause.name(),
            format!("{} after it was sent, so nobody can say what it did", cause.text()),
            "look at the page (observe) before you do it again",
        );
    }
    let rest = if can_have_effect { "; nothing was done" } else { "" };
    let phase = match cause {
        Cause::Deadline | Cause::Cancelled | Cause::Closed(_) | Cause::Stopping => Phase::Preflight,
        Cause::Lost(_) => Phase::BrowserEffect,
        Cause::Broken(_) => Phase::Transport,
    };
    let error = OpError::rejected(cause.kind(), phase, format!("{}{rest}", cause.text()), cause.remedy())
        .reason(cause.name());
    match cause {
        Cause::Lost(LossReason::Quota(hit)) => {
            error.detail("quota", hit.quota.name()).detail("limit", hit.limit).detail("used", hit.used)
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use glass_proto::error::Retry;
    use glass_proto::outcome::Dispatched;

    use super::*;

    fn all() -> Vec<Cause> {
        vec![
            Cause::Deadline,
            Cause::Cancelled,
            Cause::Lost(LossReason::Browser),
            Cause::Lost(LossReason::Worker("x".to_owned())),
            Cause::Closed(CloseReason::Asked),
            Cause::Closed(CloseReason::Shutdown),
            Cause::Stopping,
            Cause::Broken("x".to_owned()),
        ]
    }

    #[test]
    fn only_what_was_sent_and_can_have_an_effect_is_unknown() {
        for cause in all() {
            let sent = error(&cause, Progress::Dispatched, true);
            assert_eq!((sent.kind, sent.outcome), (ErrorKind::UnknownOutcome, Outcome::Unknown), "{cause:?}");
            assert_eq!((sent.retry, sent.reason.as_deref()), (Retry::AfterObserve, Some(cause.name())));
            for (progress, effect) in [(Progress::BeforeDispatch, true), (Progress::Dispatched, false)] {
                let not = error(&cause, progress, effect);
                assert_eq!((not.outcome, not.dispatched), (Outcome::Rejected, Dispatched::No), "{cause:?}");
                assert_eq!((not.retry, not.kind), (Retry::Safe, cause.kind()), "{cause:?}");
            }
        }
    }
}
