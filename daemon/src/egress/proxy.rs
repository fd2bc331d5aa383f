//! One connection of the browser, spoken to as an HTTP proxy.
//!
//! Owns reading requests, telling `CONNECT` from requests for `http://` addresses, and reporting failures before
//! the browser learns of them. Does not carry the bytes (`relay`, `tunnel`).
//!
//! There is no limit of time on anything here: a server that accepts and never answers is the browser's to give
//! up on. A browser that sends a head byte by byte hurts its own session alone, which has
//! [`super::MAX_CONNECTIONS`] connections of at most [`MAX_REQUEST_HEAD_BYTES`] each.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::answer::{self, Outgoing};
use super::dial::{Destination, Dialled};
use super::failure::Failure;
use super::meter::Meter;
use super::relay::{Idle, Relay, relay};
use super::session::Session;
use super::tunnel::{Tunnel, Wrong};
use glass_policy::host::Transport;

/// The longest head of a request, in bytes.
const MAX_REQUEST_HEAD_BYTES: usize = 64 * 1024;

/// The most that is read ahead of a connection, in bytes; a head must fit with room to see that it is too long.
const READ_BUFFER_BYTES: usize = 2 * MAX_REQUEST_HEAD_BYTES;

/// The most fields of a request.
const MAX_REQUEST_FIELDS: usize = 256;

/// How long a connection that is turned away may take to read why.
const REFUSAL_LIMIT: Duration = Duration::from_secs(1);

/// Serves one connection until either side ends it.
pub(super) async fn serve(stream: TcpStream, session: Arc<Session>) {
    let desk = Desk { session: Arc::clone(&session), idle: Idle::default(), tunnel: Mutex::default() };
    let service = service_fn(|request| desk.answer(request));
    let connection = http1::Builder::new()
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_headers(MAX_REQUEST_FIELDS)
        .max_header_size(MAX_REQUEST_HEAD_BYTES)
        .max_buf_size(READ_BUFFER_BYTES)
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = poll_fn(|cx| {
        let ended = connection.as_mut().poll(cx);
        if ended.is_pending() {
            desk.idle.poll(cx);
        }
        ended
    })
    .await;
    if let Err(error) = ended {
        // The browser left in the middle, or a body broke off: both are everyday.
        tracing::debug!(session = session.id, %error, "a connection of the browser ended early");
    }
    if let Some((destination, tunnel)) = desk.take_tunnel()
        && let Err(Wrong(denied)) = tunnel.run(&session.meter).await
    {
        session.report(&destination, &denied);
    }
}

/// Turns away a connection over the session's limit, in words.
pub(super) async fn turn_away(mut stream: TcpStream) {
    let goodbye = async {
        stream.write_all(answer::overload_text().as_bytes()).await?;
        stream.shutdown().await?;
        // Closing with something unread would reset the connection, and the answer with it.
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await? > 0 {}
        std::io::Result::Ok(())
    };
    // Whether it was read or not, the connection ends here.
    let _ = timeout(REFUSAL_LIMIT, goodbye).await;
}

/// What the requests of one connection share.
struct Desk {
    session: Arc<Session>,
    idle: Idle,
    tunnel: Mutex<Option<(Destination, Tunnel)>>,
}

impl Desk {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Outgoing>, Infallible> {
        Meter::add(&self.session.meter.requests, 1);
        Ok(if request.method() == Method::CONNECT {
            self.connect(request).await
        } else {
            self.request(request).await
        })
    }

    async fn connect(&self, mut request: Request<Incoming>) -> Response<Outgoing> {
        let destination = request.uri().authority().and_then(|authority| Destination::parse(authority, None));
        let Some(destination) = destination else {
            return answer::to_nonsense("CONNECT needs host:port");
        };
        // Whether it will be TLS inside is not known yet.
        let ways = [Transport::Tls, Transport::Plain];
        match self.tunnel_to(&destination, &ways).await {
            Ok(Dialled { stream: server, only }) => {
                let client = hyper::upgrade::on(&mut request);
                let early = Default::default();
                self.keep_tunnel(destination, Tunnel { client, server, early, only });
                answer::tunnel_stands()
            }
            Err(failure) => {
                self.session.report(&destination, &failure);
                answer::to_connect(&failure)
            }
        }
    }

    async fn tunnel_to(&self, destination: &Destination, ways: &[Transport]) -> Result<Dialled, Failure> {
        let mut dialled = self.session.dial(destination, ways).await?;
        if let Some(upstream) = self.session.upstream_to(destination) {
            upstream.open_tunnel(&mut dialled.stream, destination).await?;
        }
        Ok(dialled)
    }

    async fn request(&self, request: Request<Incoming>) -> Response<Outgoing> {
        let uri = request.uri();
        if uri.scheme_str() != Some("http") {
            return answer::to_nonsense("this is a proxy: give CONNECT host:port or a whole http:// address");
        }
        let destination = uri.authority().and_then(|authority| Destination::parse(authority, Some(80)));
        let Some(destination) = destination else {
            return answer::to_nonsense("the address names no host that could be connected to");
        };
        match relay(request, destination.clone(), &self.session, &self.idle).await {
            Ok(Relay::Answer(response)) => response,
            Ok(Relay::Upgrade(response, tunnel)) => {
                self.keep_tunnel(destination, tunnel);
                response
            }
            Err(failure) => {
                self.session.report(&destination, &failure);
                answer::to_request(&failure)
            }
        }
    }

    fn keep_tunnel(&self, destination: Destination, tunnel: Tunnel) {
        *self.tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some((destination, tunnel));
    }

    fn take_tunnel(&self) -> Option<(Destination, Tunnel)> {
        self.tunnel.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
