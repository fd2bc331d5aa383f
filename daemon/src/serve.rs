//! Accepts connections and serves the gRPC service on them.
//!
//! Owns the bounds of the transport and the count of clients. A peer that may not be served is dropped without a word.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use glass_proto::wire::MAX_MESSAGE;
use glass_proto::wire::client::glass_server::GlassServer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::transport::Server;
use tonic::transport::server::Connected;

use crate::limits;
use crate::peer::{Peer, PeerCheck};
use crate::rpc::Service;
use crate::shutdown::{Phase, Shutdown};

/// The windows of HTTP/2 in bytes: room for a whole artifact's chunk and more.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;
/// How long accepting pauses when the process has no descriptors left.
const BREATH: Duration = Duration::from_millis(50);

/// How many clients are connected.
#[derive(Clone, Debug, Default)]
pub struct Clients(Arc<AtomicUsize>);

impl Clients {
    /// How many there are now.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn enter(&self) -> Client {
        self.0.fetch_add(1, Ordering::Relaxed);
        Client(self.clone())
    }
}

/// One that is connected while this lives.
#[derive(Debug)]
struct Client(Clients);

impl Drop for Client {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many connections each process has, by its pid.
#[derive(Clone, Debug, Default)]
struct Processes(Arc<Mutex<HashMap<i32, Held>>>);

#[derive(Debug, Default)]
struct Held {
    connections: usize,
    /// Whether the log has it that this process wanted more than it gets.
    told: bool,
}

impl Processes {
    /// Counts one more; `None` for a process that has as many as it may. A peer without a pid is not counted: where
    /// the system names none, none can be told from another.
    fn enter(&self, pid: Option<i32>) -> Option<OfProcess> {
        let Some(pid) = pid else { return Some(OfProcess(None)) };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = all.entry(pid).or_default();
        if held.connections >= limits::CONNECTIONS_OF_PROCESS {
            if !std::mem::replace(&mut held.told, true) {
                let limit = limits::CONNECTIONS_OF_PROCESS;
                tracing::warn!(pid, limit, "a process has as many connections as it may; more are ended");
            }
            return None;
        }
        held.connections += 1;
        Some(OfProcess(Some((pid, self.clone()))))
    }
}

/// One of a process's connections while this lives.
#[derive(Debug)]
struct OfProcess(Option<(i32, Processes)>);

impl Drop for OfProcess {
    fn drop(&mut self) {
        let Some((pid, processes)) = self.0.take() else { return };
        let mut all = processes.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut held) = all.entry(pid) {
            held.get_mut().connections -= 1;
            if held.get().connections == 0 {
                held.remove();
            }
        }
    }
}

/// Serves until the daemon has stopped.
pub async fn serve(listener: UnixListener, service: Service, clients: Clients, shutdown: Shutdown) {
    let service = GlassServer::new(service)
        .max_decoding_message_size(MAX_MESSAGE)
        .max_encoding_message_size(MAX_MESSAGE);
    let stopped = shutdown.clone();
    let served = Server::builder()
        .max_concurrent_streams(limits::STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .serve_with_incoming_shutdown(service, accept(listener, clients), async move {
            stopped.reached(Phase::Stopped).await;
        })
        .await;
    if let Err(error) = served {
        tracing::error!(%error, "the server broke off");
    }
}

/// The connections of peers that may be served.
fn accept(listener: UnixListener, clients: Clients) -> impl Stream<Item = io::Result<Connection>> {
    let check = PeerCheck::of_process();
    let bound = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let state = Arc::new((listener, clients, check, bound, Processes::default()));
    stream::repeat_with(move || state.clone()).then(|state| async move {
        let (listener, clients, check, bound, processes) = &*state;
        loop {
            let Ok(permit) = bound.clone().acquire_owned().await else {
                return Err(io::Error::other("the bound of connections is closed"));
            };
            match listener.accept().await {
                Ok((stream, _)) => match stream.peer_cred() {
                    Ok(peer) => match check.admit(&peer) {
                        Ok(()) => {
                            if let Some(of_process) = processes.enter(peer.pid()) {
                                return Ok(Connection {
                                    peer: Peer::of(&stream, &peer),
                                    stream,
                                    unheard: Some(Unheard::new()),
                                    _client: clients.enter(),
                                    _of_process: of_process,
                                    _permit: permit,
                                });
                            }
                        }
                        Err(error) => tracing::warn!(%error, "a connection was refused"),
                    },
                    Err(error) => tracing::warn!(%error, "a peer could not be looked at"),
                },
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    })
}

/// A peer that has not begun to speak yet, and its time to do so.
#[derive(Debug)]
struct Unheard {
    heard: usize,
    limit: Pin<Box<Sleep>>,
}

impl Unheard {
    /// The words with which every connection of HTTP/2 begins, in bytes.
    const BEGINNING: usize = 24;

    fn new() -> Self {
        Self { heard: 0, limit: Box::pin(sleep(limits::PREFACE)) }
    }
}

/// A connection that counts as a client while it lives.
#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    peer: Peer,
    /// Until it has.
    unheard: Option<Unheard>,
    _client: Client,
    _of_process: OfProcess,
    _permit: OwnedSemaphorePermit,
}

impl Connected for Connection {
    type ConnectInfo = Peer;
    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let Some(unheard) = &mut self.unheard else { return read };
        match read {
            Poll::Ready(Ok(())) => {
                unheard.heard += buf.filled().len() - filled;
                if unheard.heard >= Unheard::BEGINNING {
                    self.unheard = None;
                }
                read
            }
            Poll::Pending if unheard.limit.as_mut().poll(cx).is_ready() => {
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Ready(Err(_)) | Poll::Pending => read,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
