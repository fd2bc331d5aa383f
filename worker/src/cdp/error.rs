//! Why a CDP call failed.
//!
//! The `Display` texts may reach a user, so they hold our words only: what the browser said (which can quote the
//! page) stays in fields, for logs at debug level (contract 2.6).

use std::sync::Arc;

use super::envelope::WireError;

/// The error code of Chromium for a session id that it does not know.
const SESSION_NOT_FOUND: i64 = -32001;

/// Why the connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// One line in our words, such as `killed by signal SIGKILL`.
    pub reason: Arc<str>,
    /// The browser's last stderr lines, for logs only; empty when there were none.
    pub stderr: Arc<str>,
}

impl Gone {
    /// A reason without any stderr.
    pub fn because(reason: impl Into<Arc<str>>) -> Self {
        Self { reason: reason.into(), stderr: "".into() }
    }
}

/// Why a command has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CdpError {
    /// The browser is gone; every call fails so from now on.
    #[error("the browser is gone: {}", .0.reason)]
    Closed(Gone),
    /// The target of this session was closed or replaced while the call waited.
    #[error("the target went away during {method}")]
    Detached {
        /// The command that waited.
        method: &'static str,
    },
    /// The renderer of this session's target crashed while the call waited.
    #[error("the page crashed during {method}")]
    Crashed {
        /// The command that waited.
        method: &'static str,
    },
    /// The browser answered with an error.
    #[error("the browser refused {method} (code {code})")]
    Protocol {
        /// The command.
        method: &'static str,
        /// JSON-RPC code, mostly -32000.
        code: i64,
        /// Chromium's words, for logs and the predicates only.
        message: Arc<str>,
    },
    /// The reply is above the size limit and was dropped; the connection lives.
    #[error("the reply to {method} has {bytes} bytes, which is above the limit")]
    TooLarge {
        /// The command.
        method: &'static str,
        /// Size of the reply in bytes.
        bytes: u64,
    },
    /// The reply does not have the expected shape.
    #[error("cannot read the reply to {method}")]
    Decode {
        /// The command.
        method: &'static str,
        /// The parser's words, which may quote the reply; for logs only.
        detail: Arc<str>,
    },
    /// The parameters cannot be written as JSON.
    #[error("cannot write the parameters of {method}")]
    Encode {
        /// The command.
        method: &'static str,
        /// The serialiser's words; for logs only.
        detail: Arc<str>,
    },
    /// Too many bytes wait for a browser that does not read its pipe.
    #[error("the browser does not read its commands ({bytes} bytes wait)")]
    Backlog {
        /// Bytes in the queue.
        bytes: usize,
    },
}

impl CdpError {
    pub(super) fn protocol(method: &'static str, error: WireError) -> Self {
        let mut message = error.message;
        if let Some(data) = error.data {
            message.push_str(": ");
            message.push_str(data.get());
        }
        Self::Protocol { method, code: error.code, message: message.into() }
    }

    /// Whether the browser as a whole is gone.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// Whether a promise that was awaited is gone, since nothing in the page could settle it any more.
    pub fn promise_collected(&self) -> bool {
        self.says(&["Promise was collected"])
    }

    /// Whether the script's execution context went away, which means that a navigation committed.
    pub fn context_destroyed(&self) -> bool {
        self.says(&[
            "Cannot find context",
            "Execution context was destroyed",
            "uniqueContextId not found",
            "Inspected target navigated or closed",
            "Cannot find execution context",
        ])
    }

    /// Whether the session is not, or no longer, attached.
    pub fn no_session(&self) -> bool {
        match self {
            Self::Detached { .. } => true,
            Self::Protocol { code, .. } if *code == SESSION_NOT_FOUND => true,
            _ => self.says(&["Session with given id not found"]) || self.between_pages(),
        }
    }

    /// Whether the session was between two pages: the command was refused, nothing of it was done, and the session goes
    /// on with the page that comes.
    pub fn between_pages(&self) -> bool {
        self.says(&["Not attached to an active page"])
    }

    /// Whether the target (a tab, a frame's process) does not exist.
    pub fn no_target(&self) -> bool {
        self.says(&["No target with given id", "No web contents for the given target id"])
    }

    /// Whether the frame does not exist in this session.
    pub fn no_frame(&self) -> bool {
        self.says(&[
            "Frame with the given id",
            "No frame for given id",
            "No frame with given id",
            "Frame not found",
        ])
    }

    /// Whether the node or object that the command named is gone.
    pub fn node_gone(&self) -> bool {
        self.says(&[
            "No node with given id",
            "Could not find node",
            "No node found for given backend id",
            "Node with given id does not belong to the document",
            "Could not find object with given id",
            "Could not compute content quads",
            "Node is detached from document",
        ])
    }

    /// Whether the command is unknown to this browser.
    pub fn unknown_method(&self) -> bool {
        matches!(self, Self::Protocol { code: -32601, .. })
    }

    fn says(&self, needles: &[&str]) -> bool {
        match self {
            Self::Protocol { message, .. } => needles.iter().any(|needle| message.contains(needle)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol(code: i64, message: &str) -> CdpError {
        CdpError::Protocol { method: "Runtime.evaluate", code, message: message.into() }
    }

    #[test]
    fn predicates_know_chromiums_words() {
        assert!(protocol(-32000, "Cannot find context with specified id").context_destroyed());
        assert!(protocol(-32000, "Execution context was destroyed.").context_destroyed());
        assert!(protocol(-32000, "uniqueContextId not found").context_destroyed());
        assert!(protocol(-32001, "Session with given id not found.").no_session());
        assert!(CdpError::Detached { method: "Page.navigate" }.no_session());
        assert!(protocol(-32000, "No node with given id found").node_gone());
        assert!(protocol(-32602, "No target with given id found").no_target());
        assert!(protocol(-32601, "'Foo.bar' wasn't found").unknown_method());
        assert!(!protocol(-32000, "Object reference chain is too long").context_destroyed());
    }

    #[test]
    fn display_does_not_quote_the_browser() {
        let secret = "Token hunter2 at line 3";
        let errors = [
            protocol(-32000, secret),
            CdpError::Decode { method: "Runtime.evaluate", detail: secret.into() },
            CdpError::Encode { method: "Runtime.evaluate", detail: secret.into() },
            CdpError::Closed(Gone { reason: "killed".into(), stderr: secret.into() }),
        ];
        for error in errors {
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
