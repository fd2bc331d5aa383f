//! What policy says to one call (contract 10.1 to 10.3, 10.6).
//!
//! Owns the questions and the shape of a refusal. Decides nothing itself: `glass_policy` does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glass_policy::decide::{Policy, Rates};
use glass_policy::navigation;
use glass_policy::{Capability, Stance};
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{AnyOperation, CallOptions, Step};
use glass_proto::session::SessionOptions;
use glass_proto::{ClientId, SessionName};

use super::admit::of_step;
use crate::authority::refusal;
use crate::quota::Quotas;
use crate::supervise::Terms;

/// What a call may do.
#[derive(Clone, Debug)]
pub(super) struct Permit {
    /// What its policy asks of the session.
    pub terms: Arc<Terms>,
    /// Whether answers leave out what fields hold.
    pub hide_values: bool,
}

/// Asks about an operation, and takes out of it what may be left out in silence. Tells what it asked about: for the
/// operation, and for each step of a batch.
///
/// # Errors
/// Which rule forbids it.
pub(super) fn operation(
    policy: &Policy,
    operation: &mut AnyOperation,
    options: &CallOptions,
) -> Result<Vec<Vec<Capability>>, Box<OpError>> {
    let mut asked = vec![operation.capabilities(options)];
    capabilities(policy, operation.name(), &asked[0])?;
    if let AnyOperation::Diagnostics(diagnostics) = operation
        && policy.capability(Capability::ConsoleValues).says.stance != Stance::Allow
        && diagnostics.values != Some(true)
    {
        // Asked for by name they are denied, or a person is asked.
        diagnostics.values = Some(false);
    }
    if let AnyOperation::Batch(batch) = operation {
        for (number, step) in (1..).zip(&mut batch.steps) {
            asked.extend(self::step(policy, step).map_err(|error| of_step(number, *error))?);
        }
    }
    let url = match operation {
        AnyOperation::Navigate(navigate) => Some(&navigate.url),
        AnyOperation::CreateTarget(create) => create.url.as_ref(),
        _ => None,
    };
    // It was completed and found readable before.
    let Some(url) = url.and_then(|url| navigation::normalise(url).ok()) else { return Ok(asked) };
    policy.navigation(&url).map_err(|denial| refusal(operation.name(), denial, "host"))?;
    Ok(asked)
}

