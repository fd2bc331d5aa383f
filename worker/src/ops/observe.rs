//! `observe`: each frame's rows in parallel, stitched into one outline within its bound (contract 3.1).

mod delta;
mod outline;
mod stitch;

use std::collections::HashSet;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{DomFormat, Observe, Ref, Screenshot};
use glass_proto::result::{LeftOut, Observation};
use serde_json::{Value, json};

use crate::act::{Found, Info, find_scope, line};
use crate::context::{Context, halted};
use crate::page::{Blank, Check, EngineError, FrameKey, Halt, Step, Target};
use stitch::{Blanks, Seen};

/// Lines of an outline (contract 3.1).
const MAX_ROWS: usize = 400;
/// Bytes of a short line: more lines than fit are not asked for.
const SHORT_ROW: usize = 16;
/// Visible text in an observation (contract 3.1).
const MAX_TEXT: usize = 16 * 1024;
/// Part of the time that asking for closed roots and listeners may take.
const REVEAL: f64 = 0.3;
/// Documents in a row that are looked at when each is replaced meanwhile.
const LOOKS: usize = 4;
/// Looks at frames that are replaced while they are read.
const LOOKS_AT_FRAMES: usize = 2;

pub(super) use delta::run as delta;

pub(super) async fn run(context: &Context, params: &Observe) -> Result<Observation, OpError> {
    let seen = read(context, params, None).await?;
    if seen.dialog.is_some() {
        return Ok(seen);
    }
    let popups = context.pages.take_unreported(&context.target);
    note_rows(context, &seen);
    Ok(Observation { popups, ..seen })
}

/// The same, no longer than its bound by any means.
pub(super) async fn bounded(context: &Context, max_bytes: Option<u32>) -> Result<Observation, OpError> {
    let max_bytes = max_bytes.unwrap_or_else(Observe::default_max_bytes);
    let params = Observe { max_bytes, depth: Observe::DEPTH, ..Observe::default() };
    Ok(outline::bounded(run(context, &params).await?, max_bytes as usize))
}

/// What is new or changed since that revision: controls, dialogs and messages. Counts as no observation of the client.
pub(super) async fn changed(context: &Context, since: u64, max_bytes: u32) -> Result<Observation, OpError> {
    let params = Observe { max_bytes, depth: Observe::DEPTH, ..Observe::default() };
    Ok(outline::bounded(read(context, &params, Some(since)).await?, max_bytes as usize))
}

