//! Requests for `http://` addresses, passed on to their server.
//!
//! Owns one exchange: fields rewritten for the next hop, the connection to the server, the answer streamed back,
//! a change of protocol. Does not dial (`dial`) and does not word failures (`answer`).
//!
//! A connection of the browser keeps at most one idle connection to a server, for a next request to the same
//! place. Only a request that HTTP calls safe and that has no body rides on it, and only such a one is sent again
//! when it turns out to be dead; everything else gets a fresh connection, so nothing that changes something can
//! arrive twice.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{EXPECT, HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::uri::PathAndQuery;
use http::{Request, Response, StatusCode, Uri, Version, request};
use http_body_util::{Either, Empty};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;

use super::answer::Outgoing;
use super::dial::Destination;
use super::failure::{Failure, FailureKind};
use super::head;
use super::meter::Metered;
use super::session::Session;
use super::tunnel::Tunnel;
use super::upstream::Upstream as Behind;
use glass_policy::host::Transport;

/// The longest head of an answer, in bytes: Chromium's own limit.
const MAX_ANSWER_HEAD_BYTES: usize = 256 * 1024;

/// The most fields of an answer. Chromium has no limit of its own; this one bounds memory.
const MAX_ANSWER_FIELDS: usize = 1000;

type RequestBody = Either<Incoming, Empty<Bytes>>;

/// Where a connection of the browser keeps its idle connection to a server.
#[derive(Clone, Default)]
pub(super) struct Idle(Arc<Mutex<Option<Upstream>>>);

impl Idle {
    /// Watches the idle connection, so that a server that closes it is answered at once.
    pub(super) fn poll(&self, cx: &mut Context<'_>) {
        let mut kept = self.lock();
        if kept.as_mut().is_some_and(|upstream| !upstream.poll_alive(cx)) {
            *kept = None;
        }
    }

    fn keep(&self, upstream: Upstream) {
        *self.lock() = Some(upstream);
    }

