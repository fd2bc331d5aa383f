//! `wait` (contract 8.1), beside other operations: each frame tells when something happened, and the condition is
//! looked at again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Condition, Locator, Wait};
use glass_proto::result::Waited;
use serde::Deserialize;
use serde_json::{Value, json};

use super::begin;
use crate::act::{candidates, locate_all, page_line};
use crate::context::{Context, dialog_blocked, halted};
use crate::page::{EngineError, FrameKey, Halt, Step};

/// Numbers the waits of this worker.
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// How long a frame may keep silent before it is asked again.
const LOOK: Duration = Duration::from_millis(1000);

#[derive(Debug, Deserialize)]
struct Seen {
    ok: bool,
}

enum Look {
    Holds,
    NotYet(Value),
}

pub(super) async fn run(context: &Context, params: &Wait) -> Result<Waited, OpError> {
    begin::page(context)?;
    let began = Instant::now();
    let mut last;
    loop {
        match look(context, &params.condition).await {
            Ok(Look::Holds) => return done(context, params, began).await,
            Ok(Look::NotYet(seen)) => last = seen,
            // Its document was replaced: the next look sees the new one.
            Err(error) if error.reason.as_deref() == Some("navigated") => last = json!({}),
            Err(error) => return Err(error),
        }
        if context.left().is_zero() {
            return Err(timed_out(&params.condition, last));
        }
        until_something(context, &params.condition).await?;
    }
}

async fn look(context: &Context, condition: &Condition) -> Result<Look, OpError> {
    match condition {
        Condition::Visible(locator) => visible(context, locator).await,
        Condition::Hidden(locator) => hidden(context, locator).await,
        Condition::Text(_) | Condition::Title(_) | Condition::Url(_) => {
            let keys = frames(context, condition)?;
            let looks = keys.iter().map(|key| once(context, key, condition, Duration::ZERO));
            let looks = futures_util::future::join_all(looks).await;
            let mut found = None;
            for look in looks {
                match look {
                    Ok(true) => return Ok(Look::Holds),
                    Ok(false) | Err(EngineError::Gone) => {}
                    Err(error) => found = Some(error),
                }
            }
            match found {
                Some(error) if keys.len() == 1 => Err(context.engine(&error, Phase::Verification)),
                _ => Ok(Look::NotYet(json!({}))),
            }
        }
    }
}

async fn visible(context: &Context, locator: &Locator) -> Result<Look, OpError> {
    let looked = match locate_all(context, locator, false, 8).await {
        Ok(looked) => looked,
        // A container that is not there yet is waited for; a stale ref never comes back.
        Err(error) if error.kind == ErrorKind::TargetNotFound => {
            return Ok(Look::NotYet(json!({ "total": 0 })));
        }
        Err(error) => return Err(error),
    };
    let total: u64 = looked.matches.iter().map(|(_, matches)| matches.total - hidden_refs(matches)).sum();
    match total {
        0 => Ok(Look::NotYet(json!({ "total": 0 }))),
        1 => Ok(Look::Holds),
        total => Err(OpError::rejected(
            ErrorKind::AmbiguousTarget,
            Phase::TargetResolution,
            format!("{total} visible elements fit the locator, and one was waited for"),
            "narrow the locator",
        )
        .with_candidates(candidates(&looked.matches))
        .detail("total", total)),
    }
}

async fn hidden(context: &Context, locator: &Locator) -> Result<Look, OpError> {
    let looked = match locate_all(context, locator, false, 8).await {
        Ok(looked) => looked,
        // Nobody looked, or what was looked for is there under another name.
        Err(error) if unseen(&error) => return Ok(Look::NotYet(json!({}))),
        Err(error) if matches!(error.kind, ErrorKind::TargetNotFound | ErrorKind::StaleReference) => {
            return Ok(Look::Holds);
        }
        Err(error) => return Err(error),
    };
    let total: u64 = looked.matches.iter().map(|(_, matches)| matches.total - hidden_refs(matches)).sum();
    if looked.unread > 0 {
        return Ok(Look::NotYet(json!({ "framesUnread": looked.unread })));
    }
    Ok(if total == 0 { Look::Holds } else { Look::NotYet(json!({ "total": total })) })
}

/// Whether an error says that the page was not read, or that the element is there and has changed.
fn unseen(error: &OpError) -> bool {
    match error.reason.as_deref() {
        Some("frame_unavailable" | "changed") => true,
        Some("navigated") => error.kind == ErrorKind::TargetNotFound,
        _ => false,
    }
}

/// A ref is found though its element is hidden; that one is not visible.
fn hidden_refs(matches: &crate::act::Matches) -> u64 {
    if matches.total == 1 && matches.matches.first().is_some_and(|found| !found.visible) { 1 } else { 0 }
}

