//! Why a connection or an exchange with a server did not come about.
//!
//! Owns the kinds, their names on the wire, and how errors of the system and of HTTP map to them. Does not own
//! what the browser is answered (`answer`).

use std::error::Error;
use std::io;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

/// What went wrong, as the worker and the header `X-Glass-Egress` name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// A rule, or the absence of one, forbids the connection.
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
    /// The session has as many connections as it may, or the proxy is out of descriptors.
    Overload,
}

impl FailureKind {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Unresolved => "unresolved",
            Self::Refused => "refused",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Reset => "reset",
            Self::Empty => "empty",
            Self::Malformed => "malformed",
            Self::Upstream => "upstream",
            Self::Overload => "overload",
        }
    }
}

/// A failure with what is known beyond its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// By policy: the deciding rule and the reason.
    Denied { rule: String, reason: String },
    /// By the network, the server or a limit.
    Of(FailureKind),
}

impl Failure {
    pub(super) fn kind(&self) -> FailureKind {
        match self {
            Self::Denied { .. } => FailureKind::Denied,
            Self::Of(kind) => *kind,
        }
    }

    /// The failure of an attempt to connect.
    pub(super) fn of_connect(error: &io::Error) -> Self {
        Self::Of(match error.kind() {
            io::ErrorKind::ConnectionRefused => FailureKind::Refused,
            io::ErrorKind::TimedOut => FailureKind::Timeout,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => FailureKind::Reset,
            _ if is_exhaustion(error) => FailureKind::Overload,
            _ => FailureKind::Unreachable,
        })
    }

    /// The failure of an exchange on a connection that stood.
    pub(super) fn of_exchange(error: &hyper::Error) -> Self {
        let broken = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        Self::Of(if error.is_parse() || error.is_parse_too_large() {
            FailureKind::Malformed
        } else if broken.is_some() {
            FailureKind::Reset
        } else {
            FailureKind::Empty
        })
    }
}

/// Out of descriptors or memory: our shortage, not the server's.
fn is_exhaustion(error: &io::Error) -> bool {
    // None of these has a kind of its own in the standard library.
    let shortages = [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM, Errno::ENOBUFS];
    error.raw_os_error().is_some_and(|raw| shortages.contains(&Errno::from_raw(raw)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_one_that_serde_writes() {
        for kind in [
            FailureKind::Denied,
            FailureKind::Unresolved,
            FailureKind::Refused,
            FailureKind::Timeout,
            FailureKind::Unreachable,
            FailureKind::Reset,
            FailureKind::Empty,
            FailureKind::Malformed,
            FailureKind::Upstream,
            FailureKind::Overload,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }

    #[test]
    fn errors_of_connect_are_told_apart() {
        let kind = |error: io::Error| Failure::of_connect(&error).kind();
        assert_eq!(kind(io::ErrorKind::ConnectionRefused.into()), FailureKind::Refused);
        assert_eq!(kind(io::ErrorKind::NetworkUnreachable.into()), FailureKind::Unreachable);
        assert_eq!(kind(io::ErrorKind::TimedOut.into()), FailureKind::Timeout);
        assert_eq!(kind(io::Error::from(Errno::EMFILE)), FailureKind::Overload);
    }
}
