//! Who waits for which reply.
//!
//! Owns the map from id to waiter and the end of the connection. Every waiter is resolved exactly once: by its
//! reply, by the end of its session or of the browser, or it is forgotten because nobody waits any more.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};

use super::error::{CdpError, Gone};

pub(super) type Outcome = Result<Box<RawValue>, CdpError>;

/// Counts replies, so that who has two of them can tell which came first.
static REPLIES: AtomicU64 = AtomicU64::new(0);

/// One call that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) method: &'static str,
    pub(super) session: Option<Box<str>>,
    pub(super) reply: oneshot::Sender<(u64, Outcome)>,
}

impl Waiter {
    /// Resolves the call; a call that nobody awaits any more is dropped.
    pub(super) fn resolve(self, outcome: Outcome) {
        let order = REPLIES.fetch_add(1, Ordering::Relaxed);
        if self.reply.send((order, outcome)).is_err() {
            tracing::trace!(method = self.method, "a reply came after its call was given up");
        }
    }
}

#[derive(Debug)]
enum State {
    Open { next_id: u64, waiting: HashMap<u64, Waiter> },
    Closed(Gone),
}

/// The calls in flight on one connection.
#[derive(Debug)]
pub(super) struct Waiters {
    state: Mutex<State>,
    gone: watch::Sender<Option<Gone>>,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State::Open { next_id: 1, waiting: HashMap::new() }),
            gone: watch::Sender::new(None),
        }
    }

    /// Registers a call and gives `send` its id under the lock, so that ids leave in order.
    ///
    /// # Errors
    /// `Closed`, or what `send` says; nothing is registered then.
    pub(super) fn enter(
        &self,
        waiter: Waiter,
        send: impl FnOnce(u64) -> Result<(), CdpError>,
    ) -> Result<u64, CdpError> {
        match &mut *self.lock() {
            State::Closed(gone) => Err(CdpError::Closed(gone.clone())),
            State::Open { next_id, waiting } => {
                let id = *next_id;
                send(id)?;
                *next_id += 1;
                waiting.insert(id, waiter);
                Ok(id)
            }
        }
    }

    /// Takes the waiter of a reply.
    pub(super) fn take(&self, id: u64) -> Option<Waiter> {
        match &mut *self.lock() {
            State::Open { waiting, .. } => waiting.remove(&id),
            State::Closed(_) => None,
        }
    }

    /// Takes every waiter of a session.
    pub(super) fn take_session(&self, session: &str) -> Vec<Waiter> {
        match &mut *self.lock() {
            State::Open { waiting, .. } => waiting
                .extract_if(|_, waiter| waiter.session.as_deref() == Some(session))
                .map(|(_, waiter)| waiter)
                .collect(),
            State::Closed(_) => Vec::new(),
        }
    }

    /// Ends the connection and fails every waiter; the first reason stays.
    pub(super) fn close(&self, gone: Gone) {
        let waiting = {
            let mut state = self.lock();
            match std::mem::replace(&mut *state, State::Closed(gone.clone())) {
                State::Open { waiting, .. } => waiting,
                earlier @ State::Closed(_) => {
                    *state = earlier;
                    return;
                }
            }
        };
        for waiter in waiting.into_values() {
            waiter.resolve(Err(CdpError::Closed(gone.clone())));
        }
        self.gone.send_replace(Some(gone));
    }

    /// Waits until [`Waiters::close`] was called.
    pub(super) async fn closed(&self) -> Gone {
        let mut gone = self.gone.subscribe();
        match gone.wait_for(Option::is_some).await.map(|gone| gone.clone()) {
            Ok(Some(gone)) => gone,
            // `self` holds the sender, so the channel cannot end while this future lives.
            Ok(None) | Err(_) => Gone::because("the connection was dropped"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held; a poisoned map is still a correct map.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