async fn read(context: &Context, params: &Observe, since: Option<u64>) -> Result<Observation, OpError> {
    context.pages.use_target(&context.target);
    let halt = Halt::of(&context.pages.state(), &context.target);
    match halt {
        // With a dialog open the page cannot be asked; the dialog is the answer (contract 5.5).
        Some(Halt::Dialog(dialog)) => return Ok(outline::dialog_only(context, dialog)),
        Some(halt) => return Err(halted(&halt)),
        None => {}
    }
    let scope = find_scope(context).await?;
    let mut scope = scope.map(|(found, _)| found);
    let mut rows = match since {
        None => MAX_ROWS,
        Some(_) => MAX_ROWS.min(params.max_bytes as usize / SHORT_ROW),
    };
    let mut looks = 0;
    let mut revealed = false;
    let mut told = context.pages.has_internals(&context.target);
    if told {
        context.pages.tell_internals(&context.target, context.left().mul_f64(REVEAL)).await;
    }
    let mut again = LOOKS_AT_FRAMES;
    loop {
        context.pages.place_frames(&context.target).await;
        let before = keys(context);
        let read = match frames(context, params, scope.as_ref(), rows, since).await {
            Ok(read) => read,
            Err(EngineError::Halted(Halt::Dialog(dialog))) => {
                return Ok(outline::dialog_only(context, dialog));
            }
            // A document that is replaced while it is looked at is nobody's fault: the new one is looked at.
            Err(EngineError::Gone) if scope.is_none() && looks < LOOKS && !context.left().is_zero() => {
                looks += 1;
                continue;
            }
            Err(error) => return Err(context.engine(&error, Phase::Preflight)),
        };
        if read.hosting && !std::mem::replace(&mut revealed, true) {
            let limit = context.left().mul_f64(REVEAL);
            if context.pages.reveal(&context.target, limit).await {
                // What was found in it may have given the scope another name.
                scope = find_scope(context).await?.map(|(found, _)| found);
                continue;
            }
        }
        if context.pages.has_internals(&context.target) && !std::mem::replace(&mut told, true) {
            context.pages.tell_internals(&context.target, context.left().mul_f64(REVEAL)).await;
            continue;
        }
        // Frames whose documents were replaced meanwhile are looked at again, for a while.
        if again > 0 && keys(context) != before {
            again -= 1;
            continue;
        }
        let Read { seen, missing, revision, .. } = read;
        let Some(main) = seen.first() else {
            return Err(context.engine(&EngineError::Gone, Phase::Preflight));
        };
        same_snapshot(context, params, revision)?;
        let page = line(context, revision, &main.url, &main.title, &main.ready_state);
        let built = match since {
            None => outline::build(context, params, page, &seen, missing, rows),
            Some(_) => outline::changed(page, &seen, &missing.0, rows, params.max_bytes as usize),
        };
        // Too long for its bound: fewer rows, chosen by the page engine so that what matters stays.
        if built.outline.len() <= params.max_bytes as usize || rows <= 8 {
            let mut built = built;
            remember(context, &seen, built.page.revision);
            if params.include_dom {
                add_dom(context, params, scope.as_ref(), &mut built).await?;
            }
            if params.include_screenshot {
                let picture = Screenshot { max_side: Some(Screenshot::MODEL_SIDE), ..Screenshot::default() };
                built.screenshot = Some(super::screenshot::run(context, &picture).await?);
            }
            return Ok(built);
        }
        rows = (rows.min(built.nodes.len()) * params.max_bytes as usize / built.outline.len())
            .saturating_sub(2)
            .clamp(8, rows - 1);
    }
}

/// Adds the elements of the scope, or of the page's document.
async fn add_dom(
    context: &Context,
    params: &Observe,
    scope: Option<&Found>,
    built: &mut Observation,
) -> Result<(), OpError> {
    let fault = |error| context.engine(&error, Phase::Preflight);
    let key = match scope {
        Some(scope) => Some(scope.key.clone()),
        None => context.readable().into_iter().next(),
    };
    let key = key.ok_or_else(|| fault(EngineError::Gone))?;
    let values = params.values.unwrap_or(!context.hide_values);
    let node = scope.map(|scope| scope.node);
    let dom = super::get_dom::read(context, &key, node, DomFormat::Html, Observe::MAX_DOM, values).await;
    let dom = dom.map_err(fault)?;
    for left in &dom.incomplete {
        built.outline.push_str("\ndom ");
        built.outline.push_str(&left.line());
    }
    built.dom = Some(dom.text);
    built.incomplete.extend(
        dom.incomplete.into_iter().map(|left| LeftOut { kind: format!("dom {}", left.kind), ..left }),
    );
    Ok(())
}

/// The documents that the target shows now.
fn keys(context: &Context) -> Vec<FrameKey> {
    context.pages.state().target(&context.target).map(Target::keys).unwrap_or_default()
}

/// A page that changed in between is not read on as if it had not (contract 3.1).
fn same_snapshot(context: &Context, params: &Observe, revision: u64) -> Result<(), OpError> {
    let now = outline::snapshot_id(&context.target, revision);
    if params.snapshot_id.as_ref().is_none_or(|wanted| *wanted == now) {
        return Ok(());
    }
    Err(OpError::rejected(
        ErrorKind::StaleRevision,
        Phase::Preflight,
        "the page changed since that observation, so its rest is not what it was",
        "observe from the beginning",
    )
    .reason("snapshot_changed")
    .detail("currentRevision", revision))
}

