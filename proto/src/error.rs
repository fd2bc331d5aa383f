//! The one shape of every error (contract 2.6), and the one table of its kinds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::ExecutionId;
use crate::outcome::{Dispatched, Outcome};

/// Longest `message` and `remedy`, in bytes.
pub const MAX_TEXT: usize = 512;

macro_rules! error_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, exit $exit:literal, failure $failure:literal;)*) => {
        /// What kind of error it is (contract 2.6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorKind {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl ErrorKind {
            /// Every kind, in the order of the contract.
            pub const ALL: &'static [ErrorKind] = &[$(Self::$variant,)*];

            /// Name on the wire, exit code of the command line, and the seed's normalised name.
            fn row(self) -> (&'static str, u8, &'static str) {
                match self { $(Self::$variant => ($name, $exit, $failure),)* }
            }
        }
    };
}

error_kinds! {
    /// The call itself is wrong.
    InvalidArgument = "invalid_argument", exit 2, failure "transport";
    /// Nothing fits the locator, or the session or target is not there.
    TargetNotFound = "target_not_found", exit 3, failure "target_not_found";
    /// More than one element fits the locator.
    AmbiguousTarget = "ambiguous_target", exit 3, failure "ambiguous_target";
    /// The ref's node is gone or has become something else.
    StaleReference = "stale_reference", exit 3, failure "stale_revision";
    /// The page is not at the expected revision.
    StaleRevision = "stale_revision", exit 3, failure "stale_revision";
    /// The element is there and cannot be acted on.
    NotActionable = "not_actionable", exit 3, failure "verification_failed";
    /// The click opened no page.
    PopupMissing = "popup_missing", exit 3, failure "verification_failed";
    /// The click opened several pages.
    PopupAmbiguous = "popup_ambiguous", exit 3, failure "ambiguous_target";
    /// The client's selected target is gone.
    NoTargetSelected = "no_target_selected", exit 3, failure "target_not_found";
    /// It ran, and a postcondition does not hold.
    VerificationFailed = "verification_failed", exit 4, failure "verification_failed";
    /// Policy says no.
    Denied = "denied", exit 5, failure "denied";
    /// A person has to agree first.
    ConfirmationRequired = "confirmation_required", exit 5, failure "confirmation_required";
    /// The configuration or policy cannot be used.
    InvalidConfiguration = "invalid_configuration", exit 5, failure "denied";
    /// A deadline passed; nothing was done.
    Timeout = "timeout", exit 6, failure "transport";
    /// The client gave up; nothing was done.
    Cancelled = "cancelled", exit 6, failure "transport";
    /// Nobody can say what became of it.
    UnknownOutcome = "unknown_outcome", exit 7, failure "transport";
    /// DNS, refused, TLS, aborted, blocked.
    NavigationFailed = "navigation_failed", exit 8, failure "verification_failed";
    /// A limit is reached.
    QuotaExceeded = "quota_exceeded", exit 9, failure "denied";
    /// Too much at once.
    Overloaded = "overloaded", exit 9, failure "transport";
    /// The session could not start, or has ended.
    SessionFailed = "session_failed", exit 10, failure "transport";
    /// The browser or the page's renderer died.
    BrowserCrashed = "browser_crashed", exit 10, failure "transport";
    /// No daemon answers.
    DaemonUnreachable = "daemon_unreachable", exit 10, failure "transport";
    /// The connection broke.
    Transport = "transport", exit 10, failure "transport";
    /// The evaluated script threw, or its value is no JSON.
    EvaluationFailed = "evaluation_failed", exit 1, failure "verification_failed";
    /// A dialog is open.
    DialogBlocked = "dialog_blocked", exit 1, failure "transport";
    /// This build cannot do that.
    Unsupported = "unsupported", exit 1, failure "transport";
    /// The answer is larger than its bound.
    ResultTooLarge = "result_too_large", exit 1, failure "transport";
}

impl ErrorKind {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The exit code of the command line.
    pub fn exit_code(self) -> u8 {
        self.row().1
    }

    /// The seed's normalised name.
    pub fn failure_kind(self) -> &'static str {
        self.row().2
    }
}

/// How far the operation was when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Policy and quotas.
    Policy,
    /// Before a target was looked for.
    Preflight,
    /// While the target was looked for.
    TargetResolution,
    /// While input or a command was being sent.
    Dispatch,
    /// While the browser's answer was awaited.
    BrowserEffect,
    /// While the effect was being checked.
    Verification,
    /// Between the processes.
    Transport,
}

/// When it makes sense to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// The same call will fail again.
    Never,
    /// Look at the page first.
    AfterObserve,
    /// Nothing was sent: the same call may be made again.
    Safe,
}

/// One element that a locator could have meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Its ref, as `e12` or `f2e3`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its role.
    pub role: String,
    /// Its accessible name or text, at most 160 bytes. Page data.
    pub label: String,
    /// The frame that it is in, when not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// Why it is listed or why it does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How to go on after a stale ref.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recovery {
    /// What to call.
    pub suggestion: String,
    /// The revision that the ref was given at, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_revision: Option<u64>,
    /// The ref, as parsed.
    pub stale_ref: String,
}

