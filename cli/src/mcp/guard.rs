//! The transport in front of rmcp: standard input and output, with every bound of contract 9.3.
//!
//! Reads frames, lets the connection's rules decide, and hands on what is to be served. Each answer passes here on its
//! way out: one that nobody is owed is dropped, one that is too large is replaced. Reading stops while output is stuck,
//! so nothing piles up.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{CancelReply, Connection, MAX_ANSWER, Out, too_large};
use super::frame::{Decoder, Framing, Limits, Step};
use super::message::code;

/// Answers on their way out (contract 9.3).
const QUEUED: usize = 16;
/// Pieces of input on their way in.
const PIECES: usize = 4;
/// Bytes of a piece.
const PIECE: usize = 64 * 1024;
/// How long a frame may take once its first byte came (contract 9.3).
const FRAME: Duration = Duration::from_secs(10);
/// How often the last answers' reader is looked for.
const LOOK: Duration = Duration::from_millis(250);
/// How often stuck output is looked at, and after how many looks in a row it counts as left.
const WATCH: Duration = Duration::from_secs(1);
const STUCK: u32 = 5;
/// How long accepted requests may take after the end of input (contract 9.9).
const LAST: Duration = Duration::from_secs(5);

/// What the guard shares with the handlers.
#[derive(Debug)]
pub struct Shared {
    connection: Mutex<Connection>,
    out: mpsc::Sender<Queued>,
    /// Something was answered, or output broke.
    changed: Notify,
    broken: AtomicBool,
}

impl Shared {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What tells that this request was cancelled.
    pub fn token(&self, id: &RequestId) -> CancellationToken {
        self.connection().token(id)
    }

    /// Tells the client how far a request is. Never after its answer; left out while output is stuck.
    pub fn progress(&self, id: &RequestId, token: &Value, seconds: f64, message: &str) {
        let connection = self.connection();
        let Some(framing) = connection.wants_news(id) else { return };
        let note = json!({
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": { "progressToken": token, "progress": seconds, "message": message },
        });
        // Within the lock: the answer is queued after it has taken the request out of the connection.
        let _ = self.out.try_send(Queued::Out(Out { framing, text: note.to_string().into_bytes() }));
    }

    /// Waits until everything that was queued is written, at most for `limit`.
    pub async fn flush(&self, limit: Duration) {
        let flushed = async {
            let (done, written) = tokio::sync::oneshot::channel();
            if self.out.send(Queued::Flush(done)).await.is_ok() {
                // An error means that output broke: there is nothing to wait for.
                let _ = written.await;
            }
        };
        // Later than that nobody reads.
        let _ = timeout(limit, flushed).await;
    }

    /// Waits until output is stuck and nobody gives input any more: then nobody will read either.
    pub async fn abandoned(&self, nobody_there: impl Fn() -> bool) {
        let mut stuck = 0;
        loop {
            tokio::time::sleep(WATCH).await;
            stuck = if self.out.capacity() == 0 { stuck + 1 } else { 0 };
            if stuck >= STUCK && nobody_there() {
                return;
            }
        }
    }

    /// Whether output broke.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    fn breaks(&self) {
        self.broken.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }
}

#[derive(Debug)]
enum Queued {
    Out(Out),
    Flush(tokio::sync::oneshot::Sender<()>),
}

/// The transport.
#[derive(Debug)]
pub struct Guard {
    input: mpsc::Receiver<Vec<u8>>,
    decoder: Decoder,
    shared: Arc<Shared>,
    /// What is answered before anything more is read.
    owed: VecDeque<Out>,
    serve: VecDeque<RxJsonRpcMessage<RoleServer>>,
    /// When the frame that is under way must be complete.
    deadline: Option<Instant>,
    /// Since when there is no more input.
    ended: Option<Instant>,
    /// Whether nobody can read the output any more.
    reader_is_gone: fn() -> bool,
}

