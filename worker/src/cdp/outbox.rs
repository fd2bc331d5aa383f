//! The queue of commands on their way to the browser.
//!
//! A caller never waits for the pipe: it appends here, and one task writes. Commands leave in the order of their
//! ids, and what has gathered leaves in one write. The queue is bounded in bytes, not in commands, because a
//! browser that reads nothing is the only way for it to fill.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

use super::{
    error::{CdpError, Gone},
    waiters::Waiters,
};

/// One write carries at most about this many bytes of gathered commands; what a pipe holds by default.
const BATCH: usize = 64 * 1024;

/// The sending end.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    limit: usize,
}

/// The writing end; ends when every [`Outbox`] is dropped, which the browser sees as end of file.
pub(super) struct Writer<W> {
    queue: mpsc::UnboundedReceiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    write: W,
}

pub(super) fn channel<W: AsyncWrite + Unpin>(write: W, limit: usize) -> (Outbox, Writer<W>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let outbox = Outbox { queue: sender, waiting: waiting.clone(), limit };
    (outbox, Writer { queue: receiver, waiting, write })
}

impl Outbox {
    /// Appends one encoded command.
    pub(super) fn push(&self, bytes: Vec<u8>) -> Result<(), CdpError> {
        let waiting = self.waiting.load(Ordering::Relaxed);
        // One command alone is always taken, whatever its size.
        if waiting > 0 && waiting.saturating_add(bytes.len()) > self.limit {
            return Err(CdpError::Backlog { bytes: waiting });
        }
        self.waiting.fetch_add(bytes.len(), Ordering::Relaxed);
        self.queue.send(bytes).map_err(|_| CdpError::Closed(Gone::because("the browser's pipe is closed")))
    }
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    /// Writes until there is no sender, the browser is gone, or the pipe breaks.
    pub(super) async fn run(mut self, waiters: Arc<Waiters>) {
        let outcome = tokio::select! {
            outcome = self.write_all() => outcome,
            _ = waiters.closed() => Ok(()),
        };
        if let Err(error) = outcome {
            // The reader sees the end of the other pipe and knows better why.
            tracing::debug!(%error, "writing to the browser failed");
        }
    }

    async fn write_all(&mut self) -> std::io::Result<()> {
        while let Some(mut batch) = self.queue.recv().await {
            while batch.len() < BATCH {
                match self.queue.try_recv() {
                    Ok(next) => batch.extend_from_slice(&next),
                    Err(_) => break,
                }
            }
            self.write.write_all(&batch).await?;
            self.write.flush().await?;
            self.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
        }
        Ok(())
    }
}
