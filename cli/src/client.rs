//! The connection to glassd: finding it, starting it if need be, and asking (contract 12.1).
//!
//! One connection and one call a command. Turns broken connections into the contract's errors.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use glass_proto::confirmation::{Decided, Pending, Shown};
use glass_proto::diagnosis::{Attempt, Lures};
use glass_proto::escape::visible;
use glass_proto::paths::{Environment, Overrides, Paths};
use glass_proto::policy::layer::Given;
use glass_proto::session::SessionOptions;
use glass_proto::wire::{MAX_MESSAGE, client as pb};
use glass_proto::{ClientId, ConfirmationId, ErrorKind, OpError, Phase};
use pb::glass_client::GlassClient;
use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};

use crate::args::Global;
use crate::connect::{Behind, connect};
use crate::error::{self, Failure, Sent};
use crate::files::Outgoing;
use crate::launch;

/// Longest wait for an answer about the daemon or a listing.
const QUICK: Duration = Duration::from_secs(5);
/// How long a daemon that is ending may still take connections.
const ENDING: Duration = Duration::from_secs(2);
/// Between two attempts to connect.
const STEP: Duration = Duration::from_millis(5);
/// Longest time that a file may take into a session.
const STAGING: Duration = Duration::from_secs(310);
/// Longest wait until sessions are closed or the daemon has begun to end.
const CLOSING: Duration = Duration::from_secs(30);

/// Longest wait for a decision: an approver has a minute.
const DECIDING: Duration = Duration::from_secs(65);

const START_HINT: &str = "start it with `glassctl daemon start`, or leave out --no-autostart";

/// Where glassd is, and whether it may be started.
#[derive(Clone, Debug)]
pub struct Server {
    socket: PathBuf,
    log_file: PathBuf,
    state_dir: PathBuf,
    explicit: bool,
    autostart: bool,
    hello: pb::Hello,
    session_json: Vec<u8>,
}

/// How glassd ends when its configuration cannot be used (EX_CONFIG).
const EXIT_CONFIGURATION: i32 = 78;

impl Server {
    /// From the global options and the environment.
    ///
    /// # Errors
    /// When there is no path that a socket can have.
    pub fn find(global: &Global) -> Result<Self, Failure> {
        let explicit = match &global.socket {
            Some(path) => Some(std::path::absolute(path).map_err(|_| {
                Failure::invalid("--socket is no path that can be used", "give an absolute path")
            })?),
            None => None,
        };
        let overrides = Overrides { socket: explicit.clone(), ..Overrides::default() };
        let paths = Paths::resolve(&Environment::of_process(), &overrides).map_err(|error| {
            OpError::rejected(
                ErrorKind::DaemonUnreachable,
                Phase::Transport,
                visible(&error.to_string(), false),
                "glassd and glassctl must be able to agree on a place; see the message",
            )
            .reason("socket_path")
        })?;
        Ok(Self {
            log_file: paths.log_file(),
            state_dir: paths.state_dir,
            socket: paths.socket,
            explicit: explicit.is_some(),
            autostart: !global.no_autostart,
            hello: pb::Hello::new("glassctl", &ClientId::generate()).under(&global.policy.given()?),
            session_json: Vec::new(),
        })
    }

    /// The socket.
    pub fn socket(&self) -> &std::path::Path {
        &self.socket
    }

    /// Who this client says that it is.
    pub fn hello(&self) -> pb::Hello {
        self.hello.clone()
    }

    /// Without what the command line agreed to beforehand: that was for the daemon that it was told to first.
    #[must_use]
    pub fn without_tokens(mut self, policy: &Given) -> Self {
        self.hello = self.hello.under(&policy.clone().without_tokens());
        self
    }

    /// As a client that stays, with a kind and an id of its own, instead of one command of glassctl.
    #[must_use]
    pub fn staying(mut self, kind: &'static str) -> Self {
        let policy = self.hello.policy.take();
        self.hello = pb::Hello { policy, ..pb::Hello::new(kind, &ClientId::generate()) };
        self
    }

