//! Starts a session's worker, from nothing to a greeting.
//!
//! Owns the order of the steps and one deadline over all of them. What a failed start made is ended and removed here
//! before the error is given.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use glass_policy::egress::{HostLayer, Source};
use glass_proto::session::SessionOptions;
use glass_proto::start::{self, FromWorker};
use glass_proto::version::WORKER;
use glass_proto::wire::worker::GreetRequest;
use glass_proto::wire::worker::worker_client::WorkerClient;
use glass_proto::{transport, wire};
use glass_sandbox::{Mode, fdpass};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel as GrpcChannel;

use super::cgroup::{Cgroups, SessionGroup};
use super::child::Child;
use super::claims::Claims;
use super::egress::{Egress, WayOut};
use super::files::SessionFiles;
use super::greet;
use super::journal::Journal;
use super::probe::Probe;
use super::programs::Program;
use super::settings::{self, Common};
use super::spawn::{Order, Output, Spawner};
use super::start_error::{StartError, system};
use super::watchdog::Watchdog;
use super::worker::{Body, Init, Lost, Worker};
use super::{stderr, terminate};
use crate::egress::Channel;
use crate::limits;
use crate::shutdown::Shutdown;

/// What the policy of whoever begins a session asks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What the client narrows the daemon's host rules to.
    pub client: Arc<HostLayer>,
    /// Refuse a cage that does not enforce them.
    pub requires_egress: bool,
    /// How many targets it may have.
    pub targets: u32,
    /// Whether it may be told the configuration's credentials.
    pub credentials: bool,
    /// Whether its browser may be somebody else's.
    pub attach: bool,
}

/// Starts workers.
#[derive(Debug)]
pub struct Launcher {
    /// Sends orders to the main thread.
    pub spawner: Spawner,
    /// glass-worker
    pub program: Arc<Program>,
    /// The proxy.
    pub egress: Egress,
    /// What this machine allows.
    pub probe: Probe,
    /// What all sessions have in common.
    pub common: Common,
    /// Where sessions have their directories.
    pub sessions: PathBuf,
    /// Control groups for sessions, or why there are none.
    pub cgroups: Result<Cgroups, String>,
    /// Looks what sessions use.
    pub watchdog: Watchdog,
    /// How many may start at one time.
    pub slots: Semaphore,
    /// The same as a number.
    pub starting: usize,
    /// Whose the pages of browsers are that sessions attach to.
    pub claims: Claims,
    /// The daemon's tasks.
    pub tasks: Shutdown,
}

impl Launcher {
    /// How many sessions start now, and how many may at one time.
    pub fn starting(&self) -> (usize, usize) {
        (self.starting.saturating_sub(self.slots.available_permits()), self.starting)
    }

    /// Starts the session `id` called `name`. Waits for its turn first; `cancel` ends the attempt.
    ///
    /// # Errors
    /// Why there is no browser; nothing of the attempt is left then.
    pub async fn start(
        &self,
        id: &str,
        name: &str,
        terms: &Terms,
        options: &SessionOptions,
        cancel: &CancellationToken,
    ) -> Result<Worker, StartError> {
        let _turn = tokio::select! {
            turn = self.slots.acquire() => turn.map_err(|_| StartError::Cancelled)?,
            () = cancel.cancelled() => return Err(StartError::Cancelled),
        };
        let probed = tokio::select! {
            probed = self.probe.found() => probed,
            () = cancel.cancelled() => return Err(StartError::Cancelled),
        };
        let mode = match &probed.mode {
            Ok(mode) if *mode >= self.common.minimum => *mode,
            Ok(mode) => {
                let why = probed.why_weaker.as_deref().unwrap_or("it is the strongest here");
                return Err(StartError::NoCage(format!(
                    "only `{mode}` can be had, and the configuration asks for `{}`: {why}",
                    self.common.minimum
                )));
            }
            Err(why) => return Err(StartError::NoCage(why.clone())),
        };
        if terms.requires_egress && !greet::may_enforce_egress(mode) {
            return Err(StartError::Advisory);
        }
        if options.attach.is_none()
            && let Some(why) = self.egress.refuses(&self.egress.rules(&terms.client))
        {
            return Err(StartError::Upstream(why));
        }
        let body = self.spawn(id, name, options, mode, terms).await?;
        let outcome = {
            let greeting = timeout(limits::START, self.greet(&body, options.attach.is_some()));
            tokio::select! {
                greeted = greeting => greeted.unwrap_or(Err(StartError::TimedOut)),
                () = cancel.cancelled() => Err(StartError::Cancelled),
            }
        };
        let outcome = outcome.and_then(|greeted| match &greeted.1 {
            greeting if terms.requires_egress && !greeting.enforces_egress() => Err(StartError::Advisory),
            _ => Ok(greeted),
        });
        match outcome {
            Ok((client, greeting, init)) => {
                let mut body = body;
                body.init = init;
                let (control, claimant) = (body.control.clone(), body.claimant.clone());
                if let Some(claimant) = &claimant {
                    claimant.begin();
                }
                let (lost, condemn) = Lost::watch(body.stub.ending(), control, claimant, &self.tasks);
                let (stub, directory) = (body.stub.pid(), body.files.directory());
                let watch = self.watchdog.watch(id, name, stub, directory, client.clone(), condemn);
                tracing::info!(
                    session = id,
                    name,
                    mode = greeting.mode.name(),
                    browser = greeting.browser_version,
                    pid = body.stub.pid(),
                    "a session's browser is up"
                );
                Ok(Worker { body, client, greeting, lost, watch })
            }
            Err(error) => {
                tracing::warn!(session = id, name, %error, "a session did not start");
                terminate::end(body, None, &self.egress).await;
                Err(error)
            }
        }
    }

