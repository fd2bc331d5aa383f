//! A daemon that answers from a script: a real gRPC server on a real socket, without any browser.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use glass_proto::wire::client as pb;
use glass_proto::{ExecutionId, OpError};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use pb::execute_event::Kind;
use pb::glass_server::{Glass, GlassServer};
use tokio::net::UnixListener;
use tokio::sync::{Notify, mpsc};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// What the daemon does next in an operation's stream.
pub(crate) enum Step {
    /// Sends this.
    Send(Kind),
    /// Waits until the test opens the gate.
    Gate,
    /// Waits for a cancel (and then goes on), or until the client leaves.
    UntilCancelled,
    /// Says nothing more, and keeps the stream open until the client leaves.
    Silence,
    /// Ends the stream.
    Break,
}

pub(crate) type Script = fn(&pb::ExecuteRequest) -> Vec<Step>;

/// What was asked of the daemon.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) executed: Vec<pb::ExecuteRequest>,
    pub(crate) cancelled: Vec<String>,
    /// Streams whose client left before their end.
    pub(crate) left: usize,
    pub(crate) closed: Vec<(String, bool)>,
}

#[derive(Clone)]
pub(crate) struct Service {
    script: Script,
    log: Arc<Mutex<Log>>,
    gate: Arc<Notify>,
    cancel: Arc<Notify>,
}

/// The daemon; ends when it is dropped.
pub(crate) struct Fake {
    directory: tempfile::TempDir,
    service: Service,
    runtime: Option<tokio::runtime::Runtime>,
}

pub(crate) fn execution() -> ExecutionId {
    "01J00000000000000000000000".parse().unwrap()
}

pub(crate) fn session(started: &str) -> Option<pb::SessionRef> {
    Some(pb::SessionRef { name: "default".into(), started: started.into() })
}

pub(crate) fn accepted() -> Step {
    let accepted = pb::Accepted { execution_id: execution().to_string(), session: session("running") };
    Step::Send(Kind::Accepted(accepted))
}

pub(crate) fn completed(result: serde_json::Value) -> Step {
    Step::Send(Kind::Ended(pb::Ended {
        outcome: "completed".into(),
        session: session("running"),
        execution_id: execution().to_string(),
        answer: Some(pb::ended::Answer::ResultJson(result.to_string().into_bytes())),
    }))
}

pub(crate) fn error(error: &OpError) -> Step {
    Step::Send(Kind::Ended(pb::Ended {
        outcome: error.outcome.name().into(),
        session: session("running"),
        execution_id: execution().to_string(),
        answer: Some(pb::ended::Answer::ErrorJson(glass_proto::wire::encode_error(error))),
    }))
}

impl Fake {
    pub(crate) fn start(script: Script) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let service = Service {
            script,
            log: Arc::default(),
            gate: Arc::new(Notify::new()),
            cancel: Arc::new(Notify::new()),
        };
        let runtime = serve(&directory.path().join("glassd.sock"), service.clone());
        Self { directory, service, runtime: Some(runtime) }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("glassd.sock")
    }

    pub(crate) fn open_gate(&self) {
        self.service.gate.notify_one();
    }

    pub(crate) fn log<T>(&self, look: impl FnOnce(&Log) -> T) -> T {
        look(&self.service.log.lock().unwrap())
    }

    /// Waits until the log is so.
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&Log) -> bool) {
        eventually(what, || self.log(&holds));
    }

    /// Parameters of the last operation.
    pub(crate) fn params(&self) -> serde_json::Value {
        self.log(|log| serde_json::from_slice(&log.executed.last().unwrap().params_json).unwrap())
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Polls until it holds, at most 10 s.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(10), "did not happen: {what}");
        std::thread::yield_now();
    }
}

/// Serves at `socket` until the runtime is dropped.
pub(crate) fn serve(socket: &Path, service: Service) -> tokio::runtime::Runtime {
    serve_on(std::os::unix::net::UnixListener::bind(socket).unwrap(), service)
}

/// Serves what comes to `listener` until the runtime is dropped.
pub(crate) fn serve_on(
    listener: std::os::unix::net::UnixListener,
    service: Service,
) -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = {
        let _guard = runtime.enter();
        listener.set_nonblocking(true).unwrap();
        UnixListener::from_std(listener).unwrap()
    };
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(GlassServer::new(service.clone()));
            let connection = http2::Builder::new(TokioExecutor::new());
            tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
        }
    });
    runtime
}

impl Service {
    pub(crate) fn answering(script: Script) -> Self {
        Self { script, log: Arc::default(), gate: Arc::new(Notify::new()), cancel: Arc::new(Notify::new()) }
    }

