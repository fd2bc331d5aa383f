//! Runs any operation of the command line, and puts its answer into words.

use glass_proto::op::{CallOptions, OperationCommand};
use glass_proto::result::Answer;
use glass_proto::wire::client as pb;
use glass_proto::{AnyOperation, OpError, Outcome};
use pb::ended::Answer as Raw;
use serde_json::value::RawValue;

use super::picture::Picture;
use super::text;
use crate::client::Server;
use crate::error::{self, Failure};
use crate::follow::{Following, Seen};
use crate::output::{Output, Report};
use crate::session::SessionChoice;
use crate::signals::Cancel;

/// An operation that is ready to be sent.
#[derive(Debug)]
pub(super) struct Prepared {
    operation: AnyOperation,
    options: CallOptions,
    session: String,
    picture: Option<Picture>,
}

/// Reads and checks everything that can be checked without the daemon.
///
/// # Errors
/// `invalid_argument`.
pub(super) fn prepare(command: OperationCommand, session: &SessionChoice) -> Result<Prepared, Failure> {
    let (mut operation, options) = command.split();
    let see_help = "see --help of the command";
    options.check().map_err(|error| Failure::invalid(error.to_string(), see_help))?;
    let picture = match &operation {
        AnyOperation::Screenshot(screenshot) => Some(Picture::of(screenshot)?),
        _ => None,
    };
    let session = session.for_execute().map_err(super::invalid)?;
    text::take(&mut operation)?;
    operation.check().map_err(|error| Failure::invalid(error.to_string(), see_help))?;
    Ok(Prepared { operation, options, session, picture })
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
    let Prepared { operation, options, session, picture } = prepared;
    let not_json = |_| Failure::invalid("the parameters cannot be written as JSON", "");
    let params = operation.encode().map_err(not_json)?;
    let json = options.encode().map_err(not_json)?;
    let Some(client) = cancel.race(server.connect()).await else {
        return Err(error::cancelled().into());
    };
    let mut call = Following::new(client?, operation.facts(), &options);
    let ended = call.run(session, params, json, cancel.asked()).await.map_err(Failure::from);
    let seen = call.seen;
    match ended.and_then(|ended| answer(&operation, &ended, &seen, picture.as_ref(), output)) {
        Ok(report) => Ok(report),
        Err(mut failure) => {
            failure.session = seen.session;
            failure.error.execution_id = failure.error.execution_id.or(seen.execution);
            Err(failure)
        }
    }
}

fn answer(
    operation: &AnyOperation,
    ended: &pb::Ended,
    seen: &Seen,
    picture: Option<&Picture>,
    output: Output,
) -> Result<Report, Failure> {
    let unreadable = || Failure::from(error::unreadable("answer"));
    let json = match &ended.answer {
        Some(Raw::ErrorJson(json)) => {
            let error: OpError = serde_json::from_slice(json).map_err(|_| unreadable())?;
            return Err(error.into());
        }
        Some(Raw::ResultJson(json)) => json,
        None => return Err(unreadable()),
    };
    let json = match picture {
        Some(picture) => with_path(json, &picture.write(&seen.file)?.to_string_lossy()),
        None => String::from_utf8(json.clone()).ok(),
    };
    let result = json.and_then(|json| RawValue::from_string(json).ok()).ok_or_else(unreadable)?;
    let text = match output.is_json() {
        true => String::new(),
        false => Answer::decode(operation, result.get().as_bytes()).map_err(|_| unreadable())?.text(),
    };
    Ok(Report {
        session: seen.session.clone(),
        execution_id: seen.execution.as_ref().map(ToString::to_string),
        outcome: Outcome::from_name(&ended.outcome),
        result,
        text,
        exit_code: 0,
        printed: false,
    })
}

/// The result with the place of its file in it.
fn with_path(json: &[u8], path: &str) -> Option<String> {
    let mut result: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(json).ok()?;
    result.insert("path".to_owned(), path.into());
    serde_json::to_string(&result).ok()
}