/// Keeps the rows for `ordinal=`.
fn note_rows(context: &Context, seen: &Observation) {
    let revision = Some(seen.page.revision);
    let rows = seen.nodes.iter().filter_map(|node| {
        let reference: Ref = node.reference.parse().ok()?;
        Some(Ref { revision, ..reference })
    });
    let rows = rows.collect();
    if let Some(target) = context.pages.state().targets.get_mut(&context.target) {
        target.observed.note(&context.client, rows);
    }
}

/// Keeps what was told of rows, for refs whose document goes.
fn remember(context: &Context, seen: &[Seen], revision: u64) {
    let mut state = context.pages.state();
    let Some(target) = state.targets.get_mut(&context.target) else { return };
    let keys = target.keys();
    for frame in seen {
        let Some(key) = keys.iter().find(|key| key.label == frame.label) else { continue };
        for (node, row) in frame.remembered(&key.frame, revision) {
            target.memory.note(key, node, row);
        }
    }
}

/// What one look at a target's frames told.
struct Read {
    /// Each frame's rows, the main one (or the scope's) first.
    seen: Vec<Seen>,
    /// What did not answer, and the states of such frames.
    missing: (Vec<LeftOut>, Blanks),
    /// The revision that the rows show.
    revision: u64,
    /// Some frame has elements that may hold a closed root and were not asked about.
    hosting: bool,
}

#[derive(serde::Deserialize)]
struct Hosting {
    some: bool,
}

/// Brings the revision up to date and reads every frame's rows, in one call a frame.
async fn frames(
    context: &Context,
    params: &Observe,
    scope: Option<&Found>,
    rows: usize,
    since: Option<u64>,
) -> Result<Read, EngineError> {
    let keys: Vec<FrameKey> = {
        let state = context.pages.state();
        let Some(target) = state.target(&context.target) else {
            return Err(EngineError::Halted(Halt::Closed));
        };
        match scope {
            None => {
                drop(state);
                context.readable()
            }
            // The scope's frame, and the frames below it; which of them lie in the scope the stitching finds.
            Some(found) => {
                let below = target.keys().into_iter().filter(|key| {
                    key.frame != found.key.frame && target.chain(&key.frame).contains(&found.key.frame)
                });
                std::iter::once(found.key.clone()).chain(below).collect()
            }
        }
    };
    let reads = keys.iter().enumerate().map(|(at, key)| {
        let mut args = json!({
            "maxRows": rows, "maxText": MAX_TEXT, "interactive": params.interactive, "depth": params.depth,
            "places": true, "values": params.values.unwrap_or(!context.hide_values),
        });
        if params.boxes {
            args["boxes"] = true.into();
        }
        if let Some(query) = &params.query {
            args["query"] = query.as_str().into();
            args["testId"] = context.pages.test_id_attribute().into();
            args["maxRows"] = (params.offset.unwrap_or(0) as usize + outline::queried(params)).into();
        } else if let (0, Some(offset)) = (at, params.offset) {
            args["offset"] = offset.into();
        }
        if let Some(since) = since {
            // A document that was not shown then is new as a whole.
            let state = context.pages.state();
            let count = state.target(&context.target).and_then(|target| target.revisions.seq_at(since, key));
            args["since"] = count.map_or(json!(-1), |count| json!(count));
            args["maxText"] = 0.into();
        }
        if let (0, Some(found)) = (at, scope) {
            args["scopeRef"] = found.node.into();
        }
        async move {
            let mut steps = vec![Step("check", json!({})), Step("hosting", json!({}))];
            if key.label == 0 {
                steps.push(Step("info", json!({})));
            }
            steps.push(Step("observe", args));
            let mut call = context.pages.look(key, steps).await?;
            let (check, hosting) = (call.take::<Check>()?, call.take::<Hosting>()?);
            let info = if key.label == 0 { Some(call.take::<Info>()?) } else { None };
            Ok((check, hosting, info, call.take::<Value>()?))
        }
    });
    let limit = context.left().mul_f64(if keys.len() > 1 { 0.8 } else { 1.0 });
    let reads = reads.map(|read| async move { tokio::time::timeout(limit, read).await });
    let mut seen = Vec::new();
    let mut silent = Vec::new();
    let mut hosts = false;
    let mut reports = Vec::new();
    for (at, (key, answer)) in keys.iter().zip(futures_util::future::join_all(reads).await).enumerate() {
        match answer {
            Ok(Ok((check, hosting, info, answer))) => {
                reports.push((key.clone(), check));
                hosts |= hosting.some;
                if let Some(info) = info {
                    context.pages.note_info(&context.target, &info.url, &info.title);
                }
                seen.push(Seen::read(key.clone(), answer)?);
            }
            Ok(Err(error)) if at == 0 => return Err(error),
            Err(_) if at == 0 => return Err(EngineError::Silent),
            Ok(Err(_)) | Err(_) => silent.push(key),
        }
    }
    let revision = context.pages.take_reports(&context.target, &reports).revision;
    let (seen, missing) = sort_out(context, seen, &silent);
    Ok(Read { seen, missing, revision, hosting: hosts })
}

