//! One operation from its request to its outcome: target, deadline, cancel, and undoing what was cut off.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use glass_proto::ExecutionId;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::op::{AnyOperation, CallOptions, Effect};
use glass_proto::outcome::{Dispatched, Outcome, Progress, interrupted};
use glass_proto::redact::{self, address};
use glass_proto::result::{EventKind, EventOf};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::act::confine;
use crate::cdp::types::input::{
    DispatchKeyEvent, DispatchMouseEvent, ImeSetComposition, KeyEventType, MouseEventType, SetInterceptDrags,
};
use crate::context::{Context, Notice, Secrets, Undo};
use crate::journal::Journal;
use crate::ops;
use crate::page::{Halt, Pages, Step};
use crate::running::Work;

/// Time kept back so that a handler can answer with what it knows.
const RESERVE: Duration = Duration::from_millis(60);

/// How long a batch may take to end its step and say what came of it: less than the daemon waits for the truth.
const LAST_STEP: Duration = Duration::from_millis(600);

/// Between two looks for a frame that is waited for.
const AGAIN: Duration = Duration::from_millis(50);

/// What is asked.
#[derive(Debug)]
pub struct Request {
    /// The attempt.
    pub execution: ExecutionId,
    /// The operation.
    pub operation: AnyOperation,
    /// What every operation takes.
    pub options: CallOptions,
    /// Who asks, as far as the daemon tells clients apart.
    pub client: String,
    /// What is left of its deadline.
    pub left: Duration,
    /// Whether the answer leaves out what fields hold.
    pub hide_values: bool,
    /// The secrets that it names.
    pub secrets: Secrets,
}

/// How it ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its outcome.
    pub outcome: Outcome,
    /// JSON of the output, or the error.
    pub answer: Result<Vec<u8>, OpError>,
}

/// Runs one operation to its end. Never takes longer than its deadline and what undoing takes (at most 1 s).
pub async fn execute(
    pages: &Pages,
    request: Request,
    notices: mpsc::Sender<Notice>,
    journal: Arc<Journal>,
    cancel: CancellationToken,
) -> Ended {
    let facts = request.operation.facts();
    let begun = Instant::now();
    if let Err(error) = claim(pages, &request.operation, &request.options).await {
        return refused(error, &request.execution);
    }
    let target = target_of(pages, &request.options, &request.client);
    if target.is_none() && facts.targeted && !request.operation.target_is_optional() {
        return refused(no_target(pages, &request.options), &request.execution);
    }
    // What follows the operation has its own time.
    let options = request.options;
    let time = request.left.saturating_sub(options.time_after());
    let hard = begun + time;
    let context = Context {
        pages: pages.clone(),
        target: target.unwrap_or_default(),
        client: request.client,
        hide_values: request.hide_values,
        secrets: Arc::new(request.secrets),
        frame: Arc::default(),
        soft: soft_of(hard, time, &options),
        options,
        facts,
        hard,
        token: request.execution.to_string(),
        notices,
        journal,
        cancel,
        sent: Arc::new(AtomicBool::new(false)),
        undo: Arc::new(Mutex::new(Undo::default())),
        end: CancellationToken::new(),
    };
    let work = Work {
        facts,
        target: Some(context.target.clone()).filter(|_| facts.targeted),
        sent: context.sent.clone(),
        end: context.end.clone(),
        begun,
    };
    let _running = pages.running().enter(&context.token, work);
    let mut ended = one(&context, &request.operation).await;
    if context.hide_values {
        ended.answer = without_values(ended.answer).map_err(|error| consistent(&context, error));
    }
    ended.answer = ended.answer.map_err(|error| error.of(&request.execution));
    ended
}

/// When a handler gives up by itself. A navigation that is expected has its own time after that.
fn soft_of(hard: Instant, time: Duration, options: &CallOptions) -> Instant {
    let reserve = RESERVE.min(time / 5) + options.expect_navigation.time();
    hard.checked_sub(reserve).unwrap_or(hard)
}

