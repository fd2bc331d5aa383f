//! `drag`. Press on the source, wait as long as the caller says, move away, and only then look for the destination:
//! some pages make it for the drag alone. Where the page asks for the browser's own drag and drop, the browser tells
//! of it and the rest goes on as drag events. Whatever fails, the button is let go (contract 5.7).

use std::sync::Arc;
use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Button, Drag, Place, Point};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Acted, DragKind, Evidence};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::at_point::check_inside;
use super::click::{acted, again, hold, kept_back};
use super::{begin, travel};
use crate::act::{
    Aim, Before, Need, disarm_all, find, guard_revision, look, measure, ready, unwatch_all, watch_all,
};
use crate::cdp::types::input::{
    DispatchDragEvent, DispatchMouseEvent, DragEventType, MouseEventType, SetInterceptDrags,
};
use crate::context::{Context, halted};
use crate::input::{button_of, ease, modifier_bits};
use crate::page::{EngineError, FrameKey, Halt, Mapped, Step};

/// How far the pointer goes away first, in CSS pixels: most libraries wait for less.
const AWAY: [f64; 4] = [2.0, 5.0, 9.0, 14.0];
/// How long the browser may take to tell that it would begin a drag of its own.
const TELLS: Duration = Duration::from_millis(80);
/// Between two moves of a hand that carries something.
const PAUSE: Duration = Duration::from_millis(8);
/// Rest over the destination: some sortable lists heed no move for 30 ms after each place that they gave, others look
/// every 50 ms; on a busy machine both are late.
const REST: Duration = Duration::from_millis(160);
/// How long a destination that the page makes for the drag may take to come.
const COMES: Duration = Duration::from_millis(1500);

#[derive(Deserialize)]
struct DropPoint {
    point: Option<[f64; 2]>,
    #[serde(default)]
    size: [f64; 2],
}

/// Where the destination is, in the page's viewport.
#[derive(Clone)]
struct Spot {
    /// The document of an element.
    key: Option<FrameKey>,
    at: (f64, f64),
    /// Width and height of what is seen of it.
    size: [f64; 2],
}

impl Spot {
    fn holds(&self, (x, y): (f64, f64)) -> bool {
        let [width, height] = self.size;
        (x - self.at.0).abs() <= width / 2.0 && (y - self.at.1).abs() <= height / 2.0
    }
}

/// What the drag works with.
struct Hand<'a> {
    context: &'a Context,
    session: Arc<str>,
    modifiers: u8,
    at: (f64, f64),
    /// What the browser's own drag carries, once there is one.
    native: Option<Arc<RawValue>>,
}

pub(super) async fn run(context: &Context, params: &Drag) -> Result<Acted, OpError> {
    begin::page(context)?;
    let points = [&params.source, &params.destination].iter().any(|place| matches!(place, Place::Point(_)));
    if points && context.frame().is_some_and(|frame| frame.label != 0) {
        return Err(OpError::invalid(
            "points are of the whole page, and a frame is chosen in it",
            "name elements of the frame, or choose the whole page with --frame main",
        ));
    }
    let (from, aim, before, carried) = source(context, params).await?;
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    context.dispatching().await;
    let client = context.pages.client();
    if let Some(target) = context.pages.state().targets.get_mut(&context.target) {
        target.drag = None;
    }
    context.undo(|undo| undo.drags = Some(session.clone()));
    drop(client.start_send(Some(&session), SetInterceptDrags { enabled: true }));
    let down = context.pages.state().device(&context.target).map_or(0, |device| device.bits());
    hold(context, &session, &params.modifiers, true).await;
    let modifiers = modifier_bits(&params.modifiers) | down;
    let mut hand = Hand { context, session: session.clone(), modifiers, at: from, native: None };
    let dragged = carry(&mut hand, params, aim.as_ref()).await;
    // Released by now, whatever came of it.
    context.undo(|undo| undo.held.button = None);
    hold(context, &session, &params.modifiers, false).await;
    drop(client.start_send(Some(&session), SetInterceptDrags { enabled: false }));
    context.undo(|undo| undo.drags = None);
    let native = hand.native.is_some();
    dragged?;
    super::key::settle(context).await?;
    let seen = unwatch_all(context).await;
    let dropped = seen.iter().find_map(|(key, report)| report.drop_target(key));
    let (measured, revision) = measure(context, &before, None).await?;
    let went = measured.document_changed == Some(true) || measured.target_closed == Some(true);
    if native && dropped.is_none() && !went {
        return Err(OpError::failed(
            ErrorKind::VerificationFailed,
            Phase::Verification,
            "the drag went to the destination, which did not take the drop",
            "observe the page: the destination may take other things, or another place of it",
        )
        .reason("not_dropped")
        .ended(Outcome::Failed, Dispatched::Yes));
    }
    let evidence = Evidence {
        drag: Some(if native { DragKind::Native } else { DragKind::Pointer }),
        hit_target: dropped,
        ..measured
    };
    Ok(match aim {
        Some(aim) => acted(context, "drag", &aim, &before, revision, evidence, carried),
        None => Acted {
            action: "drag".to_owned(),
            target: None,
            target_id: context.target.clone(),
            frame_id: None,
            previous_revision: before.revision,
            revision,
            evidence,
        },
    })
}