    /// With what its operations want of their session itself.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn wanting(mut self, options: &SessionOptions) -> Result<Self, Failure> {
        let json = options.encode();
        self.session_json = json.map_err(|_| Failure::invalid("the session's options cannot be sent", ""))?;
        Ok(self)
    }

    fn client(&self, channel: Channel) -> Client {
        Client { session_json: self.session_json.clone(), ..Client::new(channel, self.hello.clone()) }
    }

    /// The socket, where the command line names it.
    pub fn explicit_socket(&self) -> Option<&std::path::Path> {
        self.explicit.then_some(&self.socket)
    }

    /// Where a glassd of this environment keeps what outlives it.
    pub fn state_dir(&self) -> &std::path::Path {
        &self.state_dir
    }

    /// Where a glassd of this environment logs.
    pub fn log_file(&self) -> &std::path::Path {
        &self.log_file
    }

    /// Connects, starting glassd where nobody listens and that is allowed.
    ///
    /// # Errors
    /// `daemon_unreachable`.
    pub async fn connect(&self) -> Result<Client, OpError> {
        match self.connect_running().await? {
            Some(client) => Ok(client),
            None if self.autostart => self.start().await,
            None => Err(error::unreachable(&self.socket, "nobody listens there", START_HINT)),
        }
    }

    /// Connects to a daemon that runs; `None` when none does.
    ///
    /// # Errors
    /// `daemon_unreachable`, when something is wrong that is not the absence of a daemon.
    pub async fn connect_running(&self) -> Result<Option<Client>, OpError> {
        let begun = Instant::now();
        loop {
            let behind = connect(&self.socket, launch::LIMIT).await.map_err(|error| {
                let remedy = "check who owns the socket and its directory";
                error::unreachable(&self.socket, &error.to_string(), remedy)
            })?;
            match behind {
                Behind::Daemon(channel) => return Ok(Some(self.client(channel))),
                Behind::Nobody => return Ok(None),
                // One that is ending: soon nobody is there.
                Behind::Closed if begun.elapsed() < ENDING => tokio::time::sleep(STEP).await,
                Behind::Closed => {
                    let why = "it ends every connection without a word";
                    let remedy = "glassd serves its own user, and nobody from within a session";
                    return Err(error::unreachable(&self.socket, why, remedy));
                }
                Behind::Silent => {
                    let limit = launch::LIMIT.as_secs();
                    let why = format!("it took the connection and says nothing for {limit} s");
                    let remedy = "it may be stopped or overloaded; look at the process, and at glassd.log";
                    return Err(error::unreachable(&self.socket, &why, remedy));
                }
            }
        }
    }

    /// Starts glassd and connects.
    ///
    /// # Errors
    /// `daemon_unreachable`, with what glassd said.
    pub async fn start(&self) -> Result<Client, OpError> {
        let started = launch::start(&self.socket, self.explicit).await;
        started.map(|channel| self.client(channel)).map_err(|error| {
            let remedy = match &error {
                launch::LaunchError::NoProgram { .. } => "install glassctl and glassd into one directory",
                launch::LaunchError::Connect(_) => "check who owns the socket and its directory",
                launch::LaunchError::Spawn(_) => "check that the glassd beside glassctl can be run",
                launch::LaunchError::Ended { .. } | launch::LaunchError::NoAnswer { .. } => {
                    "mend what the message names; glassd's log lies in the state directory"
                }
            };
            let text = error.to_string();
            let said = visible(&text, false);
            match error {
                launch::LaunchError::Ended { status, .. } if status.code() == Some(EXIT_CONFIGURATION) => {
                    OpError::rejected(ErrorKind::InvalidConfiguration, Phase::Policy, said, remedy)
                }
                _ => error::unreachable(&self.socket, &said, remedy),
            }
        })
    }
}

/// A connection to glassd.
#[derive(Clone, Debug)]
pub struct Client {
    rpc: GlassClient<Channel>,
    hello: pb::Hello,
    session_json: Vec<u8>,
}