/// Runs an operation in its context to its end, and then what its options ask for.
async fn one(context: &Context, operation: &AnyOperation) -> Ended {
    let before = ops::Mark::of(context);
    // A batch ends with the step that is cut off, and tells what came of those before it.
    let grace = if matches!(operation, AnyOperation::Batch(_)) { LAST_STEP } else { Duration::ZERO };
    let cancelled = async {
        context.cancel.cancelled().await;
        tokio::time::sleep(grace).await;
    };
    let recovered = async {
        context.end.cancelled().await;
        tokio::time::sleep(grace).await;
    };
    let cut_off = tokio::select! {
        biased;
        answer = run(context, operation) => Ok(answer),
        () = cancelled => Err(CutOff::Cancelled),
        () = recovered => Err(CutOff::Recovered),
        () = tokio::time::sleep_until((context.hard + grace).into()) => Err(CutOff::Deadline),
    };
    let script_ended = undo(context).await;
    let answer = match cut_off {
        Ok(Ok(output)) => {
            // Whatever becomes of this, the operation was done.
            let answer = ops::after(context, &before, output).await;
            undo(context).await;
            answer
        }
        Ok(Err(error)) => Err(consistent(context, error)),
        Err(why) => Err(cut_off_error(context, why, script_ended)),
    };
    let outcome = match &answer {
        Ok(output) if !grace.is_zero() => outcome_of(output),
        Ok(_) => Outcome::Completed,
        Err(error) => error.outcome,
    };
    let ended = Ended { outcome, answer };
    tell(context, &ended);
    ended
}

/// A batch that a step ended has an outcome of its own, and a result all the same.
fn outcome_of(batched: &[u8]) -> Outcome {
    #[derive(Deserialize)]
    struct Of {
        outcome: Outcome,
    }
    // What cannot be read is not known.
    serde_json::from_slice::<Of>(batched).map_or(Outcome::Unknown, |of| of.outcome)
}

/// The context of a step of a batch, which is an operation of its own.
///
/// # Errors
/// When its target is not there.
pub(crate) async fn step_context(
    whole: &Context,
    operation: &AnyOperation,
    options: CallOptions,
    number: u32,
) -> Result<Context, OpError> {
    let facts = operation.facts();
    claim(&whole.pages, operation, &options).await?;
    let target = target_of(&whole.pages, &options, &whole.client);
    if target.is_none() && facts.targeted {
        return Err(no_target(&whole.pages, &options));
    }
    let time = options.timeout(operation.timeout()).min(whole.left()).saturating_sub(options.time_after());
    let hard = Instant::now() + time;
    Ok(Context {
        pages: whole.pages.clone(),
        target: target.unwrap_or_default(),
        client: whole.client.clone(),
        frame: Arc::default(),
        soft: soft_of(hard, time, &options),
        hard,
        options,
        facts,
        token: format!("{}.{number}", whole.token),
        notices: whole.notices.clone(),
        journal: whole.journal.clone(),
        cancel: whole.cancel.clone(),
        sent: Arc::default(),
        undo: Arc::default(),
        end: whole.end.clone(),
        hide_values: whole.hide_values,
        secrets: whole.secrets.clone(),
    })
}

/// Runs a step to its end. Boxed, since a batch is an operation that runs operations.
pub(crate) fn step<'a>(
    whole: &'a Context,
    own: &'a Context,
    operation: &'a AnyOperation,
) -> Pin<Box<dyn Future<Output = Ended> + Send + 'a>> {
    Box::pin(async move {
        let ended = one(own, operation).await;
        whole.sent.fetch_or(own.is_dispatched(), Ordering::AcqRel);
        ended
    })
}

/// A page of somebody else's browser that is named, or selected, is the session's from then on (contract 1.2).
async fn claim(pages: &Pages, operation: &AnyOperation, options: &CallOptions) -> Result<(), OpError> {
    if !pages.is_elsewhere() {
        return Ok(());
    }
    let selected = match operation {
        AnyOperation::SelectTarget(select) => Some(&select.id),
        _ => None,
    };
    for id in options.target_id.iter().chain(selected) {
        pages.claim(id.as_str()).await.map_err(|error| ops::refusal(&error))?;
    }
    Ok(())
}