type Source = ((f64, f64), Option<Aim>, Before, Option<bool>);

async fn source(context: &Context, params: &Drag) -> Result<Source, OpError> {
    match &params.source {
        Place::Element(locator) => {
            let (found, looked) = find(context, locator).await?;
            guard_revision(context, Some(&found.key), &looked.changes, None)?;
            let before = Before::of(context, &looked.changes, Some(&looked.info));
            let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
            let need = Need { word: "click", guarded: &["pointer", "mouse"], position: None };
            let mut found = found;
            let travelled;
            let mut context = context;
            if travel::wanted(context) {
                let (aim, _) = ready(context, locator, found, Need { guarded: &[], ..need }).await?;
                if let Some(point) = aim.point {
                    travel::travel(context, point).await?;
                }
                travelled = context.unguarded();
                context = &travelled;
                found = again(context, locator, aim.found).await?;
            }
            let ready = ready(context, locator, found, need).await;
            let (aim, _) = ready.map_err(|error| kept_back(context.is_dispatched(), error))?;
            let point = aim.point.ok_or_else(|| {
                OpError::rejected(
                    ErrorKind::NotActionable,
                    Phase::Preflight,
                    "the element has no point to press",
                    "observe the page",
                )
                .reason("not_visible")
            })?;
            Ok((point, Some(aim), before, carried))
        }
        Place::Point(point) => {
            let looked = look(context, None, false, 1).await?;
            guard_revision(context, None, &looked.changes, None)?;
            let before = Before::of(context, &looked.changes, Some(&looked.info));
            check_inside(context, *point).await?;
            if travel::wanted(context) {
                travel::travel(context, (point.x, point.y)).await?;
            }
            Ok(((point.x, point.y), None, before, None))
        }
    }
}

