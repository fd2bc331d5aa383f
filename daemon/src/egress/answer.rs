//! What the browser is told when no server answers it.
//!
//! Owns glass-egress's own answers, and the body type that they share with relayed ones. Does not decide when to
//! use them.
//!
//! A proxy's error for an `http://` address looks to Chromium like the site's own page: it would be committed
//! under the site's origin, `fetch` would resolve, an EventSource would never reconnect. So such an answer carries
//! two different `Location` fields on purpose. Chromium takes that for a network error
//! (`net::ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION`), as it would have had one without a proxy: nothing is committed,
//! nothing is retried, `fetch` rejects. The worker puts the true name in its place. A failed `CONNECT` needs no
//! such help: every answer but a success is `net::ERR_TUNNEL_CONNECTION_FAILED`.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};

use super::failure::{Failure, FailureKind};
use super::head::EGRESS;
use super::relay::Relayed;

/// The body of an answer to the browser.
pub(super) enum Outgoing {
    /// Ours, small.
    Own(Full<Bytes>),
    /// A server's, as it comes.
    Relayed(Relayed),
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Own(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Self::Relayed(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(body) => body.is_end_stream(),
            Self::Relayed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(body) => body.size_hint(),
            Self::Relayed(body) => body.size_hint(),
        }
    }
}

/// The answer to a request for an `http://` address that failed.
pub(super) fn to_request(failure: &Failure) -> Response<Outgoing> {
    let mut answer = to_connect(failure);
    for location in ["glass-egress:failed", "glass-egress:on-purpose-twice"] {
        answer.headers_mut().append(LOCATION, HeaderValue::from_static(location));
    }
    answer
}

/// The answer to a `CONNECT` that failed.
pub(super) fn to_connect(failure: &Failure) -> Response<Outgoing> {
    let text = match failure {
        Failure::Denied { reason, .. } => format!("glass-egress: denied: {reason}\n"),
        Failure::Of(kind) => format!("glass-egress: {}\n", kind.name()),
    };
    own(status(failure.kind()), failure.kind().name(), text)
}

/// The answer to what is no request to a proxy.
pub(super) fn to_nonsense(why: &str) -> Response<Outgoing> {
    own(StatusCode::BAD_REQUEST, "invalid", format!("glass-egress: {why}\n"))
}

/// The answer to a `CONNECT` whose tunnel stands.
pub(super) fn tunnel_stands() -> Response<Outgoing> {
    Response::new(Outgoing::Own(Full::default()))
}

/// The whole text of the answer on a connection over the session's limit.
pub(super) fn overload_text() -> String {
    let kind = FailureKind::Overload;
    let body = "glass-egress: too many connections\n";
    format!(
        "HTTP/1.1 503 Service Unavailable\r\n{EGRESS}: {}\r\nLocation: glass-egress:failed\r\n\
         Location: glass-egress:on-purpose-twice\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        kind.name(),
        body.len()
    )
}

fn own(status: StatusCode, kind: &'static str, text: String) -> Response<Outgoing> {
    let mut answer = Response::new(Outgoing::Own(Full::from(text)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(EGRESS, HeaderValue::from_static(kind));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer
}

fn status(kind: FailureKind) -> StatusCode {
    match kind {
        FailureKind::Denied => StatusCode::FORBIDDEN,
        FailureKind::Overload => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_request_is_no_page() {
        let answer = to_request(&Failure::Of(FailureKind::Refused));
        assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
        assert_eq!(answer.headers()[EGRESS], "refused");
        let locations: Vec<_> = answer.headers().get_all(LOCATION).iter().collect();
        assert!(locations.len() == 2 && locations[0] != locations[1], "{locations:?}");
    }

    #[test]
    fn a_denial_says_why() {
        let denied = Failure::Denied { rule: "default".into(), reason: "no rule allows a:1".into() };
        assert_eq!(to_connect(&denied).status(), StatusCode::FORBIDDEN);
        assert!(!to_connect(&denied).headers().contains_key(LOCATION));
        assert!(overload_text().contains("x-glass-egress: overload\r\n"));
    }
}
