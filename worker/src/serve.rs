//! The worker's gRPC service: greets, runs operations, tells its health, ends.
//!
//! A page operation queue is the daemon's (contract 1.7); here every operation is a task of its own, cancelled when
//! its stream is dropped.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use glass_proto::diagnosis::Lures;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{AnyOperation, CallOptions, MAX_TIMEOUT_MS};
use glass_proto::result::FileGiven;
use glass_proto::version::{PROGRAM, WORKER};
use glass_proto::wire::worker as pb;
use glass_proto::wire::{CHUNK, encode_error};
use glass_proto::{ExecutionId, Outcome};
use glass_sandbox::Observer;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use crate::chromium::Browser;
use crate::context::{Notice, Secrets};
use crate::execute::{Ended, Request as Work, execute};
use crate::journal::Journal;
use crate::page::Pages;

/// Outcomes remembered for a daemon that lost its connection (DESIGN 1).
const REMEMBERED: usize = 64;
/// Bytes of answers remembered at most; the oldest go first.
const REMEMBERED_BYTES: usize = 2 * 1024 * 1024;
/// Messages of one operation that wait for a slow daemon.
const QUEUE: usize = 8;
/// How long the answer of the operation that ends the browser may take to be read.
const READ: Duration = Duration::from_secs(1);
/// How long the browser may take to end by itself then.
const CLOSE: Duration = Duration::from_millis(300);

/// How far the browser is.
#[derive(Clone, Debug)]
pub enum Up {
    /// Still starting.
    Starting,
    /// Pages can be used.
    Ready(Arc<Browser>),
    /// It did not start.
    Failed(Arc<str>),
}

/// The service. Clones share their state.
#[derive(Clone, Debug)]
pub struct Service {
    pages: Pages,
    up: watch::Receiver<Up>,
    observer: Observer,
    mode: String,
    journal: Arc<Journal>,
    past: Arc<Mutex<VecDeque<pb::PastOutcome>>>,
    stop: CancellationToken,
}

impl Service {
    /// A service for these pages; `stop` is cancelled when the worker is asked to end.
    pub fn new(
        pages: Pages,
        up: watch::Receiver<Up>,
        observer: Observer,
        mode: String,
        journal: Journal,
        stop: CancellationToken,
    ) -> Self {
        let journal = Arc::new(journal);
        Self { pages, up, observer, mode, journal, past: Arc::default(), stop }
    }

    async fn browser(&self) -> Result<Arc<Browser>, Status> {
        let mut up = self.up.clone();
        let known = up.wait_for(|up| !matches!(up, Up::Starting)).await;
        match known.map(|up| up.clone()) {
            Ok(Up::Ready(browser)) => Ok(browser),
            Ok(Up::Failed(why)) => Err(Status::unavailable(why.to_string())),
            Ok(Up::Starting) | Err(_) => Err(Status::unavailable("the worker is ending")),
        }
    }

    fn remember(&self, execution: &str, ended: &pb::Ended) {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        if past.len() >= REMEMBERED {
            past.pop_front();
        }
        let size =
            |past: &VecDeque<pb::PastOutcome>| past.iter().map(prost::Message::encoded_len).sum::<usize>();
        while !past.is_empty() && size(&past) > REMEMBERED_BYTES {
            past.pop_front();
        }
        past.push_back(pb::PastOutcome { execution_id: execution.to_owned(), ended: Some(ended.clone()) });
    }

    /// Takes a file into the session. A status is for a stream that makes no sense.
    async fn take_file(
        &self,
        mut stream: Streaming<pb::StageFileRequest>,
    ) -> Result<Result<(String, FileGiven), OpError>, Status> {
        use pb::stage_file_request::Kind;
        let Some(pb::StageFileRequest { kind: Some(Kind::Begin(begin)) }) = stream.message().await? else {
            return Err(Status::invalid_argument("the first message says which file it is"));
        };
        if self.pages.is_elsewhere() {
            let message = "the session is attached to somebody else's browser, which could not read the files of this session";
            let remedy = "use a session with a browser of its own";
            return Ok(Err(OpError::rejected(ErrorKind::Unsupported, Phase::Preflight, message, remedy)
                .reason("attached")));
        }
        let uploads = self.pages.uploads();
        let used = self.pages.state().kept() + uploads.bytes();
        let mut coming = match uploads.begin(&begin.name, begin.size, used, self.pages.spool_bytes()) {
            Ok(coming) => coming,
            Err(error) => return Ok(Err(error)),
        };
        while let Some(message) = stream.message().await? {
            let Some(Kind::Data(piece)) = message.kind else {
                return Err(Status::invalid_argument("the first message alone says which file it is"));
            };
            if let Err(error) = coming.take(&piece) {
                return Ok(Err(error));
            }
        }
        Ok(coming.finish())
    }