/// An error, in the one shape that contract 2.6 gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct OpError {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// The seed's normalised name.
    pub failure_kind: String,
    /// How far the operation was.
    pub phase: Phase,
    /// How the operation ended.
    pub outcome: Outcome,
    /// Whether anything that can have an effect was sent.
    pub dispatched: Dispatched,
    /// The attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub execution_id: Option<ExecutionId>,
    /// What happened, for a person. Never page text, typed text, evaluated source or a locator as given.
    pub message: String,
    /// A closer reason, for a machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do next.
    pub remedy: String,
    /// At most 8 elements that may have been meant. Page data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// How to go on after a stale ref.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// Further facts of this kind of error: revisions, the `net::` error, the dialog, the targets.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub details: serde_json::Map<String, serde_json::Value>,
    /// When it makes sense to try again.
    pub retry: Retry,
}

impl OpError {
    /// An error of an operation of which nothing was sent: outcome `rejected`.
    ///
    /// `retry` is `safe` only for kinds where the same call can succeed later.
    pub fn rejected(
        kind: ErrorKind,
        phase: Phase,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        use ErrorKind as K;
        let retry = match kind {
            K::Timeout
            | K::Cancelled
            | K::Overloaded
            | K::QuotaExceeded
            | K::SessionFailed
            | K::BrowserCrashed
            | K::DaemonUnreachable
            | K::Transport
            | K::ConfirmationRequired => Retry::Safe,
            K::TargetNotFound
            | K::AmbiguousTarget
            | K::StaleReference
            | K::StaleRevision
            | K::NotActionable
            | K::NoTargetSelected
            | K::DialogBlocked => Retry::AfterObserve,
            _ => Retry::Never,
        };
        Self {
            kind,
            failure_kind: kind.failure_kind().to_owned(),
            phase,
            outcome: Outcome::Rejected,
            dispatched: Dispatched::No,
            execution_id: None,
            message: crate::escape::cut(&message.into(), MAX_TEXT).into_owned(),
            reason: None,
            remedy: crate::escape::cut(&remedy.into(), MAX_TEXT).into_owned(),
            candidates: Vec::new(),
            recovery: None,
            details: serde_json::Map::new(),
            retry,
        }
    }

    /// A call that is wrong in itself.
    pub fn invalid(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::rejected(ErrorKind::InvalidArgument, Phase::Preflight, message, remedy)
    }

    /// An operation that was sent and is known not to have had its effect.
    pub fn failed(
        kind: ErrorKind,
        phase: Phase,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            outcome: Outcome::Failed,
            dispatched: Dispatched::Yes,
            retry: Retry::AfterObserve,
            ..Self::rejected(kind, phase, message, remedy)
        }
    }

    /// An operation that was sent and of which nobody can say what became; `reason` is one of
    /// `timeout, cancelled, browser_crashed, worker_lost, daemon_lost, dialog`.
    pub fn unknown(reason: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Unknown,
            dispatched: Dispatched::Yes,
            reason: Some(reason.to_owned()),
            retry: Retry::AfterObserve,
            ..Self::rejected(ErrorKind::UnknownOutcome, Phase::BrowserEffect, message, remedy)
        }
    }

    /// With a closer reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// With the execution id.
    #[must_use]
    pub fn of(mut self, execution: &ExecutionId) -> Self {
        self.execution_id = Some(execution.clone());
        self
    }

    /// With one more fact.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// With candidates, of which 8 are kept.
    #[must_use]
    pub fn with_candidates(mut self, mut candidates: Vec<Candidate>) -> Self {
        candidates.truncate(8);
        self.candidates = candidates;
        self
    }

    /// With another outcome, for an operation that came further than the constructor says.
    #[must_use]
    pub fn ended(mut self, outcome: Outcome, dispatched: Dispatched) -> Self {
        self.outcome = outcome;
        self.dispatched = dispatched;
        if dispatched != Dispatched::No && self.retry == Retry::Safe {
            self.retry = Retry::AfterObserve;
        }
        self
    }

    /// The exit code of the command line.
    pub fn exit_code(&self) -> u8 {
        self.kind.exit_code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_on_the_wire() {
        for &kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }

    #[test]
    fn retry_is_safe_only_when_nothing_was_sent() {
        let error = OpError::rejected(ErrorKind::Timeout, Phase::Preflight, "m", "r");
        assert_eq!(error.retry, Retry::Safe);
        assert_eq!(error.ended(Outcome::Unknown, Dispatched::Yes).retry, Retry::AfterObserve);
    }

    #[test]
    fn texts_are_bounded() {
        let error = OpError::invalid("é".repeat(1000), "x".repeat(1000));
        assert!(error.message.len() <= MAX_TEXT && error.remedy.len() <= MAX_TEXT);
    }
}
