//! What waits and what was agreed to, of every client: calls ask here, and use up what they find.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use glass_policy::Capability;
use glass_proto::audit::{Entry, Event};
use glass_proto::confirmation::{Pending, Protection};
use glass_proto::{ClientId, ConfirmationId};
use tokio::sync::{Semaphore, watch};

use super::approver::Approver;
use super::book::{About, Book, Found, Grant, Key};
use super::secret::SecretHash;
use crate::audit::Audit;
use crate::shutdown::Shutdown;

/// How often what is over is forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(5);
/// Clients whose used tokens are remembered while they stay; beyond that a token is none.
const MANY: usize = 4096;

/// How a person agrees, by the configuration.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// The hash of the secret that is asked for on the terminal.
    pub secret: Option<SecretHash>,
    /// The program that decides instead of a person on a terminal.
    pub approver: Option<Approver>,
}

/// The confirmations.
#[derive(Clone, Debug)]
pub struct Confirmations(pub(super) Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) ways: Ways,
    audit: Audit,
    pub(super) tasks: Shutdown,
    state: Mutex<State>,
    /// Told whenever something was decided.
    pub(super) changed: watch::Sender<()>,
    /// One secret is checked at a time: each takes memory and a processor.
    pub(super) checking: Semaphore,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) book: Book,
    /// Tokens that were used up by clients that stay.
    tokens: HashMap<ClientId, HashMap<Capability, u32>>,
    /// When secrets were wrong.
    pub(super) wrong: Vec<Instant>,
}

/// What a call uses up.
#[derive(Debug)]
pub(crate) enum Used {
    /// What a person agreed to.
    Grant(Box<Grant>),
    /// Tokens of the client's command line; of a client that stays, they are counted.
    Tokens(Option<ClientId>, Vec<(Capability, u32)>),
}

impl Confirmations {
    /// None yet.
    pub fn new(ways: Ways, audit: Audit, tasks: Shutdown) -> Self {
        let shared = Shared {
            ways,
            audit,
            tasks,
            state: Mutex::default(),
            changed: watch::Sender::new(()),
            checking: Semaphore::new(1),
        };
        Self(Arc::new(shared))
    }

    /// Forgets what is over, for ever.
    pub async fn keep_short(&self) {
        loop {
            tokio::time::sleep(FORGET_EVERY).await;
            let over = self.state().book.prune(Instant::now());
            for (id, about) in over {
                self.note(Event::ConfirmationExpired, &id, &about, |entry| entry).await;
            }
        }
    }

    /// Uses tokens of a client's command line: `wanted` operations for each capability, of which it `gave` so many. `None`
    /// where it has not enough of one. A client that makes one call, and is `None`, has all of its own.
    pub(crate) fn use_tokens(
        &self,
        client: Option<&ClientId>,
        wanted: &[(Capability, u32, u32)],
    ) -> Option<Used> {
        let mut state = self.state();
        let known = client.and_then(|client| state.tokens.get(client));
        let used = |capability| known.and_then(|known| known.get(&capability)).copied().unwrap_or(0_u32);
        let enough = wanted
            .iter()
            .all(|(capability, wanted, gave)| used(*capability).saturating_add(*wanted) <= *gave);
        if !enough || (client.is_some() && known.is_none() && state.tokens.len() >= MANY) {
            return None;
        }
        if let Some(client) = client {
            let mine = state.tokens.entry(client.clone()).or_default();
            for (capability, wanted, _) in wanted {
                *mine.entry(*capability).or_default() += wanted;
            }
        }
        let taken = wanted.iter().map(|(capability, wanted, _)| (*capability, *wanted)).collect();
        Some(Used::Tokens(client.cloned(), taken))
    }

    /// Looks for the confirmation of a call and enters one where there is none. `id` is its id then.
    pub(crate) async fn ask(&self, key: Key, id: ConfirmationId, about: impl FnOnce() -> About) -> Found {
        let found = self.state().book.ask(Instant::now(), key, id, about);
        if let Found::Waiting { id, new: true, .. } = &found {
            let about = self.state().book.waiting(Instant::now(), id).map(|(about, _)| about.clone());
            if let Some(about) = about {
                self.note(Event::ConfirmationAsked, id, &about, |entry| entry).await;
                self.begin_approver(id.clone(), about);
            }
        }
        found
    }