    async fn play(&self, steps: Vec<Step>, events: mpsc::Sender<Result<pb::ExecuteEvent, Status>>) {
        for step in steps {
            match step {
                Step::Send(kind) => {
                    if events.send(Ok(pb::ExecuteEvent { kind: Some(kind) })).await.is_err() {
                        break;
                    }
                }
                Step::Gate => self.gate.notified().await,
                Step::UntilCancelled => tokio::select! {
                    () = self.cancel.notified() => {}
                    () = events.closed() => break,
                },
                Step::Silence => events.closed().await,
                Step::Break => return,
            }
        }
        if events.is_closed() {
            self.log.lock().unwrap().left += 1;
        }
    }
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl Glass for Service {
    type ExecuteStream = Pin<Box<dyn Stream<Item = Result<pb::ExecuteEvent, Status>> + Send>>;
    type AttendStream = Pin<Box<dyn Stream<Item = Result<pb::Attending, Status>> + Send>>;

    async fn execute(&self, request: Request<pb::ExecuteRequest>) -> Answer<Self::ExecuteStream> {
        let request = request.into_inner();
        pb::Hello::check(request.hello.clone())
            .map_err(|error| Status::failed_precondition(error.to_string()))?;
        let steps = (self.script)(&request);
        if steps.is_empty() {
            return Err(Status::failed_precondition("this daemon speaks 2.0"));
        }
        self.log.lock().unwrap().executed.push(request);
        let (events, stream) = mpsc::channel(4);
        let service = self.clone();
        tokio::spawn(async move { service.play(steps, events).await });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    async fn stage_file(&self, _: Request<Streaming<pb::StageFileRequest>>) -> Answer<pb::StageFileReply> {
        Err(Status::unimplemented("this daemon takes no files"))
    }

    async fn cancel(&self, request: Request<pb::CancelRequest>) -> Answer<pb::CancelReply> {
        self.log.lock().unwrap().cancelled.push(request.into_inner().execution_id);
        self.cancel.notify_one();
        Ok(Response::new(pb::CancelReply { found: true }))
    }

    async fn status(&self, _: Request<pb::StatusRequest>) -> Answer<pb::StatusReply> {
        Ok(Response::new(pb::StatusReply {
            program_version: "0.1.0".into(),
            pid: std::process::id(),
            phase: "running".into(),
            major: 1,
            ..pb::StatusReply::default()
        }))
    }

    async fn list_sessions(&self, _: Request<pb::ListSessionsRequest>) -> Answer<pb::ListSessionsReply> {
        let session = pb::SessionInfo {
            name: "default".into(),
            kind: "ephemeral".into(),
            state: "ready".into(),
            targets: 1,
            ..pb::SessionInfo::default()
        };
        Ok(Response::new(pb::ListSessionsReply { sessions: vec![session] }))
    }

    async fn show_session(&self, _: Request<pb::ShowSessionRequest>) -> Answer<pb::ShowSessionReply> {
        Err(Status::not_found("there is no such session"))
    }

    async fn close_session(
        &self,
        request: Request<pb::CloseSessionRequest>,
    ) -> Answer<pb::CloseSessionReply> {
        let request = request.into_inner();
        self.log.lock().unwrap().closed.push((request.name.clone(), request.all));
        Ok(Response::new(pb::CloseSessionReply { closed: vec![request.name] }))
    }

    async fn attend(&self, _: Request<pb::AttendRequest>) -> Answer<Self::AttendStream> {
        Err(Status::unimplemented("nobody stays with the fake"))
    }

    async fn policy(&self, _: Request<pb::PolicyRequest>) -> Result<Response<pb::PolicyReply>, Status> {
        Err(Status::unimplemented("not asked for in these tests"))
    }

    async fn confirmations(
        &self,
        _: Request<pb::ConfirmationsRequest>,
    ) -> Result<Response<pb::ConfirmationsReply>, Status> {
        Err(Status::unimplemented("not asked for in these tests"))
    }

    async fn decide(&self, _: Request<pb::DecideRequest>) -> Result<Response<pb::DecideReply>, Status> {
        Err(Status::unimplemented("not asked for in these tests"))
    }

    async fn reach(&self, _: Request<pb::ReachRequest>) -> Answer<pb::ReachReply> {
        Err(Status::unimplemented("not asked for in these tests"))
    }

    async fn quotas(&self, _: Request<pb::QuotasRequest>) -> Answer<pb::QuotasReply> {
        Err(Status::unimplemented("not asked for in these tests"))
    }

    async fn show_execution(&self, _: Request<pb::ShowExecutionRequest>) -> Answer<pb::ShowExecutionReply> {
        Err(Status::unimplemented("not asked for in these tests"))
    }

    async fn export_secrets(&self, _: Request<pb::ExportSecretsRequest>) -> Answer<pb::ExportSecretsReply> {
        Err(Status::unimplemented("not asked for in these tests"))
    }

    async fn stop(&self, _: Request<pb::StopRequest>) -> Answer<pb::StopReply> {
        Err(Status::unimplemented("the fake stops with its test"))
    }
}
