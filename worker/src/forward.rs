//! The cage's end of the way out: from the browser's proxy port to `glass-egress`.
//!
//! Owns the listener inside the cage's network namespace and the session's endpoint: each connection that the
//! browser makes is passed on as a descriptor, unread. Owns the record of what failed out there, so that the page
//! engine can name a navigation's error truthfully. Does not speak HTTP, resolve names or know rules; all that is
//! the proxy's.
//!
//! When `glass-egress` dies, glassd starts another and a new endpoint comes in through [`Forwarder::replace`].
//! Connections that the old one served are gone with it; those that the browser makes in between wait for the new.

mod failure;
mod peers;

use std::io;
use std::net::TcpListener as StdTcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram as StdUnixDatagram;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use glass_sandbox::fdpass;
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream, UnixDatagram};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use self::failure::Failures;
pub use self::failure::{Failure, FailureKind, hides_failure, hides_socket_failure};
pub use self::peers::Peers;

/// How long a connection waits for an endpoint that takes it before it is closed.
const DELIVERY_LIMIT: Duration = Duration::from_secs(2);

/// How many connections may wait at one time; more stay in the listener's backlog.
const MAX_WAITING: usize = 256;

/// The longest message of the proxy, in bytes.
const MAX_MESSAGE_BYTES: usize = 4096;

/// How long to let go of the listener when this process is out of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Forwards the browser's connections until it is dropped.
#[derive(Debug)]
pub struct Forwarder {
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 2],
}

impl Forwarder {
    /// Starts forwarding what `listener` accepts of `peers` over `endpoint`, a SEQPACKET socket. Needs a running tokio
    /// runtime.
    ///
    /// # Errors
    /// One of the two is not a socket that can be polled.
    pub fn start(listener: StdTcpListener, endpoint: OwnedFd, peers: Peers) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let shared = Arc::new(Shared {
            endpoint: watch::Sender::new(Some(Endpoint::new(endpoint)?)),
            failures: Mutex::new(Failures::new()),
        });
        let accept = tokio::spawn(accept(listener, Arc::clone(&shared), peers));
        let listen = tokio::spawn(listen(Arc::clone(&shared)));
        Ok(Self { shared, tasks: [accept, listen] })
    }

    /// Takes a new endpoint in the place of the old one, whether that one still lives or not.
    ///
    /// # Errors
    /// `endpoint` is not a socket that can be polled; the old one stays.
    pub fn replace(&self, endpoint: OwnedFd) -> io::Result<()> {
        let endpoint = Endpoint::new(endpoint)?;
        self.shared.endpoint.send_replace(Some(endpoint));
        Ok(())
    }

    /// The newest failure for `host`:`port` that the proxy reported at or after `since`.
    ///
    /// The proxy reports before it answers the browser, and what lies in the socket is read here first: a failure
    /// that Chromium knows of is never missed. Case, brackets and a final dot of `host` do not matter.
    pub fn last_failure(&self, host: &str, port: u16, since: Instant) -> Option<Failure> {
        self.shared.drain();
        self.shared.failures().newest(host, port, since).cloned()
    }
}

