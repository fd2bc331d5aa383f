//! The one task that writes the audit log, and the way to it.
//!
//! Entries wait in a queue with a bound. Where it is full whoever brings an entry waits, for a short time; after that
//! the entry is lost and counted. What was written is on the disk at most a second later.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use glass_proto::audit::{Entry, Event};
use glass_proto::error::ErrorKind;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::log::{Limits, Log};
use crate::shutdown::Shutdown;

/// Entries that may wait; none is larger than a line.
const QUEUED: usize = 256;
/// Entries that are written at once.
const BATCH: usize = 64;
/// How long whoever brings an entry waits for room.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the end of the daemon waits for the last entries.
const FLUSH: Duration = Duration::from_secs(3);
/// How long an entry may be on its way to the disk.
const SYNC: Duration = Duration::from_millis(800);
/// Refusals for want of a quota that are written one by one between two syncs. A client that floods would otherwise push
/// everything else out of the log.
const REFUSALS: u64 = 10;

/// The way into the audit log.
#[derive(Clone, Debug)]
pub struct Audit(Option<Arc<Shared>>);

struct Shared {
    messages: mpsc::Sender<Message>,
    lost: Arc<AtomicU64>,
    key: [u8; 32],
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

enum Message {
    Entry(Box<Entry>),
    Flush(oneshot::Sender<()>),
}

impl Audit {
    /// None is kept.
    pub fn off() -> Self {
        Self(None)
    }

    /// Begins to write to the log in `dir`.
    ///
    /// # Errors
    /// The log cannot be opened, or there is no randomness for the key.
    pub fn start(dir: &Path, limits: Limits, tasks: &Shutdown) -> std::io::Result<Self> {
        let (mut log, found) = Log::open(dir, limits)?;
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        if let Some(found) = found {
            tracing::warn!(details = ?found.details, "the audit log was not as it was left");
            log.add(&found);
        }
        let started = Entry::new(Event::Started)
            .detail("pid", std::process::id())
            .detail("version", glass_proto::version::PROGRAM);
        log.add(&started);
        let (messages, receiver) = mpsc::channel(QUEUED);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer { log, lost: lost.clone(), refusals: 0, more: 0 };
        tasks.spawn_vital("audit", run(writer, receiver));
        Ok(Self(Some(Arc::new(Shared { messages, lost, key }))))
    }

