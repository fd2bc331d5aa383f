//! Looks what sessions use, and sees to it that none uses more than it may (contract 11).
//!
//! One task for all sessions: the table of processes is read once for them. What is done about a session is decided by
//! `quota::Ladder`; here it is carried out. Where control groups limit as well, the kernel is first with what grows too
//! fast for a look.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use glass_proto::wire::worker::NoteRequest;
use glass_proto::wire::worker::worker_client::WorkerClient;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tonic::transport::Channel;

use super::disk;
use super::memory::Table;
use super::worker::{Condemn, LossReason};
use crate::limits;
use crate::quota::{Hit, Ladder, Quotas, Step, Usage};
use crate::shutdown::Shutdown;

/// Between two looks while nothing is near a limit, and while something is.
const CALM: Duration = Duration::from_secs(2);
const TENSE: Duration = Duration::from_millis(500);
/// While a session might soon be near its memory.
const CLOSE: Duration = Duration::from_millis(700);
/// How often the files are counted, and the shares of memory that shared pages are left out of.
const DISK: Duration = Duration::from_secs(5);
const SHARES: Duration = Duration::from_secs(10);
/// What a browser's processes share of files at most (its own program, libraries, fonts), in bytes.
const SHARED_FILES: u64 = 400 << 20;

/// The watchdog. Clones share it.
#[derive(Clone, Debug)]
pub struct Watchdog(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    quotas: Quotas,
    watched: Mutex<HashMap<Arc<str>, Watched>>,
    /// Told when there is a session to watch.
    some: Notify,
}

#[derive(Debug)]
struct Watched {
    name: String,
    stub: u32,
    directory: PathBuf,
    client: WorkerClient<Channel>,
    condemn: Condemn,
    usage: watch::Sender<Usage>,
    ladder: Ladder,
    state: State,
}

/// When what was measured last.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    looked: Option<Instant>,
    cpu_ms: u64,
    disk: Option<Instant>,
    shares: Option<Instant>,
    /// Whether its memory might soon be near the limit.
    close: bool,
}

/// A session that is to be looked at.
struct Job {
    id: Arc<str>,
    stub: u32,
    directory: PathBuf,
    tense: bool,
    short_of_memory: bool,
    state: State,
}

/// A session that is watched while this lives.
#[derive(Debug)]
pub struct Watch {
    id: Arc<str>,
    watchdog: Watchdog,
    /// What it used at the last look.
    pub usage: watch::Receiver<Usage>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watchdog.watched().remove(&self.id);
    }
}

impl Watchdog {
    /// Starts it.
    pub fn start(quotas: Quotas, tasks: &Shutdown) -> Self {
        let watchdog = Self(Arc::new(Shared { quotas, watched: Mutex::default(), some: Notify::new() }));
        let looking = watchdog.clone();
        let spawner = tasks.clone();
        tasks.spawn("watchdog", async move { looking.run(&spawner).await });
        watchdog
    }

    /// What a session may use.
    pub fn quotas(&self) -> &Quotas {
        &self.0.quotas
    }

