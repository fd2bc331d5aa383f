//! What a batch answers (contract 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{MAX_TEXT, OpError, Retry};
use crate::escape::cut;
use crate::outcome::{Dispatched, Outcome};

/// Every step's result or error, and what was not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Batched {
    /// `completed` when every step is; `unknown` when that of the step that ended it is; `failed` when something was sent
    /// before it ended.
    pub outcome: Outcome,
    /// The page's revision when it began.
    pub previous_revision: u64,
    /// The page's revision when it ended.
    pub revision: u64,
    /// The steps that were begun, in their order.
    pub steps: Vec<StepDone>,
    /// Numbers of the steps that were not run.
    pub not_run: Vec<u32>,
}

/// One step of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepDone {
    /// Its number, from 1.
    pub step: u32,
    /// The operation.
    pub operation: String,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// What it answered, as it does alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Its error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<OpError>,
    /// Bytes of a result that was left out, since all together are too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
}

impl Batched {
    /// The error of the whole: that of the step that ended it, or whose file could not be kept, with the outcome of all.
    pub fn error(&self) -> Option<OpError> {
        let step = self.steps.iter().find(|step| step.error.is_some())?;
        let mut error = step.error.clone()?;
        let message = format!("step {} ({}): {}", step.step, step.operation, error.message);
        error.message = cut(&message, MAX_TEXT).into_owned();
        error.outcome = self.outcome;
        error.dispatched = match self.outcome {
            Outcome::Rejected => Dispatched::No,
            Outcome::Failed => Dispatched::Yes,
            Outcome::Completed | Outcome::Unknown => error.dispatched,
        };
        if error.dispatched != Dispatched::No {
            error.retry = Retry::AfterObserve;
        }
        Some(error.detail("step", step.step))
    }
}
