//! What Glass knows of the pages of its browser: targets, frames, documents, dialogs, and the engine in each frame.
//!
//! Owns the model that events of the browser keep up to date ([`state`], [`events`]), the set-up of every attached
//! target ([`attach`]), calls into the injected engine ([`engine`]), revisions ([`revision`]) and the way from a
//! point in a frame to a point of the page ([`geometry`]), and asks the browser for what script cannot see
//! ([`reveal`]). Decides nothing about operations.
//!
//! Invariant: no lock is held across a round trip to the browser.

mod admission;
mod aside;
mod attach;
mod choosers;
mod claims;
mod downloads;
mod emulation;
mod engine;
mod events;
mod fetch;
#[cfg(test)]
mod fuzz;
mod geometry;
mod handle;
mod internals;
mod listeners;
mod log;
mod memory;
mod neighbours;
mod news;
mod preview;
mod prompts;
mod pulse;
mod reveal;
mod revision;
mod routes;
mod selection;
mod shots;
mod state;
mod visited;
mod watch;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use glass_policy::egress::Rules;
use glass_proto::result::{EventKind, EventOf};
use glass_proto::session::{Grant, SessionOptions};
use tokio::sync::watch as channel;

pub use aside::{Aside, AsideError};
pub use choosers::Chooser;
pub use claims::{ClaimError, Claims, Known, Notes, is_internal};
pub use emulation::{Emulation, Size, asked_by};
pub use engine::{Call, EngineError, Step};
pub use events::CAPTURE_WORLD;
pub use fetch::OnlyEmpty;
pub use geometry::{Blocker, Mapped};
pub use log::{Ended, Transfer};
pub use memory::Remembered;
pub(crate) use memory::without_fragment;
pub use revision::{ChangedRow, Changes, Check, frame_number, reference};
pub use selection::Selection;
pub use shots::{Taken, View};
use state::MAX_TARGETS;
pub use state::{Blank, Dialog, Document, Download, Exchange, FrameKey, Lifecycle, Moves, State, Target};
pub use visited::{Visited, origin};
pub use watch::Halt;

use fetch::Credentials;

use crate::cdp::{Client, Command, Event, Pending};
use crate::chromium::Browser;
use crate::forward::Forwarder;
use crate::running::Running;
use crate::spool::Spool;
use crate::uploads::Uploads;

/// The pages of one browser. Cheap to clone.
#[derive(Clone)]
pub struct Pages {
    inner: Arc<Inner>,
}

struct Inner {
    browser: OnceLock<Arc<Browser>>,
    state: Mutex<State>,
    /// Counts events that changed the state; waiters look again when it moves.
    moved: channel::Sender<u64>,
    forwarder: Forwarder,
    test_id_attribute: String,
    /// Rules for documents, where those differ from the proxy's.
    navigation: Option<Rules>,
    max_targets: usize,
    spool_bytes: u64,
    credentials: Credentials,
    grants: Vec<Grant>,
    spool: OnceLock<Spool>,
    uploads: Uploads,
    running: Running,
    /// Tells the daemon what is claimed of somebody else's browser.
    notes: Option<Notes>,
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

impl Pages {
    /// An empty model; `forwarder` tells why a connection failed, `test_id_attribute` is what `testid=` goes by.
    /// `navigation` has the rules for documents, where those differ from the proxy's. There may be `max_targets` targets,
    /// and never more than 32. Downloads and uploads may take `spool_bytes` on disk. `options` has who the session is to servers
    /// that ask, and what its pages may do. `notes` are for a browser that is somebody else's.
    pub fn new(
        forwarder: Forwarder,
        test_id_attribute: String,
        navigation: Option<Rules>,
        max_targets: u32,
        spool_bytes: u64,
        options: &SessionOptions,
        notes: Option<Notes>,
    ) -> Self {
        let inner = Inner {
            browser: OnceLock::new(),
            state: Mutex::new(State { elsewhere: notes.is_some(), ..State::default() }),
            moved: channel::Sender::new(0),
            forwarder,
            test_id_attribute,
            navigation,
            max_targets: usize::try_from(max_targets).unwrap_or(MAX_TARGETS).min(MAX_TARGETS),
            spool_bytes,
            credentials: Credentials::of(options),
            grants: options.permissions.clone().unwrap_or_default(),
            spool: OnceLock::new(),
            uploads: Uploads::default(),
            running: Running::default(),
            notes,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Takes one event of the browser. Runs on the reader's task, before any later reply is seen.
    pub fn on_event(&self, event: &Event) {
        tracing::trace!(method = %event.method, session = event.session.as_deref(), "event");
        self.apply(event);
        self.inner.moved.send_modify(|count| *count += 1);
    }

    /// How many targets there may be.
    pub fn max_targets(&self) -> usize {
        self.inner.max_targets
    }

    /// What downloads and uploads may take on disk, in bytes.
    pub fn spool_bytes(&self) -> u64 {
        self.inner.spool_bytes
    }

    /// Enters that the session came to a quota into its events.
    pub fn note_quota(&self, quota: String, what: &'static str, limit: u64, used: u64) {
        let of = EventOf { name: Some(quota), limit: Some(limit), used: Some(used), ..EventOf::default() };
        self.state().news.add(EventKind::Quota, what, None, of);
        self.inner.moved.send_modify(|count| *count += 1);
    }

    /// The egress forwarder of this session.
    pub fn forwarder(&self) -> &Forwarder {
        &self.inner.forwarder
    }

    /// The attribute that `testid=` goes by.
    pub fn test_id_attribute(&self) -> &str {
        &self.inner.test_id_attribute
    }

    /// Where downloads lie, once the browser is up.
    pub fn spool(&self) -> Option<&Spool> {
        self.inner.spool.get()
    }

    /// Files that clients put into the session.
    pub fn uploads(&self) -> &Uploads {
        &self.inner.uploads
    }

    /// The operations that run.
    pub fn running(&self) -> &Running {
        &self.inner.running
    }

    /// The model, for a look without waiting.
    pub fn state(&self) -> MutexGuard<'_, State> {
        // A panic while it was held left it as it was before that one event; going on is right.
        self.inner.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The connection to the browser.
    ///
    /// # Panics
    /// Before [`Self::begin`].
    pub fn client(&self) -> &Client {
        self.inner.browser.get().expect("pages have a browser once it is up").client()
    }

    /// The browser, once it is up.
    pub fn browser(&self) -> Option<Arc<Browser>> {
        self.inner.browser.get().cloned()
    }

    fn start<C: Command>(&self, session: &str, command: C) -> Option<Pending<C::Reply>> {
        self.inner.browser.get().map(|browser| browser.client().start_send(Some(session), command))
    }
}