async fn run(context: &Context, operation: &AnyOperation) -> Result<Vec<u8>, OpError> {
    ops::admit(context, operation)?;
    if context.facts.framed && Halt::of(&context.pages.state(), &context.target).is_none() {
        let frame = loop {
            match confine(context).await {
                // A frame that is not there yet is waited for, by what waits (contract 8.1).
                Err(error)
                    if matches!(operation, AnyOperation::Wait(_))
                        && error.kind == ErrorKind::TargetNotFound
                        && !context.left().is_zero() =>
                {
                    tokio::time::sleep(AGAIN).await;
                }
                frame => break frame?,
            }
        };
        context.set_frame(frame);
    }
    ops::run(context, operation).await
}

/// Tells of the end of what was sent, and of what was refused (contract 7.6).
fn tell(context: &Context, ended: &Ended) {
    let mut state = context.pages.state();
    state.news.ends(context.execution());
    let target = context.facts.targeted.then_some(context.target.as_str());
    let error = ended.answer.as_ref().err();
    let of = EventOf {
        operation: Some(context.facts.name.to_owned()),
        outcome: Some(ended.outcome.name().to_owned()),
        error: error.map(|error| error.kind.name().to_owned()),
        name: error.and_then(|error| error.reason.clone()),
        ..EventOf::default()
    };
    if context.facts.effect == Effect::Mutation && context.is_dispatched() {
        state.news.ended(EventKind::Action, "ended", target, context.execution(), of);
    } else if error.is_some_and(|error| error.kind == ErrorKind::Denied) {
        state.news.ended(EventKind::Denied, "refused", target, context.execution(), of);
    }
}

/// The target named, else the one that the client selected, as long as it is open.
fn target_of(pages: &Pages, options: &CallOptions, client: &str) -> Option<String> {
    let state = pages.state();
    match &options.target_id {
        Some(id) => state.target(id.as_str()).map(|target| target.id.clone()),
        None => state.selected(client),
    }
}

/// No open target has the id that was given.
pub(crate) fn no_such_target(pages: &Pages) -> OpError {
    OpError::rejected(
        ErrorKind::TargetNotFound,
        Phase::TargetResolution,
        "no open target has that id",
        "list-targets shows what is open",
    )
    .detail("targets", open_targets(pages))
}

fn open_targets(pages: &Pages) -> Vec<serde_json::Value> {
    let state = pages.state();
    let open = state.order.iter().filter_map(|id| state.target(id)).map(|target| (&target.id, &target.url));
    let others = state.unclaimed().map(|page| (&page.id, &page.url));
    let row = |(id, url): (&String, &String)| json!({ "id": id, "pageUrl": cut(&address(url), 512) });
    open.chain(others).take(8).map(row).collect()
}

/// The target that the call needs is not there.
pub(crate) fn no_target(pages: &Pages, options: &CallOptions) -> OpError {
    if options.target_id.is_some() {
        return no_such_target(pages);
    }
    OpError::rejected(
        ErrorKind::NoTargetSelected,
        Phase::TargetResolution,
        if pages.is_elsewhere() && pages.state().first.is_none() {
            "nothing is selected: in somebody else's browser no page is taken that was not asked for"
        } else {
            "the selected target is closed, and nothing is selected in its place"
        },
        "select-target chooses one of those that are open, create-target opens another; or name one with --target-id",
    )
    .detail("targets", open_targets(pages))
}

fn refused(error: OpError, execution: &ExecutionId) -> Ended {
    Ended { outcome: Outcome::Rejected, answer: Err(error.of(execution)) }
}

/// The same answer, whichever it is, without what tells whether a field holds something. What a script gave back is what
/// it was.
fn without_values(answer: Result<Vec<u8>, OpError>) -> Result<Vec<u8>, OpError> {
    match answer {
        Ok(output) => {
            let mut value: Value =
                serde_json::from_slice(&output).map_err(|error| ops::unwritable(&error))?;
            redact::values(&mut value);
            ops::encode(value)
        }
        Err(mut error) => {
            error.details.values_mut().for_each(redact::values);
            Err(error)
        }
    }
}

/// An error that says "rejected" of an operation that was sent would be a lie.
fn consistent(context: &Context, error: OpError) -> OpError {
    if error.outcome == Outcome::Rejected
        && context.is_dispatched()
        && context.facts.effect == Effect::Mutation
    {
        return context.sent_or_not(error);
    }
    error
}

#[derive(Clone, Copy)]
enum CutOff {
    Cancelled,
    Recovered,
    Deadline,
}