/// The frames that the condition is about: all that are read for text, the outermost of them for title and URL.
fn frames(context: &Context, condition: &Condition) -> Result<Vec<FrameKey>, OpError> {
    let mut keys = context.readable();
    if keys.is_empty() {
        return Err(halted(&Halt::Closed));
    }
    if matches!(condition, Condition::Title(_) | Condition::Url(_)) {
        keys.truncate(1);
    }
    Ok(keys)
}

/// Asks one frame, waiting there for at most `limit`.
async fn once(
    context: &Context,
    key: &FrameKey,
    condition: &Condition,
    limit: Duration,
) -> Result<bool, EngineError> {
    // Each wait has an id of its own: one that was not taken back in time must not stand in the next one's way.
    let id = format!("{}-{}-{}", context.token, key.label, NUMBER.fetch_add(1, Ordering::Relaxed));
    let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let wait = |kind: &str, value: &str| {
        Step("wait", json!({ "id": id, "condition": { "kind": kind, "value": value }, "timeoutMs": millis }))
    };
    let step = match condition {
        Condition::Text(text) => wait("text", text),
        Condition::Title(text) => wait("title", text),
        Condition::Url(text) => wait("url", text),
        // What shall be found or gone is looked up across frames; here only that something happened is waited for.
        Condition::Visible(_) | Condition::Hidden(_) => {
            Step("change", json!({ "id": id, "timeoutMs": millis }))
        }
    };
    context.undo(|undo| undo.waits.push((key.clone(), id.clone())));
    let call = if limit.is_zero() {
        context.pages.look(key, vec![step]).await
    } else {
        context.pages.run(key, vec![step]).await
    };
    let seen = call.and_then(|mut call| call.take::<Seen>());
    context.undo(|undo| undo.waits.retain(|(_, waiting)| *waiting != id));
    seen.map(|seen| seen.ok)
}

/// Until a frame says that something happened, the browser does, or it is time to look again.
async fn until_something(context: &Context, condition: &Condition) -> Result<(), OpError> {
    let halt = Halt::of(&context.pages.state(), &context.target);
    match halt {
        Some(Halt::Dialog(dialog)) => return Err(dialog_blocked(&dialog)),
        Some(halt) => return Err(halted(&halt)),
        None => {}
    }
    let limit = context.left().min(LOOK);
    let until = Instant::now() + limit;
    let keys = frames(context, condition)?;
    let asks = keys.iter().map(|key| {
        Box::pin(async move {
            // A frame that cannot be asked tells nothing; the browser's events or the timer end the wait.
            if once(context, key, condition, limit).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    });
    let asks = futures_util::future::select_all(asks);
    tokio::select! {
        _ = asks => {}
        moved = document_moves(context, until) => moved?,
    }
    // Waits of other frames are taken back.
    let left = context.undo(|undo| std::mem::take(&mut undo.waits));
    let back =
        left.iter().map(|(key, id)| context.pages.run(key, vec![Step("cancelWait", json!({ "id": id }))]));
    let _ = tokio::time::timeout(Duration::from_millis(100), futures_util::future::join_all(back)).await;
    Ok(())
}

/// Until the main frame's document, URL or the set of frames changes, or `until`.
async fn document_moves(context: &Context, until: Instant) -> Result<(), OpError> {
    let now = |state: &crate::page::State| {
        state
            .target(&context.target)
            .map(|target| (target.keys(), target.url.clone(), target.dialog.is_some(), target.crashed))
    };
    let before = now(&context.pages.state());
    let moved = context.pages.until(until, |state| (now(state) != before).then_some(())).await;
    moved.map(|_| ()).map_err(|error| context.engine(&EngineError::Cdp(error), Phase::Verification))
}

async fn done(context: &Context, params: &Wait, began: Instant) -> Result<Waited, OpError> {
    let revision = match context.pages.sync(&context.target).await {
        Ok(changes) => changes.revision,
        Err(_) => context.pages.state().target(&context.target).map_or(1, |target| target.revisions.number),
    };
    let page =
        page_line(context, revision).await.map_err(|error| context.engine(&error, Phase::Verification))?;
    let waited_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Waited { condition: word(&params.condition).to_owned(), waited_ms, page })
}

fn word(condition: &Condition) -> &'static str {
    match condition {
        Condition::Text(_) => "text",
        Condition::Title(_) => "title",
        Condition::Url(_) => "url",
        Condition::Visible(_) => "visible",
        Condition::Hidden(_) => "hidden",
    }
}

fn timed_out(condition: &Condition, last: Value) -> OpError {
    OpError::rejected(
        ErrorKind::Timeout,
        Phase::Verification,
        format!("the condition ({}) did not come to hold within the deadline", word(condition)),
        "observe shows the page as it is; give it longer with --timeout-ms",
    )
    .detail("last", last)
}
