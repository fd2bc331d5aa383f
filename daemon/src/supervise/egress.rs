//! Keeps one glass-egress running and gives each session its endpoint (DESIGN 5).
//!
//! The proxy starts with the first session. When it dies, a new one starts at once and every live session gets a fresh
//! endpoint over its worker's control socket; its forwarder lets connections wait meanwhile.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use glass_policy::egress::{Decision, HostLayer, Rules};
use glass_policy::layer::Layer;
use glass_proto::start;
use glass_sandbox::{Signal, fdpass};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout};

use super::child::Child;
use super::programs::Program;
use super::spawn::{Order as SpawnOrder, Output, Spawner};
use super::stderr;
use crate::egress::{Channel, Command, Event, MAX_MESSAGE_BYTES, SessionCounters, Upstream};
use crate::shutdown::{Phase, Shutdown};

/// The descriptor under which glass-egress finds its control socket.
const CONTROL_FD: i32 = 3;
/// How long glass-egress may leave a message unread before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(2);
/// More ends than this within [`STORM`], and the next start waits a little.
const ENDS: usize = 5;
const STORM: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_secs(1);
/// How long whoever asks for counters waits for them.
const COUNTING: Duration = Duration::from_millis(500);
/// Questions for counters that may wait for one answer.
const COUNTS: usize = 64;
/// Orders that may wait; sessions start two at a time.
const ORDERS: usize = 32;

/// What the proxy is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EgressState {
    /// No session needed it yet.
    NotStarted,
    /// It runs.
    Running {
        /// Its pid.
        pid: u32,
        /// How often it was started anew.
        restarts: u32,
    },
    /// It cannot be started.
    Failed(String),
}

impl std::fmt::Display for EgressState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStarted => f.write_str("not started"),
            Self::Running { pid, restarts: 0 } => write!(f, "running, pid {pid}"),
            Self::Running { pid, restarts } => write!(f, "running, pid {pid}, restarted {restarts} times"),
            Self::Failed(why) => write!(f, "failed: {why}"),
        }
    }
}

/// The handle to the proxy's supervisor.
#[derive(Clone, Debug)]
pub struct Egress {
    orders: mpsc::Sender<Order>,
    state: watch::Receiver<EgressState>,
    daemon: watch::Receiver<Arc<Layer>>,
    upstream: Option<Upstream>,
}

#[derive(Debug)]
enum Order {
    Add { id: String, session: Session, endpoint: OwnedFd, reply: oneshot::Sender<io::Result<()>> },
    Remove { id: String },
    Count { id: String, reply: oneshot::Sender<SessionCounters> },
}

/// Where a session's connections may go.
#[derive(Clone, Debug)]
pub enum WayOut {
    /// Where the daemon's rules allow, and these of the client that began it.
    Policy(Arc<HostLayer>),
    /// There alone, whatever the daemon's rules for pages are.
    Only(HostLayer),
}

/// How a live session is reached when it needs another endpoint.
#[derive(Debug)]
struct Session {
    way_out: WayOut,
    control: Arc<Channel>,
}

impl Egress {
    /// Starts the supervisor, not the proxy yet. `daemon` has the daemon's own rules, which hold for every session.
    pub fn start(
        spawner: Spawner,
        program: Arc<Program>,
        daemon: watch::Receiver<Arc<Layer>>,
        upstream: Option<Upstream>,
        tasks: &Shutdown,
    ) -> Self {
        let (orders, inbox) = mpsc::channel(ORDERS);
        let (state, seen) = watch::channel(EgressState::NotStarted);
        let current = daemon.clone();
        let supervisor = Supervisor {
            spawner,
            program,
            tasks: tasks.clone(),
            daemon,
            upstream: upstream.clone(),
            state,
            sessions: HashMap::new(),
            running: None,
            counting: Vec::new(),
            restarts: 0,
            ends: Vec::new(),
        };
        tasks.spawn_vital("egress", supervisor.run(inbox));
        Self { orders, state: seen, daemon: current, upstream }
    }