impl Guard {
    /// A transport over these two streams, each with a thread of its own.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        limits: Limits,
        reply: CancelReply,
        reader_is_gone: fn() -> bool,
    ) -> io::Result<(Self, Arc<Shared>)> {
        let (out, queue) = mpsc::channel(QUEUED);
        let shared = Arc::new(Shared {
            connection: Mutex::new(Connection::new(reply)),
            out,
            changed: Notify::new(),
            broken: AtomicBool::new(false),
        });
        let (send, pieces) = mpsc::channel(PIECES);
        // Threads of their own: reading and writing cannot be interrupted, and nothing may wait for them at the end.
        std::thread::Builder::new().name("input".into()).spawn(move || read(input, &send))?;
        let weak = Arc::downgrade(&shared);
        std::thread::Builder::new().name("output".into()).spawn(move || {
            if write(output, queue).is_err()
                && let Some(shared) = weak.upgrade()
            {
                shared.breaks();
            }
        })?;
        let guard = Self {
            input: pieces,
            decoder: Decoder::new(limits),
            shared: shared.clone(),
            owed: VecDeque::new(),
            serve: VecDeque::new(),
            deadline: None,
            ended: None,
            reader_is_gone,
        };
        Ok((guard, shared))
    }

    /// Puts what the decoder has into what is owed and what is served. One frame at a time, so that what is refused
    /// for want of room is refused while there is none.
    fn decode(&mut self) -> bool {
        let step = self.decoder.step();
        self.deadline = match (self.decoder.within_frame(), self.deadline) {
            (false, _) => None,
            (true, Some(deadline)) if step == Step::More => Some(deadline),
            (true, _) => Some(Instant::now() + FRAME),
        };
        self.take(step)
    }

    fn take(&mut self, step: Step) -> bool {
        match step {
            Step::More => return false,
            Step::Frame(framing, bytes) => {
                let received = self.shared.connection().receive(framing, &bytes);
                self.serve.extend(received.serve);
                self.owed.extend(received.answers);
            }
            Step::Refused(framing, why) => self.owed.push_back(Connection::refused(framing, why)),
            Step::Broken(framing, why) => {
                self.owed.push_back(Connection::refused(framing, why));
                self.end();
            }
        }
        true
    }

    fn end(&mut self) {
        if self.ended.is_none() {
            let step = self.decoder.finish();
            self.ended = Some(Instant::now());
            self.take(step);
        }
    }

    /// After the end of input: waits for the answers of what was accepted, within its bound.
    async fn farewell(&self, since: Instant) {
        let drained = async {
            while self.shared.connection().open() > 0 && !self.shared.is_broken() && !(self.reader_is_gone)()
            {
                // A reader that goes says nothing: it is looked for.
                let _ = timeout(LOOK, self.shared.changed.notified()).await;
            }
        };
        // What is open by then is cancelled.
        let _ = tokio::time::timeout_at(since + LAST, drained).await;
        self.shared.connection().cancel_all();
    }
}

impl Transport<RoleServer> for Guard {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let shared = self.shared.clone();
        async move {
            let (id, cancel) = match &item {
                JsonRpcMessage::Response(response) => (response.id.clone(), false),
                JsonRpcMessage::Error(error) => match &error.id {
                    Some(id) => (id.clone(), error.error.code.0 == code::CANCELLED),
                    None => return Ok(()),
                },
                // Nothing is asked of a client, and progress goes another way.
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return Ok(()),
            };
            // The place first: as long as there is none, the request counts as open and holds its slot.
            let place = shared.out.reserve().await.map_err(|_| io::ErrorKind::BrokenPipe)?;
            let text = bounded(&item).unwrap_or_else(|| too_large(&id));
            let out = shared.connection().answered(&id, text, cancel);
            if let Some(out) = out {
                place.send(Queued::Out(out));
            }
            shared.changed.notify_one();
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Everything that a dropped call must not lose is in `self`.
        let shared = self.shared.clone();
        loop {
            if shared.is_broken() {
                shared.connection().cancel_all();
                return None;
            }
            if !self.owed.is_empty() {
                let place = tokio::select! {
                    place = shared.out.reserve() => place.ok()?,
                    () = shared.changed.notified() => continue,
                };
                if let Some(out) = self.owed.pop_front() {
                    place.send(Queued::Out(out));
                }
                continue;
            }
            if let Some(request) = self.serve.pop_front() {
                return Some(request);
            }
            if let Some(since) = self.ended {
                self.farewell(since).await;
                return None;
            }
            if self.decode() {
                continue;
            }
            tokio::select! {
                piece = self.input.recv() => match piece {
                    Some(bytes) => self.decoder.feed(&bytes),
                    None => self.end(),
                },
                () = until(self.deadline) => {
                    self.deadline = None;
                    let step = self.decoder.give_up();
                    self.take(step);
                }
                () = shared.changed.notified(), if !shared.is_broken() => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        Ok(())
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// The text of an answer; `None` when it is larger than its bound, which is noticed on the way.
fn bounded(item: &TxJsonRpcMessage<RoleServer>) -> Option<Vec<u8>> {
    struct Bounded(Vec<u8>);
    impl Write for Bounded {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.len() + bytes.len() > MAX_ANSWER {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut text = Bounded(Vec::new());
    serde_json::to_writer(&mut text, item).ok()?;
    Some(text.0)
}

fn read(mut input: impl Read, pieces: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = vec![0; PIECE];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return,
            Ok(size) => {
                if pieces.blocking_send(buffer[..size].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What cannot be read has ended.
            Err(_) => return,
        }
    }
}

fn write(mut output: impl Write, mut queue: mpsc::Receiver<Queued>) -> io::Result<()> {
    while let Some(queued) = queue.blocking_recv() {
        let out = match queued {
            Queued::Out(out) => out,
            Queued::Flush(done) => {
                // Whoever asked may have stopped waiting.
                let _ = done.send(());
                continue;
            }
        };
        match out.framing {
            Framing::Line => {
                let mut text = out.text;
                text.push(b'\n');
                output.write_all(&text)?;
            }
            Framing::Header => {
                output.write_all(format!("Content-Length: {}\r\n\r\n", out.text.len()).as_bytes())?;
                output.write_all(&out.text)?;
            }
        }
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