fn cut_off_error(context: &Context, why: CutOff, script_ended: bool) -> OpError {
    let (outcome, dispatched) = interrupted(context.progress(), context.facts.effect == Effect::Mutation);
    let (kind, reason, what) = match why {
        CutOff::Cancelled => (ErrorKind::Cancelled, "cancelled", "the operation was cancelled"),
        CutOff::Recovered => (ErrorKind::Cancelled, "recovered", "the operation was ended by recover"),
        CutOff::Deadline => (ErrorKind::Timeout, "timeout", "the deadline passed"),
    };
    let mut error = match (outcome, context.progress()) {
        (Outcome::Unknown, _) => OpError::unknown(
            reason,
            format!("{what} after it was sent; what became of it is not known"),
            "observe the page before doing it again",
        ),
        (_, Progress::BeforeDispatch) => OpError::rejected(
            kind,
            Phase::Preflight,
            format!("{what} before anything was sent; the page may be busy"),
            "try again, or give it longer with --timeout-ms",
        ),
        (_, Progress::Dispatched) => OpError::rejected(
            kind,
            Phase::BrowserEffect,
            what,
            "try again, or give it longer with --timeout-ms",
        ),
    }
    .ended(outcome, dispatched);
    if script_ended {
        error = error.detail("pageScriptEnded", true);
    }
    if dispatched == Dispatched::No && error.kind == ErrorKind::Timeout {
        error = error.reason("deadline");
    }
    error
}

/// Lets go of what is held, takes guards and waits back, ends our own script. Answers whether a script was ended.
async fn undo(context: &Context) -> bool {
    let left = std::mem::take(&mut *context.undo.lock().unwrap_or_else(PoisonError::into_inner));
    let client = context.pages.client();
    if let Some((session, x, y, button)) = left.held.button {
        let release = DispatchMouseEvent {
            button: Some(button),
            click_count: Some(1),
            ..DispatchMouseEvent::new(MouseEventType::MouseReleased, x, y)
        };
        drop(client.start_send(Some(&session), release));
    }
    for (session, stroke) in left.held.keys.iter().rev() {
        let up = DispatchKeyEvent {
            key: Some(&stroke.key),
            code: Some(stroke.code),
            windows_virtual_key_code: Some(stroke.key_code),
            ..DispatchKeyEvent::new(KeyEventType::KeyUp)
        };
        drop(client.start_send(Some(session), up));
    }
    if let Some(session) = left.composing {
        drop(client.start_send(Some(&session), ImeSetComposition::default()));
    }
    if let Some(session) = left.drags {
        drop(client.start_send(Some(&session), SetInterceptDrags { enabled: false }));
    }
    let mut ended = false;
    if let Some(session) = left.evaluating {
        ended = ops::end_script(&context.pages, &session).await;
    }
    let guards = left
        .armed
        .iter()
        .map(|key| context.pages.run(key, vec![Step("disarm", json!({ "token": context.token }))]));
    let waits = left
        .waits
        .iter()
        .map(|(key, id)| context.pages.run(key, vec![Step("cancelWait", json!({ "id": id }))]));
    let all = async {
        futures_util::future::join_all(guards).await;
        futures_util::future::join_all(waits).await;
    };
    // A page that spins takes nothing back; guards end by themselves.
    let _ = tokio::time::timeout(Duration::from_millis(200), all).await;
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 10.2
    #[test]
    fn what_tells_of_values_is_taken_out_of_results_and_errors_and_not_out_of_what_a_script_gave() {
        let json = json!({ "evidence": { "valueMatches": true, "focused": true }, "value": { "valueMatches": 1 },
            "fields": [{ "valueMatches": false, "already": true }] });
        let hidden = without_values(Ok(json.to_string().into_bytes())).unwrap();
        let hidden: Value = serde_json::from_slice(&hidden).unwrap();
        let want = json!({ "evidence": { "focused": true }, "value": { "valueMatches": 1 },
            "fields": [{ "already": true }] });
        assert_eq!(hidden, want);
        let error =
            OpError::invalid("x", "y").detail("result", json!({ "evidence": { "valueMatches": true } }));
        assert_eq!(without_values(Err(error)).unwrap_err().details["result"], json!({ "evidence": {} }));
        assert!(without_values(Ok(b"no JSON".to_vec())).is_err());
    }
}
