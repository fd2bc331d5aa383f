//! A worker without cage and browser that behaves well or badly on demand, for the daemon's own tests.
//!
//! Not shipped: `cargo test` builds it, and `tests/daemon` puts it in glass-worker's place. What it does on start
//! follows from the session's name, what an operation does from the URL that is navigated to.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is how a worker speaks")]

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use glass_daemon::egress::Channel;
use glass_proto::start::{self, FromWorker, Plan, SessionSettings};
use glass_proto::version::WORKER;
use glass_proto::wire::worker as pb;
use glass_proto::wire::worker::ended::Answer;
use glass_proto::wire::worker::execute_event::Kind;
use glass_proto::wire::worker::worker_server::{Worker, WorkerServer};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

const LAYERS: &[&str] = &[
    "uid",
    "namespaces",
    "root",
    "processes",
    "network",
    "capabilities",
    "no-new-privs",
    "seccomp",
    "landlock",
    "browser",
    "renderers",
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "--probe") {
        let uid = arguments.get(3).and_then(|uid| uid.parse().ok());
        let report = glass_sandbox::probe(uid).expect("the probe runs");
        println!("{}", serde_json::to_string(&report).expect("a report is JSON"));
        return;
    }
    glass_sandbox::die_with_parent(std::os::unix::process::parent_id()).expect("bound to the daemon");
    let control = glass_sandbox::take_inherited(start::CONTROL_FD).expect("a control socket");
    let _egress = glass_sandbox::take_inherited(start::EGRESS_FD).expect("an egress endpoint");
    let plan = glass_sandbox::take_inherited(start::PLAN_FD).expect("a plan");
    let journal = glass_sandbox::take_inherited(start::JOURNAL_FD).expect("a journal").into();
    let mut text = String::new();
    std::fs::File::from(plan).read_to_string(&mut text).expect("a readable plan");
    let plan: Plan<glass_sandbox::CagePlan> = serde_json::from_str(&text).expect("a plan of our shape");
    std::fs::write(plan.cage.session_dir.join("profile/used"), "x").expect("a writable profile");
    eprintln!("INFO fake-worker: up");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let directory = plan.cage.session_dir;
    std::process::exit(runtime.block_on(serve(control, plan.session, directory, journal)));
}

async fn serve(
    control: OwnedFd,
    session: SessionSettings,
    directory: PathBuf,
    journal: std::fs::File,
) -> i32 {
    let control = Channel::new(control).expect("a control socket");
    let say = |message: FromWorker| serde_json::to_vec(&message).expect("JSON");
    match session.name.as_str() {
        "start-refused" => {
            let message = FromWorker::Failed {
                step: "uid_map".to_owned(),
                errno: Some("EPERM".to_owned()),
                message: "cage step uid_map: EPERM".to_owned(),
                remedy: Some("allow user namespaces".to_owned()),
            };
            control.send(&say(message), &[]).await.expect("sent");
            return start::EXIT_NOT_STARTED;
        }
        "start-dies" => return 3,
        "start-hangs" => std::future::pending::<()>().await,
        _ => {}
    }
    if session.name.starts_with("stubborn") {
        let kind = tokio::signal::unix::SignalKind::terminate();
        let mut term = tokio::signal::unix::signal(kind).expect("a handler");
        tokio::spawn(async move { while term.recv().await.is_some() {} });
    }
    control
        .send(&say(FromWorker::Ready { mode: "namespaces".to_owned(), layers: vec![] }), &[])
        .await
        .expect("sent");
    let fake = Fake { session: session.name, directory, past: Arc::default(), journal: Arc::new(journal) };
    let mut buffer = vec![0; 16];
    while let Ok(Some((length, mut fds))) = control.recv(&mut buffer).await {
        if &buffer[..length] == start::DIAL {
            let stream = std::os::unix::net::UnixStream::from(fds.remove(0));
            let stream = UnixStream::from_std(stream).expect("a socket");
            let service = WorkerServer::new(fake.clone());
            // One connection, kept open by the stream that never ends.
            let incoming = tokio_stream::once(Ok::<_, std::io::Error>(stream)).chain(tokio_stream::pending());
            tokio::spawn(tonic::transport::Server::builder().serve_with_incoming(service, incoming));
        } else {
            eprintln!("INFO fake-worker: another egress endpoint, {} descriptors", fds.len());
        }
    }
    start::EXIT_LIFELINE
}

#[derive(Clone)]
struct Fake {
    session: String,
    directory: PathBuf,
    past: Arc<Mutex<Vec<pb::PastOutcome>>>,
    journal: Arc<std::fs::File>,
}

impl Fake {
    fn remember(&self, id: &str, ended: &pb::Ended) {
        let past = pb::PastOutcome { execution_id: id.to_owned(), ended: Some(ended.clone()) };
        self.past.lock().expect("not poisoned").push(past);
    }
}

fn completed(text: &str) -> pb::Ended {
    let json = serde_json::json!({ "did": text }).to_string().into_bytes();
    pb::Ended { outcome: "completed".to_owned(), answer: Some(Answer::ResultJson(json)) }
}

