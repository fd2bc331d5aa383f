//! Reads the browser's messages and hands them on, strictly in their order.
//!
//! The event callback runs here, before any later reply is resolved: who awaits a reply may rely on the effects of
//! every event that came before it.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{
    envelope::{self, Event, Incoming},
    error::{CdpError, Gone},
    frame::{Decoder, Frame},
    waiters::{Waiter, Waiters},
};

pub(super) struct Reader<R, F> {
    pub(super) read: R,
    pub(super) decoder: Decoder,
    pub(super) on_event: F,
    pub(super) waiters: Arc<Waiters>,
    /// How long after the end of the pipe the supervisor may still say why ([`super::Client::fail`]).
    pub(super) reason_grace: Duration,
}

/// Fails every call when the reader ends in any way, a panic in the callback included.
struct FailOnDrop(Arc<Waiters>);

impl Drop for FailOnDrop {
    fn drop(&mut self) {
        self.0.close(Gone::because("the reader of the browser's pipe ended"));
    }
}

impl<R: AsyncRead + Unpin, F: FnMut(Event)> Reader<R, F> {
    /// Reads until the end of the pipe or until the connection is failed.
    pub(super) async fn run(mut self) {
        let waiters = self.waiters.clone();
        let _guard = FailOnDrop(waiters.clone());
        let reason = tokio::select! {
            reason = self.read_all() => reason,
            _ = waiters.closed() => return,
        };
        if tokio::time::timeout(self.reason_grace, waiters.closed()).await.is_err() {
            waiters.close(Gone::because(reason));
        }
    }

    async fn read_all(&mut self) -> &'static str {
        loop {
            match self.read.read_buf(self.decoder.room()).await {
                Ok(0) => return "it closed its pipe",
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(%error, "reading from the browser failed");
                    return "its pipe broke";
                }
            }
            while let Some(frame) = self.decoder.next_frame() {
                match frame {
                    Frame::Message(message) => self.deliver(&message),
                    Frame::TooLarge { head, bytes } => self.refuse(&head, bytes),
                }
            }
        }
    }

    fn deliver(&mut self, message: &[u8]) {
        match envelope::parse(message) {
            Ok(Incoming::Reply { id, result }) => match self.waiters.take(id) {
                Some(waiter) => {
                    let method = waiter.method;
                    waiter.resolve(result.map_err(|error| CdpError::protocol(method, error)));
                }
                None => tracing::trace!(id, "a reply to a call that was given up"),
            },
            Ok(Incoming::Event(event)) => self.announce(event),
            Ok(Incoming::Complaint(error)) => {
                tracing::warn!(code = error.code, "the browser could not read a command");
            }
            Err(error) => {
                tracing::warn!(bytes = message.len(), "a message of the browser cannot be read");
                if let Some(waiter) = envelope::id_in_head(message).and_then(|id| self.waiters.take(id)) {
                    let method = waiter.method;
                    waiter.resolve(Err(CdpError::Decode { method, detail: error.to_string().into() }));
                }
            }
        }
    }

    fn announce(&mut self, event: Event) {
        // Chromium answers no call of a session that ended, so we do. The waiters are taken before the callback (a
        // call that it starts is not theirs) and resolved after it (they see its effects).
        let lost = Lost::of(&event).map(|lost| (lost.take(&self.waiters), lost.error()));
        (self.on_event)(event);
        if let Some((waiters, error)) = lost {
            for waiter in waiters {
                let method = waiter.method;
                waiter.resolve(Err(error(method)));
            }
        }
    }

    fn refuse(&self, head: &[u8], bytes: u64) {
        match envelope::id_in_head(head) {
            Some(id) => {
                if let Some(waiter) = self.waiters.take(id) {
                    let method = waiter.method;
                    waiter.resolve(Err(CdpError::TooLarge { method, bytes }));
                }
            }
            None => {
                let method = envelope::method_in_head(head).unwrap_or("unknown");
                tracing::warn!(method, bytes, "an event above the size limit was dropped");
            }
        }
    }
}

/// A session whose calls will not be answered.
enum Lost {
    Detached(Box<str>),
    Crashed(Box<str>),
}

impl Lost {
    fn of(event: &Event) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Detached {
            session_id: Box<str>,
        }
        match event.method.as_str() {
            "Target.detachedFromTarget" => {
                let detached: Detached = event.params().ok()?;
                Some(Self::Detached(detached.session_id))
            }
            "Inspector.targetCrashed" => {
                event.session.as_deref().map(|session| Self::Crashed(session.into()))
            }
            _ => None,
        }
    }

    fn take(&self, waiters: &Waiters) -> Vec<Waiter> {
        let (Self::Detached(session) | Self::Crashed(session)) = self;
        waiters.take_session(session)
    }

    fn error(&self) -> fn(&'static str) -> CdpError {
        match self {
            Self::Detached(_) => |method| CdpError::Detached { method },
            Self::Crashed(_) => |method| CdpError::Crashed { method },
        }
    }
}
