//! What lists and `session show` tell of a session.

use std::sync::Arc;
use std::time::{Duration, Instant};

use glass_proto::Outcome;
use glass_proto::wire::worker::worker_client::WorkerClient;
use tonic::transport::Channel;

use crate::quota::Usage;
use crate::supervise::Greeting;
use crate::vault::Vault;

/// After how long without an operation a session closes; `None`: never (contract 1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleTimeouts {
    /// One that somebody at a shell used.
    pub people: Option<Duration>,
    /// One that only programs used: clients of MCP and HTTP. Never later than the other.
    pub programs: Option<Duration>,
}

impl IdleTimeouts {
    /// The one that holds.
    pub fn of(self, used_by_person: bool) -> Option<Duration> {
        match (self.people, self.programs) {
            (people, _) if used_by_person => people,
            (Some(people), Some(programs)) => Some(people.min(programs)),
            (people, programs) => people.or(programs),
        }
    }
}

/// A session as it is at one moment.
#[derive(Clone, Debug)]
pub struct Info {
    /// Its name.
    pub name: String,
    /// Its opaque id.
    pub id: String,
    /// Its state, contract 1.3.
    pub state: &'static str,
    /// Why it failed or closes.
    pub reason: String,
    /// Since it was made.
    pub age: Duration,
    /// Since its last operation.
    pub idle: Duration,
    /// When it is closed for want of use; `None` while it is used, or never.
    pub closes_in: Option<Duration>,
    /// Page operations that wait.
    pub queued: usize,
    /// Names of the operations that run.
    pub running: Vec<&'static str>,
    /// How its operations ended.
    pub tally: Tally,
    /// What it was started with, without any secret.
    pub options: Vec<String>,
    /// Whether its browser is somebody else's.
    pub attached: bool,
    /// What its worker said of itself.
    pub greeting: Option<Greeting>,
    /// The uid of its processes, where it has some.
    pub uid: Option<u32>,
    /// The pid of its stub.
    pub pid: Option<u32>,
    /// The channel to its worker, for what only that one knows.
    pub client: Option<WorkerClient<Channel>>,
    /// What its processes used when they were looked at last.
    pub usage: Option<Usage>,
    /// How many targets it may have.
    pub targets: u32,
    /// Its secrets, which nothing that is told of it shows.
    pub vault: Option<Arc<Vault>>,
}

/// Operations by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Admitted ones.
    pub operations: u64,
    /// Ended as `completed`.
    pub completed: u64,
    /// Ended as `failed`.
    pub failed: u64,
    /// Ended as `rejected`.
    pub rejected: u64,
    /// Ended as `unknown`.
    pub unknown: u64,
}

impl Tally {
    /// Counts one that ended.
    pub fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Completed => self.completed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Rejected => self.rejected += 1,
            Outcome::Unknown => self.unknown += 1,
        }
    }
}

/// Times of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// When it was made.
    pub made: Instant,
    /// When its last operation began or ended.
    pub used: Instant,
}

impl Times {
    /// Both now.
    pub(super) fn now() -> Self {
        let now = Instant::now();
        Self { made: now, used: now }
    }
}
