//! A daemon of its own for each test: directories, process, client, and proof that nothing is left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use glass_policy::layer::Given;
use glass_proto::ClientId;
use glass_proto::error::OpError;
use glass_proto::transport;
use glass_proto::wire::client as pb;
use glass_proto::wire::client::ended::Answer;
use glass_proto::wire::client::execute_event::Kind;
use glass_proto::wire::client::glass_client::GlassClient;
use tonic::Streaming;
use tonic::transport::Channel;

/// Longer than anything may take on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) struct World {
    dir: tempfile::TempDir,
    pub(crate) daemon: Option<Child>,
    id: ClientId,
}

impl World {
    /// Directories only.
    pub(crate) fn bare(config: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("gd").tempdir().unwrap();
        let programs = dir.path().join("programs");
        fs::create_dir(&programs).unwrap();
        let examples = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples");
        link(&examples.join("fake-worker"), &programs.join("glass-worker"));
        link(Path::new(env!("CARGO_BIN_EXE_glass-egress")), &programs.join("glass-egress"));
        let config = format!(
            "{config}\n[programs]\ndirectory = \"{}\"\n[log]\nlevel = \"debug,h2=info,hyper=info\"\n",
            programs.display()
        );
        fs::write(dir.path().join("config.toml"), config).unwrap();
        Self { dir, daemon: None, id: ClientId::generate() }
    }

