//! `scroll`: trusted wheel input, or an element brought into view; and which pane moved by how much.
//!
//! The panes under the point are noted in every frame that lies there before the wheel turns, and read again when they
//! stand still.

use std::time::Duration;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Locator, Place, Point, Scroll, ScrollEnd};
use glass_proto::result::{Acted, Evidence, Pane};
use serde::Deserialize;
use serde_json::{Value, json};

use super::begin;
use super::click::acted;
use crate::act::{Aim, Before, Looked, Need, find, guard_revision, look, measure, ready};
use crate::cdp::types::input::{DispatchMouseEvent, MouseEventType};
use crate::context::{Context, halted};
use crate::page::{EngineError, FrameKey, Halt, Step, reference};

/// Longest that panes are waited for until they stand still.
const STANDS: Duration = Duration::from_millis(1500);
/// How long a document that has not painted yet is given to.
const PAINTED_MS: u64 = 300;
/// Frames within frames that are followed.
const DEEPEST: usize = 16;

#[derive(Deserialize)]
struct Plan {
    point: [f64; 2],
    panes: Vec<Told>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Watched {
    frame: Option<String>,
    rect: Option<[f64; 4]>,
    to_end: Option<f64>,
}

#[derive(Deserialize)]
struct Moved {
    panes: Vec<Told>,
}

#[derive(Deserialize)]
struct Told {
    #[serde(rename = "ref")]
    node: Option<u32>,
    role: String,
    label: String,
    from: [f64; 2],
    at: [f64; 2],
    end: [f64; 2],
}

#[derive(Deserialize)]
struct View {
    viewport: [f64; 2],
}

impl Told {
    fn pane(self, key: &FrameKey) -> Pane {
        let point = |[x, y]: [f64; 2]| Point { x, y };
        Pane {
            reference: self.node.map(|node| reference(key, node)),
            frame_id: (key.label != 0).then(|| format!("f{}", key.label)),
            role: self.role,
            label: self.label,
            from: point(self.from),
            at: point(self.at),
            end: point(self.end),
        }
    }
}

pub(super) async fn run(context: &Context, params: &Scroll) -> Result<Acted, OpError> {
    begin::page(context)?;
    let aimed = params.target.is_some() || matches!(params.at, Some(Place::Element(_)));
    if !aimed && context.frame().is_some_and(|frame| frame.label != 0) {
        return Err(OpError::invalid(
            "the wheel turns over a place of the page, and a frame is chosen in it",
            "name an element of the frame with --at, or choose the whole page with --frame main",
        ));
    }
    match &params.target {
        Some(target) => into_view(context, target).await,
        None => wheel(context, params).await,
    }
}

/// Where the wheel turns, and what was known of the page before.
struct Spot {
    point: (f64, f64),
    aim: Option<Aim>,
    carried: Option<bool>,
    before: Before,
    others: Vec<Pane>,
}

async fn wheel(context: &Context, params: &Scroll) -> Result<Acted, OpError> {
    let (dx, dy) = direction(params);
    let spot = spot(context, params, (dx, dy)).await?;
    let (noted, to_end) = watch(context, spot.point, (dx, dy), params.to).await?;
    let (dx, dy) = match params.to {
        None => (dx, dy),
        // Nothing to go to: the wheel turns all the same, and the answer says that nothing moved.
        Some(end) => along(end, to_end.unwrap_or_else(|| f64::from(dx + dy))),
    };
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    context.dispatching().await;
    let turn = DispatchMouseEvent {
        delta_x: Some(f64::from(dx)),
        delta_y: Some(f64::from(dy)),
        ..DispatchMouseEvent::new(MouseEventType::MouseWheel, spot.point.0, spot.point.1)
    };
    let sent = context.pages.client().start_send(Some(&session), turn);
    match context.pages.or_halt(&context.target, sent).await {
        Ok(_) | Err(EngineError::Halted(_) | EngineError::Gone) => {}
        Err(error) => return Err(context.engine(&error, Phase::Dispatch)),
    }
    let moved = moved(context, &noted).await;
    let (measured, revision) = measure(context, &spot.before, None).await?;
    let still = moved.as_ref().is_some_and(Vec::is_empty);
    let panes = if still { spot.others } else { Vec::new() };
    let evidence = Evidence { scrolled: moved, panes, ..measured };
    Ok(done(context, spot.aim.as_ref(), &spot.before, revision, evidence, spot.carried))
}

fn done(
    context: &Context,
    aim: Option<&Aim>,
    before: &Before,
    revision: u64,
    evidence: Evidence,
    carried: Option<bool>,
) -> Acted {
    match aim {
        Some(aim) => acted(context, "scroll", aim, before, revision, evidence, carried),
        None => Acted {
            action: "scroll".to_owned(),
            target: None,
            target_id: context.target.clone(),
            frame_id: None,
            previous_revision: before.revision,
            revision,
            evidence,
        },
    }
}

/// How far, or a step in the direction of an end.
fn direction(params: &Scroll) -> (i32, i32) {
    match params.to {
        None => params.delta(),
        Some(ScrollEnd::Top) => (0, -1),
        Some(ScrollEnd::Bottom) => (0, 1),
        Some(ScrollEnd::Left) => (-1, 0),
        Some(ScrollEnd::Right) => (1, 0),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "clamped to 20000 either way")]
fn along(end: ScrollEnd, distance: f64) -> (i32, i32) {
    let farthest = f64::from(Scroll::FARTHEST);
    let distance = if distance < 0.0 { distance.floor() } else { distance.ceil() };
    let distance = distance.clamp(-farthest, farthest) as i32;
    match end {
        ScrollEnd::Top | ScrollEnd::Bottom => (0, distance),
        ScrollEnd::Left | ScrollEnd::Right => (distance, 0),
    }
}

async fn spot(context: &Context, params: &Scroll, (dx, dy): (i32, i32)) -> Result<Spot, OpError> {
    let before = |looked: &Looked| Before::of(context, &looked.changes, Some(&looked.info));
    if let Some(Place::Element(locator)) = &params.at {
        let (found, looked) = find(context, locator).await?;
        guard_revision(context, Some(&found.key), &looked.changes, None)?;
        let before = before(&looked);
        let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
        let need = Need { word: "hover", guarded: &[], position: None };
        let (aim, _) = ready(context, locator, found, need).await?;
        let point = aim.point.ok_or_else(|| outside("the element has no point to turn the wheel over"))?;
        return Ok(Spot { point, aim: Some(aim), carried, before, others: Vec::new() });
    }
    let looked = look(context, None, false, 1).await?;
    guard_revision(context, None, &looked.changes, None)?;
    let before = before(&looked);
    let main = main(context)?;
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    if let Some(Place::Point(point)) = &params.at {
        let mut call = context.pages.run(&main, vec![Step("info", json!({}))]).await.map_err(fault)?;
        let [width, height] = call.take::<View>().map_err(fault)?.viewport;
        if !((0.0..width).contains(&point.x) && (0.0..height).contains(&point.y)) {
            return Err(OpError::invalid(
                format!("the point lies outside the viewport, which is {width} × {height}"),
                "points count CSS pixels from the top left of what is in view",
            ));
        }
        return Ok(Spot { point: (point.x, point.y), aim: None, carried: None, before, others: Vec::new() });
    }
    context.pages.place_frames(&context.target).await;
    let step = Step("scrollPlan", json!({ "dx": dx, "dy": dy }));
    let mut call = context.pages.run(&main, vec![step]).await.map_err(fault)?;
    let plan: Plan = call.take().map_err(fault)?;
    let others = plan.panes.into_iter().map(|pane| pane.pane(&main)).collect();
    Ok(Spot { point: (plan.point[0], plan.point[1]), aim: None, carried: None, before, others })
}

fn main(context: &Context) -> Result<FrameKey, OpError> {
    let state = context.pages.state();
    let main = state.target(&context.target).and_then(|target| target.key(&target.main));
    main.ok_or_else(|| halted(&Halt::Closed))
}

fn outside(message: &str) -> OpError {
    OpError::rejected(ErrorKind::NotActionable, Phase::Preflight, message, "observe the page")
        .reason("outside_viewport")
}

/// Frames whose panes were noted.
struct Noted {
    /// The innermost first.
    frames: Vec<FrameKey>,
    /// Whether they are all that there are: one that did not answer moves unseen.
    all: bool,
}

/// Notes the panes under a point in each frame that lies there. Answers these frames, and how far the innermost pane that
/// can move is from its end.
async fn watch(
    context: &Context,
    point: (f64, f64),
    (dx, dy): (i32, i32),
    to: Option<ScrollEnd>,
) -> Result<(Noted, Option<f64>), OpError> {
    context.pages.place_frames(&context.target).await;
    let mut frames = Vec::new();
    let mut all = false;
    let mut to_end = None;
    let mut key = main(context)?;
    let mut at = point;
    loop {
        let args = json!({ "token": context.token, "x": at.0, "y": at.1, "dx": dx, "dy": dy, "to": to });
        // The wheel finds what has been drawn: a page that just came has not.
        let settle = Step("settle", json!({ "frames": 2, "paintedMs": PAINTED_MS }));
        let steps = vec![settle, Step("watchPanes", args)];
        let answer = context.pages.run(&key, steps).await;
        let watched = answer.and_then(|mut call| call.take::<Value>().and_then(|_| call.take::<Watched>()));
        let watched = match watched {
            Ok(watched) => watched,
            Err(error) if frames.is_empty() => return Err(context.engine(&error, Phase::Preflight)),
            // What lies round it is told.
            Err(_) => break,
        };
        frames.insert(0, key.clone());
        // The innermost pane that can still move takes the wheel.
        to_end = watched.to_end.or(to_end);
        let (Some(label), Some(rect)) = (watched.frame, watched.rect) else {
            all = true;
            break;
        };
        let child = {
            let state = context.pages.state();
            let keys = state.target(&context.target).map(crate::page::Target::keys).unwrap_or_default();
            keys.into_iter().find(|key| format!("f{}", key.label) == label)
        };
        let Some(child) = child.filter(|_| frames.len() < DEEPEST) else { break };
        let view = context.pages.run(&child, vec![Step("info", json!({}))]).await;
        let Ok(view) = view.and_then(|mut call| call.take::<View>()) else { break };
        let [x, y, width, height] = rect;
        let scale = |size: f64, inner: f64| if size > 0.0 { inner / size } else { 1.0 };
        at = ((at.0 - x) * scale(width, view.viewport[0]), (at.1 - y) * scale(height, view.viewport[1]));
        key = child;
    }
    Ok((Noted { frames, all }, to_end))
}

/// The noted panes that moved, once they stand still. `None` where none is known to have, and not all were looked at.
async fn moved(context: &Context, noted: &Noted) -> Option<Vec<Pane>> {
    let limit = STANDS.min(context.left() / 2);
    let args = json!({ "token": context.token, "ms": u64::try_from(limit.as_millis()).unwrap_or(0) });
    let reads = noted.frames.iter().map(|key| {
        let args = args.clone();
        async move {
            let call = context.pages.run(key, vec![Step("movedPanes", args)]).await;
            let moved = call.and_then(|mut call| call.take::<Moved>()).ok()?.panes;
            Some(moved.into_iter().map(|pane| pane.pane(key)).collect::<Vec<_>>())
        }
    });
    together(futures_util::future::join_all(reads).await, noted.all)
}

/// What moved in each of the frames, and whether they are all.
fn together(frames: Vec<Option<Vec<Pane>>>, all: bool) -> Option<Vec<Pane>> {
    let all = all && frames.iter().all(Option::is_some);
    let moved = frames.into_iter().flatten().flatten().collect::<Vec<_>>();
    (all || !moved.is_empty()).then_some(moved)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Brought {
    in_view: bool,
}

async fn into_view(context: &Context, target: &Locator) -> Result<Acted, OpError> {
    let (found, looked) = find(context, target).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let need = Need { word: "none", guarded: &[], position: None };
    let (aim, _) = ready(context, target, found, need).await?;
    let key = &aim.found.key;
    context.pages.place_frames(&context.target).await;
    let noted = note_round(context, key, aim.found.node).await;
    context.dispatching().await;
    let fault = |error: EngineError| context.engine(&error, Phase::Dispatch);
    context.pages.scroll_frames(key, 0).await.map_err(fault)?;
    let brought = Step("intoView", json!({ "ref": aim.found.node }));
    let mut call = context.pages.run(key, vec![brought]).await.map_err(fault)?;
    let brought: Brought = call.take().map_err(fault)?;
    if !brought.in_view {
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::BrowserEffect,
            "the element cannot be scrolled into view",
            "observe the page: a pane round it may be closed or too small",
        )
        .reason("outside_viewport"));
    }
    let panes = moved(context, &noted).await;
    let (measured, revision) = measure(context, &before, None).await?;
    let evidence = Evidence { scrolled: panes, ..measured };
    Ok(acted(context, "scroll", &aim, &before, revision, evidence, carried))
}

