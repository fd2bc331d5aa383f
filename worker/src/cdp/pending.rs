//! A command that was sent and whose reply is awaited later.

use std::{
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::{
    decode,
    error::{CdpError, Gone},
    waiters::{Outcome, Waiters},
};

/// The reply of a command as raw JSON. Dropping it forgets the call: a late reply is ignored, the command is not
/// taken back.
#[derive(Debug)]
#[must_use = "a reply that nobody awaits is a failure that nobody sees"]
pub struct PendingRaw {
    method: &'static str,
    state: State,
    /// Place of the reply among all replies, once it is there.
    order: u64,
}

#[derive(Debug)]
enum State {
    /// Never sent, or already answered.
    Failed(Option<CdpError>),
    Sent {
        id: u64,
        reply: oneshot::Receiver<(u64, Outcome)>,
        waiters: Arc<Waiters>,
    },
}

impl PendingRaw {
    pub(super) fn sent(
        method: &'static str,
        id: u64,
        reply: oneshot::Receiver<(u64, Outcome)>,
        waiters: Arc<Waiters>,
    ) -> Self {
        Self { method, state: State::Sent { id, reply, waiters }, order: 0 }
    }

    pub(super) fn failed(method: &'static str, error: CdpError) -> Self {
        Self { method, state: State::Failed(Some(error)), order: 0 }
    }

    /// The command that was sent.
    pub fn method(&self) -> &'static str {
        self.method
    }
}

impl Future for PendingRaw {
    type Output = Result<Box<RawValue>, CdpError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let dropped = || CdpError::Closed(Gone::because("the connection was dropped"));
        match &mut self.state {
            State::Failed(error) => Poll::Ready(Err(error.take().unwrap_or_else(dropped))),
            State::Sent { reply, .. } => match ready!(Pin::new(reply).poll(context)) {
                Ok((order, outcome)) => {
                    self.order = order;
                    Poll::Ready(outcome)
                }
                Err(_) => Poll::Ready(Err(dropped())),
            },
        }
    }
}

impl Drop for PendingRaw {
    fn drop(&mut self) {
        if let State::Sent { id, waiters, .. } = &self.state {
            drop(waiters.take(*id));
        }
    }
}

/// The reply of a command as `R`; see [`PendingRaw`].
#[derive(Debug)]
#[must_use = "a reply that nobody awaits is a failure that nobody sees"]
pub struct Pending<R> {
    raw: PendingRaw,
    reply: PhantomData<fn() -> R>,
}

impl<R> Pending<R> {
    pub(super) fn new(raw: PendingRaw) -> Self {
        Self { raw, reply: PhantomData }
    }

    /// The command that was sent.
    pub fn method(&self) -> &'static str {
        self.raw.method
    }

    /// The reply with its place among all replies of the browser, the earlier one smaller.
    pub fn in_order(self) -> InOrder<R> {
        InOrder(self)
    }
}

/// See [`Pending::in_order`].
#[derive(Debug)]
#[must_use = "a reply that nobody awaits is a failure that nobody sees"]
pub struct InOrder<R>(Pending<R>);

impl<R: DeserializeOwned> Future for InOrder<R> {
    type Output = Result<(u64, R), CdpError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let reply = ready!(Pin::new(&mut self.0).poll(context));
        Poll::Ready(reply.map(|reply| (self.0.raw.order, reply)))
    }
}

impl<R: DeserializeOwned> Future for Pending<R> {
    type Output = Result<R, CdpError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(Pin::new(&mut self.raw).poll(context))?;
        let method = self.raw.method;
        Poll::Ready(
            decode::from_raw(&result)
                .map_err(|error| CdpError::Decode { method, detail: error.to_string().into() }),
        )
    }
}
