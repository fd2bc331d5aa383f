//! An execution as it is told.

use glass_proto::wire::client as pb;
use glass_proto::wire::encode_error;

use super::sessions::millis;
use crate::gate::{Execution, Stage};

/// Puts an execution into words.
pub(super) fn describe(execution: Execution) -> pb::ExecutionInfo {
    let mut info = pb::ExecutionInfo {
        execution_id: execution.id.to_string(),
        session: execution.session,
        operation: execution.operation.to_owned(),
        took_ms: millis(execution.took),
        ..pb::ExecutionInfo::default()
    };
    let (state, dispatched) = match execution.stage {
        Stage::Waiting => ("waiting", "no"),
        Stage::Running { dispatched } => ("running", if dispatched { "yes" } else { "no" }),
        Stage::Ended(ending) => {
            info.outcome = ending.outcome.name().to_owned();
            info.ended_ago_ms = millis(ending.at.elapsed());
            info.error_json = ending.error.as_deref().map(encode_error).unwrap_or_default();
            ("ended", ending.dispatched.name())
        }
    };
    info.state = state.to_owned();
    info.dispatched = dispatched.to_owned();
    info
}