    /// Lets the session `id` out; `endpoint` is the proxy's end, `control` the worker's control socket.
    ///
    /// # Errors
    /// The proxy cannot be started.
    pub async fn add(
        &self,
        id: &str,
        way_out: WayOut,
        control: Arc<Channel>,
        endpoint: OwnedFd,
    ) -> io::Result<()> {
        let (reply, answer) = oneshot::channel();
        let gone = || io::Error::other("the supervisor of glass-egress has gone");
        let session = Session { way_out, control };
        let order = Order::Add { id: id.to_owned(), session, endpoint, reply };
        self.orders.send(order).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Ends what the session `id` has open.
    pub async fn remove(&self, id: &str) {
        // A supervisor that has gone took the proxy with it.
        let _ = self.orders.send(Order::Remove { id: id.to_owned() }).await;
    }

    /// What went through the proxy for the session `id`; `None` where it does not say so in time.
    pub async fn counters(&self, id: &str) -> Option<SessionCounters> {
        let (reply, answer) = oneshot::channel();
        let order = Order::Count { id: id.to_owned(), reply };
        let asked = async {
            // Both ends are gone only with the daemon, and a proxy that does not answer drops the question.
            self.orders.send(order).await.ok()?;
            answer.await.ok()
        };
        timeout(COUNTING, asked).await.ok().flatten()
    }

    /// The proxy behind this one, by host and port.
    pub fn upstream(&self) -> Option<String> {
        self.upstream.as_ref().map(ToString::to_string)
    }

    /// Why a session under `rules` cannot be let out through the upstream proxy.
    pub fn refuses(&self, rules: &Rules) -> Option<String> {
        let upstream = self.upstream.as_ref()?;
        // What is no host was refused with the configuration.
        let (host, port) = upstream.place().ok()?;
        match rules.admit_upstream(&host, port) {
            Decision::Allow => None,
            Decision::Deny { reason, .. } => Some(reason),
        }
    }

    /// The rules of a session that is begun now by a client with these of its own.
    pub fn rules(&self, client: &HostLayer) -> Rules {
        rules(&self.daemon, client)
    }

    /// What the proxy is doing now.
    pub fn state(&self) -> EgressState {
        self.state.borrow().clone()
    }
}

fn rules(daemon: &watch::Receiver<Arc<Layer>>, client: &HostLayer) -> Rules {
    Rules::of([HostLayer::clone(&daemon.borrow().hosts), client.clone()])
}

struct Running {
    child: Child,
    channel: Channel,
    buffer: Vec<u8>,
}

struct Supervisor {
    spawner: Spawner,
    program: Arc<Program>,
    tasks: Shutdown,
    daemon: watch::Receiver<Arc<Layer>>,
    upstream: Option<Upstream>,
    state: watch::Sender<EgressState>,
    sessions: HashMap<String, Session>,
    running: Option<Running>,
    /// Who waits for counters.
    counting: Vec<(String, oneshot::Sender<SessionCounters>)>,
    restarts: u32,
    ends: Vec<Instant>,
}

impl Supervisor {
    async fn run(mut self, mut inbox: mpsc::Receiver<Order>) {
        let tasks = self.tasks.clone();
        let stopped = tasks.reached(Phase::Stopped);
        tokio::pin!(stopped);
        loop {
            tokio::select! {
                () = &mut stopped => break,
                order = inbox.recv() => match order {
                    Some(order) => self.carry_out(order).await,
                    None => break,
                },
                Ok(()) = self.daemon.changed() => self.tell_rules().await,
                event = heard(&mut self.running) => match event {
                    Some(event) => self.hear(event),
                    None => {
                        self.restart("it ended").await;
                    }
                },
            }
        }
        if let Some(running) = self.running.take() {
            running.child.signal(Signal::SIGKILL);
            running.child.exited_within(crate::limits::KILL).await;
        }
    }

