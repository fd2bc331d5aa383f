//! `batch`: each step as an operation of its own, with its own time, target and mark of dispatch (contract 6).

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::time::Instant;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{AnyOperation, Batch, CallOptions, InvalidParams, Mode};
use glass_proto::outcome::Outcome;
use glass_proto::result::{Batched, StepDone};
use serde_json::Value;

use crate::act::{find, find_attached};
use crate::context::Context;
use crate::execute::{Ended, step, step_context};

/// Bytes of all results together.
const MAX_RESULTS: usize = 2 * 1024 * 1024;

pub(super) async fn run(context: &Context, params: &Batch) -> Result<Batched, OpError> {
    let began = Instant::now();
    let invalid = |error: InvalidParams| OpError::invalid(error.to_string(), "see --help");
    let steps = params.decoded().map_err(invalid)?;
    let given = context.options.expected_revision;
    if given.is_some() != (params.mode != Mode::Unguarded) {
        return Err(OpError::invalid(
            "the modes fixed and chain begin with an expectedRevision, and unguarded has none",
            "give both or neither",
        ));
    }
    if params.atomic {
        resolve_all(context, &steps).await?;
    }
    // The revision that the next step at a target requires.
    let mut required: HashMap<String, NonZeroU64> =
        given.map(|first| (context.target.clone(), first)).into_iter().collect();
    let revision = || context.pages.state().target(&context.target).map(|target| target.revisions.number);
    let previous_revision = revision().unwrap_or(1);
    let mut done = Vec::new();
    let mut size = 0;
    let count = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    for (number, (operation, mut options)) in (1..).zip(steps) {
        let facts = operation.facts();
        if facts.targeted && options.target_id.is_none() {
            options.target_id.clone_from(&context.options.target_id);
        }
        let begun = Instant::now();
        context.step_begins(number - 1, count, facts.name).await;
        let ended = if began.elapsed() >= params.budget() || context.left().is_zero() {
            rejected(out_of_time())
        } else {
            match step_context(context, &operation, options, number).await {
                Ok(mut own) => {
                    if facts.guarded && own.options.expected_revision.is_none() {
                        own.options.expected_revision = required.get(&own.target).copied();
                    }
                    step(context, &own, &operation).await
                }
                Err(error) => rejected(error),
            }
        };
        let mut told = StepDone {
            step: number,
            operation: facts.name.to_owned(),
            outcome: ended.outcome,
            ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            result: None,
            error: None,
            left_out: None,
        };
        match ended.answer {
            Ok(output) => {
                size += output.len();
                // What was just written as JSON is JSON.
                let result: Value = serde_json::from_slice(&output).unwrap_or_default();
                if let (Mode::Chain, Some((target, revision))) = (params.mode, reached(&result)) {
                    required.insert(target.to_owned(), revision);
                }
                // Without its result nobody knows what a file is.
                if size <= MAX_RESULTS || has_file(&operation) {
                    told.result = Some(result);
                } else {
                    told.left_out = Some(output.len() as u64);
                }
            }
            Err(error) => told.error = Some(error),
        }
        let ends = told.error.is_some();
        done.push(told);
        if ends {
            break;
        }
    }
    let not_run = (u32::try_from(done.len()).unwrap_or(count) + 1..=count).collect();
    Ok(Batched {
        outcome: outcome(context, done.last()),
        previous_revision,
        revision: revision().unwrap_or(previous_revision).max(previous_revision),
        steps: done,
        not_run,
    })
}

/// What became of all: that of the step that ended it, but never that nothing happened where something did.
fn outcome(context: &Context, last: Option<&StepDone>) -> Outcome {
    match last.filter(|last| last.error.is_some()) {
        None => Outcome::Completed,
        Some(last) if last.outcome == Outcome::Unknown => Outcome::Unknown,
        Some(_) if context.is_dispatched() => Outcome::Failed,
        Some(last) => last.outcome,
    }
}

/// Every element that the steps name must be there before the first is done.
async fn resolve_all(context: &Context, steps: &[(AnyOperation, CallOptions)]) -> Result<(), OpError> {
    for (number, (operation, options)) in (1_u32..).zip(steps) {
        // These ask whether something is there; that it is not is an answer.
        use AnyOperation as Any;
        if matches!(operation, Any::Find(_) | Any::Preflight(_) | Any::Wait(_) | Any::Verify(_)) {
            continue;
        }
        let mut options = options.clone();
        if operation.facts().targeted && options.target_id.is_none() {
            options.target_id.clone_from(&context.options.target_id);
        }
        let stopped = |mut error: OpError| {
            error.message = glass_proto::escape::cut(
                &format!("step {number}: {}; no step was run", error.message),
                glass_proto::error::MAX_TEXT,
            )
            .into_owned();
            error.detail("step", number)
        };
        let own = step_context(context, operation, options, number).await.map_err(stopped)?;
        if own.facts.framed {
            own.set_frame(crate::act::confine(&own).await.map_err(stopped)?);
        }
        for locator in operation.locators() {
            // A native control may be hidden behind a label that is seen, a file input altogether.
            let found = match operation {
                Any::Check(_) | Any::Uncheck(_) | Any::Upload(_) => {
                    find_attached(&own, locator).await.map(|_| ())
                }
                _ => find(&own, locator).await.map(|_| ()),
            };
            found.map_err(stopped)?;
        }
    }
    Ok(())
}

/// The target that a step was at, and its revision as the step saw it last: what was expected to come is no change by
/// others.
fn reached(result: &Value) -> Option<(&str, NonZeroU64)> {
    let page = result.get("page");
    let part = |key: &str| result.get(key).or_else(|| page?.get(key));
    let later = |way: &str| result.pointer(way).and_then(Value::as_u64);
    let revision =
        [part("revision")?.as_u64(), later("/expected/revision"), later("/observation/page/revision")];
    Some((part("targetId")?.as_str()?, NonZeroU64::new(revision.into_iter().flatten().max()?)?))
}

/// Whether a file may belong to the result, which is small then.
fn has_file(operation: &AnyOperation) -> bool {
    use AnyOperation as Any;
    matches!(
        operation,
        Any::Screenshot(_)
            | Any::ExportPage(_)
            | Any::Download(_)
            | Any::RetryDownloadCapture(_)
            | Any::StorageState(_)
    )
}

fn rejected(error: OpError) -> Ended {
    Ended { outcome: error.outcome, answer: Err(error) }
}

fn out_of_time() -> OpError {
    OpError::rejected(
        ErrorKind::Timeout,
        Phase::Preflight,
        "the batch's time was over before this step began",
        "make it shorter, or give it longer with budgetMs and timeoutMs",
    )
    .reason("budget")
}