    /// Puts back what a call used that did nothing.
    pub(crate) fn give_back(&self, used: Used) {
        let mut state = self.state();
        match used {
            Used::Grant(grant) => state.book.give_back(Instant::now(), *grant),
            Used::Tokens(client, taken) => {
                let mine = client.and_then(|client| state.tokens.get_mut(&client));
                let Some(mine) = mine else { return };
                for (capability, count) in taken {
                    if let Some(used) = mine.get_mut(&capability) {
                        *used = used.saturating_sub(count);
                    }
                }
            }
        }
    }

    /// What whoever was refused does about it.
    pub(crate) fn remedy(&self, id: &ConfirmationId, left: Duration) -> String {
        let seconds = left.as_secs().max(1);
        match self.protection() {
            Protection::Approver => "an approver is asked; make the same call again in a moment".to_owned(),
            Protection::Terminal | Protection::Secret => format!(
                "a person runs `glassctl confirm {id}` in a terminal of their own within {seconds} s; then make the same call again"
            ),
        }
    }

    /// Forgets the tokens of a client that has gone.
    pub fn forget(&self, client: &ClientId) {
        self.state().tokens.remove(client);
    }

    /// What is open, without the arguments of calls.
    pub fn open(&self) -> Vec<Pending> {
        let mut open: Vec<_> = self
            .state()
            .book
            .open(Instant::now())
            .into_iter()
            .map(|(_, about, granted, left)| Pending { granted, left_ms: millis(left), ..about.shown })
            .collect();
        open.sort_by(|a, b| (a.left_ms, &a.confirmation_id).cmp(&(b.left_ms, &b.confirmation_id)));
        open
    }

    pub(super) fn protection(&self) -> Protection {
        match &self.0.ways {
            Ways { approver: Some(_), .. } => Protection::Approver,
            Ways { secret: Some(_), .. } => Protection::Secret,
            Ways { .. } => Protection::Terminal,
        }
    }

    pub(super) async fn note(
        &self,
        event: Event,
        id: &ConfirmationId,
        about: &About,
        more: impl FnOnce(Entry) -> Entry,
    ) {
        let shown = &about.shown;
        let entry = Entry {
            confirmation_id: Some(id.to_string()),
            client: Some(shown.client.clone()),
            session: Some(shown.session.clone()),
            operation: Some(shown.operation.clone()),
            capabilities: shown.capabilities.clone(),
            rule: Some(shown.rule_id.clone()),
            host: shown.host.clone(),
            ..Entry::new(event)
        };
        self.0.audit.note(more(entry)).await;
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 10.4
    #[test]
    fn a_token_is_used_up_by_one_operation_unless_it_did_nothing() {
        let all = Confirmations::new(Ways::default(), Audit::off(), Shutdown::default());
        let (one, other) = (ClientId::generate(), ClientId::generate());
        let wanted = [(Capability::Upload, 1, 2)];
        let first = all.use_tokens(Some(&one), &wanted).unwrap();
        assert!(all.use_tokens(Some(&one), &wanted).is_some());
        assert!(all.use_tokens(Some(&one), &wanted).is_none(), "both are used up");
        assert!(all.use_tokens(Some(&other), &wanted).is_some(), "each client has its own");
        all.give_back(first);
        assert!(
            all.use_tokens(Some(&one), &wanted).is_some() && all.use_tokens(Some(&one), &wanted).is_none()
        );
        let both = [(Capability::Upload, 1, 1), (Capability::Evaluate, 1, 0)];
        assert!(all.use_tokens(Some(&ClientId::generate()), &both).is_none(), "all of them or none");
        assert!(all.use_tokens(None, &[(Capability::Upload, 2, 1)]).is_none());
        assert!(all.use_tokens(None, &wanted).is_some() && all.use_tokens(None, &wanted).is_some());
        all.forget(&one);
        assert!(all.use_tokens(Some(&one), &wanted).is_some());
    }
}