    async fn carry_out(&mut self, order: Order) {
        match order {
            Order::Add { id, session, endpoint, reply } => {
                let command = self.command(&id, &session);
                let others = !self.sessions.is_empty();
                self.sessions.insert(id.clone(), session);
                // A restart hands every session an endpoint, this one too.
                let result = if self.running.is_none() && others {
                    // Given up on before; who lives since then gets the network back as well.
                    self.restart("a session wants it again").await.ok()
                } else {
                    match self.ensure_running().await {
                        Ok(()) => match self.send(&command, Some(&endpoint)).await {
                            Ok(()) => Ok(()),
                            Err(_) => self.restart("it did not take a session").await.ok(),
                        },
                        Err(error) => Err(error),
                    }
                };
                if result.is_err() {
                    self.sessions.remove(&id);
                }
                // A start that was cancelled removes the session itself.
                let _ = reply.send(result);
            }
            Order::Remove { id } => {
                self.sessions.remove(&id);
                if self.running.is_some() && self.send(&Command::Close { id }, None).await.is_err() {
                    self.restart("it did not take a command").await;
                }
            }
            Order::Count { id, reply } => self.count(id, reply).await,
        }
    }

    /// Asks for counters, unless somebody has and waits for them. Dropping a question answers that nothing is known.
    async fn count(&mut self, id: String, reply: oneshot::Sender<SessionCounters>) {
        self.counting.retain(|(_, waiting)| !waiting.is_closed());
        if self.running.is_none() || self.counting.len() >= COUNTS {
            return;
        }
        let is_first = self.counting.is_empty();
        self.counting.push((id, reply));
        if is_first && self.send(&Command::Counters {}, None).await.is_err() {
            self.restart("it did not take a command").await;
        }
    }

    fn hear(&mut self, event: Event) {
        if let Event::Counters { sessions, more, .. } = &event {
            for counters in sessions {
                let all = std::mem::take(&mut self.counting);
                for (id, reply) in all {
                    if id == counters.id {
                        // Whoever asked may wait no more.
                        let _ = reply.send(counters.clone());
                    } else {
                        self.counting.push((id, reply));
                    }
                }
            }
            if !more {
                self.counting.clear();
            }
        }
        log(event);
    }

    fn command(&self, id: &str, session: &Session) -> Command {
        // A browser on this machine is not looked for behind a proxy.
        let upstream = match session.way_out {
            WayOut::Policy(_) => self.upstream.clone(),
            WayOut::Only(_) => None,
        };
        Command::Session { id: id.to_owned(), rules: self.rules(session), upstream }
    }

    fn rules(&self, session: &Session) -> Rules {
        match &session.way_out {
            WayOut::Policy(client) => rules(&self.daemon, client),
            WayOut::Only(layer) => Rules::of([layer.clone()]),
        }
    }

    /// The daemon's rules are others now.
    async fn tell_rules(&mut self) {
        if self.running.is_none() {
            return;
        }
        for (id, session) in &self.sessions {
            let command = Command::Rules { id: id.clone(), rules: self.rules(session) };
            if self.send(&command, None).await.is_err() {
                // Whoever starts anew begins with the rules of now.
                self.restart("it did not take new rules").await;
                return;
            }
        }
    }

    async fn ensure_running(&mut self) -> io::Result<()> {
        if self.running.is_none() {
            self.start().await?;
        }
        Ok(())
    }

    async fn start(&mut self) -> io::Result<()> {
        let started = self.spawn().await;
        let state = match &started {
            Ok(running) => EgressState::Running { pid: running.child.pid(), restarts: self.restarts },
            Err(error) => EgressState::Failed(error.to_string()),
        };
        self.state.send_replace(state);
        self.running = Some(started?);
        Ok(())
    }

    async fn spawn(&self) -> io::Result<Running> {
        let (ours, theirs) = fdpass::pair()?;
        let mut spawned = self
            .spawner
            .spawn(SpawnOrder {
                program: self.program.clone(),
                args: vec!["--control-fd".into(), CONTROL_FD.to_string().into()],
                descriptors: vec![(theirs, CONTROL_FD)],
                output: Output::Null,
            })
            .await?;
        if let Some(pipe) = spawned.stderr.take() {
            stderr::follow(pipe, "glass-egress", String::new(), &self.tasks);
        }
        let pidfd = spawned.pidfd.take().ok_or(io::ErrorKind::NotFound)?;
        let child = Child::watch(pidfd, &self.tasks)?;
        tracing::info!(pid = child.pid(), "glass-egress started");
        Ok(Running { child, channel: Channel::new(ours)?, buffer: vec![0; MAX_MESSAGE_BYTES] })
    }

