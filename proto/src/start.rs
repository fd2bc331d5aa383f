//! How a worker starts: what glassd hands it, and what the two say on the control socket.
//!
//! Owns the numbers of the inherited descriptors, the shape of the plan and the control messages, so that daemon
//! and worker read one definition. The cage's own plan is a type parameter, since this crate knows no sandbox.
//! gRPC begins only after [`FromWorker::Ready`], over a descriptor that [`DIAL`] brought.

use std::path::PathBuf;

use glass_policy::egress::Rules;
use serde::{Deserialize, Serialize};

use crate::session::SessionOptions;

/// The worker's end of the control pair (SOCK_SEQPACKET). Its end of file is the lifeline, both ways.
pub const CONTROL_FD: i32 = 3;
/// The session's endpoint towards glass-egress (SOCK_SEQPACKET), for the forwarder.
pub const EGRESS_FD: i32 = 4;
/// A sealed memfd that holds [`Plan`] as JSON, read from its beginning.
pub const PLAN_FD: i32 = 5;

/// A memory file in which the worker notes the id of each execution right before its first effect. glassd reads it when
/// the worker is gone: what was said on a channel may be lost with it, and what was written is not.
pub const JOURNAL_FD: i32 = 6;
/// Bytes of an entry: an execution id.
pub const JOURNAL_ENTRY: usize = 26;
/// Entries of the journal; the oldest make room. Many more than operations can run at one time.
pub const JOURNAL_ENTRIES: u64 = 256;

/// The `cgroup.procs` of the session's control group, where [`Plan::cgroup`] says that there is one. The worker enters it
/// before anything else.
pub const CGROUP_FD: i32 = 7;

/// glassd to worker, with one descriptor: a connected stream socket; serve gRPC on it.
pub const DIAL: &[u8] = b"d";
/// glassd to worker, with one descriptor: a new endpoint that replaces the one of [`EGRESS_FD`].
pub const EGRESS: &[u8] = b"e";

/// Exit code of a worker that was asked to end.
pub const EXIT_ASKED: i32 = 0;
/// Exit code of a worker whose browser died.
pub const EXIT_BROWSER_DIED: i32 = 20;
/// Exit code of a worker that lost somebody else's browser.
pub const EXIT_BROWSER_LEFT: i32 = 23;
/// Exit code of a worker that could not start; [`FromWorker::Failed`] says why.
pub const EXIT_NOT_STARTED: i32 = 21;
/// Exit code of a worker whose control socket ended.
pub const EXIT_LIFELINE: i32 = 22;

/// The largest control message, in bytes.
pub const MAX_CONTROL: usize = 16 * 1024;

/// Everything that a worker is told before it runs. `C` is the cage's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Plan<C> {
    /// What the cage is built from.
    pub cage: C,
    /// Whether [`CGROUP_FD`] is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cgroup: bool,
    /// What the session is.
    pub session: SessionSettings,
}

/// The settings of one session (contract 12.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SessionSettings {
    /// The session's opaque id.
    pub id: String,
    /// Its name, for messages and logs.
    pub name: String,
    /// The browser's program; absent: the worker looks in the usual places.
    pub browser: Option<PathBuf>,
    /// Width and height of the viewport in CSS pixels.
    pub viewport: (u32, u32),
    /// Language as in Accept-Language ("de-DE"); absent: the browser's own.
    pub language: Option<String>,
    /// Time zone as in the IANA database ("Europe/Berlin"); absent: the system's.
    pub time_zone: Option<String>,
    /// What the client that started it wants of it.
    pub options: SessionOptions,
    /// The attribute that `testid=` goes by.
    pub test_id_attribute: String,
    /// Which documents a target may show; absent where the proxy's rules say all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub navigation: Option<Rules>,
    /// How many targets the session may have.
    pub max_targets: u32,
    /// What downloads and uploads may take on disk, in bytes.
    pub spool_bytes: u64,
    /// Filter of the worker's log on standard error ("info", "glass_worker=debug").
    pub log: String,
}

/// What a worker says on the control socket, as JSON, at most [`MAX_CONTROL`] bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum FromWorker {
    /// The cage is built and the worker takes [`DIAL`]; the browser may still be starting.
    Ready {
        /// The kind of cage: "namespaces", "landlock", "browser".
        mode: String,
        /// What is known active by then; the greeting brings the full list.
        layers: Vec<StartLayer>,
    },
    /// It did not start, and the process ends with [`EXIT_NOT_STARTED`].
    Failed {
        /// The step, as the probe names it ("uid_map", "plan", "browser"); or how attaching failed ("attach_refused").
        step: String,
        /// The kernel's answer by name ("EPERM"), where it gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errno: Option<String>,
        /// What happened, for a person.
        message: String,
        /// What to do about it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// The session wants a page of somebody else's browser for itself; the answer is a [`ToWorker`].
    Claim {
        /// The page.
        target: String,
    },
    /// It does not want it any more, or the page is gone.
    Release {
        /// The page.
        target: String,
    },
}

/// What a worker that is attached to somebody else's browser is told on the control socket, as JSON without a descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ToWorker {
    /// A page that was asked for is this session's.
    Granted {
        /// The page.
        target: String,
    },
    /// A page is another session's.
    Held {
        /// The page.
        target: String,
    },
    /// A page that was another session's is nobody's any more.
    Free {
        /// The page.
        target: String,
    },
}

/// One layer of the cage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartLayer {
    /// Its name.
    pub name: String,
    /// "active", "degraded" or "missing".
    pub state: String,
    /// What was observed.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_as_written_down() {
        let text = r#"{"type":"failed","step":"uid_map","errno":"EPERM","message":"m","remedy":"r"}"#;
        let failed: FromWorker = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&failed).unwrap(), text);
        let text =
            r#"{"type":"ready","mode":"namespaces","layers":[{"name":"pid","state":"active","detail":""}]}"#;
        let ready: FromWorker = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&ready).unwrap(), text);
    }

    #[test]
    fn a_plan_with_an_unknown_key_is_refused() {
        let text = r#"{"cage":1,"session":{"id":"i","name":"n","browser":null,"viewport":[1280,720],"language":null,"timeZone":null,"options":{},"testIdAttribute":"data-testid","maxTargets":32,"spoolBytes":9,"log":"info"}}"#;
        let plan: Plan<u8> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&plan).unwrap(), text);
        assert!(serde_json::from_str::<Plan<u8>>(&text.replacen('{', "{\"more\":1,", 1)).is_err());
    }
}
