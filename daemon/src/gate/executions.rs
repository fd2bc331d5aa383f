//! Executions by their ids: those in flight, how one is cancelled, and how the last ones ended (contract 2.2, 9.4).
//!
//! What ended is remembered in memory alone, within bounds: it is no receipt. Its outcome and its error are kept, not
//! its result.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use glass_proto::error::OpError;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::{ClientId, ExecutionId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::limits;

/// The name of this quota.
pub const IN_FLIGHT: &str = "operations_in_flight";

/// All of them. The locks are never held across an await.
#[derive(Clone, Debug)]
pub struct Executions {
    limit: usize,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    map: Mutex<HashMap<ExecutionId, Entry>>,
    ended: Mutex<VecDeque<Execution>>,
    count: watch::Sender<usize>,
}

#[derive(Debug)]
struct Entry {
    client: ClientId,
    cancel: CancellationToken,
    /// Cancelled when it is no longer in flight.
    over: CancellationToken,
    begun: Instant,
    session: String,
    operation: &'static str,
    stage: Stage,
}

/// How far an execution is.
#[derive(Clone, Debug)]
pub enum Stage {
    /// It waits: for its session, or for its turn.
    Waiting,
    /// It runs.
    Running {
        /// Whether anything that can have an effect was sent to the browser.
        dispatched: bool,
    },
    /// It has ended.
    Ended(Ending),
}

/// How an execution ended.
#[derive(Clone, Debug)]
pub struct Ending {
    /// How.
    pub outcome: Outcome,
    /// Whether anything that can have an effect was sent to the browser.
    pub dispatched: Dispatched,
    /// The error, where it ended in one.
    pub error: Option<Box<OpError>>,
    /// When.
    pub at: Instant,
}

/// What is known of an execution.
#[derive(Clone, Debug)]
pub struct Execution {
    /// Its id.
    pub id: ExecutionId,
    /// Who asked for it.
    pub client: ClientId,
    /// The session's name; empty where none was named that could be one.
    pub session: String,
    /// The operation.
    pub operation: &'static str,
    /// How long it took, or has taken so far.
    pub took: Duration,
    /// How far it is.
    pub stage: Stage,
}

/// One that is in flight until this is dropped.
#[derive(Debug)]
pub struct InFlight {
    executions: Executions,
    id: ExecutionId,
    /// Cancelled when a client asks for it.
    pub cancel: CancellationToken,
}

impl Executions {
    /// None yet; a client may have `limit` at one time.
    pub fn new(limit: usize) -> Self {
        let shared = Shared { map: Mutex::default(), ended: Mutex::default(), count: watch::Sender::new(0) };
        Self { limit, shared: Arc::new(shared) }
    }

    /// How many a client may have.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many this client has.
    pub fn of(&self, client: &ClientId) -> usize {
        self.map().values().filter(|entry| entry.client == *client).count()
    }

    /// Enters one.
    ///
    /// # Errors
    /// How many the client has already, where that is as many as it may.
    pub fn enter(&self, client: &ClientId, id: &ExecutionId) -> Result<InFlight, usize> {
        let mut map = self.map();
        let used = map.values().filter(|entry| entry.client == *client).count();
        if used >= self.limit {
            return Err(used);
        }
        let cancel = CancellationToken::new();
        let entry = Entry {
            client: client.clone(),
            cancel: cancel.clone(),
            over: CancellationToken::new(),
            begun: Instant::now(),
            session: String::new(),
            operation: "",
            stage: Stage::Waiting,
        };
        map.insert(id.clone(), entry);
        self.shared.count.send_replace(map.len());
        Ok(InFlight { executions: self.clone(), id: id.clone(), cancel })
    }

    /// Remembers how one ended. Said while it is in flight, so that it is known at every moment.
    pub fn ended(&self, execution: Execution) {
        let mut ended = self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |past: &Execution| past.session == execution.session;
        if ended.iter().filter(|past| same(past)).count() >= limits::ENDED_A_SESSION
            && let Some(oldest) = ended.iter().position(same)
        {
            ended.remove(oldest);
        }
        if ended.len() >= limits::ENDED {
            ended.pop_front();
        }
        ended.push_back(execution);
    }

    /// One, in flight or ended; `None` where there never was one of that id, or it is forgotten.
    pub fn find(&self, id: &ExecutionId) -> Option<Execution> {
        let running = self.map().get(id).map(|entry| Execution {
            id: id.clone(),
            client: entry.client.clone(),
            session: entry.session.clone(),
            operation: entry.operation,
            took: entry.begun.elapsed(),
            stage: entry.stage.clone(),
        });
        // It is among the ended before it leaves those in flight.
        running.or_else(|| {
            let ended = self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.iter().rev().find(|past| past.id == *id).cloned()
        })
    }