    async fn send(&self, command: &Command, endpoint: Option<&OwnedFd>) -> io::Result<()> {
        let running = self.running.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let text = serde_json::to_vec(command)?;
        let fds: Vec<_> = endpoint.iter().map(|fd| fd.as_fd()).collect();
        timeout(PATIENCE, running.channel.send(&text, &fds)).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    /// Ends what is left of the proxy, starts another and gives every session a new endpoint. Without a session it
    /// waits for the next one, and so it does after too many ends in a row.
    async fn restart(&mut self, why: &str) -> Restarted {
        if let Some(running) = self.running.take() {
            running.child.signal(Signal::SIGKILL);
            let exit = running.child.exited_within(crate::limits::KILL).await;
            tracing::warn!(why, ?exit, sessions = self.sessions.len(), "glass-egress is started anew");
        }
        // Nothing is known of what it counted.
        self.counting.clear();
        self.state.send_replace(EgressState::NotStarted);
        while !self.sessions.is_empty() {
            self.restarts += 1;
            self.ends.retain(|end| end.elapsed() < STORM);
            self.ends.push(Instant::now());
            if self.ends.len() > ENDS {
                sleep(PAUSE).await;
            }
            if self.tasks.phase() >= Phase::Stopping {
                return Restarted(false);
            }
            match self.start().await {
                Ok(()) if self.hand_out().await.is_ok() => return Restarted(true),
                Ok(()) => {
                    self.running = None;
                    self.state.send_replace(EgressState::Failed("it does not stay up".to_owned()));
                    tracing::error!("glass-egress ended before it had all sessions");
                }
                Err(error) => tracing::error!(%error, "glass-egress cannot be started"),
            }
            if self.ends.len() > ENDS {
                return Restarted(false);
            }
        }
        Restarted(false)
    }

    async fn hand_out(&self) -> io::Result<()> {
        for (id, session) in &self.sessions {
            let (worker, proxy) = fdpass::pair()?;
            let command = self.command(id, session);
            self.send(&command, Some(&proxy)).await?;
            let handed = timeout(PATIENCE, session.control.send(start::EGRESS, &[worker.as_fd()])).await;
            if !matches!(handed, Ok(Ok(()))) {
                // The worker is gone or hangs; its session's actor sees to that.
                tracing::warn!(session = id, "a worker took no new egress endpoint");
            }
        }
        Ok(())
    }
}

/// Whether there is a proxy again.
struct Restarted(bool);

impl Restarted {
    fn ok(self) -> io::Result<()> {
        if self.0 { Ok(()) } else { Err(io::Error::other("glass-egress does not stay up")) }
    }
}

/// The next event of the proxy; `None` once it is gone. Waits for ever while there is none.
async fn heard(running: &mut Option<Running>) -> Option<Event> {
    let Some(running) = running else { return std::future::pending().await };
    loop {
        let received = running.channel.recv(&mut running.buffer).await;
        match received {
            Ok(Some((length, _))) => match serde_json::from_slice(&running.buffer[..length]) {
                Ok(event) => return Some(event),
                Err(error) => tracing::warn!(%error, "glass-egress sent something unreadable"),
            },
            Ok(None) => return None,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            // A socket that broke is an end as well; whoever restarts the proxy logs it.
            Err(_) => return None,
        }
    }
}

fn log(event: Event) {
    match event {
        Event::Denied { session, host, port, rule, .. } => {
            let host = glass_proto::escape::visible(&host, false);
            tracing::info!(session, %host, port, rule, "a connection was denied");
        }
        Event::Failed { session, host, port, error } => {
            let host = glass_proto::escape::visible(&host, false);
            tracing::debug!(session, %host, port, ?error, "a connection failed");
        }
        Event::Overload { session, limit } => {
            tracing::warn!(session, limit, "a session wants more connections than it may have");
        }
        Event::Counters { .. } => {}
        Event::Invalid { detail } => tracing::error!(detail, "glass-egress refused a command"),
    }
}
