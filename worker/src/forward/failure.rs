//! What `glass-egress` says of requests that found no server.
//!
//! Owns the kinds of failure, their names in Chromium's words, the reading of the proxy's messages, and the short
//! memory of them. Does not receive the messages (`forward`) and does not decide what an operation answers.

use std::collections::VecDeque;
use std::time::Instant;

use serde::Deserialize;

/// How many failures are remembered.
pub(super) const MAX_FAILURES: usize = 64;

/// A request of the browser that found no server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The name or address asked for, in lower case, without brackets or a final dot.
    pub host: String,
    /// The port asked for.
    pub port: u16,
    /// What went wrong.
    pub error: FailureKind,
    /// The rule that denied it, where one did.
    pub rule: Option<String>,
    /// Why it was denied, for a person.
    pub reason: Option<String>,
    /// When the proxy said so.
    pub at: Instant,
}

/// What went wrong, as `glass-egress` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// Forbidden by the session's egress rules.
    Denied,
    /// The name has no address.
    Unresolved,
    /// The port is closed.
    Refused,
    /// No answer to the attempt to connect.
    Timeout,
    /// No way to the address.
    Unreachable,
    /// The server broke the connection off.
    Reset,
    /// The server closed the connection before it answered anything.
    Empty,
    /// The server's answer is not HTTP.
    Malformed,
    /// The upstream proxy did not take the connection, or cannot be reached.
    Upstream,
    /// The session has as many connections as it may.
    Overload,
    /// A kind that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Failure {
    /// The name that Chromium has for it where there is no proxy.
    pub fn net_error(&self) -> &'static str {
        match self.error {
            FailureKind::Denied => "net::ERR_BLOCKED_BY_ADMINISTRATOR",
            FailureKind::Unresolved => "net::ERR_NAME_NOT_RESOLVED",
            FailureKind::Refused => "net::ERR_CONNECTION_REFUSED",
            FailureKind::Timeout => "net::ERR_CONNECTION_TIMED_OUT",
            FailureKind::Unreachable => "net::ERR_ADDRESS_UNREACHABLE",
            FailureKind::Reset => "net::ERR_CONNECTION_RESET",
            FailureKind::Empty => "net::ERR_EMPTY_RESPONSE",
            FailureKind::Malformed => "net::ERR_INVALID_HTTP_RESPONSE",
            FailureKind::Upstream => "net::ERR_PROXY_CONNECTION_FAILED",
            FailureKind::Overload => "net::ERR_INSUFFICIENT_RESOURCES",
            FailureKind::Unknown => "net::ERR_FAILED",
        }
    }
}

/// Whether a `net::` name that Chromium reported only says that the proxy had no answer from a server, so that
/// [`super::Forwarder::last_failure`] knows the real one.
///
/// The first is a tunnel (https, WebSocket) that was not made; the second is how `glass-egress` marks its own
/// answers to plain http requests, so that they are network errors and not pages; the third is a document that this
/// worker refused itself.
pub fn hides_failure(net_error: &str) -> bool {
    matches!(
        net_error,
        "net::ERR_TUNNEL_CONNECTION_FAILED"
            | "net::ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION"
            | "net::ERR_BLOCKED_BY_CLIENT"
    )
}

/// Whether what Chromium says of a web socket only says that the proxy had no answer from a server: its own sentence for a
/// tunnel that was not made, or the name.
pub fn hides_socket_failure(said: &str) -> bool {
    said.starts_with("Establishing a tunnel via proxy server failed")
        || said.split_whitespace().last().is_some_and(hides_failure)
}

/// The last failures, the oldest first.
#[derive(Debug)]
pub(super) struct Failures(VecDeque<Failure>);

impl Failures {
    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(MAX_FAILURES))
    }

    /// Reads one message of the proxy and remembers the failure in it.
    pub(super) fn note(&mut self, message: &[u8]) {
        match serde_json::from_slice(message) {
            Ok(Note::Failed { host, port, error, rule, reason }) => {
                self.remember(Failure { host, port, error, rule, reason, at: Instant::now() });
            }
            // A newer proxy may say more than this version understands.
            Ok(Note::Unknown) => {}
            Err(error) => tracing::debug!(%error, "a message of the proxy was not understood"),
        }
    }

    /// Remembers a failure; the oldest makes room.
    pub(super) fn remember(&mut self, failure: Failure) {
        if self.0.len() == MAX_FAILURES {
            self.0.pop_front();
        }
        self.0.push_back(Failure { host: spelled(&failure.host), ..failure });
    }

    /// The newest failure of `host`:`port` at or after `since`.
    pub(super) fn newest(&self, host: &str, port: u16, since: Instant) -> Option<&Failure> {
        let host = spelled(host);
        let newest = self.0.iter().rev().find(|known| known.port == port && known.host == host);
        newest.filter(|known| known.at >= since)
    }
}

/// What `glass-egress` says to a worker.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Note {
    Failed {
        host: String,
        port: u16,
        error: FailureKind,
        #[serde(default)]
        rule: Option<String>,
        #[serde(default)]
        reason: Option<String>,
    },
    #[serde(other)]
    Unknown,
}

/// One spelling of a host: lower case, without brackets or a final dot.
fn spelled(host: &str) -> String {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}
