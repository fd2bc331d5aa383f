//! A worker that runs: its processes and files, its channel, and the news of its end.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use glass_proto::start;
use glass_proto::wire::worker::worker_client::WorkerClient;
use glass_sandbox::{Exit, Pidfd};
use tokio::sync::watch;
use tokio::time::{Duration, timeout};

use super::cgroup::SessionGroup;
use super::child::{Child, Ending};
use super::claims::Claimant;
use super::exits::Exits;
use super::files::SessionFiles;
use super::greet::Greeting;
use super::journal::Journal;
use super::watchdog::Watch;
use crate::egress::Channel;
use crate::quota::Hit;
use crate::shutdown::Shutdown;

/// How long the exit code may come after the end of the control socket.
const EXIT_DELAY: Duration = Duration::from_millis(500);

/// The processes and files of a session, from the spawn to the removal.
#[derive(Debug)]
pub struct Body {
    /// The session's id.
    pub id: String,
    /// The stub outside the cage.
    pub stub: Child,
    /// Pid 1 of the cage, where it could be found: it is there until every process of the cage is gone.
    pub init: Option<Init>,
    /// What it was about to send.
    pub journal: Arc<Journal>,
    /// The control socket; its end is the worker's lifeline.
    pub control: Arc<Channel>,
    /// Its right to pages of somebody else's browser, where it is attached to one.
    pub claimant: Option<Arc<Claimant>>,
    /// Its directory, lock and uid.
    pub files: SessionFiles,
    /// Its control group, where there is one.
    pub group: Option<SessionGroup>,
}

/// Pid 1 of a cage, seen from outside.
#[derive(Debug)]
pub struct Init(Exits);

impl Init {
    /// Looks for the stub's child.
    pub fn of(stub: u32) -> Option<Self> {
        // One that cannot be found has ended, or hides: the end of the stub is waited for instead.
        let list = std::fs::read_to_string(format!("/proc/{stub}/task/{stub}/children")).ok()?;
        let pid = list.split_whitespace().next()?.parse().ok()?;
        let pidfd = Pidfd::open(pid).ok()?;
        // Its number could have been another's if the stub had ended in between.
        if !Path::new(&format!("/proc/{stub}")).exists() {
            return None;
        }
        Exits::of(Arc::new(pidfd)).ok().map(Self)
    }

    /// Waits until it has exited, which it does after every other process of its namespace.
    pub async fn gone(&self) {
        // Fails only with the runtime itself.
        let _ = self.0.exited().await;
    }
}

/// A worker that was greeted.
#[derive(Debug)]
pub struct Worker {
    /// Its processes and files.
    pub body: Body,
    /// The channel to it.
    pub client: WorkerClient<tonic::transport::Channel>,
    /// What it said of itself.
    pub greeting: Greeting,
    /// The news of its end.
    pub lost: Lost,
    /// What it uses is looked at while this is kept.
    pub watch: Watch,
}

/// Why a worker is gone that nobody asked to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// Its browser died.
    Browser,
    /// The browser that it was attached to closed the connection, or ended.
    Left,
    /// It ended itself, or something ended it.
    Worker(String),
    /// It used more than it may, and is ended for it.
    Quota(Hit),
}

impl LossReason {
    /// The name in errors (contract 2.6).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Browser => "browser_crashed",
            Self::Left => "browser_left",
            Self::Worker(_) => "worker_lost",
            Self::Quota(_) => "quota_exceeded",
        }
    }
}

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Browser => f.write_str("the browser died"),
            Self::Left => f.write_str("the browser that it was attached to ended, or closed the connection"),
            Self::Worker(how) => write!(f, "the session's worker {how}"),
            Self::Quota(hit) => write!(f, "it was ended for what it used: {hit}"),
        }
    }
}

impl From<Exit> for LossReason {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Code(start::EXIT_BROWSER_DIED) => Self::Browser,
            Exit::Code(start::EXIT_BROWSER_LEFT) => Self::Left,
            Exit::Code(code) if code > 128 => Self::Worker(format!("was ended by signal {}", code - 128)),
            Exit::Code(code) => Self::Worker(format!("ended with code {code}")),
            Exit::Signal(signal) => Self::Worker(format!("was ended by signal {signal}")),
        }
    }
}

/// Tells everybody who asks that a worker is gone, and why.
#[derive(Clone, Debug)]
pub struct Lost(watch::Receiver<Option<LossReason>>);

/// The right to say that a worker is to be ended, and why. The first reason stays.
#[derive(Clone, Debug)]
pub struct Condemn(Arc<watch::Sender<Option<LossReason>>>);

impl Condemn {
    /// Says it.
    pub fn tell(&self, reason: LossReason) {
        self.0.send_if_modified(|seen| {
            let first = seen.is_none();
            if first {
                *seen = Some(reason);
            }
            first
        });
    }
}

impl Lost {
    /// Watches a worker from now on: its process and the other end of its control socket, where it claims pages.
    pub fn watch(
        stub: Ending,
        control: Arc<Channel>,
        claimant: Option<Arc<Claimant>>,
        tasks: &Shutdown,
    ) -> (Self, Condemn) {
        let (sender, receiver) = watch::channel(None);
        let condemn = Condemn(Arc::new(sender));
        let told = condemn.clone();
        tasks.spawn("worker watch", async move {
            let reason = tokio::select! {
                exit = stub.exited() => exit.into(),
                () = end_of(&control, claimant.as_deref()) => match timeout(EXIT_DELAY, stub.exited()).await {
                    Ok(exit) => exit.into(),
                    Err(_) => LossReason::Worker("closed its control socket".to_owned()),
                },
            };
            told.tell(reason);
        });
        (Self(receiver), condemn)
    }

    /// Waits for the loss.
    pub async fn reason(&self) -> LossReason {
        let mut receiver = self.0.clone();
        match receiver.wait_for(Option::is_some).await.map(|seen| seen.clone()) {
            Ok(Some(reason)) => reason,
            _ => LossReason::Worker("was not watched any longer".to_owned()),
        }
    }
}

/// Waits for the end of file; what a greeted worker says on this socket is about pages that it claims.
async fn end_of(control: &Channel, claimant: Option<&Claimant>) {
    let mut buffer = vec![0; start::MAX_CONTROL];
    loop {
        match control.recv(&mut buffer).await {
            Ok(Some((length, _))) => {
                if let (Some(claimant), Ok(said)) = (claimant, serde_json::from_slice(&buffer[..length])) {
                    claimant.hear(said);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {}
            // A socket that broke is an end as well.
            Ok(None) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_tell_a_browsers_death_from_a_workers() {
        assert_eq!(LossReason::from(Exit::Code(20)), LossReason::Browser);
        assert_eq!(LossReason::from(Exit::Code(23)), LossReason::Left);
        assert_eq!(
            LossReason::from(Exit::Code(137)).to_string(),
            "the session's worker was ended by signal 9"
        );
        assert_eq!(LossReason::from(Exit::Signal(9)).name(), "worker_lost");
    }
}