    /// Whether a log is kept.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Brings an entry on its way.
    pub async fn note(&self, entry: Entry) {
        let Some(shared) = &self.0 else { return };
        let sent = timeout(PATIENCE, shared.messages.send(Message::Entry(entry.into()))).await;
        if !matches!(sent, Ok(Ok(()))) {
            shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits, for a bounded time, until everything that was noted is on the disk.
    pub async fn flush(&self) {
        let Some(shared) = &self.0 else { return };
        let (done, told) = oneshot::channel();
        let flushed = async {
            shared.messages.send(Message::Flush(done)).await.ok()?;
            told.await.ok()
        };
        if !matches!(timeout(FLUSH, flushed).await, Ok(Some(()))) {
            tracing::error!("the end of the audit log may not be on the disk");
        }
    }

    /// The hash of a text under a key of this daemon's life: equal texts can be told, and short ones not guessed.
    pub fn hash(&self, text: &str) -> String {
        let key = self.0.as_ref().map_or([0; 32], |shared| shared.key);
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes a key of any length");
        mac.update(text.as_bytes());
        let code = mac.finalize().into_bytes();
        code.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
    }
}

struct Writer {
    log: Log,
    lost: Arc<AtomicU64>,
    /// Refusals for want of a quota since the last sync, and how many of them were not written one by one.
    refusals: u64,
    more: u64,
}

impl Writer {
    fn add(&mut self, entry: &Entry) {
        let quota =
            entry.event == Event::Refused && entry.kind.as_deref() == Some(ErrorKind::QuotaExceeded.name());
        self.refusals += u64::from(quota);
        if quota && self.refusals > REFUSALS {
            self.more += 1;
        } else {
            self.log.add(entry);
        }
    }

    fn write(&mut self, entries: &[Box<Entry>]) {
        match self.lost.swap(0, Ordering::Relaxed) {
            0 => {}
            lost => self.log.lose(lost),
        }
        entries.iter().for_each(|entry| self.add(entry));
    }

    fn is_dirty(&self) -> bool {
        self.log.is_dirty() || self.refusals > 0
    }

    fn sync(&mut self) {
        if self.more > 0 {
            let kind = Some(ErrorKind::QuotaExceeded.name().to_owned());
            self.log.add(&Entry { kind, count: Some(self.more), ..Entry::new(Event::Refused) });
        }
        (self.refusals, self.more) = (0, 0);
        if let Err(error) = self.log.sync() {
            tracing::error!(%error, "the audit log cannot be brought to the disk");
        }
    }
}

async fn run(writer: Writer, mut messages: mpsc::Receiver<Message>) {
    let mut writer = Some(writer);
    // What its start has told.
    let mut sync_at = Some(Instant::now());
    loop {
        let mut batch = Vec::with_capacity(BATCH);
        let due = async {
            match sync_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let ended = tokio::select! {
            biased;
            () = due => false,
            count = messages.recv_many(&mut batch, BATCH) => count == 0,
        };
        let (mut entries, mut flushes) = (Vec::new(), Vec::new());
        for message in batch {
            match message {
                Message::Entry(entry) => entries.push(entry),
                Message::Flush(done) => flushes.push(done),
            }
        }
        let now = ended || !flushes.is_empty() || sync_at.is_some_and(|at| at <= Instant::now());
        let Some(mut own) = writer.take() else { return };
        let written = tokio::task::spawn_blocking(move || {
            own.write(&entries);
            if now {
                own.sync();
            }
            own
        });
        // A panic ends the task, and with it the daemon: nothing goes on unwritten.
        let Ok(back) = written.await else { return };
        for done in flushes {
            // Whoever waited may have gone.
            let _ = done.send(());
        }
        sync_at = match sync_at {
            _ if !back.is_dirty() => None,
            Some(at) if !now => Some(at),
            _ => Some(Instant::now() + SYNC),
        };
        writer = Some(back);
        if ended {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(dir: &Path) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(dir.join(glass_proto::audit::file_name(1))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    // contract: 10.7, 11
    #[tokio::test]
    async fn a_flood_of_refusals_is_counted_and_pushes_nothing_out() {
        let dir = tempfile::tempdir().unwrap();
        let tasks = Shutdown::default();
        let limits = Limits { file_bytes: 1 << 20, files: 2 };
        let audit = Audit::start(dir.path(), limits, &tasks).unwrap();
        audit.flush().await;
        for _ in 0..500 {
            let kind = Some(ErrorKind::QuotaExceeded.name().to_owned());
            audit.note(Entry { kind, ..Entry::new(Event::Refused) }).await;
        }
        audit.note(Entry::new(Event::Begun)).await;
        audit.flush().await;
        let lines = lines(dir.path());
        let counted: u64 = lines
            .iter()
            .filter(|line| line["event"] == "refused")
            .map(|line| line["count"].as_u64().unwrap_or(1))
            .sum();
        assert_eq!(counted, 500);
        assert!(lines.len() < 100, "{}", lines.len());
        assert!(lines.iter().any(|line| line["event"] == "begun"));
    }

    #[tokio::test]
    async fn equal_texts_have_equal_hashes_in_one_life_alone() {
        let tasks = Shutdown::default();
        let limits = Limits { file_bytes: 1 << 20, files: 2 };
        let start = || Audit::start(tempfile::tempdir().unwrap().path(), limits, &tasks).unwrap();
        let (one, other) = (start(), start());
        assert_eq!(one.hash("1234"), one.hash("1234"));
        assert_ne!(one.hash("1234"), one.hash("1235"));
        assert_ne!(one.hash("1234"), other.hash("1234"));
    }
}