impl Forwarder {
    /// Remembers a refusal of our own beside those of the proxy.
    pub fn note(&self, failure: Failure) {
        self.shared.failures().remember(failure);
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

#[derive(Debug)]
struct Shared {
    /// `None` from the end of one endpoint to the arrival of the next.
    endpoint: watch::Sender<Option<Arc<Endpoint>>>,
    /// The lock is also held from the receipt of a message to its entry here, so that whoever
    /// finds the socket empty finds its messages here.
    failures: Mutex<Failures>,
}

impl Shared {
    fn failures(&self) -> MutexGuard<'_, Failures> {
        // An entry is whole or absent, so a panic elsewhere leaves nothing half done.
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what the proxy has said by now, without waiting.
    fn drain(&self) {
        let endpoint = self.endpoint.borrow().clone();
        if let Some(endpoint) = endpoint {
            while let Ok(true) = endpoint.receive(&mut self.failures()) {}
        }
    }

    /// Notes that `endpoint` is of no more use, unless another took its place already.
    fn give_up(&self, endpoint: &Arc<Endpoint>) {
        self.endpoint.send_if_modified(|current| {
            let is_current = current.as_ref().is_some_and(|current| Arc::ptr_eq(current, endpoint));
            if is_current {
                *current = None;
            }
            is_current
        });
    }

    /// Passes one connection on, to whichever endpoint takes it.
    async fn deliver(&self, connection: &TcpStream) {
        let mut endpoints = self.endpoint.subscribe();
        // The sender lives as long as `self`, so the wait cannot fail.
        while let Ok(endpoint) = endpoints.wait_for(Option::is_some).await.map(|current| current.clone()) {
            let Some(endpoint) = endpoint else { continue };
            match endpoint.pass(connection).await {
                Ok(()) => return,
                Err(error) => {
                    tracing::debug!(%error, "the egress endpoint takes no connection");
                    self.give_up(&endpoint);
                }
            }
        }
    }
}

/// Accepts the browser's connections and passes each on.
async fn accept(listener: TcpListener, shared: Arc<Shared>, peers: Peers) {
    let mut waiting = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if waiting.len() < MAX_WAITING => match accepted {
                Ok((connection, peer)) => {
                    if let Err(error) = peers.admit(&connection, peer) {
                        tracing::warn!(%error, "a connection to the forwarder was refused");
                        continue;
                    }
                    let shared = Arc::clone(&shared);
                    waiting.spawn(async move {
                        if timeout(DELIVERY_LIMIT, shared.deliver(&connection)).await.is_err() {
                            tracing::warn!("a connection of the browser was closed: no egress endpoint took it");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection of the browser was not accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(ended) = waiting.join_next() => if let Err(error) = ended {
                tracing::error!(%error, "passing a connection on failed");
            },
        }
    }
}

/// Reads what the proxy reports, from one endpoint after the other.
async fn listen(shared: Arc<Shared>) {
    let mut endpoints = shared.endpoint.subscribe();
    loop {
        let current = endpoints.borrow_and_update().clone();
        let Some(endpoint) = current else {
            // The sender lives as long as `shared`, so a change can always come.
            if endpoints.changed().await.is_err() {
                return;
            }
            continue;
        };
        let received = tokio::select! {
            received = endpoint.socket.async_io(Interest::READABLE, || endpoint.receive(&mut shared.failures())) => {
                received
            }
            _ = endpoints.changed() => continue,
        };
        if !matches!(received, Ok(true)) {
            tracing::info!("the egress endpoint ended");
            shared.give_up(&endpoint);
        }
    }
}

/// The session's SEQPACKET socket to `glass-egress`.
#[derive(Debug)]
struct Endpoint {
    /// Neither the standard library nor tokio has a seqpacket type. This one only waits; what is sent and received
    /// goes through `fdpass`, which minds neither.
    socket: UnixDatagram,
}

impl Endpoint {
    fn new(socket: OwnedFd) -> io::Result<Arc<Self>> {
        let socket = StdUnixDatagram::from(socket);
        socket.set_nonblocking(true)?;
        Ok(Arc::new(Self { socket: UnixDatagram::from_std(socket)? }))
    }

    async fn pass(&self, connection: &TcpStream) -> io::Result<()> {
        let pass = || fdpass::send(self.socket.as_fd(), b"c", &[connection.as_fd()]);
        self.socket.async_io(Interest::WRITABLE, pass).await
    }

    /// Takes one message out of the socket into `failures`; false at its end, `WouldBlock` when there is none.
    fn receive(&self, failures: &mut Failures) -> io::Result<bool> {
        let mut message = [0; MAX_MESSAGE_BYTES];
        let length = match fdpass::recv(self.socket.as_fd(), &mut message) {
            Ok((0, _)) => return Ok(false),
            Ok((length, _)) => length,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => 0,
            Err(error) => return Err(error),
        };
        failures.note(&message[..length]);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