impl Hand<'_> {
    async fn mouse(&self, kind: MouseEventType, buttons: u8) -> Result<(), OpError> {
        let left = button_of(Button::Left).0;
        let event = DispatchMouseEvent {
            button: Some(left),
            buttons: Some(buttons),
            click_count: (kind != MouseEventType::MouseMoved).then_some(1),
            modifiers: Some(self.modifiers),
            ..DispatchMouseEvent::new(kind, self.at.0, self.at.1)
        };
        let sent = self.context.pages.client().start_send(Some(&self.session), event);
        // The browser acknowledges no move that became a drag of its own.
        let acknowledged = self.context.pages.or_halt(&self.context.target, sent);
        match tokio::time::timeout(Duration::from_millis(500), acknowledged).await {
            Ok(Ok(_)) | Err(_) => Ok(()),
            Ok(Err(error)) => Err(self.context.engine(&error, Phase::Dispatch)),
        }
    }

    async fn drag(&self, kind: DragEventType, data: &RawValue) -> Result<(), OpError> {
        let event =
            DispatchDragEvent { kind, x: self.at.0, y: self.at.1, data, modifiers: Some(self.modifiers) };
        let sent = self.context.pages.client().start_send(Some(&self.session), event);
        match self.context.pages.or_halt(&self.context.target, sent).await {
            Ok(_) | Err(EngineError::Halted(Halt::Dialog(_))) => Ok(()),
            Err(error) => Err(self.context.engine(&error, Phase::Dispatch)),
        }
    }

    async fn go(&mut self, to: (f64, f64)) -> Result<(), OpError> {
        self.at = to;
        self.context.pages.state().note_pointer(&self.session, to);
        self.context.undo(|undo| {
            if let Some((_, x, y, _)) = &mut undo.held.button {
                (*x, *y) = to;
            }
        });
        match self.native.clone() {
            Some(data) => self.drag(DragEventType::DragOver, &data).await,
            None => self.mouse(MouseEventType::MouseMoved, 1).await,
        }
    }

    /// Whether the browser would have begun a drag of its own by now.
    async fn asks(&mut self, until: Instant) -> Result<bool, OpError> {
        let context = self.context;
        let told = context.pages.until(until.min(context.soft), |state| {
            state.target(&context.target).and_then(|target| target.drag.clone())
        });
        let told = told.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::Dispatch))?;
        let began = told.is_some() && self.native.is_none();
        self.native = told.or(self.native.take());
        if let (true, Some(data)) = (began, self.native.clone()) {
            self.drag(DragEventType::DragEnter, &data).await?;
        }
        Ok(self.native.is_some())
    }

    /// Gives the drag up where it began.
    async fn cancel(&mut self, home: (f64, f64)) {
        if let Some(data) = self.native.clone() {
            let _ = self.drag(DragEventType::DragCancel, &data).await;
        } else {
            let _ = self.go(home).await;
        }
        let _ = self.mouse(MouseEventType::MouseReleased, 0).await;
    }
}

async fn carry(hand: &mut Hand<'_>, params: &Drag, aim: Option<&Aim>) -> Result<(), OpError> {
    let context = hand.context;
    let home = hand.at;
    context.pages.state().note_pointer(&hand.session, home);
    hand.mouse(MouseEventType::MouseMoved, 0).await?;
    context.undo(|undo| {
        undo.held.button = Some((hand.session.clone(), home.0, home.1, button_of(Button::Left).0));
    });
    hand.mouse(MouseEventType::MousePressed, 1).await?;
    if let Some(aim) = aim {
        // The guard of the press: what it kept from the page was on something else.
        let report = disarm_all(context, &aim.found.key).await;
        if report.as_ref().is_none_or(|report| report.stopped > 0 || report.hit.is_none()) {
            hand.mouse(MouseEventType::MouseReleased, 0).await?;
            return Err(OpError::failed(
                ErrorKind::NotActionable,
                Phase::Dispatch,
                "something else was under the pointer when it was pressed; nothing was dragged",
                "observe the page; wait for what moves or covers it",
            )
            .reason("hit_test_blocked"));
        }
    }
    watch_all(context, &["drag"]).await;
    if let Some(held) = params.hold_ms {
        tokio::time::sleep(Duration::from_millis(u64::from(held))).await;
    }
    let steps = async {
        for distance in AWAY {
            hand.go((home.0 + distance, home.1 + distance / 2.0)).await?;
            if hand.native.is_none() && hand.asks(Instant::now()).await? {
                break;
            }
        }
        hand.asks(Instant::now() + TELLS).await?;
        let mut spot = destination(context, &params.destination).await?;
        let human = travel::wanted(context);
        let steps = params.steps.unwrap_or(if human { 24 } else { 10 });
        let start = hand.at;
        let on_way = |spot: &Spot, step: u32| {
            let part = f64::from(step) / f64::from(steps);
            let part = if human { ease(part) } else { part };
            (start.0 + (spot.at.0 - start.0) * part, start.1 + (spot.at.1 - start.1) * part)
        };
        let mut arrived = false;
        for step in 1..=steps {
            // What made room for the drag may have moved it. From here on it is the same place: a sorted list puts what
            // is dragged there and moves the destination away, which to follow would be another wish.
            if !arrived && (step == steps || spot.holds(on_way(&spot, step))) {
                arrived = true;
                spot = locate(context, &params.destination).await?.unwrap_or(spot);
            }
            hand.go(on_way(&spot, step)).await?;
            if human {
                tokio::time::sleep(PAUSE.min(context.left() / 100)).await;
            }
        }
        for round in 0..2 {
            if round > 0 {
                rest(context, &spot).await;
            }
            // Both ways: the very middle is neither before nor after.
            hand.go((spot.at.0 + 1.0, spot.at.1 + 1.0)).await?;
            hand.go(spot.at).await?;
        }
        Ok::<_, OpError>(())
    };
    let carried = steps.await;
    if let Err(error) = carried {
        hand.cancel(home).await;
        let error = if error.outcome == Outcome::Rejected {
            error.ended(Outcome::Failed, Dispatched::Yes)
        } else {
            error
        };
        return Err(error);
    }
    if let Some(data) = hand.native.clone() {
        // The browser's own drag took the button; the drop lets it go.
        return hand.drag(DragEventType::Drop, &data).await;
    }
    hand.mouse(MouseEventType::MouseReleased, 0).await
}

