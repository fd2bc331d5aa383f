//! How the daemon ends, and the tasks that it waits for.
//!
//! Owns the phases (serving, draining, stopping), the signals and the tracker. No task is started but through
//! [`Shutdown::spawn`]: one that panics is logged by name and never vanishes unseen.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What the daemon is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It takes operations.
    Serving,
    /// It refuses new operations and lets running ones end.
    Draining,
    /// It ends what still runs, and the sessions.
    Stopping,
    /// Nothing is left but the last answers.
    Stopped,
}

impl Phase {
    /// The name in `status`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Serving => "serving",
            Self::Draining => "draining",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
        }
    }
}

/// The handle that everything shares.
#[derive(Clone, Debug)]
pub struct Shutdown {
    phase: Arc<watch::Sender<Phase>>,
    tasks: TaskTracker,
    broken: Arc<AtomicBool>,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self {
            phase: Arc::new(watch::Sender::new(Phase::Serving)),
            tasks: TaskTracker::new(),
            broken: Arc::new(AtomicBool::new(false)),
        }
    }
}

impl Shutdown {
    /// What the daemon is doing now.
    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Goes on to `phase`; never back.
    pub fn advance(&self, phase: Phase, why: &str) {
        let advanced = self.phase.send_if_modified(|now| {
            let later = phase > *now;
            if later {
                *now = phase;
            }
            later
        });
        if advanced {
            tracing::info!(phase = phase.name(), why, "the daemon goes on to its next phase");
        }
    }

    /// Waits until `phase` or a later one is reached.
    pub async fn reached(&self, phase: Phase) {
        let mut phases = self.phase.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = phases.wait_for(|now| *now >= phase).await;
    }

    /// A token that is cancelled when `phase` is reached.
    pub fn token(&self, phase: Phase) -> CancellationToken {
        let token = CancellationToken::new();
        let (this, child) = (self.clone(), token.clone());
        self.spawn("phase token", async move {
            tokio::select! {
                () = this.reached(phase) => child.cancel(),
                () = child.cancelled() => {}
            }
        });
        token
    }

    /// Starts a task that the daemon knows of; a panic in it is logged.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(async move {
            if AssertUnwindSafe(task).catch_unwind().await.is_err() {
                tracing::error!(task = name, "a task ended by a panic");
            }
        });
    }

    /// Starts a task without which the daemon is of no use: when it ends before it should, so does the daemon.
    pub fn spawn_vital(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let this = self.clone();
        self.tasks.spawn(async move {
            let panicked = AssertUnwindSafe(task).catch_unwind().await.is_err();
            if this.phase() < Phase::Stopping {
                tracing::error!(task = name, panicked, "a vital task ended; the daemon stops");
                this.broken.store(true, Ordering::Relaxed);
                this.advance(Phase::Draining, "a vital task ended");
            }
        });
    }

    /// Whether a vital task ended before it should.
    pub fn broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Begins to follow SIGTERM, SIGINT and SIGHUP: the first drains, the second stops, the third ends at once.
    ///
    /// # Errors
    /// The handlers cannot be installed.
    pub fn follow_signals(&self) -> std::io::Result<()> {
        let mut term = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        // The end of the terminal that started us is no reason to end.
        let mut hangup = signal(SignalKind::hangup())?;
        let this = self.clone();
        self.spawn("signals", async move {
            let mut seen = 0_u32;
            loop {
                tokio::select! {
                    _ = term.recv() => {}
                    _ = interrupt.recv() => {}
                    _ = hangup.recv() => continue,
                }
                seen += 1;
                match seen {
                    1 => this.advance(Phase::Draining, "a signal"),
                    2 => this.advance(Phase::Stopping, "a second signal"),
                    // The workers end with us (PDEATHSIG); the next start removes their files.
                    _ => std::process::exit(130),
                }
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn phases_only_go_forward() {
        let shutdown = Shutdown::default();
        let stopping = shutdown.token(Phase::Stopping);
        shutdown.advance(Phase::Stopping, "test");
        shutdown.advance(Phase::Draining, "test");
        assert_eq!(shutdown.phase(), Phase::Stopping);
        stopping.cancelled().await;
    }

    #[tokio::test]
    async fn a_vital_task_that_panics_stops_the_daemon() {
        let shutdown = Shutdown::default();
        shutdown.spawn_vital("test", async { panic!("on purpose") });
        shutdown.reached(Phase::Draining).await;
        assert!(shutdown.broken());
    }
}