impl Client {
    /// On a connection that somebody speaks on.
    pub fn new(channel: Channel, hello: pb::Hello) -> Self {
        let rpc = GlassClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE)
            .max_encoding_message_size(MAX_MESSAGE);
        Self { rpc, hello, session_json: Vec::new() }
    }

    fn hello(&self) -> Option<pb::Hello> {
        Some(self.hello.clone())
    }

    /// Stays with the daemon: the stream ends with it. `private` is a session that closes when this client has gone.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn attend(&mut self, private: Option<String>) -> Result<Streaming<pb::Attending>, OpError> {
        let private_session = private.unwrap_or_default();
        let request = pb::AttendRequest { hello: self.hello(), private_session };
        ask(QUICK, self.rpc.attend(request)).await
    }

    /// Puts a file into an open session; answers the id that `upload` takes.
    ///
    /// # Errors
    /// Why it was not taken.
    pub async fn stage_file(&mut self, session: &str, file: Outgoing) -> Result<String, OpError> {
        use pb::stage_file_reply::Answer;
        use pb::stage_file_request::Kind;
        let (pieces, sent) = tokio::sync::mpsc::channel(2);
        let begin = pb::StageFileBegin {
            hello: self.hello(),
            session: session.to_owned(),
            name: file.name.clone(),
            size: file.size,
        };
        let read = tokio::task::spawn_blocking(move || {
            let mut next = Some(Kind::Begin(begin));
            let mut file = file;
            while let Some(kind) = next {
                // A daemon that takes no more has said why.
                if pieces.blocking_send(pb::StageFileRequest { kind: Some(kind) }).is_err() {
                    return Ok(());
                }
                next = file.piece()?.map(Kind::Data);
            }
            Ok::<_, std::io::Error>(())
        });
        let request = tokio_stream::wrappers::ReceiverStream::new(sent);
        let reply = tokio::time::timeout(STAGING, self.rpc.stage_file(request)).await;
        let reply = match reply {
            Ok(reply) => reply.map_err(|status| error::from_status(&status, Sent::Harmless))?.into_inner(),
            Err(_) => {
                return Err(OpError::rejected(
                    ErrorKind::Timeout,
                    Phase::Transport,
                    "the file did not reach the session in time; nothing was given to the page",
                    "try again with a smaller file",
                ));
            }
        };
        if let Ok(Err(error)) = read.await {
            return Err(OpError::invalid(
                format!("the file cannot be read: {}", error.kind()),
                "check that you may read it",
            ));
        }
        match reply.answer {
            Some(Answer::Staged(staged)) => Ok(staged.file_id),
            Some(Answer::ErrorJson(json)) => {
                Err(serde_json::from_slice(&json).unwrap_or_else(|_| error::unreadable("answer")))
            }
            None => Err(error::unreadable("answer")),
        }
    }

    /// Begins an operation.
    ///
    /// # Errors
    /// The connection's or the daemon's status.
    pub async fn execute(
        &mut self,
        session: String,
        operation: &str,
        params_json: Vec<u8>,
        options_json: Vec<u8>,
    ) -> Result<Streaming<pb::ExecuteEvent>, Status> {
        let operation = operation.to_owned();
        let hello = self.hello();
        let session_json = self.session_json.clone();
        let request =
            pb::ExecuteRequest { hello, session, operation, params_json, options_json, session_json };
        self.rpc.execute(request).await.map(Response::into_inner)
    }

    /// Asks that an operation end. `false`: none of that id runs.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn cancel(&mut self, execution_id: String) -> Result<bool, OpError> {
        let request = pb::CancelRequest { hello: self.hello(), execution_id };
        ask(QUICK, self.rpc.cancel(request)).await.map(|reply| reply.found)
    }

    /// What is known of an execution, at the latest when `wait` has passed or it has ended. `None`: nothing.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn show_execution(
        &mut self,
        execution_id: String,
        wait: Duration,
    ) -> Result<Option<pb::ExecutionInfo>, OpError> {
        let wait_ms = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX);
        let request = pb::ShowExecutionRequest { hello: self.hello(), execution_id, wait_ms };
        ask(QUICK + wait, self.rpc.show_execution(request)).await.map(|reply| reply.execution)
    }

    /// The daemon itself.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn status(&mut self) -> Result<pb::StatusReply, OpError> {
        ask(QUICK, self.rpc.status(pb::StatusRequest { hello: self.hello() })).await
    }

    /// What the policy says to this client, in general and about some operations, capabilities or URLs.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn policy(&mut self, items: Vec<String>) -> Result<glass_proto::authority::Told, OpError> {
        let request = pb::PolicyRequest { hello: self.hello(), items };
        let reply = ask(QUICK, self.rpc.policy(request)).await?;
        serde_json::from_slice(&reply.told_json).map_err(|_| error::unreadable("answer"))
    }

    /// What waits for a person.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn confirmations(&mut self) -> Result<Vec<Pending>, OpError> {
        self.told("").await
    }

    /// One call that waits, for whoever may decide on it.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn confirmation(&mut self, id: &ConfirmationId) -> Result<Shown, OpError> {
        self.told(id.as_str()).await
    }

    async fn told<T: serde::de::DeserializeOwned>(&mut self, id: &str) -> Result<T, OpError> {
        let request = pb::ConfirmationsRequest { hello: self.hello(), confirmation_id: id.to_owned() };
        let reply = ask(QUICK, self.rpc.confirmations(request)).await?;
        serde_json::from_slice(&reply.told_json).map_err(|_| error::unreadable("answer"))
    }

    /// Agrees to a call or says no. Waits for an approver, where there is one.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn decide(
        &mut self,
        id: &ConfirmationId,
        grant: bool,
        secret: &str,
    ) -> Result<Decided, OpError> {
        let (confirmation_id, secret) = (id.to_string(), secret.to_owned());
        let request = pb::DecideRequest { hello: self.hello(), confirmation_id, grant, secret };
        let reply = ask(DECIDING, self.rpc.decide(request)).await?;
        serde_json::from_slice(&reply.decided_json).map_err(|_| error::unreadable("answer"))
    }

    /// All sessions.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn list_sessions(&mut self) -> Result<Vec<pb::SessionInfo>, OpError> {
        let request = pb::ListSessionsRequest { hello: self.hello() };
        ask(QUICK, self.rpc.list_sessions(request)).await.map(|reply| reply.sessions)
    }

    /// Lets an open session try what it can reach.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn reach(&mut self, session: String, lures: &Lures) -> Result<Vec<Attempt>, OpError> {
        let lures_json = serde_json::to_vec(lures).map_err(|_| error::unreadable("question"))?;
        let request = pb::ReachRequest { hello: self.hello(), session, lures_json };
        let reply = ask(QUICK, self.rpc.reach(request)).await?;
        serde_json::from_slice(&reply.attempts_json).map_err(|_| error::unreadable("answer"))
    }

    /// What may be used and what is, of one session or of everything.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn quotas(&mut self, session: String) -> Result<Vec<pb::Quota>, OpError> {
        let request = pb::QuotasRequest { hello: self.hello(), session };
        ask(QUICK, self.rpc.quotas(request)).await.map(|reply| reply.quotas)
    }

    /// One session.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn show_session(&mut self, name: String) -> Result<pb::SessionInfo, OpError> {
        let request = pb::ShowSessionRequest { hello: self.hello(), name };
        let reply = ask(QUICK, self.rpc.show_session(request)).await?;
        reply.session.ok_or_else(|| error::unreadable("answer"))
    }

    /// Ends one session, or all; answers when nothing of them is left.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn close_session(&mut self, name: String, all: bool) -> Result<Vec<String>, OpError> {
        let request = pb::CloseSessionRequest { hello: self.hello(), name, all };
        ask(CLOSING, self.rpc.close_session(request)).await.map(|reply| reply.closed)
    }

    /// The values of a session's secrets; all where none is named. Only a person at a terminal gets them.
    ///
    /// # Errors
    /// Why not; see [`error::from_status`].
    pub async fn export_secrets(
        &mut self,
        session: String,
        names: Vec<String>,
    ) -> Result<Vec<pb::Secret>, OpError> {
        let request = pb::ExportSecretsRequest { hello: self.hello(), session, names };
        ask(QUICK, self.rpc.export_secrets(request)).await.map(|reply| reply.secrets)
    }

    /// Asks the daemon to end.
    ///
    /// # Errors
    /// See [`error::from_status`].
    pub async fn stop(&mut self) -> Result<pb::StopReply, OpError> {
        ask(CLOSING, self.rpc.stop(pb::StopRequest { hello: self.hello() })).await
    }
}

/// Waits for one answer. What is asked here changes no page, and may be asked again.
async fn ask<T>(
    limit: Duration,
    call: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, OpError> {
    match tokio::time::timeout(limit, call).await {
        Ok(Ok(reply)) => Ok(reply.into_inner()),
        Ok(Err(status)) => Err(error::from_status(&status, Sent::Harmless)),
        Err(_) => Err(error::lost(
            Sent::Harmless,
            "timeout",
            ErrorKind::Timeout,
            &format!("glassd did not answer within {} s", limit.as_secs()),
        )),
    }
}
