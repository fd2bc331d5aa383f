//! The map from names to sessions (contract 1.1, 1.4).
//!
//! Owns which session a name means now, how many there may be, and what is remembered of one that failed: its reason
//! is told once, then the name is as good as new (contract 12.2). The lock is never held across an await.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use glass_policy::egress::{HostLayer, Rules};
use glass_policy::layer::Layer;
use glass_proto::error::{ErrorKind, OpError, Phase as OpPhase};
use glass_proto::{ExecutionId, SessionName};

use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::actor::Actor;
use super::handle::{Admitted, Job, SessionHandle, SubmitError, Unfit};
use super::info::{IdleTimeouts, Info};
use super::phase::{CloseReason, FailReason};
use crate::limits;
use crate::quota::Quotas;
use crate::supervise::{Launcher, LossReason};
use crate::vault::Vault;

/// The sessions of this daemon.
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    launcher: Arc<Launcher>,
    max: usize,
    idle: IdleTimeouts,
    slots: Mutex<HashMap<SessionName, Slot>>,
    /// One token for each actor, also of sessions whose name means another by now.
    actors: TaskTracker,
}

enum Slot {
    Live(SessionHandle),
    Failed(Box<Tombstone>),
}

struct Tombstone {
    /// What is left of it may still be ending.
    session: SessionHandle,
    info: Info,
    reason: FailReason,
    told: bool,
    at: Instant,
}

/// An operation that a session has taken.
#[derive(Debug)]
pub struct Submitted {
    /// The session, for a one-off one that is to be closed.
    pub session: SessionHandle,
    /// Its wait for a turn.
    pub admitted: Admitted,
}

impl Registry {
    /// An empty one.
    pub fn new(launcher: Arc<Launcher>, max: usize, idle: IdleTimeouts) -> Self {
        let slots = Mutex::new(HashMap::new());
        Self { shared: Arc::new(Shared { launcher, max, idle, slots, actors: TaskTracker::new() }) }
    }

    /// What one session may use.
    pub fn quotas(&self) -> &Quotas {
        self.shared.launcher.watchdog.quotas()
    }

    /// How many sessions there may be.
    pub fn max(&self) -> usize {
        self.shared.max
    }

    /// A name for a one-off session that no other has.
    pub fn one_off_name() -> SessionName {
        let id = ExecutionId::generate().as_str().to_ascii_lowercase();
        let tail = &id[id.len() - 12..];
        format!("new-{tail}").parse().unwrap_or_else(|_| SessionName::shared_default())
    }

    /// Hands an operation to the session called `name`, which begins where the operation may begin one.
    ///
    /// Waits while a session of that name is closing.
    ///
    /// # Errors
    /// No such session, too many sessions, too many operations, or a session that failed.
    pub async fn submit(&self, name: &SessionName, job: &Job) -> Result<Submitted, Box<OpError>> {
        loop {
            let session = self.find(name, job)?;
            if let Some(unfit) = session.unfit_for(&job.terms) {
                return Err(other_policy(unfit));
            }
            session.permits(job)?;
            match session.submit(job.clone()).await {
                Ok(admitted) => return Ok(Submitted { session, admitted }),
                Err(SubmitError::NotOpen) => return Err(session_new()),
                Err(SubmitError::Full) => {
                    let most = self.quotas().queued as usize;
                    let message = format!("{most} operations wait in this session already");
                    return Err(quota("operations_queued", most, most, message));
                }
                Err(SubmitError::Differs(which)) => return Err(differs(&which)),
                Err(SubmitError::Ending) => session.gone().await,
            }
        }
    }

    fn find(&self, name: &SessionName, job: &Job) -> Result<SessionHandle, Box<OpError>> {
        let starts = job.starts;
        let mut slots = self.slots();
        match slots.get_mut(name) {
            Some(Slot::Live(session)) => return Ok(session.clone()),
            Some(Slot::Failed(tombstone)) if !starts && !tombstone.told => {
                tombstone.told = true;
                return Err(failed_before(&tombstone.reason));
            }
            _ if !starts => return Err(session_new()),
            _ => {}
        }
        let live = slots.values().filter(|slot| matches!(slot, Slot::Live(_))).count();
        if live >= self.shared.max {
            let message = format!("{live} sessions are open, which is as many as may be");
            return Err(quota("sessions", self.shared.max, live, message));
        }
        let shared = &self.shared;
        let (launcher, terms, options) = (shared.launcher.clone(), job.terms.clone(), job.session.clone());
        let session = Actor::start(name.clone(), self, launcher, shared.idle, terms, options);
        slots.insert(name.clone(), Slot::Live(session.clone()));
        Ok(session)
    }