    fn take(&self) -> Option<Upstream> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Upstream>> {
        // Nothing panics while it holds the lock, and if it did, the connection would still be whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of a request.
pub(super) enum Relay {
    /// An answer to pass on.
    Answer(Response<Outgoing>),
    /// The server agreed to another protocol; after this answer the tunnel runs.
    Upgrade(Response<Outgoing>, Tunnel),
}

/// Sends `request` to `destination` and returns the answer's head, its body still to come.
pub(super) async fn relay(
    mut request: Request<Incoming>,
    destination: Destination,
    session: &Session,
    idle: &Idle,
) -> Result<Relay, Failure> {
    let on_upgrade = hyper::upgrade::on(&mut request);
    let (mut head, body) = request.into_parts();
    let protocol = head::upgrade(&head.headers);
    let repeatable = head.method.is_safe() && body.is_end_stream() && protocol.is_none();
    let behind = session.upstream_to(&destination);
    rewrite(&mut head, protocol, behind)?;
    let is_through = behind.is_some();

    let kept = idle.take().filter(|upstream| upstream.destination == destination);
    if repeatable
        && let Some(mut upstream) = kept
        && upstream.is_usable().await
    {
        let request = Request::from_parts(head.clone(), Either::Right(Empty::new()));
        match upstream.exchange(request).await {
            Ok(response) if is_through && wants_credentials(&response) => return Err(refused_by_upstream()),
            Ok(response) => return respond(response, upstream, on_upgrade, idle).await,
            Err(failure) if failure.kind() == FailureKind::Malformed => return Err(failure),
            Err(_dead) => {}
        }
    }
    let dialled = session.dial(&destination, &[Transport::Plain]).await?;
    let mut upstream = Upstream::open(Metered::new(dialled.stream, &session.meter), destination).await?;
    let body = if repeatable { Either::Right(Empty::new()) } else { Either::Left(body) };
    let response = upstream.exchange(Request::from_parts(head, body)).await?;
    if is_through && wants_credentials(&response) {
        return Err(refused_by_upstream());
    }
    respond(response, upstream, on_upgrade, idle).await
}

/// Whether the upstream proxy asks who we are: that is no answer for a page.
fn wants_credentials(response: &Response<Incoming>) -> bool {
    response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED
}

fn refused_by_upstream() -> Failure {
    Failure::Of(FailureKind::Upstream)
}

/// Makes a request to a proxy one to a server, or to the proxy behind this one.
fn rewrite(
    head: &mut request::Parts,
    protocol: Option<HeaderValue>,
    behind: Option<&Behind>,
) -> Result<(), Failure> {
    let malformed = Failure::Of(FailureKind::Malformed);
    // The name that was checked is the one that the server is told, whatever the field said before.
    let authority = head.uri.authority().ok_or_else(|| malformed.clone())?.as_str();
    let host = HeaderValue::from_str(authority).map_err(|_| malformed)?;
    head::strip(&mut head.headers);
    head.headers.insert(HOST, host);
    // We answer `100 Continue` ourselves, as soon as the body is wanted.
    head.headers.remove(EXPECT);
    if let Some(protocol) = protocol {
        head::set_upgrade(&mut head.headers, protocol);
    }
    match behind {
        // A proxy is given the whole address, which it came with.
        Some(behind) => {
            if let Some(who) = behind.authorization() {
                head.headers.insert(PROXY_AUTHORIZATION, who);
            }
        }
        None => {
            let path = head.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
            head.uri = Uri::from(path);
        }
    }
    head.version = Version::HTTP_11;
    Ok(())
}

async fn respond(
    mut response: Response<Incoming>,
    mut upstream: Upstream,
    on_upgrade: OnUpgrade,
    idle: &Idle,
) -> Result<Relay, Failure> {
    let upgraded = hyper::upgrade::on(&mut response);
    let (mut head, body) = response.into_parts();
    let protocol = head::upgrade(&head.headers);
    head::strip(&mut head.headers);
    head.version = Version::HTTP_11;
    if head.status != StatusCode::SWITCHING_PROTOCOLS {
        let body = Relayed { body, upstream: Some(upstream), idle: idle.clone(), broken: None };
        return Ok(Relay::Answer(Response::from_parts(head, Outgoing::Relayed(body))));
    }
    let (Some(protocol), Ok(upgraded)) = (protocol, upstream.drive(upgraded).await) else {
        return Err(Failure::Of(FailureKind::Malformed));
    };
    let Ok(parts) = upgraded.downcast::<TokioIo<Metered>>() else {
        return Err(Failure::Of(FailureKind::Malformed));
    };
    head::set_upgrade(&mut head.headers, protocol);
    let server = parts.io.into_inner().into_inner();
    let tunnel = Tunnel { client: on_upgrade, server, early: parts.read_buf, only: None };
    let answer = Response::from_parts(head, Outgoing::Own(Default::default()));
    Ok(Relay::Upgrade(answer, tunnel))
}

/// A connection to a server. Whoever awaits something of it drives it, so it needs no task of its own and ends
/// when it is dropped.
struct Upstream {
    destination: Destination,
    sender: SendRequest<RequestBody>,
    connection: Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>,
    ended: bool,
}

impl Upstream {
    async fn open(stream: Metered, destination: Destination) -> Result<Self, Failure> {
        let (sender, connection) = http1::Builder::new()
            .preserve_header_case(true)
            .max_headers(MAX_ANSWER_FIELDS)
            .max_buf_size(MAX_ANSWER_HEAD_BYTES)
            // What Chromium reads without complaint must not become an error on the way.
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| Failure::of_exchange(&error))?;
        let connection = Box::pin(connection.with_upgrades());
        Ok(Self { destination, sender, connection, ended: false })
    }

    async fn exchange(&mut self, request: Request<RequestBody>) -> Result<Response<Incoming>, Failure> {
        let sent = self.sender.send_request(request);
        self.drive(sent).await.map_err(|error| Failure::of_exchange(&error))
    }

    /// Awaits `other` while the connection works.
    async fn drive<F: Future>(&mut self, other: F) -> F::Output {
        let mut other = pin!(other);
        poll_fn(|cx| {
            self.poll_alive(cx);
            other.as_mut().poll(cx)
        })
        .await
    }

    /// Whether another request can go out on it now.
    async fn is_usable(&mut self) -> bool {
        poll_fn(|cx| Poll::Ready(self.poll_alive(cx))).await && self.sender.is_ready()
    }

    /// Lets the connection work; false once it has ended. How it ended is told to the one who waits for an answer.
    fn poll_alive(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.ended && self.connection.as_mut().poll(cx).is_ready() {
            self.ended = true;
        }
        !self.ended
    }
}

/// A server's body on its way to the browser. Reading it drives the server's connection; a browser that does not
/// read stops the server.
pub(super) struct Relayed {
    body: Incoming,
    upstream: Option<Upstream>,
    idle: Idle,
    broken: Option<hyper::Error>,
}

impl Relayed {
    /// Keeps the connection for the next request, if the body came to its end.
    fn release(&mut self) {
        if let Some(upstream) = self.upstream.take()
            && !upstream.ended
        {
            self.idle.keep(upstream);
        }
    }
}

impl Body for Relayed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        if let Some(error) = this.broken.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if let Some(upstream) = &mut this.upstream {
            upstream.poll_alive(cx);
        }
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(None) => {
                this.release();
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(error))) => {
                // On an error the server side of hyper drops what it has not written yet, the head included; the
                // browser would see an empty answer, and send the request again. One turn lets it write first.
                this.broken = Some(error);
                this.upstream = None;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            other => other,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.broken.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        // A body that is known to be empty is never read.
        if self.is_end_stream() {
            self.release();
        }
    }
}
