//! Asks once, in a process that is thrown away, what kind of cage this machine allows (DESIGN 4).

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use glass_sandbox::{Mode, ProbeReport, ProbeStep, UidLease};
use tokio::sync::{OnceCell, watch};

use super::ask::ask;
use super::programs::Program;
use super::spawn::Spawner;
use crate::limits;
use crate::shutdown::Shutdown;

/// What the probe found, or why there is no finding.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The strongest mode, or why there is none.
    pub mode: Result<Mode, String>,
    /// What stands in the way of a stronger one, where there is one.
    pub why_weaker: Option<String>,
    /// Each step: its name, whether it went through, and what was seen.
    pub steps: Vec<(String, bool, String)>,
}

/// The probe, run at most once.
#[derive(Debug)]
pub struct Probe {
    spawner: Spawner,
    worker: Arc<Program>,
    tasks: Shutdown,
    found: OnceCell<Arc<Probed>>,
    /// The last finding, also of a probe that could not be run.
    last: watch::Sender<Option<Arc<Probed>>>,
}

impl Probe {
    /// One that has not run yet.
    pub fn new(spawner: Spawner, worker: Arc<Program>, tasks: Shutdown) -> Self {
        Self { spawner, worker, tasks, found: OnceCell::new(), last: watch::Sender::new(None) }
    }

    /// The finding; runs the probe the first time. One that could not be run is tried again the next time.
    pub async fn found(&self) -> Arc<Probed> {
        let run = || async { self.run().await.map(|report| Arc::new(Probed::from(report))) };
        let found = match self.found.get_or_try_init(run).await {
            Ok(found) => found.clone(),
            Err(error) => {
                tracing::warn!(%error, "the sandbox probe could not be run");
                let mode = Err(format!("the sandbox probe could not be run: {error}"));
                Arc::new(Probed { mode, why_weaker: None, steps: Vec::new() })
            }
        };
        self.last.send_replace(Some(found.clone()));
        found
    }

    /// What was found last; `None` where nothing was within `limit`. Runs nothing.
    pub async fn known(&self, limit: Duration) -> Option<Arc<Probed>> {
        let mut last = self.last.subscribe();
        let known = tokio::time::timeout(limit, last.wait_for(Option::is_some)).await;
        // Not in time, or never any more: both are nothing known.
        known.ok()?.ok()?.clone()
    }

    async fn run(&self) -> io::Result<ProbeReport> {
        let mut args = vec![OsString::from("--probe")];
        // Held while the probe runs, so that no session has the same uid.
        let lease = if nix::unistd::geteuid().is_root() {
            let lease = UidLease::take(Path::new(glass_sandbox::LEASE_DIR)).map_err(io::Error::other)?;
            args.push("--uid".into());
            args.push(lease.uid().to_string().into());
            Some(lease)
        } else {
            None
        };
        let text = ask(&self.spawner, &self.tasks, &self.worker, args, "probe", limits::PROBE).await?;
        drop(lease);
        serde_json::from_slice(&text).map_err(|_| io::Error::other("its answer could not be read"))
    }
}

impl From<ProbeReport> for Probed {
    fn from(report: ProbeReport) -> Self {
        let told = |prefix: &str, step: &ProbeStep| {
            let detail = [&step.error, &step.hint].into_iter().flatten().cloned().collect::<Vec<_>>();
            (format!("{prefix}{}", step.step.name()), step.ok, detail.join("; "))
        };
        let mut steps: Vec<_> = report.steps.iter().map(|step| told("", step)).collect();
        steps.extend(report.without.iter().map(|step| told("weaker.", step)));
        let abi = report.landlock_abi;
        steps.push(("landlock-version".to_owned(), abi > 0, format!("version {abi}")));
        Self { mode: report.mode(), why_weaker: report.why_weaker(), steps }
    }
}
