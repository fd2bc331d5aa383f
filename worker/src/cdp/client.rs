//! The handle through which the worker talks to its browser.

use std::{sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::oneshot,
};

use super::{
    command::{self, Command},
    envelope::Event,
    error::{CdpError, Gone},
    frame::Decoder,
    outbox::{self, Outbox},
    pending::{Pending, PendingRaw},
    reader::Reader,
    waiters::{Waiter, Waiters},
};

/// Bounds of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest message taken, in bytes; a larger reply fails its call with [`CdpError::TooLarge`].
    pub message: usize,
    /// Most bytes of commands that may wait for a browser that does not read ([`CdpError::Backlog`]).
    pub outbox: usize,
    /// How long after the end of the pipe calls wait for [`Client::fail`] to say why.
    pub reason_grace: Duration,
}

impl Default for Limits {
    /// 64 MiB a message (DESIGN 7), 64 MiB of waiting commands, 250 ms.
    fn default() -> Self {
        Self { message: 64 << 20, outbox: 64 << 20, reason_grace: Duration::from_millis(250) }
    }
}

/// A connection to one browser; clones share it. When the last clone is dropped the command pipe closes, which ends
/// the browser.
#[derive(Clone, Debug)]
pub struct Client {
    outbox: Outbox,
    waiters: Arc<Waiters>,
}

impl Client {
    /// Takes the pipe and starts its reader and writer tasks on the current tokio runtime.
    ///
    /// `on_event` gets every event in order on the reader task, before any later reply is resolved. It must not
    /// block; it may start calls.
    pub fn start<R, W, F>(read: R, write: W, limits: Limits, on_event: F) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
        F: FnMut(Event) + Send + 'static,
    {
        let waiters = Arc::new(Waiters::new());
        let (outbox, writer) = outbox::channel(write, limits.outbox);
        let reader = Reader {
            read,
            decoder: Decoder::new(limits.message),
            on_event,
            waiters: waiters.clone(),
            reason_grace: limits.reason_grace,
        };
        // Both end with the connection, whose end is observable through `closed`.
        tokio::spawn(writer.run(waiters.clone()));
        tokio::spawn(reader.run());
        Self { outbox, waiters }
    }

    /// Queues a command now, in order with all others, and returns its reply to be awaited later.
    ///
    /// `session` is `None` for the browser itself.
    pub fn start_call<P, R>(&self, session: Option<&str>, method: &'static str, params: P) -> Pending<R>
    where
        P: Serialize,
        R: DeserializeOwned,
    {
        Pending::new(self.start_raw(session, method, params))
    }

    /// Sends a command and waits for its reply.
    ///
    /// # Errors
    /// See [`CdpError`]. There is no deadline here.
    pub async fn call<P, R>(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: P,
    ) -> Result<R, CdpError>
    where
        P: Serialize,
        R: DeserializeOwned,
    {
        self.start_call(session, method, params).await
    }

    /// Like [`Client::start_call`], for results that the caller parses (or passes on) itself.
    pub fn start_raw<P: Serialize>(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: P,
    ) -> PendingRaw {
        let (sender, receiver) = oneshot::channel();
        let waiter = Waiter { method, session: session.map(Into::into), reply: sender };
        let entered = self.waiters.enter(waiter, |id| {
            let bytes = command::encode(id, session, method, &params)
                .map_err(|error| CdpError::Encode { method, detail: error.to_string().into() })?;
            self.outbox.push(bytes)
        });
        match entered {
            Ok(id) => PendingRaw::sent(method, id, receiver, self.waiters.clone()),
            Err(error) => PendingRaw::failed(method, error),
        }
    }

    /// Sends a command and waits for its raw result.
    ///
    /// # Errors
    /// See [`CdpError`]. There is no deadline here.
    pub async fn call_raw<P: Serialize>(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: P,
    ) -> Result<Box<RawValue>, CdpError> {
        self.start_raw(session, method, params).await
    }

    /// Queues a typed command now and returns its reply to be awaited later.
    pub fn start_send<C: Command>(&self, session: Option<&str>, command: C) -> Pending<C::Reply> {
        self.start_call(session, C::METHOD, command)
    }

    /// Sends a typed command and waits for its reply.
    ///
    /// # Errors
    /// See [`CdpError`]. There is no deadline here.
    pub async fn send<C: Command>(&self, session: Option<&str>, command: C) -> Result<C::Reply, CdpError> {
        self.start_send(session, command).await
    }

    /// Ends the connection: every call in flight and every later one fails with `gone`. The first reason stays.
    pub fn fail(&self, gone: Gone) {
        self.waiters.close(gone);
    }

    /// A handle that can end the connection and does not keep it alive.
    pub fn closer(&self) -> Closer {
        Closer { waiters: self.waiters.clone() }
    }

    /// Waits for the end of the connection and says why it came.
    pub async fn closed(&self) -> Gone {
        self.waiters.closed().await
    }
}

/// Ends a connection, for who watches the browser's process.
#[derive(Clone, Debug)]
pub struct Closer {
    waiters: Arc<Waiters>,
}

impl Closer {
    /// See [`Client::fail`].
    pub fn fail(&self, gone: Gone) {
        self.waiters.close(gone);
    }
}

#[cfg(test)]
mod tests;
