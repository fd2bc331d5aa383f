//! One session's share of the proxy.
//!
//! Owns the session's endpoint, its connections and their number, and the reports of what failed. Does not speak
//! HTTP (`proxy`) and does not know other sessions.

use std::io;
use std::net::TcpStream as StdTcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use glass_policy::egress::Rules;
use glass_policy::host::Transport;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::channel::Channel;
use super::dial::{Destination, Dialled, Lookups, dial, dial_through};
use super::failure::Failure;
use super::meter::{Meter, Open};
use super::proxy;
use super::upstream::Upstream;
use super::wire::{Event, ToWorker};

/// The most connections that one session's browser may have open.
pub const MAX_CONNECTIONS: usize = 256;

/// The most connections over the limit that are told why at one time; further ones are just closed.
const MAX_TURNED_AWAY: usize = 64;

/// The least time between two events about one session's limit.
const OVERLOAD_EVENT_EVERY: Duration = Duration::from_secs(1);

/// The longest message of a forwarder, in bytes.
const MAX_NOTE_BYTES: usize = 256;

/// The way to glassd's ear. Never waits: a glassd that does not read loses events, not its proxy.
#[derive(Clone, Debug)]
pub(super) struct Events {
    queue: mpsc::Sender<Event>,
    dropped: Arc<AtomicU64>,
}

impl Events {
    pub(super) fn new(queue: mpsc::Sender<Event>) -> Self {
        Self { queue, dropped: Arc::default() }
    }

    pub(super) fn send(&self, event: Event) {
        if self.queue.try_send(event).is_err() {
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    /// How many events were lost since the start.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }
}

/// What all connections of a session share.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    rules: watch::Receiver<Arc<Rules>>,
    upstream: Option<Upstream>,
    pub(super) meter: Arc<Meter>,
    lookups: Lookups,
    endpoint: Channel,
    events: Events,
}

impl Session {
    pub(super) fn new(
        id: String,
        rules: watch::Receiver<Arc<Rules>>,
        upstream: Option<Upstream>,
        endpoint: OwnedFd,
        meter: Arc<Meter>,
        events: Events,
    ) -> io::Result<Self> {
        let endpoint = Channel::new(endpoint)?;
        Ok(Self { id, rules, upstream, meter, lookups: Lookups::default(), endpoint, events })
    }

    /// What the session may connect to now.
    pub(super) fn rules(&self) -> Arc<Rules> {
        self.rules.borrow().clone()
    }

    /// The upstream proxy that leads to `destination`, where one does.
    pub(super) fn upstream_to(&self, destination: &Destination) -> Option<&Upstream> {
        self.upstream.as_ref().filter(|_| !destination.is_this_machine())
    }

    /// Connects to `destination`, or to the upstream proxy that leads to it, in one of the `ways` that it may be used.
    ///
    /// # Errors
    /// A rule, or the network.
    pub(super) async fn dial(
        &self,
        destination: &Destination,
        ways: &[Transport],
    ) -> Result<Dialled, Failure> {
        let (rules, lookups) = (self.rules(), &self.lookups);
        match self.upstream_to(destination) {
            Some(upstream) => dial_through(upstream, &rules, lookups, destination, ways).await,
            None => dial(&rules, lookups, destination, ways).await,
        }
    }

    /// Tells glassd and the session's worker of a failure. The worker's message is in its socket when this
    /// returns, so an answer that is sent afterwards cannot overtake it.
    pub(super) fn report(&self, destination: &Destination, failure: &Failure) {
        let (host, port) = (&destination.host(), &destination.port);
        let (session, error) = (self.id.clone(), failure.kind());
        let (rule, reason) = match failure {
            Failure::Denied { rule, reason } => (Some(rule.as_str()), Some(reason.as_str())),
            Failure::Of(_) => (None, None),
        };
        let note = ToWorker::Failed { host, port: *port, error, rule, reason };
        // A worker that does not read names some error less well; nothing else depends on it.
        if let Err(error) =
            serde_json::to_vec(&note).map_err(io::Error::other).and_then(|note| self.endpoint.try_send(&note))
        {
            tracing::debug!(session, %error, "a failure was not told to the worker");
        }
        let host = host.clone();
        self.events.send(match failure {
            Failure::Denied { rule, reason } => {
                Meter::add(&self.meter.denied, 1);
                Event::Denied { session, host, port: *port, rule: rule.clone(), reason: reason.clone() }
            }
            Failure::Of(error) => {
                Meter::add(&self.meter.failed, 1);
                Event::Failed { session, host, port: *port, error: *error }
            }
        });
    }
}

/// Serves a session's connections until its endpoint ends and the last of them did. Dropping it ends all at once.
pub(super) async fn run(session: Arc<Session>) {
    let mut connections = JoinSet::new();
    let mut turned_away = JoinSet::new();
    let mut last_overload: Option<Instant> = None;
    let mut note = [0; MAX_NOTE_BYTES];
    let mut rules = session.rules.clone();
    loop {
        let received = tokio::select! {
            // What was allowed may be forbidden now; what still is allowed is connected to again.
            Ok(()) = rules.changed() => { connections.shutdown().await; continue }
            received = session.endpoint.recv(&mut note) => received,
            Some(ended) = connections.join_next() => { log_panic(&session, ended); continue }
            Some(ended) = turned_away.join_next() => { log_panic(&session, ended); continue }
        };
        let descriptors = match received {
            Ok(Some((_, descriptors))) => descriptors,
            Ok(None) => break,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                tracing::warn!(session = session.id, %error, "a message of the forwarder was dropped");
                continue;
            }
            Err(error) => {
                tracing::warn!(session = session.id, %error, "the session's endpoint broke");
                break;
            }
        };
        for descriptor in descriptors {
            match adopt(descriptor) {
                Ok(stream) if connections.len() < MAX_CONNECTIONS => {
                    let open = Open::new(&session.meter);
                    let session = Arc::clone(&session);
                    connections.spawn(async move {
                        let _open = open;
                        proxy::serve(stream, session).await;
                    });
                }
                Ok(stream) => {
                    if last_overload.is_none_or(|last| last.elapsed() >= OVERLOAD_EVENT_EVERY) {
                        last_overload = Some(Instant::now());
                        let limit = MAX_CONNECTIONS;
                        session.events.send(Event::Overload { session: session.id.clone(), limit });
                    }
                    if turned_away.len() < MAX_TURNED_AWAY {
                        turned_away.spawn(proxy::turn_away(stream));
                    }
                }
                Err(error) => {
                    tracing::warn!(session = session.id, %error, "what the forwarder passed is no connection");
                }
            }
        }
    }
    while let Some(ended) = connections.join_next().await {
        log_panic(&session, ended);
    }
}

fn adopt(descriptor: OwnedFd) -> io::Result<TcpStream> {
    let stream = StdTcpStream::from(descriptor);
    stream.set_nonblocking(true)?;
    let stream = TcpStream::from_std(stream)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn log_panic(session: &Session, ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(session = session.id, %error, "serving a connection failed");
    }
}