    /// Whether the name means a session, one that failed included.
    pub fn is_taken(&self, name: &SessionName) -> bool {
        self.slots().contains_key(name)
    }

    /// How many sessions live.
    pub fn live(&self) -> usize {
        self.slots().values().filter(|slot| matches!(slot, Slot::Live(_))).count()
    }

    /// Every session, by name; those that failed too.
    pub async fn list(&self) -> Vec<Info> {
        let mut found = Vec::new();
        let mut handles = Vec::new();
        for slot in self.slots().values() {
            match slot {
                Slot::Live(session) => handles.push(session.clone()),
                Slot::Failed(tombstone) => found.push(buried(tombstone)),
            }
        }
        for session in handles {
            found.extend(session.info().await);
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// One session.
    pub async fn show(&self, name: &SessionName) -> Option<Info> {
        let session = match self.slots().get(name)? {
            Slot::Live(session) => session.clone(),
            Slot::Failed(tombstone) => return Some(buried(tombstone)),
        };
        session.info().await
    }

    /// The secrets of the session called `name`, where one lives.
    pub fn vault(&self, name: &SessionName) -> Option<Arc<Vault>> {
        match self.slots().get(name)? {
            Slot::Live(session) => Some(session.vault.clone()),
            Slot::Failed(_) => None,
        }
    }

    /// Closes the session called `name`, or forgets a failed one; false where there is none.
    pub async fn close(&self, name: &SessionName, why: CloseReason) -> bool {
        let session = {
            let mut slots = self.slots();
            match slots.get(name) {
                None => return false,
                Some(Slot::Live(session)) => session.clone(),
                Some(Slot::Failed(tombstone)) => {
                    let session = tombstone.session.clone();
                    slots.remove(name);
                    session
                }
            }
        };
        session.close(why).await;
        true
    }

    /// Closes every session and returns the names of those that were there.
    pub async fn close_all(&self, why: CloseReason) -> Vec<String> {
        let names: Vec<SessionName> = self.slots().keys().cloned().collect();
        let closing = names.iter().map(|name| self.close(name, why));
        let closed = futures_util::future::join_all(closing).await;
        let pairs = names.iter().zip(closed).filter(|(_, closed)| *closed);
        let mut names: Vec<String> = pairs.map(|(name, _)| name.to_string()).collect();
        names.sort();
        names
    }

    /// Closes the sessions whose rules for documents are others now that the daemon's side changed from `old` to `new`:
    /// those were given to the worker when it started. What the proxy goes by changes by itself. Each closes by itself, and
    /// one that is slow to end delays neither the others nor the next change.
    pub fn policy_changed(&self, old: &Layer, new: &Layer) {
        let differs = |session: &SessionHandle| {
            let own = &session.terms.client;
            let rules = |daemon: &Layer| Rules::of([&daemon.hosts, own].map(|layer| HostLayer::clone(layer)));
            let (old, new) = (rules(old), rules(new));
            old != new
                && (session.options.attach.is_some() || old.tells_navigation() || new.tells_navigation())
        };
        let sessions: Vec<_> = self
            .slots()
            .values()
            .filter_map(|slot| match slot {
                Slot::Live(session) if differs(session) => Some(session.clone()),
                Slot::Live(_) | Slot::Failed(_) => None,
            })
            .collect();
        for session in sessions {
            self.shared.launcher.tasks.spawn("close for policy", async move {
                session.close(CloseReason::Policy).await;
            });
        }
    }

    /// Waits until nothing is left of any session, whatever its name means now. No session may begin any more.
    pub async fn all_gone(&self) {
        self.shared.actors.close();
        self.shared.actors.wait().await;
    }

    pub(super) fn alive(&self) -> TaskTrackerToken {
        self.shared.actors.token()
    }

    pub(super) fn closed(&self, name: &SessionName, id: &str) {
        let mut slots = self.slots();
        if matches!(slots.get(name), Some(Slot::Live(session)) if *session.id == *id) {
            slots.remove(name);
        }
    }

    pub(super) fn failed(&self, name: &SessionName, id: &str, reason: FailReason, info: Info) {
        let mut slots = self.slots();
        let session = match slots.get(name) {
            Some(Slot::Live(session)) if *session.id == *id => session.clone(),
            _ => return,
        };
        // Whoever asked for the start has the reason; what a crash interrupted was told of that operation only.
        let told = matches!(reason, FailReason::Start(_));
        let info = Info { client: None, vault: None, pid: None, closes_in: None, usage: None, ..info };
        let stone = Tombstone { session, info, reason, told, at: Instant::now() };
        slots.insert(name.clone(), Slot::Failed(Box::new(stone)));
        forget_oldest(&mut slots);
    }

    /// The actor of a session ended by a fault of the daemon.
    pub(super) fn fault(&self, name: &SessionName, id: &str) {
        tracing::error!(session = id, %name, "a session's task ended by a fault");
        let info = Info {
            name: name.to_string(),
            id: id.to_owned(),
            state: "failed",
            reason: FailReason::Fault.to_string(),
            age: Duration::ZERO,
            idle: Duration::ZERO,
            closes_in: None,
            queued: 0,
            running: Vec::new(),
            tally: Default::default(),
            options: Vec::new(),
            attached: false,
            greeting: None,
            uid: None,
            pid: None,
            client: None,
            usage: None,
            targets: 0,
            vault: None,
        };
        self.failed(name, id, FailReason::Fault, info);
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SessionName, Slot>> {
        self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn buried(tombstone: &Tombstone) -> Info {
    let since = tombstone.at.elapsed();
    let info = tombstone.info.clone();
    Info { age: info.age + since, idle: info.idle + since, running: Vec::new(), queued: 0, ..info }
}

fn forget_oldest(slots: &mut HashMap<SessionName, Slot>) {
    let failed = |slot: &Slot| match slot {
        Slot::Failed(tombstone) => Some(tombstone.at),
        Slot::Live(_) => None,
    };
    let mut stones: Vec<_> =
        slots.iter().filter_map(|(name, slot)| Some((failed(slot)?, name.clone()))).collect();
    stones.sort();
    let excess = stones.len().saturating_sub(limits::TOMBSTONES);
    for (_, name) in stones.into_iter().take(excess) {
        slots.remove(&name);
    }
}

/// The session is there, and this client's policy asks for another (contract 10.3, 12.1).
pub(crate) fn other_policy(unfit: Unfit) -> Box<OpError> {
    let (reason, message) = match unfit {
        Unfit::Hosts => (
            "session_policy",
            "this client's host rules are narrower than, or other than, those that the session was begun under",
        ),
        Unfit::Advisory => (
            "egress_advisory",
            "this policy asks for network rules that the kernel enforces, and those of this session are advice",
        ),
        Unfit::Attached => (
            "attached",
            "this policy does not allow to drive somebody else's browser, and this session is attached to one",
        ),
    };
    let remedy = "use a session of its own, or close this one and begin it anew under these rules";
    OpError::rejected(ErrorKind::InvalidConfiguration, OpPhase::Policy, message, remedy).reason(reason).into()
}

/// The session runs with other options than its caller wants (contract 12.1).
fn differs(which: &[&'static str]) -> Box<OpError> {
    let what = which.join(", ");
    let message =
        format!("the session runs with other options than this call wants: {what}; nothing was done");
    let remedy = "close the session, so that it begins anew with them; or name another with --session";
    OpError::rejected(ErrorKind::InvalidArgument, OpPhase::Preflight, message, remedy)
        .reason("session_options")
        .detail("differing", which)
        .into()
}

/// There is no page to work on (contract 1.4).
fn session_new() -> Box<OpError> {
    OpError::rejected(
        ErrorKind::TargetNotFound,
        OpPhase::Preflight,
        "this session has no page: it is new, or was closed",
        "open one with navigate",
    )
    .reason("session_new")
    .into()
}

fn failed_before(reason: &FailReason) -> Box<OpError> {
    let error = OpError::rejected(
        ErrorKind::SessionFailed,
        OpPhase::Preflight,
        format!("the session ended: {reason}; its pages are lost"),
        "begin it anew with navigate",
    )
    .reason(reason.name());
    match reason {
        FailReason::Lost(LossReason::Quota(hit)) => {
            error.detail("quota", hit.quota.name()).detail("limit", hit.limit).detail("used", hit.used).into()
        }
        _ => error.into(),
    }
}

/// A limit that is reached (contract 11).
pub(crate) fn quota(name: &str, limit: usize, used: usize, message: String) -> Box<OpError> {
    OpError::rejected(ErrorKind::QuotaExceeded, OpPhase::Policy, message, "wait, or close what is not needed")
        .detail("quota", name)
        .detail("limit", limit)
        .detail("used", used)
        .into()
}