    /// With a daemon that answers.
    pub(crate) async fn start(config: &str) -> Self {
        let mut world = Self::bare(config);
        world.daemon = Some(world.spawn(&["--from-client"]));
        world.connected().await;
        world
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_glassd"));
        command
            .args(["--socket".as_ref(), self.socket().as_os_str()])
            .args(["--state-dir".as_ref(), self.state().as_os_str()])
            .args(["--config".as_ref(), self.dir.path().join("config.toml").as_os_str()])
            .args(args)
            .env_remove("GLASS_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join("run/glassd.sock")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.state().join("logs/glassd.log")).unwrap_or_default()
    }

    pub(crate) async fn connected(&self) -> GlassClient<Channel> {
        let begun = Instant::now();
        loop {
            match transport::connect(&self.socket()).await {
                Ok(channel) => return GlassClient::new(channel),
                Err(error) if begun.elapsed() > LONG => panic!("no daemon: {error}\n{}", self.log()),
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }

    pub(crate) fn hello(&self) -> Option<pb::Hello> {
        Some(pb::Hello::new("test", &self.id))
    }

    /// What a client of its own says that was started under this policy.
    pub(crate) fn under(&self, policy: &Given) -> Option<pb::Hello> {
        Some(pb::Hello::new("test", &ClientId::generate()).under(policy))
    }

    /// Starts an operation and reads its acceptance.
    pub(crate) async fn begin(&self, session: &str, operation: &str, params: &str, options: &str) -> Running {
        self.begin_as(self.hello(), session, operation, params, options).await
    }

    /// The same for another client.
    pub(crate) async fn begin_as(
        &self,
        hello: Option<pb::Hello>,
        session: &str,
        operation: &str,
        params: &str,
        options: &str,
    ) -> Running {
        let request = pb::ExecuteRequest {
            hello,
            session: session.to_owned(),
            operation: operation.to_owned(),
            params_json: params.as_bytes().to_vec(),
            options_json: options.as_bytes().to_vec(),
            session_json: Vec::new(),
        };
        self.send(request).await
    }

    /// Sends a request and reads its acceptance.
    pub(crate) async fn send(&self, request: pb::ExecuteRequest) -> Running {
        let mut stream = self.connected().await.execute(request).await.unwrap().into_inner();
        let first = stream.message().await.unwrap().unwrap();
        let Some(Kind::Accepted(accepted)) = first.kind else { panic!("the first message is {first:?}") };
        Running { accepted, stream }
    }

    pub(crate) async fn run(&self, session: &str, operation: &str, params: &str, options: &str) -> Done {
        self.begin(session, operation, params, options).await.end().await
    }

    pub(crate) async fn navigate(&self, session: &str, path: &str) -> Done {
        self.run(session, "navigate", &url(path), "").await
    }

    pub(crate) async fn observe(&self, session: &str) -> Done {
        self.run(session, "observe", "{}", "").await
    }

    pub(crate) async fn sessions(&self) -> Vec<pb::SessionInfo> {
        let request = pb::ListSessionsRequest { hello: self.hello() };
        self.connected().await.list_sessions(request).await.unwrap().into_inner().sessions
    }

    pub(crate) async fn status(&self) -> pb::StatusReply {
        let request = pb::StatusRequest { hello: self.hello() };
        self.connected().await.status(request).await.unwrap().into_inner()
    }

    /// Waits for the daemon's own end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let mut daemon = self.daemon.take().unwrap();
        wait(&mut daemon).await
    }

    /// The daemon's children: workers and the proxy.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let Some(daemon) = self.daemon.as_ref().map(Child::id) else { return Vec::new() };
        children(daemon).into_iter().filter(|pid| !program(*pid).is_empty()).collect()
    }

    pub(crate) fn session_directories(&self) -> usize {
        fs::read_dir(self.state().join("sessions")).map_or(0, Iterator::count)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        if std::thread::panicking() {
            eprintln!("--- the daemon's log\n{}", self.log());
        }
    }
}

/// A program in another directory; a link keeps it one file.
fn link(from: &Path, to: &Path) {
    assert!(from.exists(), "{} is not built: cargo build -p glass-daemon --bins --examples", from.display());
    std::os::unix::fs::symlink(from, to).unwrap();
}

pub(crate) fn url(path: &str) -> String {
    format!(r#"{{"url":"http://fake.test{path}"}}"#)
}

/// What a process calls itself; empty for one that is gone or waits to be reaped. Unlike its program, everybody may
/// read this of a process that refuses to be looked into.
pub(crate) fn program(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(line.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// The children of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    lists
        .flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

pub(crate) async fn wait(child: &mut Child) -> ExitStatus {
    let mut status = None;
    eventually("a process ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    })
    .await;
    status.unwrap()
}

/// Waits until something holds.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// An operation that was accepted.
pub(crate) struct Running {
    pub(crate) accepted: pb::Accepted,
    stream: Streaming<pb::ExecuteEvent>,
}

impl Running {
    pub(crate) async fn end(mut self) -> Done {
        let mut artifact = Vec::new();
        let accepted = self.accepted;
        loop {
            match self.stream.message().await.unwrap().unwrap().kind {
                Some(Kind::Artifact(piece)) => artifact.extend(piece.data),
                Some(Kind::Ended(ended)) => {
                    assert!(self.stream.message().await.unwrap().is_none(), "something after the end");
                    assert_eq!(ended.execution_id, accepted.execution_id);
                    return Done { accepted, artifact, ended };
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// An operation that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) accepted: pb::Accepted,
    pub(crate) artifact: Vec<u8>,
    pub(crate) ended: pb::Ended,
}

impl Done {
    pub(crate) fn started(&self) -> &str {
        &self.accepted.session.as_ref().unwrap().started
    }

    pub(crate) fn completed(self) -> Self {
        assert_eq!(self.ended.outcome, "completed", "{:?}", self.error_text());
        self
    }

    pub(crate) fn error(&self) -> OpError {
        match &self.ended.answer {
            Some(Answer::ErrorJson(json)) => {
                let error: OpError = serde_json::from_slice(json).unwrap();
                assert_eq!(error.outcome.name(), self.ended.outcome);
                error
            }
            other => panic!("no error: {other:?}"),
        }
    }

    fn error_text(&self) -> String {
        match &self.ended.answer {
            Some(Answer::ErrorJson(json) | Answer::ResultJson(json)) => {
                String::from_utf8_lossy(json).into_owned()
            }
            None => String::new(),
        }
    }

    /// Kind, outcome and reason of the error.
    pub(crate) fn told(&self) -> (String, String, String) {
        let error = self.error();
        (error.kind.name().to_owned(), self.ended.outcome.clone(), error.reason.unwrap_or_default())
    }
}

/// For comparing with [`Done::told`].
pub(crate) fn told(kind: &str, outcome: &str, reason: &str) -> (String, String, String) {
    (kind.to_owned(), outcome.to_owned(), reason.to_owned())
}