/// Lets the page look where the pointer is, by its own clock.
async fn rest(context: &Context, spot: &Spot) {
    let main = || {
        let state = context.pages.state();
        state.target(&context.target).and_then(|target| target.key(&target.main))
    };
    let Some(key) = spot.key.clone().or_else(main) else { return };
    let millis = u64::try_from(REST.min(context.left() / 8).as_millis()).unwrap_or_default();
    let step = Step("settle", json!({ "frames": 0, "restMs": millis }));
    // A page that does not answer, or goes, is measured afterwards.
    let _ = tokio::time::timeout(context.left() / 4, context.pages.run(&key, vec![step])).await;
}

/// The destination, once it is there.
async fn destination(context: &Context, place: &Place) -> Result<Spot, OpError> {
    let until = Instant::now() + COMES.min(context.left() / 2);
    loop {
        match locate(context, place).await {
            Ok(Some(spot)) => return Ok(spot),
            Err(error) if error.kind != ErrorKind::TargetNotFound || Instant::now() >= until => {
                return Err(error);
            }
            Ok(None) if Instant::now() >= until => {
                return Err(OpError::rejected(
                    ErrorKind::NotActionable,
                    Phase::TargetResolution,
                    "the destination cannot be brought into view",
                    "observe the page",
                )
                .reason("outside_viewport"));
            }
            Ok(None) | Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Where the destination is now, in the page's viewport. What is dragged may lie over it.
async fn locate(context: &Context, place: &Place) -> Result<Option<Spot>, OpError> {
    let locator = match place {
        Place::Point(Point { x, y }) => return Ok(Some(Spot { key: None, at: (*x, *y), size: [0.0; 2] })),
        Place::Element(locator) => locator,
    };
    let (found, _) = find(context, locator).await?;
    let fault = |error: EngineError| context.engine(&error, Phase::TargetResolution);
    let step = Step("dropPoint", json!({ "ref": found.node }));
    let mut call = context.pages.run(&found.key, vec![step]).await.map_err(fault)?;
    let drop: DropPoint = call.take().map_err(fault)?;
    let Some([x, y]) = drop.point else { return Ok(None) };
    let size = drop.size;
    if found.key.label == 0 {
        return Ok(Some(Spot { key: Some(found.key), at: (x, y), size }));
    }
    context.pages.place_frames(&context.target).await;
    match context.pages.to_page(&found.key, (x, y)).await.map_err(fault)? {
        // A frame that is turned or scaled shows it in another size, which only says when to look again.
        Mapped::At(x, y) => Ok(Some(Spot { key: Some(found.key), at: (x, y), size })),
        Mapped::Blocked { .. } => Ok(None),
    }
}
