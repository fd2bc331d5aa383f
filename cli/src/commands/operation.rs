//! Runs any operation of the command line, and puts its answer into words.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use glass_proto::op::{CallOptions, Evaluate, OperationCommand};
use glass_proto::result::{Answer, Batched};
use glass_proto::wire::client as pb;
use glass_proto::{AnyOperation, OpError, Outcome, TargetId};
use pb::ended::Answer as Raw;
use serde_json::Value;
use serde_json::value::RawValue;

use super::events::{Followed, follow};
use super::picture::Picture;
use super::{steps, text};
use crate::client::{Client, Server};
use crate::error::{self, Failure};
use crate::files::{Carried, in_step};
use crate::follow::{Following, Seen};
use crate::output::{Output, Report};
use crate::session::SessionChoice;
use crate::signals::Cancel;
use crate::trace::Question;

/// An operation that is ready to be sent.
#[derive(Debug)]
pub(super) struct Prepared {
    operation: AnyOperation,
    options: CallOptions,
    session: String,
    /// By the step of a batch that they are of; of anything else it is 0.
    pictures: BTreeMap<u32, Picture>,
    carried: Carried,
    trace: bool,
}

/// Reads and checks everything that can be checked without the daemon.
///
/// # Errors
/// `invalid_argument`.
pub(super) fn prepare(
    command: OperationCommand,
    session: &SessionChoice,
    file_root: Option<&Path>,
    trace: bool,
    attach_target: Option<&TargetId>,
) -> Result<Prepared, Failure> {
    let (mut operation, mut options) = command.split();
    // The session may run already, and have selected another page.
    if operation.facts().targeted && options.target_id.is_none() {
        options.target_id = attach_target.cloned();
    }
    let see_help = "see --help of the command";
    text::take(&mut operation)?;
    steps::read(&mut operation, &mut options)?;
    options.check().map_err(|error| Failure::invalid(error.to_string(), see_help))?;
    let mut pictures = BTreeMap::new();
    let mut artifacts = Vec::new();
    if let AnyOperation::Batch(batch) = &mut operation {
        for (number, own, places) in steps::places(batch)? {
            keeps_somewhere(&own, places.artifacts.is_some())?;
            pictures.extend(picture(&own)?.map(|picture| (number, picture)));
            artifacts.extend(places.artifacts.map(|directory| (number, directory)));
        }
    } else {
        keeps_somewhere(&operation, false)?;
        pictures.extend(picture(&operation)?.map(|picture| (0, picture)));
    }
    if let AnyOperation::NetworkBody(body) = &mut operation {
        body.as_resource = body.output.is_some();
    }
    if trace && matches!(&operation, AnyOperation::Events(events) if events.follow) {
        return Err(Failure::invalid(
            "--follow tells what happens, and --trace-on-error of one call",
            "leave out one",
        ));
    }
    let session = session.for_execute().map_err(super::invalid)?;
    operation.check().map_err(|error| Failure::invalid(error.to_string(), see_help))?;
    let mut carried = Carried::of(&mut operation, file_root)?;
    for (number, directory) in artifacts {
        carried.keep_artifacts(number, directory, file_root)?;
    }
    Ok(Prepared { operation, options, session, pictures, carried, trace })
}

/// The place for the file of an answer.
fn picture(operation: &AnyOperation) -> Result<Option<Picture>, Failure> {
    Ok(match operation {
        AnyOperation::Screenshot(screenshot) => Some(Picture::of(screenshot)?),
        AnyOperation::Observe(observe) if observe.include_screenshot => Some(Picture::beside(observe)?),
        AnyOperation::ExportPage(page) if page.writes() => Some(Picture::export(page)?),
        AnyOperation::NetworkBody(body) if body.output.is_some() || body.as_resource => {
            Some(Picture::body(body)?)
        }
        _ => None,
    })
}

/// Files that a script keeps need a place: they are never dropped.
fn keeps_somewhere(operation: &AnyOperation, named: bool) -> Result<(), Failure> {
    match operation {
        AnyOperation::Evaluate(evaluate)
            if evaluate.expression.contains(Evaluate::KEEP) && evaluate.artifacts.is_none() && !named =>
        {
            Err(Failure::invalid(
                format!("the script keeps files by {}, and no place for them is named", Evaluate::KEEP),
                "name a directory with --artifacts",
            ))
        }
        _ => Ok(()),
    }
}

