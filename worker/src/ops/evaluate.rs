//! `evaluate`: run the caller's script in the page's own world and bring its value home exactly (contract 5.3).
//!
//! The value travels by V8's own serialisation, so a page that replaced JSON or `toJSON` cannot change it.
//!
//! The look before, the script and the look after are sent together where the browser answers them in that order: in
//! a page whose frames all live in one process. Elsewhere, and under `expectedRevision`, each waits for the one before.

mod element;
mod files;
mod value;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::maybe_done;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::Evaluate;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Evaluated, EventKind, EventOf, Evidence};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::begin;
use crate::act::{Before, Info, Looked, frame_gone, guard_revision, look, measure};
use crate::cdp::{CdpError, InOrder, Pending};
use crate::context::{Context, dialog_blocked, halted};
use crate::page::{Changes, EngineError, Halt};

/// Deepest value that is brought home.
const MAX_DEPTH: u32 = 40;
/// Objects that the browser keeps for us while it serialises.
const GROUP: &str = "glass-evaluate";
/// How long an answer that a dialog withholds is waited for.
const LATE: Duration = Duration::from_secs(300);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reply {
    pub(super) result: Remote,
    pub(super) exception_details: Option<Exception>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remote {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    class_name: Option<String>,
    unserializable_value: Option<String>,
    pub(super) value: Option<Box<RawValue>>,
    deep_serialized_value: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exception {
    #[serde(default)]
    pub(super) line_number: i64,
    #[serde(default)]
    column_number: i64,
    exception: Option<Remote>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compiled {
    exception_details: Option<serde::de::IgnoredAny>,
}

/// A script that ended.
struct Ran {
    before: Before,
    reply: Reply,
    /// A look that the browser took after the script's end.
    fresh: Option<(Changes, Info)>,
}

pub(super) async fn run(context: &Context, params: &Evaluate) -> Result<Evaluated, OpError> {
    begin::page(context)?;
    let (session, world) = place(context)?;
    let alone = context.options.expected_revision.is_none() && world.is_none();
    let keeps = files::keeps(params);
    let ran = if params.target.is_some() || !params.args.is_empty() || keeps {
        element::run(context, &session, world.as_deref(), params).await?
    } else if alone && context.pages.in_one_place(&context.target) {
        together(context, &session, &params.expression).await?
    } else {
        in_turn(context, &session, world.as_deref(), &params.expression).await?
    };
    let Ran { before, reply, fresh } = ran;
    if let Some(exception) = reply.exception_details {
        return Err(threw(&exception));
    }
    let (value, files) = if keeps { files::read(&reply.result)? } else { (read(&reply.result)?, Vec::new()) };
    if value.to_string().len() > Evaluate::MAX_VALUE {
        return Err(too_large());
    }
    let (measured, revision) = measure(context, &before, fresh).await?;
    let artifacts = files::send(context, files).await;
    let evidence = Evidence { semantic_diff: measured.semantic_diff, ..measured };
    Ok(Evaluated {
        value,
        target_id: context.target.clone(),
        frame_id: context.frame().filter(|frame| frame.label != 0).map(|frame| format!("f{}", frame.label)),
        previous_revision: before.revision,
        revision,
        evidence,
        artifacts,
    })
}

async fn in_turn(
    context: &Context,
    session: &Arc<str>,
    world: Option<&str>,
    text: &str,
) -> Result<Ran, OpError> {
    let (looked, source) = tokio::join!(look(context, None, false, 1), source(context, session, text));
    let (looked, source) = (looked?, source?);
    guard_revision(context, context.frame().as_ref(), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    context.dispatching().await;
    let reply = ended(context, session, start(context, session, world, &source)).await?.1;
    drop(release(context, session));
    Ok(Ran { before, reply, fresh: None })
}

async fn together(context: &Context, session: &Arc<str>, text: &str) -> Result<Ran, OpError> {
    context.dispatching().await;
    if !context.pages.in_one_place(&context.target) {
        return in_turn(context, session, None, text).await;
    }
    let mut before = Before::of(context, &Changes::default(), None);
    let expression = as_expression(text);
    // The first poll sends.
    let mut first = std::pin::pin!(maybe_done(look(context, None, false, 1)));
    let _ = futures_util::poll!(&mut first);
    let script = start(context, session, None, &expression);
    let released = release(context, session).in_order();
    let mut second = std::pin::pin!(maybe_done(look(context, None, false, 1)));
    let _ = futures_util::poll!(&mut second);

    first.as_mut().await;
    if let Some(looked) = first.take_output() {
        let looked: Looked = looked?;
        before.saw(&looked.changes, &looked.info);
    }
    let (at, reply) = ended(context, session, script).await?;
    if reply.exception_details.as_ref().is_some_and(|exception| error_class(exception) == "SyntaxError") {
        // Either the text is no expression, and nothing ran, or the script threw one. The parser knows.
        let source = source(context, session, text).await?;
        if source != expression {
            let reply = ended(context, session, start(context, session, None, &source)).await?.1;
            drop(release(context, session));
            return Ok(Ran { before, reply, fresh: None });
        }
    }
    // A script that awaits ends after what was asked behind it.
    let in_order = released.await.is_ok_and(|(released, _)| at < released);
    if !in_order {
        drop(release(context, session));
        return Ok(Ran { before, reply, fresh: None });
    }
    second.as_mut().await;
    let fresh = second.take_output().and_then(Result::ok).map(|looked| (looked.changes, looked.info));
    Ok(Ran { before, reply, fresh })
}

fn start(context: &Context, session: &Arc<str>, world: Option<&str>, source: &str) -> Pending<Reply> {
    context.undo(|undo| undo.evaluating = Some(session.clone()));
    let mut run = json!({
        "expression": source, "awaitPromise": true, "userGesture": false, "objectGroup": GROUP, "silent": true,
        "serializationOptions": { "serialization": "deep", "maxDepth": MAX_DEPTH },
    });
    if let Some(world) = world {
        run["uniqueContextId"] = world.into();
    }
    context.pages.client().start_call(Some(session), "Runtime.evaluate", run)
}

fn release(context: &Context, session: &str) -> Pending<serde::de::IgnoredAny> {
    context.pages.client().start_call(
        Some(session),
        "Runtime.releaseObjectGroup",
        json!({ "objectGroup": GROUP }),
    )
}

/// The script's answer, and its place among the browser's answers.
pub(super) async fn ended(
    context: &Context,
    session: &Arc<str>,
    script: Pending<Reply>,
) -> Result<(u64, Reply), OpError> {
    let mut script = script.in_order();
    let reply = context.pages.or_halt(&context.target, &mut script).await;
    context.undo(|undo| undo.evaluating = None);
    let failed = match reply {
        Ok(reply) => return Ok(reply),
        Err(failed) => failed,
    };
    if matches!(failed, EngineError::Halted(Halt::Dialog(_))) {
        tell_later(context, script);
    }
    drop(release(context, session));
    // A promise that nothing holds any more never settles, like one that is held: the deadline ends both.
    if matches!(&failed, EngineError::Cdp(error) if error.promise_collected()) {
        std::future::pending::<()>().await;
    }
    Err(match failed {
        EngineError::Halted(Halt::Dialog(dialog)) => context.sent_or_not(dialog_blocked(&dialog)),
        EngineError::Gone => OpError::unknown(
            "navigated",
            "the page navigated before the script had ended; its value is not known",
            "observe the page; navigate with `navigate` where the script does",
        ),
        EngineError::Cdp(CdpError::TooLarge { .. }) => too_large(),
        error => context.engine(&error, Phase::BrowserEffect),
    })
}

/// A dialog withholds the answer: what it is once the dialog is answered is told as an event (contract 5.5).
fn tell_later(context: &Context, script: InOrder<Reply>) {
    let (pages, target, execution) = (context.pages.clone(), context.target.clone(), context.token.clone());
    let operation = context.facts.name;
    tokio::spawn(async move {
        let reply = tokio::time::timeout(LATE, script).await;
        let (outcome, error) = match reply {
            Ok(Ok((_, reply))) if reply.exception_details.is_none() => (Outcome::Completed, None),
            Ok(Ok(_)) => (Outcome::Completed, Some(ErrorKind::EvaluationFailed)),
            // The document went, or nobody answered the dialog.
            Ok(Err(_)) | Err(_) => (Outcome::Unknown, Some(ErrorKind::UnknownOutcome)),
        };
        let of = EventOf {
            operation: Some(operation.to_owned()),
            outcome: Some(outcome.name().to_owned()),
            error: error.map(|kind| kind.name().to_owned()),
            ..EventOf::default()
        };
        pages.state().news.ended(EventKind::Action, "ended", Some(&target), &execution, of);
    });
}

/// The text as an expression. The line break ends a comment on its last line.
fn as_expression(text: &str) -> String {
    format!("(\n{text}\n)")
}

/// Session and context that the script runs in: the page's own, or those of the frame that the call is confined to.
pub(crate) fn place(context: &Context) -> Result<(Arc<str>, Option<Arc<str>>), OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    let Some(key) = context.frame() else { return Ok((target.session.clone(), None)) };
    let shown = target.frames.get(&key.frame).filter(|frame| frame.generation == key.generation);
    let shown = shown.ok_or_else(|| frame_gone(&key))?;
    let world = shown.page_world().cloned().ok_or_else(|| {
        OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::TargetResolution,
            "the frame has no document that script could run in yet",
            "wait for its load, or look at list-frames",
        )
        .reason("frame_unavailable")
    })?;
    Ok((shown.session().clone(), Some(world)))
}

/// The text as an expression when it is one, else as the body of an async function. Asked of the browser's parser
/// without running it, so that nothing runs twice.
async fn source(context: &Context, session: &str, text: &str) -> Result<String, OpError> {
    // An expression may await, which only a function's body allows.
    let forms = [
        as_expression(text),
        format!("(async () => (\n{text}\n))()"),
        format!("(async () => {{\n{text}\n}})()"),
    ];
    parsed(context, session, forms).await
}

/// The first of these expressions that the browser's parser takes.
pub(super) async fn parsed<const N: usize>(
    context: &Context,
    session: &str,
    forms: [String; N],
) -> Result<String, OpError> {
    for form in forms {
        let pending = context.pages.client().start_call::<_, Compiled>(
            Some(session),
            "Runtime.compileScript",
            json!({ "expression": form, "sourceURL": "", "persistScript": false }),
        );
        let compiled = context.pages.or_halt(&context.target, pending).await;
        if compiled.map_err(|error| context.engine(&error, Phase::Preflight))?.exception_details.is_none() {
            return Ok(form);
        }
    }
    Err(OpError::failed(
        ErrorKind::EvaluationFailed,
        Phase::Preflight,
        "the script cannot be parsed, neither as an expression nor as a function body; nothing ran",
        "check its syntax",
    )
    .reason("syntax"))
}

fn read(remote: &Remote) -> Result<serde_json::Value, OpError> {
    let deep = remote.deep_serialized_value.as_deref();
    let decoded = match deep {
        Some(raw) => value::decode(raw),
        // Primitives may come without the deep form.
        None => value::plain(
            &remote.kind,
            remote.value.as_deref(),
            remote.unserializable_value.as_deref(),
            remote.subtype.as_deref(),
        ),
    };
    decoded.map_err(|error| read_error(&error))
}

fn read_error(error: &value::NotJson) -> OpError {
    if *error == value::NotJson::Large {
        return too_large();
    }
    OpError::failed(
        ErrorKind::EvaluationFailed,
        Phase::Verification,
        format!("the script ran, and its value cannot be shown as JSON: {error}"),
        "return plain objects, arrays, strings, numbers, booleans or null; convert what is not",
    )
    .reason("not_json")
    .ended(Outcome::Completed, Dispatched::Yes)
}

/// Names of errors that are the language's own; a class of the page's is page text.
pub(super) fn error_class(exception: &Exception) -> &'static str {
    const KNOWN: [&str; 8] = [
        "Error",
        "TypeError",
        "ReferenceError",
        "SyntaxError",
        "RangeError",
        "EvalError",
        "URIError",
        "DOMException",
    ];
    let class = exception.exception.as_ref().and_then(|remote| remote.class_name.as_deref());
    KNOWN.into_iter().find(|known| Some(*known) == class).unwrap_or("a value")
}

fn threw(exception: &Exception) -> OpError {
    // Lines are told of the caller's own text, which begins on the second.
    let (line, column) = (exception.line_number.max(0), exception.column_number + 1);
    OpError::failed(
        ErrorKind::EvaluationFailed,
        Phase::BrowserEffect,
        format!("the script threw {} (line {line}, column {column})", error_class(exception)),
        "catch it in the script to read its message",
    )
    .reason("threw")
    .ended(Outcome::Completed, Dispatched::Yes)
}

fn too_large() -> OpError {
    OpError::failed(
        ErrorKind::ResultTooLarge,
        Phase::Verification,
        format!("the script ran, and its value is larger than {} bytes", Evaluate::MAX_VALUE),
        "return less, or in parts",
    )
    .ended(Outcome::Completed, Dispatched::Yes)
}

/// Ends our script where it runs over (contract 2.7). Only where the page does not answer: a termination that finds
/// nothing running would end the page's own next script. Answers whether a script is known to have been ended.
pub(crate) async fn end_script(pages: &crate::page::Pages, session: &str) -> bool {
    let client = pages.client();
    // Queued behind our script, so its answer says that ours is over.
    let mut alive = client.start_call::<_, serde::de::IgnoredAny>(
        Some(session),
        "Runtime.evaluate",
        json!({ "expression": "0" }),
    );
    if tokio::time::timeout(Duration::from_millis(150), &mut alive).await.is_ok() {
        return false;
    }
    let mut ended = false;
    // The page's own script may run before ours: each termination ends one.
    for _ in 0..3 {
        let end = client.start_call::<_, serde::de::IgnoredAny>(
            Some(session),
            "Runtime.terminateExecution",
            json!({}),
        );
        ended |= matches!(tokio::time::timeout(Duration::from_millis(150), end).await, Ok(Ok(_)));
        if tokio::time::timeout(Duration::from_millis(100), &mut alive).await.is_ok() {
            break;
        }
    }
    ended
}