    /// Watches a session from now on.
    pub fn watch(
        &self,
        id: &str,
        name: &str,
        stub: u32,
        directory: PathBuf,
        client: WorkerClient<Channel>,
        condemn: Condemn,
    ) -> Watch {
        let id: Arc<str> = id.into();
        let (sender, usage) = watch::channel(Usage::default());
        let (ladder, state) = (Ladder::default(), State::default());
        let watched =
            Watched { name: name.to_owned(), stub, directory, client, condemn, usage: sender, ladder, state };
        self.watched().insert(id.clone(), watched);
        self.0.some.notify_one();
        Watch { id, watchdog: self.clone(), usage }
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<Arc<str>, Watched>> {
        self.0.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run(&self, tasks: &Shutdown) {
        loop {
            let jobs = self.jobs();
            if jobs.is_empty() {
                self.0.some.notified().await;
                continue;
            }
            let quotas = self.0.quotas;
            // Dozens of small files: too slow for the threads that serve everybody.
            let looked = tokio::task::spawn_blocking(move || {
                let table = Table::read();
                jobs.into_iter().map(|job| look(&table, &quotas, job)).collect::<Vec<_>>()
            });
            match looked.await {
                Ok(looked) => {
                    looked.into_iter().for_each(|(id, usage, state)| self.judge(&id, usage, state, tasks))
                }
                Err(error) => tracing::error!(%error, "a look at what sessions use broke off"),
            }
            sleep(self.pause()).await;
        }
    }

    /// How long nothing can happen that matters.
    fn pause(&self) -> Duration {
        let all = self.watched();
        if all.values().any(|watched| watched.ladder.is_tense()) {
            return TENSE;
        }
        if all.values().any(|watched| watched.state.close) { CLOSE } else { CALM }
    }

    fn jobs(&self) -> Vec<Job> {
        let job = |(id, watched): (&Arc<str>, &Watched)| Job {
            id: id.clone(),
            stub: watched.stub,
            directory: watched.directory.clone(),
            tense: watched.ladder.is_tense(),
            short_of_memory: watched.ladder.is_short_of_memory(),
            state: watched.state,
        };
        self.watched().iter().map(job).collect()
    }

    fn judge(&self, id: &Arc<str>, usage: Usage, state: State, tasks: &Shutdown) {
        let mut all = self.watched();
        let Some(watched) = all.get_mut(id) else { return };
        watched.state = state;
        // What was not measured now is as it was.
        watched.usage.send_modify(|known| {
            known.memory = usage.memory.or(known.memory);
            known.cpu_percent = usage.cpu_percent.or(known.cpu_percent);
            known.processes = usage.processes.or(known.processes);
            known.spool = usage.spool.or(known.spool);
            known.profile = usage.profile.or(known.profile);
        });
        for step in watched.ladder.look(&self.0.quotas, &usage) {
            let (hit, what) = match step {
                Step::Tell(hit) => (hit, "near"),
                Step::EndHeaviest(hit) => (hit, "renderer_ended"),
                Step::Fail(hit) => (hit, "exceeded"),
            };
            let Hit { quota, limit, used } = hit;
            tracing::warn!(session = %id, name = watched.name, quota = quota.name(), limit, used, what,
                "a session is at a quota");
            tell(watched.client.clone(), hit, what, tasks);
            match step {
                Step::Tell(_) => {}
                Step::EndHeaviest(_) => {
                    let stub = watched.stub;
                    tasks.spawn("quota", async move {
                        // Where there is none, the next look fails the session.
                        let _ = tokio::task::spawn_blocking(move || {
                            Table::read().tree(stub).end_heaviest_renderer()
                        })
                        .await;
                    });
                }
                Step::Fail(hit) => watched.condemn.tell(LossReason::Quota(hit)),
            }
        }
    }
}

/// Says it in the session's events. A worker that does not hear it is no reason to wait.
fn tell(mut client: WorkerClient<Channel>, hit: Hit, what: &'static str, tasks: &Shutdown) {
    let request = NoteRequest {
        quota: hit.quota.name().to_owned(),
        what: what.to_owned(),
        limit: hit.limit,
        used: hit.used,
    };
    tasks.spawn("quota event", async move {
        let _ = timeout(limits::GRACE, client.note(request)).await;
    });
}

/// Measures a session, as far as it is worth it.
fn look(table: &Table, quotas: &Quotas, job: Job) -> (Arc<str>, Usage, State) {
    let now = Instant::now();
    let mut state = job.state;
    let tree = table.tree(job.stub);
    let is_due = |last: Option<Instant>, every| last.is_none_or(|last| now.duration_since(last) >= every);
    let mut usage = Usage { processes: Some(tree.processes()), ..Usage::default() };
    let cpu_ms = tree.cpu_ms();
    if let Some(since) = state.looked.map(|last| now.duration_since(last)).filter(|since| !since.is_zero()) {
        let used = u128::from(cpu_ms.saturating_sub(state.cpu_ms));
        usage.cpu_percent = u32::try_from(used * 100 / since.as_millis().max(1)).ok();
    }
    (state.looked, state.cpu_ms) = (Some(now), cpu_ms);
    let near = quotas.memory - quotas.memory / 10;
    let (most, least) = tree.bounds();
    // The shares are read where it matters: reading them costs more than everything else here.
    state.close = most > near && least + SHARED_FILES > near;
    if job.short_of_memory || state.close || (most > near && is_due(state.shares, SHARES)) {
        usage.memory = Some(tree.memory());
        state.shares = Some(now);
    } else if most <= near {
        // At least this, and far from the limit.
        usage.memory = Some(least);
    }
    if job.tense || is_due(state.disk, DISK) {
        if let Some(room) = disk::of_session(&job.directory, quotas.spool, quotas.profile) {
            (usage.spool, usage.profile) = (Some(room.spool), Some(room.rest));
        }
        state.disk = Some(now);
    }
    (job.id, usage, state)
}
