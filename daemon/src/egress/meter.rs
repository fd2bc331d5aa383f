//! What a session's traffic comes to.
//!
//! Owns the counts, and the wrapper that counts a server connection's bytes as they pass. Does not own limits
//! (`session`).

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::wire::SessionCounters;

/// The counts of one session since its start.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) bytes_up: AtomicU64,
    pub(super) bytes_down: AtomicU64,
    pub(super) requests: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) denied: AtomicU64,
    pub(super) failed: AtomicU64,
}

impl Meter {
    pub(super) fn add(counter: &AtomicU64, amount: usize) {
        // usize is at most 64 bits on every platform that Glass runs on.
        counter.fetch_add(amount as u64, Relaxed);
    }

    pub(super) fn read(&self, id: &str) -> SessionCounters {
        SessionCounters {
            id: id.to_owned(),
            bytes_up: self.bytes_up.load(Relaxed),
            bytes_down: self.bytes_down.load(Relaxed),
            requests: self.requests.load(Relaxed),
            connections: self.connections.load(Relaxed),
            denied: self.denied.load(Relaxed),
            failed: self.failed.load(Relaxed),
        }
    }
}

/// One open connection of a session, counted until it is dropped.
#[derive(Debug)]
pub(super) struct Open(Arc<Meter>);

impl Open {
    pub(super) fn new(meter: &Arc<Meter>) -> Self {
        meter.connections.fetch_add(1, Relaxed);
        Self(Arc::clone(meter))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

/// A connection to a server whose bytes are counted.
#[derive(Debug)]
pub(super) struct Metered {
    stream: TcpStream,
    meter: Arc<Meter>,
}

impl Metered {
    pub(super) fn new(stream: TcpStream, meter: &Arc<Meter>) -> Self {
        Self { stream, meter: Arc::clone(meter) }
    }

    /// The connection without the counting.
    pub(super) fn into_inner(self) -> TcpStream {
        self.stream
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        Meter::add(&self.meter.bytes_down, buf.filled().len() - before);
        result
    }
}

impl AsyncWrite for Metered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.count_written(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.count_written(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Metered {
    fn count_written(&self, result: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(written)) = result {
            Meter::add(&self.meter.bytes_up, *written);
        }
    }
}