    async fn run(
        self,
        work: Result<Work, Box<OpError>>,
        execution: ExecutionId,
        events: mpsc::Sender<Result<pb::ExecuteEvent, Status>>,
    ) {
        let mut ends_browser = None;
        let ended = match work {
            Err(error) => Ended { outcome: Outcome::Rejected, answer: Err(error.of(&execution)) },
            Ok(work) => {
                let recovers = matches!(work.operation, AnyOperation::Recover(_));
                ends_browser = recovers.then(|| self.pages.running().clone());
                self.execute(work, &events).await
            }
        };
        let ended = wire_ended(&ended);
        self.remember(execution.as_str(), &ended);
        // A daemon that is gone reads the outcome from the ring.
        let _ = events.send(Ok(pb::ExecuteEvent { kind: Some(pb::execute_event::Kind::Ended(ended)) })).await;
        if ends_browser.is_some_and(|running| running.browser_ends())
            && let Some(browser) = self.pages.browser()
        {
            // The answer is read before what ends this worker.
            let _ = tokio::time::timeout(READ, events.closed()).await;
            tracing::warn!("the browser is ended, as recover asked");
            browser.close(CLOSE).await;
        }
    }

    async fn execute(&self, work: Work, events: &mpsc::Sender<Result<pb::ExecuteEvent, Status>>) -> Ended {
        let cancel = CancellationToken::new();
        let (notices, mut told) = mpsc::channel(QUEUE);
        let run = execute(&self.pages, work, notices, self.journal.clone(), cancel.clone());
        tokio::pin!(run);
        let mut told_open = true;
        loop {
            tokio::select! {
                // What is told goes out before the end is.
                biased;
                notice = told.recv(), if told_open => match notice {
                    Some(notice) => tell(events, notice).await,
                    None => told_open = false,
                },
                () = events.closed(), if !cancel.is_cancelled() => cancel.cancel(),
                ended = &mut run => {
                    while let Ok(notice) = told.try_recv() {
                        tell(events, notice).await;
                    }
                    return ended;
                }
            }
        }
    }
}

async fn tell(events: &mpsc::Sender<Result<pb::ExecuteEvent, Status>>, notice: Notice) {
    use pb::execute_event::Kind;
    let send = async |kind| {
        // A stream that is dropped cancels the operation; nobody reads the rest.
        let _ = events.send(Ok(pb::ExecuteEvent { kind: Some(kind) })).await;
    };
    match notice {
        Notice::Dispatched => send(Kind::Dispatched(pb::Dispatched {})).await,
        Notice::Progress { done, total, operation } => {
            send(Kind::Progress(pb::Progress { done, total, operation: operation.to_owned() })).await;
        }
        Notice::Captured(secrets) => send(Kind::Captured(pb::Captured { secrets })).await,
        Notice::Piece { name, data, last } => {
            let media_type = "application/octet-stream".to_owned();
            send(Kind::Artifact(pb::Artifact { name, media_type, data, last })).await;
        }
        Notice::Artifact { name, media_type, data } => {
            // An empty file is told too.
            let pieces: Vec<&[u8]> = if data.is_empty() { vec![&[]] } else { data.chunks(CHUNK).collect() };
            let count = pieces.len();
            for (at, piece) in pieces.into_iter().enumerate() {
                let artifact = pb::Artifact {
                    name: name.clone(),
                    media_type: media_type.clone().into_owned(),
                    data: piece.to_vec(),
                    last: at + 1 == count,
                };
                send(Kind::Artifact(artifact)).await;
            }
        }
    }
}

fn wire_ended(ended: &Ended) -> pb::Ended {
    let answer = match &ended.answer {
        Ok(output) => pb::ended::Answer::ResultJson(output.clone()),
        Err(error) => pb::ended::Answer::ErrorJson(encode_error(error)),
    };
    pb::Ended { outcome: ended.outcome.name().to_owned(), answer: Some(answer) }
}

fn work_of(request: &mut pb::ExecuteRequest, execution: &ExecutionId) -> Result<Work, Box<OpError>> {
    let bad = |error: glass_proto::op::DecodeError| {
        Box::new(OpError::rejected(
            ErrorKind::InvalidArgument,
            Phase::Preflight,
            error.to_string(),
            "see the operation's --help",
        ))
    };
    let operation = AnyOperation::decode(&request.operation, &request.params_json).map_err(bad)?;
    let options = CallOptions::decode(&request.options_json).map_err(bad)?;
    // The daemon refuses these too; a guard that is not one is dangerous enough for two looks.
    operation.check_options(&options).map_err(|error| bad(error.into()))?;
    Ok(Work {
        execution: execution.clone(),
        operation,
        options,
        client: request.client_id.clone(),
        left: Duration::from_millis(request.deadline_ms.clamp(1, 3 * MAX_TIMEOUT_MS)),
        hide_values: request.hide_values,
        secrets: Secrets::new(std::mem::take(&mut request.secrets)),
    })
}

type Events = Pin<Box<dyn Stream<Item = Result<pb::ExecuteEvent, Status>> + Send>>;

