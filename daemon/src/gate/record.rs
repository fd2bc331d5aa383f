//! What the audit log is told of an operation (contract 10.7): when it is let through, when it ends, and when it is refused.

use std::time::Duration;

use glass_proto::audit::{Decision, Entry, Event};
use glass_proto::error::{ErrorKind, OpError};
use glass_proto::op::{AnyOperation, CallOptions};
use glass_proto::{ExecutionId, Outcome};

use super::run::{Attempt, Call, Prepared, attempt_name, shown_name};
use crate::audit::{self, Audit};
use crate::confirm::Used;

fn entry(event: Event, call: &Call, id: &ExecutionId) -> Entry {
    Entry {
        execution_id: Some(id.to_string()),
        client: Some(call.peer.told(&call.caller.kind)),
        operation: Some(attempt_name(&call.operation).to_owned()),
        ..Entry::new(event)
    }
}

/// It goes on to its session.
pub(super) fn begun(
    audit: &Audit,
    call: &Call,
    id: &ExecutionId,
    prepared: &Prepared,
    used: Option<&Used>,
) -> Entry {
    let checked = &prepared.checked;
    let event = entry(Event::Begun, call, id);
    let (decision, confirmation_id, event) = match used {
        None => (Decision::Allow, None, event),
        Some(Used::Grant(grant)) => {
            (Decision::Confirmed, Some(grant.id.to_string()), event.detail("protection", grant.by.name()))
        }
        Some(Used::Tokens(_, taken)) => {
            let taken: Vec<_> =
                taken.iter().map(|(capability, count)| format!("{capability}: {count}")).collect();
            (Decision::Confirmed, None, event.detail("tokens", taken))
        }
    };
    Entry {
        session: Some(prepared.name.to_string()),
        capabilities: prepared.needs.iter().map(ToString::to_string).collect(),
        decision: Some(decision),
        confirmation_id,
        rule: Some(prepared.rule.clone()),
        host: audit::host(&checked.operation),
        arguments: audit
            .is_on()
            .then(|| audit::arguments(audit, &checked.operation, &checked.options))
            .flatten(),
        ..event
    }
}

/// It ended, however it did.
pub(super) fn ended(call: &Call, id: &ExecutionId, attempt: &Attempt, took: Duration) -> Entry {
    Entry {
        session: Some(attempt.session.name.clone()),
        outcome: Some(attempt.outcome.name().to_owned()),
        kind: attempt.kind.map(|kind| kind.name().to_owned()),
        ms: Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
        ..entry(Event::Ended, call, id)
    }
}

/// No session heard of it.
pub(super) fn refused(audit: &Audit, call: &Call, id: &ExecutionId, error: &OpError) -> Entry {
    let text = |key: &str| error.details.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    let (decision, decoded) = match error.kind {
        ErrorKind::Denied => (Some(Decision::Deny), decode(call)),
        ErrorKind::ConfirmationRequired => (Some(Decision::Confirm), decode(call)),
        // What is refused for its number may come in any number.
        ErrorKind::QuotaExceeded => (None, None),
        _ => (None, decode(call)),
    };
    let decoded = decoded.filter(|_| audit.is_on());
    let arguments =
        decoded.as_ref().and_then(|(operation, options)| audit::arguments(audit, operation, options));
    Entry {
        session: Some(shown_name(&call.session)).filter(|name| !name.is_empty()),
        decision,
        rule: text("ruleId"),
        host: decoded.as_ref().and_then(|(operation, _)| audit::host(operation)),
        arguments,
        outcome: Some(Outcome::Rejected.name().to_owned()),
        kind: Some(error.kind.name().to_owned()),
        reason: error.reason.clone(),
        confirmation_id: text("confirmationId"),
        ..entry(Event::Refused, call, id)
    }
}

/// The call as far as it can be read: what was refused was not changed by being judged.
fn decode(call: &Call) -> Option<(AnyOperation, CallOptions)> {
    let operation = AnyOperation::decode(&call.operation, &call.params).ok()?;
    Some((operation, CallOptions::decode(&call.options).ok()?))
}
