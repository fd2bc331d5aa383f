//! `diagnostics`: reads the target's ring, and waits for what fits where it is asked to.

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::Diagnostics;
use glass_proto::result;

use crate::context::Context;
use crate::page::EngineError;

pub(super) async fn run(context: &Context, params: &Diagnostics) -> Result<result::Diagnostics, OpError> {
    let wait = Duration::from_millis(params.duration_ms.unwrap_or(0).into());
    let until = Instant::now() + wait.min(context.left());
    let read = context.pages.until(until, |state| {
        let Some(target) = state.target(&context.target) else { return Some(None) };
        let read = target.log.read(params);
        let waits = read.entries.is_empty() && Instant::now() < until;
        (!waits).then_some(Some(read))
    });
    let read = match read.await {
        Ok(Some(read)) => read,
        // Nothing came in time; what there is now is the answer.
        Ok(None) => context.pages.state().target(&context.target).map(|target| target.log.read(params)),
        Err(error) => return Err(context.engine(&EngineError::Cdp(error), Phase::Transport)),
    };
    let read = read.ok_or_else(|| {
        OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::TargetResolution,
            "the target was closed",
            "list-targets shows what is open",
        )
    })?;
    Ok(result::Diagnostics {
        target_id: context.target.clone(),
        entries: read.entries,
        next: read.next,
        dropped: read.dropped,
        left_out: read.left_out,
        under_way: read.under_way,
    })
}