/// The state of a frame that could not be read, and why it could not; `None` for what is told with the frame around it.
fn not_read(target: &Target, key: &FrameKey) -> Option<(&'static str, LeftOut)> {
    let (state, reason, hint) = match target.blank(key) {
        Blank::Loading => ("loading", "its document has not come yet", "observe again"),
        Blank::NotLoaded => {
            ("not-loaded", "nothing is loaded in it yet", "scroll it into view, if it loads lazily")
        }
        Blank::Failed => ("failed", "its document could not be loaded", "reload the page to try it again"),
        Blank::Viewer if target.frame_above(&key.frame).is_some_and(|above| target.in_viewer(above)) => {
            return None;
        }
        Blank::Viewer => (
            "viewer",
            "the browser's own viewer shows a document in it, which cannot be read",
            "export-page --format pdf gives the document itself; screenshot shows it",
        ),
        Blank::Silent => ("unavailable", "it did not answer in time", "observe again; its page may be busy"),
        Blank::Replaced => ("", "it was replaced while it was read", "observe again"),
    };
    let left = LeftOut {
        kind: "frame".to_owned(),
        reference: Some(format!("f{}", key.label)),
        reason: Some(reason.to_owned()),
        hint: Some(hint.to_owned()),
        ..LeftOut::default()
    };
    Some((state, left))
}

/// Keeps what can be seen: frames that are visible in a frame that is kept. Says of the others that can be seen, and
/// could not be read, why.
fn sort_out(context: &Context, seen: Vec<Seen>, silent: &[&FrameKey]) -> (Vec<Seen>, (Vec<LeftOut>, Blanks)) {
    let state = context.pages.state();
    let Some(target) = state.target(&context.target) else { return (seen, Default::default()) };
    let unseen: HashSet<u32> = seen.iter().flat_map(Seen::unseen_frames).collect();
    let unseen = target.with_inner(&unseen);
    let shown: HashSet<u32> = seen.iter().flat_map(Seen::seen_frames).collect();
    let mut missing = Vec::new();
    let mut blank = Blanks::new();
    for key in silent.iter().filter(|key| !unseen.contains(&key.label)) {
        if !shown.contains(&key.label) && target.is_placed(key.label) {
            continue;
        }
        let Some((state, left)) = not_read(target, key) else { continue };
        if !state.is_empty() {
            blank.insert(key.label, state);
        }
        missing.push(left);
    }
    // A frame whose place is not known may be in view: it is read, and stands below no row.
    let mut kept: Vec<Seen> = Vec::new();
    for frame in seen {
        let within = |outer: u32| kept.iter().any(|kept| kept.label == outer);
        let is_kept = kept.is_empty()
            || !unseen.contains(&frame.label)
                && target.parent_label(frame.label).is_some_and(within)
                && (shown.contains(&frame.label) || !target.is_placed(frame.label));
        if is_kept {
            kept.push(frame);
        }
    }
    (kept, (missing, blank))
}