/// Notes the panes round an element, and round each frame that it lies in. Answers these frames.
async fn note_round(context: &Context, key: &FrameKey, node: u32) -> Noted {
    let chain: Vec<FrameKey> = {
        let state = context.pages.state();
        let target = state.target(&context.target);
        let keys =
            target.map(|target| target.chain(&key.frame).iter().filter_map(|id| target.key(id)).collect());
        keys.unwrap_or_default()
    };
    let notes = chain.iter().enumerate().map(|(at, frame)| {
        let args = match at {
            0 => json!({ "token": context.token, "ref": node }),
            at => json!({ "token": context.token, "label": format!("f{}", chain[at - 1].label) }),
        };
        async move {
            let call = context.pages.run(frame, vec![Step("watchPanes", args)]).await;
            call.and_then(|mut call| call.take::<Watched>()).is_ok()
        }
    });
    let answered = futures_util::future::join_all(notes).await;
    let all = !answered.is_empty() && answered.iter().all(|answered| *answered);
    let frames = chain.into_iter().zip(answered).filter_map(|(key, answered)| answered.then_some(key));
    Noted { frames: frames.collect(), all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_nothing_moved_is_said_only_where_all_was_looked_at() {
        let pane = || Pane {
            reference: None,
            frame_id: None,
            role: "document".to_owned(),
            label: String::new(),
            from: Point { x: 0.0, y: 0.0 },
            at: Point { x: 0.0, y: 9.0 },
            end: Point { x: 0.0, y: 9.0 },
        };
        assert_eq!(together(vec![Some(vec![])], true), Some(vec![]));
        assert_eq!(together(vec![Some(vec![])], false), None);
        assert_eq!(together(vec![Some(vec![]), None], true), None);
        assert_eq!(together(vec![None, Some(vec![pane()])], false), Some(vec![pane()]));
    }
}