fn rejected() -> pb::Ended {
    let error = glass_proto::error::OpError::rejected(
        glass_proto::ErrorKind::Cancelled,
        glass_proto::Phase::Preflight,
        "cancelled in the worker",
        "none",
    );
    let json = glass_proto::wire::encode_error(&error);
    pb::Ended { outcome: "rejected".to_owned(), answer: Some(Answer::ErrorJson(json)) }
}

#[tonic::async_trait]
impl Worker for Fake {
    type ExecuteStream = ReceiverStream<Result<pb::ExecuteEvent, Status>>;

    async fn greet(&self, _: Request<pb::GreetRequest>) -> Result<Response<pb::GreetReply>, Status> {
        if self.session == "greet-fails" {
            return Err(Status::unavailable("no usable browser"));
        }
        let advisory = self.session == "advisory";
        while advisory && !self.directory.join("profile/go").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        let state = |name: &str| {
            if self.session == "weak" && name == "seccomp" { "missing" } else { "active" }.to_owned()
        };
        let layer =
            |name: &&str| pb::Layer { name: (*name).to_owned(), state: state(name), detail: String::new() };
        Ok(Response::new(pb::GreetReply {
            major: WORKER.major,
            minor: if self.session == "from-the-future" { WORKER.minor + 1 } else { WORKER.minor },
            program_version: "0".to_owned(),
            browser_version: "Fake/1".to_owned(),
            layers: LAYERS.iter().filter(|name| !advisory || **name != "network").map(layer).collect(),
            mode: if advisory { "landlock" } else { "namespaces" }.to_owned(),
        }))
    }

    async fn execute(
        &self,
        request: Request<pb::ExecuteRequest>,
    ) -> Result<Response<Self::ExecuteStream>, Status> {
        let request = request.into_inner();
        let (sender, receiver) = mpsc::channel(4);
        let fake = self.clone();
        tokio::spawn(async move { fake.operate(request, sender).await });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn stage_file(
        &self,
        _: Request<Streaming<pb::StageFileRequest>>,
    ) -> Result<Response<pb::StageFileReply>, Status> {
        Err(Status::unimplemented("this worker takes no files"))
    }

    async fn health(&self, _: Request<pb::HealthRequest>) -> Result<Response<pb::HealthReply>, Status> {
        let target =
            pb::Target { id: "t1".into(), url: "http://fake/".into(), title: "Fake".into(), crashed: false };
        Ok(Response::new(pb::HealthReply { browser_up: true, targets: vec![target], running: vec![] }))
    }

    async fn reach(&self, _: Request<pb::ReachRequest>) -> Result<Response<pb::ReachReply>, Status> {
        Err(Status::unimplemented("this worker has no cage"))
    }

    async fn note(&self, _: Request<pb::NoteRequest>) -> Result<Response<pb::NoteReply>, Status> {
        Ok(Response::new(pb::NoteReply {}))
    }

    async fn outcomes(&self, _: Request<pb::OutcomesRequest>) -> Result<Response<pb::OutcomesReply>, Status> {
        let outcomes = self.past.lock().expect("not poisoned").clone();
        Ok(Response::new(pb::OutcomesReply { outcomes }))
    }

    async fn shutdown(&self, _: Request<pb::ShutdownRequest>) -> Result<Response<pb::ShutdownReply>, Status> {
        if self.session.starts_with("stubborn") {
            std::future::pending::<()>().await;
        }
        // Nothing else tells when the answer is out.
        tokio::task::yield_now().await;
        std::process::exit(start::EXIT_ASKED);
    }
}

impl Fake {
    async fn operate(
        &self,
        request: pb::ExecuteRequest,
        events: mpsc::Sender<Result<pb::ExecuteEvent, Status>>,
    ) {
        let params = String::from_utf8_lossy(&request.params_json).into_owned();
        let id = &request.execution_id;
        let wants = |what: &str| params.contains(what);
        let send = async |kind| {
            let _ = events.send(Ok(pb::ExecuteEvent { kind: Some(kind) })).await;
        };
        if wants("/dies-early") {
            std::process::exit(3);
        }
        if wants("/dies-unheard") {
            // It sent something, and died before anybody heard of it.
            std::os::unix::fs::FileExt::write_all_at(&*self.journal, id.as_bytes(), 0).expect("noted");
            std::process::exit(3);
        }
        if wants("/waits") {
            events.closed().await;
            self.remember(id, &rejected());
            return;
        }
        if request.operation == "wait" {
            events.closed().await;
            return;
        }
        if request.operation != "observe" {
            send(Kind::Dispatched(pb::Dispatched {})).await;
        }
        if wants("/crashes") {
            // Lets the connection's task send what was just said.
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            std::process::exit(start::EXIT_BROWSER_DIED);
        }
        if wants("/hangs") {
            // Neither a deadline nor a cancel is heard, and no outcome is written down.
            return std::future::pending().await;
        }
        if wants("/artifact") {
            for (byte, last) in [(1_u8, false), (2, true)] {
                let data = vec![byte; 1000];
                let piece =
                    pb::Artifact { name: "a.bin".into(), media_type: "application/x".into(), data, last };
                send(Kind::Artifact(piece)).await;
            }
        }
        let ended = completed(&request.operation);
        self.remember(id, &ended);
        send(Kind::Ended(ended)).await;
    }
}