    /// Makes the session's files, sockets and process.
    async fn spawn(
        &self,
        id: &str,
        name: &str,
        options: &SessionOptions,
        mode: Mode,
        terms: &Terms,
    ) -> Result<Body, StartError> {
        let files =
            SessionFiles::create(&self.sessions, id).map_err(system("make the session's directory"))?;
        let group = self.cgroups.as_ref().ok().map(|all| all.session(id, self.watchdog.quotas()));
        let group = group.transpose().map_err(system("make the session's control group"))?;
        match self.spawn_in(id, name, options, mode, terms, &files, group.as_ref()).await {
            Ok((stub, control, journal)) => {
                let journal = Arc::new(journal);
                let attached = options.attach.is_some();
                let claimant = attached.then(|| Arc::new(self.claims.enter(id, control.clone())));
                Ok(Body { id: id.to_owned(), stub, init: None, journal, control, claimant, files, group })
            }
            Err(error) => {
                self.egress.remove(id).await;
                if let Some(group) = group {
                    group.remove();
                }
                // Nothing ran in it.
                if let Err(error) = files.remove() {
                    tracing::warn!(%error, session = id, "a directory without session could not be removed");
                }
                Err(error)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is a part of the one session that is spawned")]
    async fn spawn_in(
        &self,
        id: &str,
        name: &str,
        options: &SessionOptions,
        mode: Mode,
        terms: &Terms,
        files: &SessionFiles,
        group: Option<&SessionGroup>,
    ) -> Result<(Child, Arc<Channel>, Journal), StartError> {
        let sockets = || -> io::Result<_> { Ok((fdpass::pair()?, fdpass::pair()?)) };
        let ((ours, control), (endpoint, proxy)) = sockets().map_err(system("make sockets"))?;
        let ours = Arc::new(Channel::new(ours).map_err(system("make sockets"))?);
        let rules = self.egress.rules(&terms.client);
        // What no proxy of ours sees is left to the worker.
        let advisory = options.attach.is_some() && !rules.allow_all;
        let navigation = (advisory || rules.tells_navigation()).then_some(rules);
        let way_out = way_out(terms, options).map_err(system("read the endpoint"))?;
        let given = settings::Given {
            id,
            name,
            options,
            navigation,
            max_targets: terms.targets,
            knows_credentials: terms.credentials,
            quotas: self.watchdog.quotas(),
            has_group: group.is_some(),
        };
        let plan = settings::plan_file(&self.common, mode, given, files).map_err(system("write the plan"))?;
        self.egress.add(id, way_out, ours.clone(), proxy).await.map_err(system("start the egress proxy"))?;
        let (journal, noted) = Journal::create().map_err(system("make the journal"))?;
        let mut descriptors: Vec<(OwnedFd, i32)> = vec![
            (control, start::CONTROL_FD),
            (endpoint, start::EGRESS_FD),
            (plan, start::PLAN_FD),
            (noted, start::JOURNAL_FD),
        ];
        if let Some(group) = group {
            let entrance = group.entrance().map_err(system("open the session's control group"))?;
            descriptors.push((entrance, start::CGROUP_FD));
        }
        let order = Order {
            program: self.program.clone(),
            args: vec!["--serve".into(), name.into()],
            descriptors,
            output: Output::Null,
        };
        let mut spawned = self.spawner.spawn(order).await.map_err(system("start the worker"))?;
        if let Some(pipe) = spawned.stderr.take() {
            stderr::follow(pipe, "glass-worker", name.to_owned(), &self.tasks);
        }
        let watched = spawned.pidfd.take().ok_or_else(|| io::ErrorKind::NotFound.into());
        let child =
            watched.and_then(|pidfd| Child::watch(pidfd, &self.tasks)).map_err(system("watch the worker"))?;
        Ok((child, ours, journal))
    }

    async fn greet(
        &self,
        body: &Body,
        attached: bool,
    ) -> Result<(WorkerClient<GrpcChannel>, greet::Greeting, Option<Init>), StartError> {
        listen(body).await?;
        let init = Init::of(body.stub.pid());
        let mut client = dial(body).await.map_err(system("reach the worker"))?;
        let request = GreetRequest { major: WORKER.major, minor: WORKER.minor };
        let reply = tokio::select! {
            reply = client.greet(request) => reply,
            refused = listen(body) => return Err(refused.err().unwrap_or(StartError::TimedOut)),
        };
        match reply {
            Ok(reply) => Ok((client, greet::judge(reply.into_inner(), self.common.minimum, attached)?, init)),
            Err(status) => {
                // A worker that goes down with its browser says more on the control socket, or by its exit.
                let told = timeout(limits::HEALTH, listen(body)).await;
                match told {
                    Ok(Err(error)) => Err(error),
                    _ => Err(StartError::Greeting(
                        glass_proto::escape::cut(status.message(), 300).into_owned(),
                    )),
                }
            }
        }
    }
}

/// Where the session's connections may go: what policy says, or to the endpoint of somebody else's browser and nowhere
/// else, since there is none in the cage.
fn way_out(terms: &Terms, options: &SessionOptions) -> io::Result<WayOut> {
    let Some(endpoint) = options.endpoint() else { return Ok(WayOut::Policy(terms.client.clone())) };
    let rule = endpoint.authority().parse().map_err(io::Error::other)?;
    Ok(WayOut::Only(HostLayer {
        source: Source::Client,
        any: false,
        allow: vec![rule],
        subresource: Vec::new(),
        deny: Vec::new(),
        public_only: false,
    }))
}

/// Waits for what the worker says on its control socket: that it is ready, or why it does not start.
async fn listen(body: &Body) -> Result<(), StartError> {
    let mut buffer = vec![0; start::MAX_CONTROL];
    let said = loop {
        let length = match body.control.recv(&mut buffer).await {
            Ok(Some((length, _))) => length,
            Ok(None) => return Err(StartError::Died(body.stub.exited().await.into())),
            Err(error) => return Err(system("read what the worker says")(error)),
        };
        match serde_json::from_slice(&buffer[..length]) {
            // The page that an attached session begins with.
            Ok(said @ (FromWorker::Claim { .. } | FromWorker::Release { .. })) => {
                if let Some(claimant) = &body.claimant {
                    claimant.hear(said);
                }
            }
            said => break said,
        }
    };
    match said {
        Ok(FromWorker::Ready { .. } | FromWorker::Claim { .. } | FromWorker::Release { .. }) => Ok(()),
        Ok(FromWorker::Failed { step, errno, message, remedy }) => {
            let cut = |text: String| glass_proto::escape::cut(&text, 400).into_owned();
            Err(StartError::Refused { step, errno, message: cut(message), remedy: remedy.map(cut) })
        }
        Err(error) => Err(system("read what the worker says")(error.into())),
    }
}

/// Hands the worker one end of a fresh stream and speaks gRPC on the other.
async fn dial(body: &Body) -> io::Result<WorkerClient<GrpcChannel>> {
    use std::os::fd::AsFd;
    let (ours, theirs) = fdpass::stream_pair()?;
    body.control.send(start::DIAL, &[theirs.as_fd()]).await?;
    drop(theirs);
    let stream = UnixStream::from_std(std::os::unix::net::UnixStream::from(ours))?;
    let channel = transport::over(stream).await?;
    Ok(WorkerClient::new(channel)
        .max_decoding_message_size(wire::MAX_MESSAGE)
        .max_encoding_message_size(wire::MAX_MESSAGE))
}
