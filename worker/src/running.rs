//! The operations that run in this worker: what health tells of them, and how recover ends one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use glass_proto::op::{Facts, Lane};
use glass_proto::result::RunningRow;
use tokio_util::sync::CancellationToken;

/// The table. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Running {
    table: Arc<Mutex<HashMap<String, Work>>>,
    browser_ends: CancellationToken,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Work {
    /// Its facts.
    pub facts: &'static Facts,
    /// What it is about.
    pub target: Option<String>,
    /// Whether anything that can have an effect was sent.
    pub sent: Arc<AtomicBool>,
    /// Cancelled to end it.
    pub end: CancellationToken,
    /// When it began.
    pub begun: Instant,
}

/// Takes an operation out of the table when it is dropped.
#[derive(Debug)]
pub struct Entered {
    running: Running,
    execution: String,
}

impl Running {
    /// Notes that an operation runs, as long as the answer is kept.
    pub fn enter(&self, execution: &str, work: Work) -> Entered {
        self.table().insert(execution.to_owned(), work);
        Entered { running: self.clone(), execution: execution.to_owned() }
    }

    /// The operation of that execution.
    pub fn find(&self, execution: &str) -> Option<Work> {
        self.table().get(execution).cloned()
    }

    /// The executions that run.
    pub fn executions(&self) -> Vec<String> {
        self.table().keys().cloned().collect()
    }

    /// Asks for the end of the browser, once the operation that asks has been answered.
    pub fn end_browser(&self) {
        self.browser_ends.cancel();
    }

    /// Whether the browser is to end.
    pub fn browser_ends(&self) -> bool {
        self.browser_ends.is_cancelled()
    }

    /// What there is to tell, the oldest first, without that of `asking`.
    pub fn rows(&self, asking: &str) -> Vec<RunningRow> {
        let mut rows: Vec<_> =
            self.table().iter().filter(|(id, _)| *id != asking).map(|(id, work)| row(id, work)).collect();
        rows.sort_by(|a, b| b.ms.cmp(&a.ms).then_with(|| a.execution_id.cmp(&b.execution_id)));
        rows
    }

    fn table(&self) -> MutexGuard<'_, HashMap<String, Work>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn row(execution: &str, work: &Work) -> RunningRow {
    let lane = match work.facts.lane {
        Lane::Page => "page",
        Lane::Watch => "watch",
        Lane::Control => "control",
    };
    RunningRow {
        execution_id: execution.to_owned(),
        operation: work.facts.name.to_owned(),
        lane: lane.to_owned(),
        target_id: work.target.clone(),
        dispatched: work.sent.load(Ordering::Acquire),
        ms: u64::try_from(work.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.running.table().remove(&self.execution);
    }
}
