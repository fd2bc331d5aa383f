//! The messages between glassd, glass-egress and the worker's forwarder.
//!
//! Owns their JSON shape and size. Does not send (`channel`). The worker has its own reading of
//! [`ToWorker`] in its `forward` module; both are pinned to the same text by tests.

use glass_policy::egress::Rules;
use serde::{Deserialize, Serialize};

use super::failure::FailureKind;
use super::upstream::Upstream;

/// The largest message on the control socket, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 60 * 1024;

/// The longest session id taken, in bytes.
pub(super) const MAX_ID_BYTES: usize = 128;

/// What glassd asks of glass-egress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum Command {
    /// Serves a session; one descriptor comes with it, the session's endpoint (SEQPACKET). For an id that is
    /// served already, endpoint and rules take the place of the old ones: connections made under those end, the
    /// counters go on.
    Session {
        /// The session's id, at most 128 bytes.
        id: String,
        /// What it may connect to.
        rules: Rules,
        /// The proxy that its connections are handed to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<Upstream>,
    },
    /// Gives a session that is served other rules; connections made under the old ones end.
    Rules {
        /// The session's id.
        id: String,
        /// What it may connect to.
        rules: Rules,
    },
    /// Ends a session: its connections end at once and its counters are forgotten.
    Close {
        /// The session's id.
        id: String,
    },
    /// Asks for [`Event::Counters`].
    Counters {},
}

/// What glass-egress tells glassd.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// A connection was denied.
    Denied {
        /// The session's id.
        session: String,
        /// The name or address asked for.
        host: String,
        /// The port asked for.
        port: u16,
        /// The rule that decided.
        rule: String,
        /// Why, for a person.
        reason: String,
    },
    /// A connection or an exchange failed.
    Failed {
        /// The session's id.
        session: String,
        /// The name or address asked for.
        host: String,
        /// The port asked for.
        port: u16,
        /// What went wrong.
        error: FailureKind,
    },
    /// A session wanted more connections than it may have. Sent at most once a second for a session.
    Overload {
        /// The session's id.
        session: String,
        /// The most connections that it may have.
        limit: usize,
    },
    /// The answer to [`Command::Counters`].
    Counters {
        /// Each session's counts, in no order.
        sessions: Vec<SessionCounters>,
        /// Another message with further sessions follows.
        more: bool,
        /// Events that were dropped because glassd did not read, since the start of the process.
        dropped_events: u64,
    },
    /// A command that was not carried out.
    Invalid {
        /// Why, for a person.
        detail: String,
    },
}

/// The traffic of one session since it was first served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCounters {
    /// The session's id.
    pub id: String,
    /// Bytes sent to servers.
    pub bytes_up: u64,
    /// Bytes received from servers.
    pub bytes_down: u64,
    /// Requests, tunnels included.
    pub requests: u64,
    /// Connections of the browser that are open now.
    pub connections: u64,
    /// Requests that were denied.
    pub denied: u64,
    /// Requests that failed for other reasons.
    pub failed: u64,
}

/// What glass-egress tells a session's forwarder, so that errors can be named truthfully.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum ToWorker<'a> {
    /// A request failed; sent before the browser is answered.
    Failed {
        host: &'a str,
        port: u16,
        error: FailureKind,
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_as_written_down() {
        let session = r#"{"type":"session","id":"s1","rules":{"allowAll":true}}"#;
        assert_eq!(
            serde_json::from_str::<Command>(session).unwrap(),
            Command::Session { id: "s1".into(), rules: Rules::allow_all(), upstream: None }
        );
        let close: Command = serde_json::from_str(r#"{"type":"close","id":"s1"}"#).unwrap();
        assert_eq!(close, Command::Close { id: "s1".into() });
        let counters: Command = serde_json::from_str(r#"{"type":"counters"}"#).unwrap();
        assert_eq!(counters, Command::Counters {});
    }

    #[test]
    fn counters_are_written_in_camel_case() {
        let counted = SessionCounters { id: "s1".into(), bytes_up: 1, ..Default::default() };
        let event = Event::Counters { sessions: vec![counted], more: false, dropped_events: 2 };
        assert_eq!(
            serde_json::to_string(&event).unwrap(),
            r#"{"type":"counters","sessions":[{"id":"s1","bytesUp":1,"bytesDown":0,"requests":0,"connections":0,"denied":0,"failed":0}],"more":false,"droppedEvents":2}"#
        );
    }

    #[test]
    fn a_session_without_rules_is_not_a_session() {
        assert!(serde_json::from_str::<Command>(r#"{"type":"session","id":"s1"}"#).is_err());
    }

    #[test]
    fn a_failure_has_the_text_that_the_worker_reads() {
        let failed = ToWorker::Failed {
            host: "a.example",
            port: 80,
            error: FailureKind::Denied,
            rule: Some("default"),
            reason: Some("no rule allows a.example:80"),
        };
        assert_eq!(
            serde_json::to_string(&failed).unwrap(),
            r#"{"type":"failed","host":"a.example","port":80,"error":"denied","rule":"default","reason":"no rule allows a.example:80"}"#
        );
        let failed =
            ToWorker::Failed { host: "::1", port: 9, error: FailureKind::Refused, rule: None, reason: None };
        assert_eq!(
            serde_json::to_string(&failed).unwrap(),
            r#"{"type":"failed","host":"::1","port":9,"error":"refused"}"#
        );
    }
}
