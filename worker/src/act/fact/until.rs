//! Until something holds: looks again when a frame or the browser says that something happened.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use glass_proto::error::{OpError, Phase};
use glass_proto::op::Predicate;
use glass_proto::result::SeenPart;
use serde_json::{Value, json};

use super::predicate::weigh;
use super::{Fact, Seen, Since, Truth, look_at};
use crate::context::Context;
use crate::page::{EngineError, FrameKey, Halt, State, Step};

/// Numbers the waits of this worker.
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// How long a frame may keep silent before it is asked again.
const LOOK: Duration = Duration::from_millis(1000);
/// A look that takes longer is not taken at every frame.
const DEAR: Duration = Duration::from_millis(12);
/// Longest pause after a dear look.
const PAUSE: Duration = Duration::from_millis(500);

/// What wakes a wait.
#[derive(Clone, Copy, Debug)]
pub struct Wake {
    /// Changes of the page, which its frames tell.
    pub page: bool,
    /// Time: the network is quiet once nothing happened for a while.
    pub tick: bool,
}

/// What is asked again and again.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// One fact.
    Fact(Fact<'a>),
    /// A predicate.
    Predicate(&'a Predicate),
}

/// Looks until it holds or time is up. Answers the last look, and what the parts of a predicate saw in it.
///
/// # Errors
/// Those of the look.
pub async fn until(
    context: &Context,
    wake: Wake,
    question: Question<'_>,
    since: Since,
) -> Result<(Seen, Vec<SeenPart>), OpError> {
    let mut parts = Vec::new();
    let mut last = Seen { truth: Truth::Undecided, what: Value::Null };
    loop {
        let before = fingerprint(&context.pages.state(), &context.target);
        let began = Instant::now();
        // A page that spins answers nothing: then what was seen last is told.
        match tokio::time::timeout(context.left(), ask(context, question, since)).await {
            Ok(Ok(seen)) => (last, parts) = seen,
            // Its document was replaced: the next look sees the new one.
            Ok(Err(error)) if error.reason.as_deref() == Some("navigated") => {
                last = Seen { truth: Truth::Undecided, what: json!({ "navigated": true }) };
            }
            Ok(Err(error)) => return Err(error),
            Err(_) => return Ok((last, parts)),
        }
        if last.truth == Truth::Holds || is_final(&last) || context.left().is_zero() {
            return Ok((last, parts));
        }
        let spent = began.elapsed();
        if spent > DEAR {
            tokio::time::sleep((spent * 2).min(PAUSE).min(context.left())).await;
        }
        something(context, wake, &before).await?;
    }
}

async fn ask(
    context: &Context,
    question: Question<'_>,
    since: Since,
) -> Result<(Seen, Vec<SeenPart>), OpError> {
    match question {
        Question::Fact(fact) => Ok((look_at(context, fact, since).await?, Vec::new())),
        Question::Predicate(predicate) => {
            let mut parts = Vec::new();
            let truth = weigh(context, predicate, since, String::new(), &mut parts).await?;
            Ok((Seen { truth, what: Value::Null }, parts))
        }
    }
}

/// A second match ends a wait for one.
fn is_final(seen: &Seen) -> bool {
    seen.what.get("ambiguous") == Some(&Value::Bool(true))
}

/// Until a frame says that something happened, the browser does, or it is time to look again.
async fn something(context: &Context, wake: Wake, before: &Option<Fingerprint>) -> Result<(), OpError> {
    let halted = Halt::of(&context.pages.state(), &context.target).is_some();
    let step = if wake.tick { Duration::from_millis(50) } else { LOOK };
    let limit = context.left().min(step);
    let until = Instant::now() + limit;
    let moved =
        context.pages.until(until, |state| (fingerprint(state, &context.target) != *before).then_some(()));
    let keys: Vec<FrameKey> = if wake.page && !halted {
        context.pages.state().target(&context.target).map(crate::page::Target::keys).unwrap_or_default()
    } else {
        Vec::new()
    };
    if keys.is_empty() {
        return moved
            .await
            .map(|_| ())
            .map_err(|error| context.engine(&EngineError::Cdp(error), Phase::Verification));
    }
    let asks = keys.iter().map(|key| Box::pin(changed(context, key, limit)));
    let asks = futures_util::future::select_all(asks);
    tokio::select! {
        _ = asks => {}
        moved = moved => {
            moved.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::Verification))?;
        }
    }
    // Waits of other frames are taken back.
    let left = context.undo(|undo| std::mem::take(&mut undo.waits));
    let back =
        left.iter().map(|(key, id)| context.pages.run(key, vec![Step("cancelWait", json!({ "id": id }))]));
    let _ = tokio::time::timeout(Duration::from_millis(100), futures_util::future::join_all(back)).await;
    Ok(())
}

/// Until something changed in a frame. One that cannot be asked tells nothing.
async fn changed(context: &Context, key: &FrameKey, limit: Duration) {
    // Each wait has an id of its own: one that was not taken back in time must not stand in the next one's way.
    let id = format!("{}-{}-{}", context.token, key.label, NUMBER.fetch_add(1, Ordering::Relaxed));
    let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    context.undo(|undo| undo.waits.push((key.clone(), id.clone())));
    let asked = context.pages.run(key, vec![Step("change", json!({ "id": id, "timeoutMs": millis }))]).await;
    context.undo(|undo| undo.waits.retain(|(_, waiting)| *waiting != id));
    if asked.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What the browser's events change of a target and its session.
#[derive(PartialEq, Eq)]
struct Fingerprint {
    frames: Vec<FrameKey>,
    url: String,
    dialog: Option<String>,
    crashed: bool,
    targets: usize,
    milestones: (bool, bool, bool),
    pending: usize,
    downloads_ended: usize,
}

fn fingerprint(state: &State, id: &str) -> Option<Fingerprint> {
    let target = state.target(id)?;
    let lifecycle = target.main_frame().map(|frame| frame.lifecycle).unwrap_or_default();
    Some(Fingerprint {
        frames: target.keys(),
        url: target.url.clone(),
        dialog: target.dialog.as_ref().map(|dialog| dialog.seen.dialog_id.clone()),
        crashed: target.crashed,
        targets: state.order.len(),
        milestones: (lifecycle.dom, lifecycle.load, target.document.pending.is_some()),
        // Whether any is under way: that many come and go concerns nobody.
        pending: target.pending().min(1),
        downloads_ended: state.downloads.iter().filter(|download| download.ended.is_some()).count(),
    })
}
