//! `events`: reads what happened, and waits for it where it is asked to (contract 7.6).

use std::time::Instant;

use glass_proto::error::{OpError, Phase};
use glass_proto::op::Events;
use glass_proto::result;

use crate::context::Context;
use crate::execute::no_such_target;
use crate::page::EngineError;

pub(super) async fn run(context: &Context, params: &Events) -> Result<result::Events, OpError> {
    let wait = context.options.timeout_ms;
    if wait.is_some_and(|wait| wait > Events::MAX_WAIT_MS) {
        return Err(OpError::invalid(
            format!("events waits at most {} ms", Events::MAX_WAIT_MS),
            "give a shorter --timeout-ms, and ask again with the answer's next",
        ));
    }
    let target = context.options.target_id.as_ref().map(glass_proto::TargetId::as_str);
    if let Some(id) = target
        && !context.pages.state().knows_target(id)
    {
        return Err(no_such_target(&context.pages));
    }
    let until = if wait.is_some() { context.soft } else { Instant::now() };
    let found = context.pages.until(until, |state| {
        let read = state.news.read(params, target);
        (!read.events.is_empty()).then_some(read)
    });
    let found = found.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::Transport))?;
    Ok(found.unwrap_or_else(|| context.pages.state().news.read(params, target)))
}