/// Asks about a step of a batch, before the first is run.
fn step(policy: &Policy, step: &mut Step) -> Result<Vec<Vec<Capability>>, Box<OpError>> {
    let invalid = |why: String| OpError::invalid(why, "see the operation's help");
    let (mut decoded, options) = step.decode().map_err(|error| invalid(error.to_string()))?;
    let asked = operation(policy, &mut decoded, &options)?;
    *step = Step::of(&decoded, &options).map_err(|_| invalid("the step cannot be passed on".to_owned()))?;
    Ok(asked)
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

/// What part of the targets a session has that an untrusted client began (contract 10.2).
const UNTRUSTED: u32 = 4;

/// What a session must be for a client of this policy, and what its answers hold.
pub(super) fn permit(policy: &Policy, needs: &[Capability], quotas: &Quotas) -> Permit {
    let [_, client] = policy.layers();
    let targets = match policy.rates() {
        Rates::Full => quotas.targets,
        Rates::Fifth => (quotas.targets / UNTRUSTED).max(1),
    };
    let allows = |capability| policy.capability(capability).says.stance == Stance::Allow;
    let terms = Terms {
        client: client.hosts.clone(),
        requires_egress: policy.requires_egress(),
        targets,
        credentials: allows(Capability::HttpCredentials),
        attach: allows(Capability::Attach),
    };
    let values = policy.capability(Capability::ReadFormValues).says.stance;
    // Where a person is asked, what needs it by name comes this far with a person's word alone.
    let asked = values == Stance::Confirm && needs.contains(&Capability::ReadFormValues);
    Permit { terms: Arc::new(terms), hide_values: values != Stance::Allow && !asked }
}

/// Whether a session with these options can be what the policy asks for (contract 10.3).
///
/// # Errors
/// `invalid_configuration`: it asks for network rules that hold, and nobody can make them hold in somebody else's browser.
pub(super) fn session(permit: &Permit, options: &SessionOptions) -> Result<(), Box<OpError>> {
    if options.attach.is_none() || !permit.terms.requires_egress {
        return Ok(());
    }
    let message = "this policy asks for network rules that the kernel enforces, and in a browser that Glass attaches to \
                   they can only be advice";
    let remedy = "leave out --attach; or choose a policy without require_egress";
    Err(OpError::rejected(ErrorKind::InvalidConfiguration, Phase::Policy, message, remedy)
        .reason("egress_advisory")
        .into())
}

/// What the names of private sessions begin with. What follows is random, so that nobody takes the name of a session that
/// another will begin.
const PRIVATE: &str = "mcp-";
/// The fewest characters after it.
const RANDOM: usize = 12;

/// Which session each client that stays has for itself.
#[derive(Clone, Debug, Default)]
pub struct Privates(Arc<Mutex<HashMap<ClientId, Entry>>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: SessionName,
    /// Which attendance it is of: a client that comes again replaces its entry.
    attendance: u64,
}

/// A private session while its client attends.
#[derive(Debug)]
pub struct Private {
    all: Privates,
    client: ClientId,
    entry: Entry,
}

impl Privates {
    /// Notes that `name` is the client's own. `exists`: whether there is a session of that name already.
    ///
    /// # Errors
    /// It is another client's, or it is none that only this client could know and policy denies sessions by name.
    pub fn enter(
        &self,
        policy: &Policy,
        client: &ClientId,
        name: &SessionName,
        exists: bool,
    ) -> Result<Private, Box<OpError>> {
        let mut map = self.map();
        if map.iter().any(|(other, entry)| entry.name == *name && other != client) {
            let message = "the session of that name is another client's own";
            let remedy = "take another name for the private session";
            return Err(OpError::rejected(ErrorKind::Denied, Phase::Policy, message, remedy)
                .reason("private_session")
                .into());
        }
        let before = map.get(client);
        let own = before.is_some_and(|entry| entry.name == *name);
        let is_private = name.as_str().strip_prefix(PRIVATE).is_some_and(|rest| rest.len() >= RANDOM);
        if !own && (exists || !is_private) {
            capabilities(policy, "session", &[Capability::NamedSessions])?;
        }
        let attendance = before.map_or(0, |entry| entry.attendance + 1);
        let entry = Entry { name: name.clone(), attendance };
        map.insert(client.clone(), entry.clone());
        Ok(Private { all: self.clone(), client: client.clone(), entry })
    }

    /// Whether a client of this policy may name this session.
    ///
    /// # Errors
    /// Which rule forbids it.
    pub fn check(&self, policy: &Policy, client: &ClientId, name: &SessionName) -> Result<(), Box<OpError>> {
        if self.map().get(client).is_some_and(|entry| entry.name == *name) {
            return Ok(());
        }
        capabilities(policy, "session", &[Capability::NamedSessions])
    }

    fn map(&self) -> MutexGuard<'_, HashMap<ClientId, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Private {
    /// Whether nobody has come again for the session: a newer attendance keeps it.
    pub fn is_left(&self) -> bool {
        let map = self.all.map();
        !map.get(&self.client).is_some_and(|entry| entry.name == self.entry.name && *entry != self.entry)
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let mut map = self.all.map();
        if map.get(&self.client) == Some(&self.entry) {
            map.remove(&self.client);
        }
    }
}

#[cfg(test)]
mod tests {
    use glass_policy::Preset;
    use glass_policy::egress::Source;
    use glass_policy::layer::{Given, Layer};

    use super::*;

    fn policy(preset: Preset) -> Policy {
        let daemon = Given::default().compile(Source::Daemon).unwrap();
        let client = Given { preset: Some(preset), ..Given::default() }.compile(Source::Client).unwrap();
        let (daemon, client): (Arc<Layer>, Arc<Layer>) = (daemon.into(), client.into());
        Policy::new(daemon, client)
    }

    fn name(text: &str) -> SessionName {
        text.parse().unwrap()
    }

    // contract: 10.2
    #[test]
    fn a_client_without_named_sessions_has_none_but_one_that_nobody_else_could_have() {
        let (privates, client, other) = (Privates::default(), ClientId::generate(), ClientId::generate());
        let untrusted = policy(Preset::UntrustedMcp);
        let own = name("mcp-0123456789ab");
        for (taken, exists) in
            [("default", true), ("default", false), ("mcp-1", false), ("mcp-0123456789ab", true)]
        {
            let refused = privates.enter(&untrusted, &client, &name(taken), exists).unwrap_err();
            assert_eq!(refused.kind, ErrorKind::Denied, "{taken}");
            assert!(privates.check(&untrusted, &client, &name(taken)).is_err(), "{taken}");
        }
        let _attending = privates.enter(&untrusted, &client, &own, false).unwrap();
        assert!(privates.check(&untrusted, &client, &own).is_ok());
        assert!(privates.check(&untrusted, &other, &own).is_err());
        for preset in [Preset::UntrustedMcp, Preset::Development] {
            assert!(privates.enter(&policy(preset), &other, &own, true).is_err(), "it is another's");
        }
        assert!(privates.enter(&policy(Preset::Development), &other, &name("work"), true).is_ok());
    }

    #[test]
    fn a_client_that_comes_again_keeps_its_session_when_its_old_connection_ends() {
        let (privates, client) = (Privates::default(), ClientId::generate());
        let (untrusted, own) = (policy(Preset::UntrustedMcp), name("mcp-0123456789ab"));
        let old = privates.enter(&untrusted, &client, &own, false).unwrap();
        assert!(old.is_left());
        let new = privates.enter(&untrusted, &client, &own, true).unwrap();
        assert!(!old.is_left() && new.is_left());
        drop(old);
        assert!(privates.check(&untrusted, &client, &own).is_ok());
        let other = privates.enter(&untrusted, &client, &name("mcp-ffffffffffff"), false).unwrap();
        assert!(new.is_left() && other.is_left(), "it went over to another session");
        drop((new, other));
        assert!(privates.check(&untrusted, &client, &own).is_err());
    }
}
