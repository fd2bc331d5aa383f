//! Accepts connections and serves the gRPC service on them.
//!
//! Owns the bounds of the transport and the count of clients. A peer that may not be served is dropped without a word.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use glass_proto::wire::MAX_MESSAGE;
use glass_proto::wire::client::glass_server::GlassServer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
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
    let state = Arc::new((listener, clients, check, bound));
    stream::repeat_with(move || state.clone()).then(|state| async move {
        let (listener, clients, check, bound) = &*state;
        loop {
            let Ok(permit) = bound.clone().acquire_owned().await else {
                return Err(io::Error::other("the bound of connections is closed"));
            };
            match listener.accept().await {
                Ok((stream, _)) => match stream.peer_cred() {
                    Ok(peer) => match check.admit(&peer) {
                        Ok(()) => {
                            let peer = Peer::of(&stream, &peer);
                            let client = clients.enter();
                            return Ok(Connection { stream, peer, _client: client, _permit: permit });
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

/// A connection that counts as a client while it lives.
#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    peer: Peer,
    _client: Client,
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
        Pin::new(&mut self.stream).poll_read(cx, buf)
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