/// Runs the operation.
///
/// # Errors
/// The operation's own error, or that of the way to the daemon.
pub(super) async fn run(
    prepared: Prepared,
    server: &Server,
    output: Output,
    mut cancel: Cancel,
) -> Result<Report, Failure> {
    let Prepared { mut operation, options, session, pictures, mut carried, trace } = prepared;
    if let AnyOperation::Events(events) = &operation
        && events.follow
    {
        let followed = Followed { events, options: &options, session: &session };
        return follow(followed, server, output, cancel).await;
    }
    let begun = Instant::now();
    let not_json = |_| Failure::invalid("the parameters cannot be written as JSON", "");
    let json = options.encode().map_err(not_json)?;
    let Some(client) = cancel.race(server.connect()).await else {
        return Err(error::cancelled().into());
    };
    let mut client = client?;
    let Some(sent) = cancel.race(carried.send(&mut client, &session, &mut operation)).await else {
        return Err(error::cancelled().into());
    };
    sent?;
    let params = operation.encode().map_err(not_json)?;
    let connected = begun.elapsed();
    let asked = client.clone();
    let mut call = Following::new(client, &operation, &options);
    call.seen.incoming = carried.take_incoming();
    let ended = call.run(session.clone(), params, json, cancel.asked()).await.map_err(Failure::from);
    let mut seen = call.seen;
    let ended = ended.and_then(|ended| answer(&operation, ended, &mut seen, carried, &pictures, output));
    let around = async |error: &OpError| {
        if !trace {
            return None;
        }
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let accepted = seen.accepted.map(|at| ms(at.saturating_duration_since(begun)));
        let times = crate::trace::times(Some(ms(connected)), accepted, ms(begun.elapsed()));
        Some(traced(error, &times, options.target_id.as_ref(), &asked, &session).await)
    };
    match ended {
        Ok(mut report) => {
            if let Some(error) = &report.error {
                report.trace = around(error).await;
            }
            Ok(report)
        }
        Err(mut failure) => {
            failure.error.execution_id = failure.error.execution_id.or(seen.execution.clone());
            failure.trace = around(&failure.error).await;
            failure.session = seen.session;
            Err(failure)
        }
    }
}

/// What was going on when an operation failed.
async fn traced(
    error: &OpError,
    times: &Value,
    target: Option<&TargetId>,
    client: &Client,
    session: &str,
) -> Value {
    let mut answers = Vec::new();
    // A session that ended with its operation has nothing more to tell.
    let questions = if session == "new" { Vec::new() } else { crate::trace::questions(target) };
    for question in questions {
        let answer = ask(client, &question, session).await;
        answers.push((question, answer));
    }
    crate::trace::trace(error, times, None, answers)
}

/// `None` without an answer: the trace says that it is not in it, and why belongs to another call.
async fn ask(client: &Client, question: &Question, session: &str) -> Option<Value> {
    let Question { operation, options, .. } = question;
    let (params, json) = (operation.encode().ok()?, options.encode().ok()?);
    let mut call = Following::new(client.clone(), operation, options);
    let ended = call.run(session.to_owned(), params, json, std::future::pending()).await.ok()?;
    match ended.answer? {
        Raw::ResultJson(json) => serde_json::from_slice(&json).ok(),
        Raw::ErrorJson(_) => None,
    }
}

fn answer(
    operation: &AnyOperation,
    ended: pb::Ended,
    seen: &mut Seen,
    carried: Carried,
    pictures: &BTreeMap<u32, Picture>,
    output: Output,
) -> Result<Report, Failure> {
    let unreadable = || Failure::from(error::unreadable("answer"));
    let json = match ended.answer {
        Some(Raw::ErrorJson(json)) => {
            let error: OpError = serde_json::from_slice(&json).map_err(|_| unreadable())?;
            return Err(error.into());
        }
        Some(Raw::ResultJson(json)) => json,
        None => return Err(unreadable()),
    };
    let json = carried.keep(json, seen)?;
    let json = match operation {
        AnyOperation::Batch(_) if !pictures.is_empty() => {
            let mut batched: Value = serde_json::from_slice(&json).map_err(|_| unreadable())?;
            for (number, picture) in pictures {
                in_step(&mut batched, *number, |result| written(result, *number, picture, seen));
            }
            serde_json::to_vec(&batched).map_err(|_| unreadable())?
        }
        _ => match pictures.get(&0) {
            Some(picture) => written(json, 0, picture, seen)?,
            None => json,
        },
    };
    let json = String::from_utf8(json).ok();
    let result = json.and_then(|json| RawValue::from_string(json).ok()).ok_or_else(unreadable)?;
    let text = match output.is_json() {
        true => String::new(),
        false => Answer::decode(operation, result.get().as_bytes()).map_err(|_| unreadable())?.text(),
    };
    let error = match operation {
        AnyOperation::Batch(_) => {
            serde_json::from_str::<Batched>(result.get()).map_err(|_| unreadable())?.error()
        }
        _ => None,
    };
    let error = error.map(|mut error| {
        error.execution_id = error.execution_id.or(seen.execution.clone());
        Box::new(error)
    });
    Ok(Report {
        session: seen.session.clone(),
        execution_id: seen.execution.as_ref().map(ToString::to_string),
        outcome: Outcome::from_name(&ended.outcome),
        result,
        text,
        trace: None,
        exit_code: error.as_ref().map_or(0, |error| error.exit_code()),
        error,
        printed: false,
    })
}

/// Writes the file of an answer, and says in it where.
fn written(json: Vec<u8>, step: u32, picture: &Picture, seen: &Seen) -> Result<Vec<u8>, OpError> {
    // A picture that a dialog withheld.
    let Some(file) = seen.files_of(step).next() else { return Ok(json) };
    let path = picture.write(&file.data)?;
    let with_path = || {
        let mut result: Value = serde_json::from_slice(&json).ok()?;
        let of = match result.get("screenshot") {
            Some(_) => result.get_mut("screenshot"),
            None => Some(&mut result),
        };
        of?.as_object_mut()?.insert("path".to_owned(), path.to_string_lossy().into());
        serde_json::to_vec(&result).ok()
    };
    with_path().ok_or_else(|| error::unreadable("answer"))
}