#[tonic::async_trait]
impl pb::worker_server::Worker for Service {
    type ExecuteStream = Events;

    async fn greet(&self, request: Request<pb::GreetRequest>) -> Result<Response<pb::GreetReply>, Status> {
        let theirs = request.into_inner();
        if theirs.major != WORKER.major {
            return Err(Status::failed_precondition(format!("this worker speaks protocol {WORKER}")));
        }
        let browser = self.browser().await?;
        let mut layers = self.observer.cage();
        layers.extend(browser.pid().map(|pid| self.observer.browser(pid)).unwrap_or_default());
        let layers = layers.into_iter().map(|layer| pb::Layer {
            name: layer.name,
            state: match layer.state {
                glass_sandbox::LayerState::Active => "active",
                glass_sandbox::LayerState::Degraded => "degraded",
                glass_sandbox::LayerState::Missing => "missing",
            }
            .to_owned(),
            detail: layer.detail,
        });
        Ok(Response::new(pb::GreetReply {
            major: WORKER.major,
            minor: WORKER.minor,
            program_version: PROGRAM.to_owned(),
            browser_version: browser.version().full().to_owned(),
            layers: layers.collect(),
            mode: self.mode.clone(),
        }))
    }

    async fn execute(&self, request: Request<pb::ExecuteRequest>) -> Result<Response<Events>, Status> {
        self.browser().await?;
        let mut request = request.into_inner();
        let execution: ExecutionId = request
            .execution_id
            .parse()
            .map_err(|_| Status::invalid_argument("the execution id is malformed"))?;
        let (events, receiver) = mpsc::channel(QUEUE);
        let work = work_of(&mut request, &execution);
        tokio::spawn(self.clone().run(work, execution, events));
        Ok(Response::new(Box::pin(tokio_stream::wrappers::ReceiverStream::new(receiver))))
    }

    async fn stage_file(
        &self,
        request: Request<Streaming<pb::StageFileRequest>>,
    ) -> Result<Response<pb::StageFileReply>, Status> {
        use pb::stage_file_reply::Answer;
        let answer = match self.take_file(request.into_inner()).await? {
            Ok((file_id, file)) => {
                Answer::Staged(pb::StagedFile { file_id, size: file.size, sha256: file.sha256 })
            }
            Err(error) => Answer::ErrorJson(encode_error(&error)),
        };
        Ok(Response::new(pb::StageFileReply { answer: Some(answer) }))
    }

    async fn health(&self, _: Request<pb::HealthRequest>) -> Result<Response<pb::HealthReply>, Status> {
        let browser_up = matches!(&*self.up.borrow(), Up::Ready(_));
        let running = self.pages.running().executions();
        let targets = {
            let state = self.pages.state();
            let targets = state.order.iter().filter_map(|id| state.target(id)).map(|target| pb::Target {
                id: target.id.clone(),
                url: glass_proto::escape::cut(&target.url, 4096).into_owned(),
                title: glass_proto::escape::cut(&target.title, 256).into_owned(),
                crashed: target.crashed,
            });
            targets.collect()
        };
        Ok(Response::new(pb::HealthReply { browser_up, targets, running }))
    }

    async fn reach(&self, request: Request<pb::ReachRequest>) -> Result<Response<pb::ReachReply>, Status> {
        let lures: Lures = serde_json::from_slice(&request.into_inner().lures_json)
            .map_err(|_| Status::invalid_argument("what is to be tried cannot be read"))?;
        let attempts = tokio::task::spawn_blocking(move || crate::reach::all(&lures)).await;
        let json = attempts.ok().and_then(|attempts| serde_json::to_vec(&attempts).ok());
        let attempts_json = json.ok_or_else(|| Status::internal("the attempts broke off"))?;
        Ok(Response::new(pb::ReachReply { attempts_json }))
    }

    async fn note(&self, request: Request<pb::NoteRequest>) -> Result<Response<pb::NoteReply>, Status> {
        let pb::NoteRequest { quota, what, limit, used } = request.into_inner();
        let what = match what.as_str() {
            "near" => "near",
            "renderer_ended" => "renderer_ended",
            "exceeded" => "exceeded",
            _ => return Err(Status::invalid_argument("there is no such event")),
        };
        self.pages.note_quota(quota, what, limit, used);
        Ok(Response::new(pb::NoteReply {}))
    }

    async fn outcomes(&self, _: Request<pb::OutcomesRequest>) -> Result<Response<pb::OutcomesReply>, Status> {
        let outcomes = self.past.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        Ok(Response::new(pb::OutcomesReply { outcomes }))
    }

    async fn shutdown(&self, _: Request<pb::ShutdownRequest>) -> Result<Response<pb::ShutdownReply>, Status> {
        // Answered before the end begins; the daemon waits for the process.
        self.stop.cancel();
        Ok(Response::new(pb::ShutdownReply {}))
    }
}