    /// Waits until one is no longer in flight.
    pub async fn over(&self, id: &ExecutionId) {
        let over = self.map().get(id).map(|entry| entry.over.clone());
        if let Some(over) = over {
            over.cancelled().await;
        }
    }

    /// Cancels one; false where none of that id is in flight.
    pub fn cancel(&self, id: &ExecutionId) -> bool {
        let map = self.map();
        let found = map.get(id);
        if let Some(entry) = found {
            entry.cancel.cancel();
        }
        found.is_some()
    }

    /// How many are in flight.
    pub fn count(&self) -> usize {
        *self.shared.count.borrow()
    }

    /// Waits until none is in flight.
    pub async fn none(&self) {
        let mut count = self.shared.count.subscribe();
        // The sender lives in `self`.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    fn map(&self) -> MutexGuard<'_, HashMap<ExecutionId, Entry>> {
        self.shared.map.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InFlight {
    /// Says what it is, for whoever asks.
    pub fn is(&self, session: &str, operation: &'static str) {
        self.change(|entry| {
            session.clone_into(&mut entry.session);
            entry.operation = operation;
        });
    }

    /// It has its turn.
    pub fn runs(&self) {
        self.change(|entry| entry.stage = Stage::Running { dispatched: false });
    }

    /// Something that can have an effect was sent to the browser.
    pub fn dispatched(&self) {
        self.change(|entry| entry.stage = Stage::Running { dispatched: true });
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.executions.map().get_mut(&self.id) {
            change(entry);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut map = self.executions.map();
        if let Some(entry) = map.remove(&self.id) {
            entry.over.cancel();
        }
        self.executions.shared.count.send_replace(map.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_own_bound() {
        let executions = Executions::new(2);
        let (one, two) = (ClientId::generate(), ClientId::generate());
        let ids: Vec<_> = (0..4).map(|_| ExecutionId::generate()).collect();
        let first = executions.enter(&one, &ids[0]).unwrap();
        let _second = executions.enter(&one, &ids[1]).unwrap();
        assert_eq!(executions.enter(&one, &ids[2]).unwrap_err(), 2);
        let _other = executions.enter(&two, &ids[2]).unwrap();
        drop(first);
        let _third = executions.enter(&one, &ids[3]).unwrap();
        assert_eq!(executions.count(), 3);
    }

    #[tokio::test]
    async fn cancelling_finds_only_what_runs() {
        let executions = Executions::new(2);
        let id = ExecutionId::generate();
        assert!(!executions.cancel(&id));
        let running = executions.enter(&ClientId::generate(), &id).unwrap();
        assert!(executions.cancel(&id));
        assert!(running.cancel.is_cancelled());
        drop(running);
        executions.none().await;
        assert!(!executions.cancel(&id));
    }

    fn ended(session: &str) -> Execution {
        let ending = Ending {
            outcome: Outcome::Completed,
            dispatched: Dispatched::Yes,
            error: None,
            at: Instant::now(),
        };
        Execution {
            id: ExecutionId::generate(),
            client: ClientId::generate(),
            session: session.to_owned(),
            operation: "click",
            took: Duration::ZERO,
            stage: Stage::Ended(ending),
        }
    }

    // contract: 9.4
    #[tokio::test]
    async fn one_is_known_from_its_beginning_and_past_its_end() {
        let executions = Executions::new(2);
        let past = ended("s");
        let id = past.id.clone();
        assert!(executions.find(&id).is_none());
        let running = executions.enter(&past.client, &id).unwrap();
        running.is("s", "click");
        assert!(matches!(executions.find(&id).unwrap().stage, Stage::Waiting));
        running.runs();
        running.dispatched();
        let found = executions.find(&id).unwrap();
        assert!(matches!(found.stage, Stage::Running { dispatched: true }));
        assert_eq!((&*found.session, found.operation), ("s", "click"));
        let waiting = executions.over(&id);
        executions.ended(past);
        drop(running);
        waiting.await;
        assert!(matches!(executions.find(&id).unwrap().stage, Stage::Ended(_)));
        executions.over(&id).await;
    }

    #[test]
    fn the_oldest_of_a_session_is_forgotten_first_and_no_session_crowds_out_another() {
        let executions = Executions::new(2);
        let other = ended("other");
        executions.ended(other.clone());
        let past: Vec<_> = (0..=limits::ENDED_A_SESSION).map(|_| ended("busy")).collect();
        past.iter().for_each(|past| executions.ended(past.clone()));
        assert!(executions.find(&past[0].id).is_none());
        assert!(executions.find(&past[1].id).is_some());
        assert!(executions.find(&other.id).is_some());
        for session in 0..limits::ENDED {
            executions.ended(ended(&session.to_string()));
        }
        assert!(executions.find(&other.id).is_none());
    }
}
