//! The task that owns one session: its phase, its queue, its worker.
//!
//! The only one that changes the phase. Never waits for anything but its inboxes: starting, ending and watching run in
//! tasks that report back, so it answers while an operation runs or a page spins (contract 1.7).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use glass_proto::session::SessionOptions;
use glass_proto::{ExecutionId, Outcome, SessionName};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::handle::{Admitted, Ask, Job, NoTurn, Note, SessionHandle, SubmitError, Turn, Unfit};
use super::info::{IdleTimeouts, Info, Tally, Times};
use super::phase::{CloseReason, Effect, Event, FailReason, Phase};
use super::queue::Queue;
use super::registry::Registry;
use crate::supervise::{Launcher, StartError, Terms, Worker, end};
use crate::vault::Vault;

/// Requests that may wait for an actor, which answers each at once.
const ASKS: usize = 256;

/// An operation that waits for its turn.
struct Waiter {
    operation: &'static str,
    /// Whether it may run only where the network rules are enforced, which is known once the worker has answered.
    requires_egress: bool,
    turn: oneshot::Sender<Result<Turn, NoTurn>>,
}

impl Waiter {
    fn has_gone(&self) -> bool {
        self.turn.is_closed()
    }
}

pub(super) struct Actor {
    id: Arc<str>,
    name: SessionName,
    registry: Registry,
    launcher: Arc<Launcher>,
    idle: IdleTimeouts,
    used_by_person: bool,
    terms: Arc<Terms>,
    advisory: Arc<AtomicBool>,
    options: Arc<SessionOptions>,
    phase: Phase,
    queue: Queue<Waiter>,
    running: HashMap<ExecutionId, &'static str>,
    worker: Option<Worker>,
    vault: Arc<Vault>,
    start_error: Option<Arc<StartError>>,
    closers: Vec<oneshot::Sender<()>>,
    cancel_start: CancellationToken,
    closing: CancellationToken,
    gone: CancellationToken,
    notes: mpsc::UnboundedSender<Note>,
    times: Times,
    tally: Tally,
    finished: bool,
}

impl Actor {
    /// Makes a session and starts its task.
    pub(super) fn start(
        name: SessionName,
        registry: &Registry,
        launcher: Arc<Launcher>,
        idle: IdleTimeouts,
        terms: Arc<Terms>,
        options: Arc<SessionOptions>,
    ) -> SessionHandle {
        let id: Arc<str> = ExecutionId::generate().as_str().to_ascii_lowercase().into();
        let (asks, inbox) = mpsc::channel(ASKS);
        let (notes, heard) = mpsc::unbounded_channel();
        let gone = CancellationToken::new();
        let vault: Arc<Vault> = Arc::default();
        let advisory = Arc::new(AtomicBool::new(false));
        let actor = Self {
            id: id.clone(),
            name: name.clone(),
            registry: registry.clone(),
            launcher: launcher.clone(),
            idle,
            used_by_person: false,
            terms: terms.clone(),
            advisory: advisory.clone(),
            options: options.clone(),
            phase: Phase::Idle,
            queue: Queue::new(launcher.watchdog.quotas().queued as usize),
            running: HashMap::new(),
            worker: None,
            vault: vault.clone(),
            start_error: None,
            closers: Vec::new(),
            cancel_start: CancellationToken::new(),
            closing: CancellationToken::new(),
            gone: gone.clone(),
            notes,
            times: Times::now(),
            tally: Tally::default(),
            finished: false,
        };
        let guard = Guard { name, id: id.clone(), registry: registry.clone(), gone: gone.clone() };
        let alive = registry.alive();
        launcher.tasks.spawn("session", async move {
            // Dropped in this order: what waits for the last session must find it accounted for.
            let _alive = alive;
            let _guard = guard;
            actor.run(inbox, heard).await;
        });
        SessionHandle { id, terms, options, advisory, vault, asks, gone }
    }

    async fn run(mut self, mut asks: mpsc::Receiver<Ask>, mut notes: mpsc::UnboundedReceiver<Note>) {
        while !self.finished {
            let idle = self.idle_left();
            let over = self.vault.expires();
            tokio::select! {
                biased;
                note = notes.recv() => match note {
                    Some(note) => self.hear(note),
                    None => break,
                },
                ask = asks.recv() => match ask {
                    Some(ask) => self.answer(ask),
                    // The registry has forgotten us, which it does only at the end.
                    None => self.happen(Event::Close(CloseReason::Shutdown)),
                },
                () = sleep_until(over) => self.vault.expire(),
                () = sleep_for(idle) => self.happen(Event::Close(CloseReason::Idle)),
            }
        }
    }

    fn hear(&mut self, note: Note) {
        match note {
            Note::Started(result) => self.started(*result),
            Note::Lost(why) => self.happen(Event::Lost(why)),
            Note::Reaped => self.happen(Event::Reaped),
            Note::Done { execution, outcome } => self.done(&execution, outcome),
        }
    }

    fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Submit { job, reply } => {
                // A client that has gone leaves a waiter that the queue drops.
                let _ = reply.send(self.submit(&job));
            }
            Ask::Close { why, reply } => {
                self.closers.push(reply);
                self.happen(Event::Close(why));
            }
            Ask::Info { reply } => {
                // Whoever asked may have gone.
                let _ = reply.send(self.info());
            }
        }
    }

    fn submit(&mut self, job: &Job) -> Result<Admitted, SubmitError> {
        if !self.phase.takes_operations() {
            return Err(SubmitError::Ending);
        }
        if self.phase == Phase::Idle && !job.starts {
            return Err(SubmitError::NotOpen);
        }
        let differing = job.session.differing(&self.options);
        if !differing.is_empty() {
            return Err(SubmitError::Differs(differing));
        }
        let (sender, turn) = oneshot::channel();
        let requires_egress = job.terms.requires_egress;
        let waiter = Waiter { operation: job.operation, requires_egress, turn: sender };
        let queued = self.queue.push(job.execution.clone(), job.lane, waiter, Waiter::has_gone);
        queued.map_err(|_| SubmitError::Full)?;
        let began = self.phase == Phase::Idle;
        self.times.used = Instant::now();
        self.tally.operations += 1;
        self.used_by_person |= job.by_person;
        self.happen(Event::Wanted);
        self.serve();
        Ok(Admitted { began, turn })
    }

    fn started(&mut self, result: Result<Worker, StartError>) {
        match result {
            Ok(worker) if self.phase == Phase::Starting => {
                let (lost, notes) = (worker.lost.clone(), self.notes.clone());
                self.launcher.tasks.spawn("session watch", async move {
                    // An actor that has gone needs no news.
                    let _ = notes.send(Note::Lost(lost.reason().await));
                });
                self.advisory.store(!worker.greeting.enforces_egress(), Ordering::Relaxed);
                self.worker = Some(worker);
                self.happen(Event::Started);
            }
            Ok(worker) => {
                // Closed while it started: the attempt was past the point where it could be cancelled.
                self.happen(Event::Started);
                self.end_worker(worker);
            }
            Err(error) => {
                let text = error.to_string();
                self.start_error = Some(Arc::new(error));
                self.happen(Event::NotStarted(text));
            }
        }
    }

    fn done(&mut self, execution: &ExecutionId, outcome: Outcome) {
        self.running.remove(execution);
        self.queue.done(execution);
        self.tally.count(outcome);
        self.times.used = Instant::now();
        self.serve();
    }

    /// Takes an event through the machine and does what it says.
    fn happen(&mut self, event: Event) {
        let before = self.phase.name();
        match self.phase.step(event) {
            Ok((next, effects)) => {
                self.phase = next;
                if before != self.phase.name() {
                    tracing::info!(session = %self.id, name = %self.name, from = before, to = self.phase.name(),
                        reason = self.reason(), "a session changed");
                }
                // The name is free for a new beginning before anybody hears of the failure.
                if let Phase::Failing(why) | Phase::Failed(why) = &self.phase
                    && !effects.is_empty()
                {
                    self.registry.failed(&self.name, &self.id, why.clone(), self.info());
                    self.gone.cancel();
                }
                for effect in effects {
                    self.carry_out(*effect);
                }
            }
            Err(error) => tracing::error!(session = %self.id, %error, "a session got an impossible event"),
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Start => self.start_worker(),
            Effect::Serve => {
                self.queue.open();
                self.serve();
            }
            Effect::EndOperations => self.end_operations(),
            Effect::EndWorker => match self.worker.take() {
                Some(worker) => self.end_worker(worker),
                None => self.cancel_start.cancel(),
            },
            Effect::Finish => self.finish(),
        }
    }

    fn start_worker(&self) {
        let (launcher, notes) = (self.launcher.clone(), self.notes.clone());
        let (id, name, cancel) = (self.id.clone(), self.name.clone(), self.cancel_start.clone());
        let (terms, options) = (self.terms.clone(), self.options.clone());
        self.launcher.tasks.spawn("session start", async move {
            let fault = StartError::System { what: "start the session", error: "its task ended".to_owned() };
            let told = Told { notes, note: Some(Note::Started(Box::new(Err(fault)))) };
            let result = launcher.start(&id, name.as_str(), &terms, &options, &cancel).await;
            if let Err(mpsc::error::SendError(Note::Started(result))) =
                told.instead(Note::Started(Box::new(result)))
                && let Ok(worker) = *result
            {
                end(worker.body, Some(worker.client), &launcher.egress).await;
            }
        });
    }

    fn end_worker(&self, worker: Worker) {
        let (launcher, notes) = (self.launcher.clone(), self.notes.clone());
        self.launcher.tasks.spawn("session end", async move {
            let _told = Told { notes, note: Some(Note::Reaped) };
            end(worker.body, Some(worker.client), &launcher.egress).await;
        });
    }

    fn serve(&mut self) {
        while self.phase == Phase::Ready {
            let Some(worker) = &self.worker else { return };
            let Some((execution, waiter)) = self.queue.next(Waiter::has_gone) else { return };
            if waiter.requires_egress && self.advisory.load(Ordering::Relaxed) {
                // It was taken before the worker had answered.
                self.queue.done(&execution);
                self.tally.count(Outcome::Rejected);
                let _ = waiter.turn.send(Err(NoTurn::Unfit(Unfit::Advisory)));
                continue;
            }
            self.running.insert(execution.clone(), waiter.operation);
            let turn = Turn {
                client: worker.client.clone(),
                lost: worker.lost.clone(),
                journal: worker.body.journal.clone(),
                vault: self.vault.clone(),
                closing: self.closing.clone(),
                execution,
                outcome: Outcome::Rejected,
                inbox: self.notes.clone(),
            };
            // One that left in this moment drops the turn, and with it gives it back.
            let _ = waiter.turn.send(Ok(turn));
        }
    }

    fn end_operations(&mut self) {
        self.closing.cancel();
        self.vault.close();
        let why = match (&self.phase, &self.start_error) {
            (Phase::Failing(FailReason::Lost(why)), _) => NoTurn::Lost(why.clone()),
            (_, Some(error)) => NoTurn::NotStarted(error.clone()),
            (Phase::Closing(why) | Phase::Closed(why), _) => NoTurn::Closed(*why),
            _ => NoTurn::Closed(CloseReason::Shutdown),
        };
        for waiter in self.queue.drain() {
            // One that left hears nothing.
            let _ = waiter.turn.send(Err(why.clone()));
        }
    }

    fn finish(&mut self) {
        self.finished = true;
        if matches!(self.phase, Phase::Closed(_)) {
            self.registry.closed(&self.name, &self.id);
        }
        self.gone.cancel();
        for closer in self.closers.drain(..) {
            // One that left waits no more.
            let _ = closer.send(());
        }
    }

    /// What is left of the idle time; `None` while it does not run.
    fn idle_left(&self) -> Option<Duration> {
        let idles = matches!(self.phase, Phase::Ready | Phase::Idle) && self.running.is_empty();
        let timeout = self.idle.of(self.used_by_person).filter(|_| idles && self.queue.waiting() == 0)?;
        Some(timeout.saturating_sub(self.times.used.elapsed()))
    }

    fn reason(&self) -> String {
        match &self.phase {
            Phase::Failing(why) | Phase::Failed(why) => why.to_string(),
            Phase::Closing(why) | Phase::Closed(why) => why.text().to_owned(),
            Phase::Idle | Phase::Starting | Phase::Ready => String::new(),
        }
    }

    fn info(&self) -> Info {
        let mut running: Vec<_> = self.running.values().copied().collect();
        running.sort_unstable();
        let own = nix::unistd::geteuid().as_raw();
        Info {
            name: self.name.to_string(),
            id: self.id.to_string(),
            state: self.phase.name(),
            reason: self.reason(),
            age: self.times.made.elapsed(),
            idle: if running.is_empty() { self.times.used.elapsed() } else { Duration::ZERO },
            closes_in: self.idle_left(),
            queued: self.queue.waiting(),
            running,
            tally: self.tally,
            options: self.options.words(),
            attached: self.options.attach.is_some(),
            greeting: self.worker.as_ref().map(|worker| worker.greeting.clone()),
            uid: self.worker.as_ref().map(|worker| worker.body.files.uid().unwrap_or(own)),
            pid: self.worker.as_ref().map(|worker| worker.body.stub.pid()),
            client: self.worker.as_ref().map(|worker| worker.client.clone()),
            usage: self.worker.as_ref().map(|worker| *worker.watch.usage.borrow()),
            targets: self.terms.targets,
            vault: Some(self.vault.clone()),
        }
    }
}

/// What the actor is told when a task ends, however it ends: without it the session's name would be taken for ever.
struct Told {
    notes: mpsc::UnboundedSender<Note>,
    note: Option<Note>,
}

impl Told {
    /// Tells this now, and nothing later.
    fn instead(mut self, note: Note) -> Result<(), mpsc::error::SendError<Note>> {
        self.note = None;
        self.notes.send(note)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if let Some(note) = self.note.take() {
            // An actor that has gone needs no news.
            let _ = self.notes.send(note);
        }
    }
}

async fn sleep_until(time: Option<tokio::time::Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

async fn sleep_for(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Sees to it that an actor that ends by a fault leaves no dead entry under its name. Its worker is killed when the
/// actor's fields are dropped.
struct Guard {
    name: SessionName,
    id: Arc<str>,
    registry: Registry,
    gone: CancellationToken,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.gone.is_cancelled() {
            self.registry.fault(&self.name, &self.id);
            self.gone.cancel();
        }
    }
}
