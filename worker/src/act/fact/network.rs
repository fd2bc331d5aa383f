//! How far the document is, and whether the network is quiet.

use std::time::Duration;

use glass_proto::error::OpError;
use glass_proto::escape::cut;
use glass_proto::op::wait::Milestone;
use glass_proto::redact::address;
use serde_json::{Map, Value, json};

use super::{Seen, Truth};
use crate::context::{Context, halted};
use crate::page::{Halt, Target};

/// What counts as idle (contract 8.1).
const IDLE: Duration = Duration::from_millis(500);
/// Requests that are named.
const NAMED: usize = 5;

/// The document that is shown, once no other is under way.
pub(super) fn lifecycle(context: &Context, milestone: Milestone) -> Result<Seen, OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    if target.crashed {
        return Err(halted(&Halt::Crashed));
    }
    let lifecycle = target.main_frame().map(|frame| frame.lifecycle).unwrap_or_default();
    let navigating = target.document.pending.is_some();
    let there = match milestone {
        Milestone::DomContentLoaded => lifecycle.dom,
        Milestone::Load => lifecycle.load,
        Milestone::NetworkIdle => lifecycle.load && is_quiet(target, IDLE),
    };
    let mut what = open(target);
    what.insert("domcontentloaded".to_owned(), lifecycle.dom.into());
    what.insert("load".to_owned(), lifecycle.load.into());
    what.insert("navigating".to_owned(), navigating.into());
    Ok(Seen::new(there && !navigating, what.into()))
}

/// No request for so long. Streams (WebSocket, EventSource) do not count.
pub(super) fn quiet(context: &Context, wanted: Duration) -> Result<Seen, OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    Ok(Seen::new(Truth::from(is_quiet(target, wanted)), open(target).into()))
}

fn is_quiet(target: &Target, wanted: Duration) -> bool {
    target.quiet_since().is_some_and(|since| since.elapsed() >= wanted)
}

/// What is still under way.
fn open(target: &Target) -> Map<String, Value> {
    let mut what = Map::new();
    what.insert("pending".to_owned(), target.pending().into());
    let urls: Vec<_> =
        target.open_requests().take(NAMED).map(|url| cut(&address(url), 160).into_owned()).collect();
    if !urls.is_empty() {
        what.insert("open".to_owned(), json!(urls));
    }
    if let Some(since) = target.quiet_since() {
        what.insert(
            "quietMs".to_owned(),
            u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX).into(),
        );
    }
    what
}
