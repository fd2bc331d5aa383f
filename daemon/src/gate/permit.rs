//! What policy says to one call (contract 10.1 to 10.3, 10.6).
//!
//! Owns the questions and the shape of a refusal. Decides nothing itself: `glass_policy` does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glass_policy::decide::{Denial, Policy, Rates};
use glass_policy::navigation;
use glass_policy::{Capability, Stance};
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{AnyOperation, CallOptions, Step};
use glass_proto::{ClientId, SessionName};

use super::admit::of_step;
use crate::limits;
use crate::supervise::Terms;

/// What a call may do.
#[derive(Clone, Debug)]
pub(super) struct Permit {
    /// What its policy asks of the session.
    pub terms: Arc<Terms>,
    /// Whether answers leave out what fields hold.
    pub hide_values: bool,
}

/// Asks about an operation, and takes out of it what may be left out in silence.
///
/// # Errors
/// Which rule forbids it.
pub(super) fn operation(
    policy: &Policy,
    operation: &mut AnyOperation,
    options: &CallOptions,
) -> Result<(), Box<OpError>> {
    capabilities(policy, operation.name(), &operation.capabilities(options))?;
    if let AnyOperation::Diagnostics(diagnostics) = operation
        && policy.capability(Capability::ConsoleValues).says.stance != Stance::Allow
    {
        diagnostics.values = Some(false);
    }
    if let AnyOperation::Batch(batch) = operation {
        for (number, step) in (1..).zip(&mut batch.steps) {
            self::step(policy, step).map_err(|error| of_step(number, *error))?;
        }
    }
    let url = match operation {
        AnyOperation::Navigate(navigate) => Some(&navigate.url),
        AnyOperation::CreateTarget(create) => create.url.as_ref(),
        _ => None,
    };
    // It was completed and found readable before.
    let Some(url) = url.and_then(|url| navigation::normalise(url).ok()) else { return Ok(()) };
    policy.navigation(&url).map_err(|denial| refusal(operation.name(), denial, "host"))
}

/// Asks about a step of a batch, before the first is run.
fn step(policy: &Policy, step: &mut Step) -> Result<(), Box<OpError>> {
    let invalid = |why: String| OpError::invalid(why, "see the operation's help");
    let (mut decoded, options) = step.decode().map_err(|error| invalid(error.to_string()))?;
    operation(policy, &mut decoded, &options)?;
    *step = Step::of(&decoded, &options).map_err(|_| invalid("the step cannot be passed on".to_owned()))?;
    Ok(())
}

/// Asks about what something needs.
///
/// # Errors
/// Which rule forbids it.
pub(super) fn capabilities(policy: &Policy, name: &str, needs: &[Capability]) -> Result<(), Box<OpError>> {
    match policy.all(needs).and_then(|ruling| ruling.denial()) {
        Some(denial) => Err(refusal(name, denial, "capability")),
        None => Ok(()),
    }
}

/// What a session must be for a client of this policy, and what its answers hold.
pub(super) fn permit(policy: &Policy) -> Permit {
    let [_, client] = policy.layers();
    let targets = match policy.rates() {
        Rates::Full => limits::TARGETS,
        Rates::Fifth => limits::TARGETS_UNTRUSTED,
    };
    let terms = Terms { client: client.hosts.clone(), requires_egress: policy.requires_egress(), targets };
    let values = policy.capability(Capability::ReadFormValues).says.stance;
    Permit { terms: Arc::new(terms), hide_values: values != Stance::Allow }
}

fn refusal(operation: &str, denial: Denial, reason: &str) -> Box<OpError> {
    let (kind, reason) = match denial.unconfigured {
        true => (ErrorKind::InvalidConfiguration, "no_host_rule"),
        false => (ErrorKind::Denied, reason),
    };
    OpError::rejected(kind, Phase::Policy, denial.reason, denial.remedy)
        .reason(reason)
        .detail("operation", operation)
        .detail("ruleId", denial.rule)
        .detail("overridePossible", denial.override_possible)
        .into()
}

/// Which session each client that stays has for itself.
#[derive(Clone, Debug, Default)]
pub struct Privates(Arc<Mutex<HashMap<ClientId, SessionName>>>);

/// A private session while its client attends.
#[derive(Debug)]
pub struct Private {
    all: Privates,
    client: ClientId,
}

impl Privates {
    /// Notes that `name` is the client's own.
    pub fn enter(&self, client: &ClientId, name: &SessionName) -> Private {
        self.map().insert(client.clone(), name.clone());
        Private { all: self.clone(), client: client.clone() }
    }

    /// Whether a client of this policy may name this session.
    ///
    /// # Errors
    /// Which rule forbids it.
    pub fn check(&self, policy: &Policy, client: &ClientId, name: &SessionName) -> Result<(), Box<OpError>> {
        if self.map().get(client) == Some(name) {
            return Ok(());
        }
        capabilities(policy, "session", &[Capability::NamedSessions])
    }

    fn map(&self) -> MutexGuard<'_, HashMap<ClientId, SessionName>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        self.all.map().remove(&self.client);
    }
}
