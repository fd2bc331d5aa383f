//! `click`, and the one path of all presses. Life of a press:
//!
//! 1. the revision is brought up to date and the element found, one call a frame;
//! 2. until the deadline: the page checks the element (5.1), the revision is guarded, a guard is armed in every frame,
//!    all in one call, so that nothing can come between check and guard;
//! 3. move, press and release are sent back to back;
//! 4. two animation frames pass, the guards say what received the press. Where they stopped it, back to 2;
//! 5. what began meanwhile commits, and the effect is measured.

use std::time::{Duration, Instant};

use glass_proto::error::{Candidate, ErrorKind, OpError, Phase};
use glass_proto::op::{Button, Click, Locator, Modifier, Point};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Acted, Evidence, Hit, Target};
use serde_json::json;

use super::{begin, travel};
use crate::act::{
    Aim, Before, Found, Info, Need, Report, candidate, disarm_all, find, guard_revision, measure, ready,
};
use crate::context::Context;
use crate::input::{Contact, Press, button_of, modifier_bits, modifier_key};
use crate::page::{Blocker, Changes, Check, EngineError, FrameKey, Halt, State, Step};

/// Time that one more press and its settle may take: with less left the answer is what is known.
const ONE_PRESS: Duration = Duration::from_millis(250);

/// How long a page that a link opens beside this one is waited for.
const OPENS_BESIDE: Duration = Duration::from_millis(300);

/// What the pointer does on an element.
#[derive(Debug)]
pub(super) struct Gesture<'a> {
    /// The operation.
    pub(super) action: &'static str,
    /// The element.
    pub(super) target: &'a Locator,
    /// Where in it.
    pub(super) position: Option<Point>,
    /// Keys held meanwhile.
    pub(super) modifiers: &'a [Modifier],
    /// What the pointer does there.
    pub(super) contact: Contact,
}

impl Gesture<'_> {
    /// Whether this press asks the browser to open a link in another page.
    fn opens_beside(&self, aim: &Aim) -> bool {
        let asks = |modifier: &Modifier| !matches!(modifier, Modifier::Alt);
        let beside = match self.contact {
            Contact::Press(Button::Middle, _) => true,
            Contact::Press(Button::Left, _) => self.modifiers.iter().any(asks),
            _ => false,
        };
        beside && aim.role == "link"
    }

    fn need(&self) -> Need<'_> {
        let (word, guarded): (_, &[&str]) = match self.contact {
            Contact::Hover => ("hover", &["move"]),
            Contact::Press(..) | Contact::Touch => ("click", &["pointer", "mouse", "click"]),
        };
        Need { word, guarded, position: self.position }
    }
}

pub(super) async fn run(context: &Context, params: &Click) -> Result<Acted, OpError> {
    let Click { target, button, modifiers, position } = params;
    let contact = Contact::Press(*button, 1);
    perform(context, &Gesture { action: "click", target, position: *position, modifiers, contact }).await
}

/// Finds the element, waits until it can be reached, moves and presses, and measures what came of it.
pub(super) async fn perform(context: &Context, gesture: &Gesture<'_>) -> Result<Acted, OpError> {
    begin::page(context)?;
    let (found, looked) = find(context, gesture.target).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let Touched { aim, landed } = touch(context, gesture, found, |_| Ok(true)).await?;
    let (hit, fresh, left) = landed.map_or((None, None, false), |it| (it.hit, it.fresh, it.left));
    if gesture.opens_beside(&aim) {
        let until = context.soft.min(Instant::now() + OPENS_BESIDE);
        let opened = |state: &State| before.opened(context, state).then_some(());
        // The browser opens it by itself, a moment after the press.
        let _ = context.pages.until(until, opened).await;
    }
    let (measured, revision) = measure(context, &before, fresh).await?;
    let evidence = Evidence { hit_target: hit, pressed_only: left.then_some(true), ..measured };
    Ok(acted(context, gesture.action, &aim, &before, revision, evidence, carried))
}

/// What a gesture on an element came to.
#[derive(Debug)]
pub(super) struct Touched {
    /// The element.
    pub(super) aim: Aim,
    /// How it landed; absent when it was not wanted once the element was ready, and nothing was sent.
    pub(super) landed: Option<Landed>,
}

/// A gesture that reached its element.
#[derive(Debug)]
pub(super) struct Landed {
    /// What received it.
    pub(super) hit: Option<Hit>,
    /// The page after the settle, where it was looked at in the same call.
    pub(super) fresh: Option<(Changes, Info)>,
    /// The page took the element away when it was pressed.
    pub(super) left: bool,
}

/// Waits until the element can be reached, asks `wanted` right before, and moves and presses. Checks again as long as
/// guards keep the press from the page.
pub(super) async fn touch(
    context: &Context,
    gesture: &Gesture<'_>,
    found: Found,
    mut wanted: impl FnMut(&Aim) -> Result<bool, OpError>,
) -> Result<Touched, OpError> {
    let mut found = found;
    let mut stopped = false;
    let travelled;
    let mut context = context;
    if travel::wanted(context) && gesture.contact != Contact::Touch {
        // The way there takes its time: the check and the press follow each other after it.
        let (aim, _) = ready(context, gesture.target, found, Need { guarded: &[], ..gesture.need() }).await?;
        if !wanted(&aim)? {
            return Ok(Touched { aim, landed: None });
        }
        if let Some(point) = aim.point {
            travel::travel(context, point).await?;
            stopped = true;
        }
        // What the pointer brought about on its way is not what the caller guards against.
        travelled = context.unguarded();
        context = &travelled;
        found = again(context, gesture.target, aim.found).await?;
    }
    loop {
        let ready = ready(context, gesture.target, found, gesture.need()).await;
        let (aim, _) = ready.map_err(|error| kept_back(stopped, error))?;
        if !wanted(&aim).map_err(|error| kept_back(stopped, error))? {
            disarm_all(context, &aim.found.key).await;
            return Ok(Touched { aim, landed: None });
        }
        match press(context, gesture, &aim).await? {
            Pressed::Landed { hit, fresh, left } => {
                return Ok(Touched { aim, landed: Some(Landed { hit, fresh, left }) });
            }
            Pressed::Stopped(would_hit) => {
                // The page never saw it: the check runs again.
                stopped = true;
                found = again(context, gesture.target, aim.found).await?;
                if context.left() < ONE_PRESS {
                    return Err(OpError::failed(
                        ErrorKind::NotActionable,
                        Phase::Dispatch,
                        "something else was under the pointer at every press; each was kept from the page",
                        "observe the page; wait for what moves or covers it",
                    )
                    .reason("hit_test_blocked")
                    .with_candidates(would_hit.into_iter().collect()));
                }
            }
        }
    }
}

/// The element once more, after something was sent: a ref is the same one, another locator may fit another by now.
pub(super) async fn again(context: &Context, target: &Locator, found: Found) -> Result<Found, OpError> {
    if found.by_ref.is_some() {
        return Ok(found);
    }
    Ok(find(context, target).await.map_err(|error| kept_back(true, error))?.0)
}

/// After presses that guards kept from the page, an error is of an operation that was sent without effect.
pub(super) fn kept_back(stopped: bool, error: OpError) -> OpError {
    if stopped && error.outcome == Outcome::Rejected {
        return error.ended(Outcome::Failed, Dispatched::Yes);
    }
    error
}

/// The result of an action on an element.
pub(super) fn acted(
    context: &Context,
    action: &str,
    aim: &Aim,
    before: &Before,
    revision: u64,
    evidence: Evidence,
    carried: Option<bool>,
) -> Acted {
    let key = &aim.found.key;
    Acted {
        action: action.to_owned(),
        target: Some(Target {
            label: glass_proto::escape::cut(&format!("{} \"{}\"", aim.role, aim.label), 160).into_owned(),
            reference: aim.found.reference(),
            carried: carried.filter(|carried| *carried),
        }),
        target_id: context.target.clone(),
        frame_id: (key.label != 0).then(|| format!("f{}", key.label)),
        previous_revision: before.revision,
        revision,
        evidence,
    }
}

enum Pressed {
    /// It reached the element, as far as can be told.
    Landed {
        /// What received it.
        hit: Option<Hit>,
        /// The page after the settle, where it was looked at in the same call.
        fresh: Option<(Changes, Info)>,
        /// The page took the element away when it was pressed.
        left: bool,
    },
    /// Guards kept it from the page; what it would have hit.
    Stopped(Option<Candidate>),
}

async fn press(context: &Context, gesture: &Gesture<'_>, aim: &Aim) -> Result<Pressed, OpError> {
    let point = aim.point.ok_or_else(|| {
        OpError::rejected(
            ErrorKind::NotActionable,
            Phase::Preflight,
            "the element has no point to press",
            "observe the page",
        )
    })?;
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| crate::context::halted(&Halt::Closed))?;
    context.dispatching().await;
    tracing::debug!(x = point.0, y = point.1, "press");
    let down = context.pages.state().device(&context.target).map_or(0, |device| device.bits());
    let modifiers = modifier_bits(gesture.modifiers) | down;
    hold(context, &session, gesture.modifiers, true).await;
    if let Contact::Press(button, _) = gesture.contact {
        let held = (session.clone(), point.0, point.1, button_of(button).0);
        context.undo(|undo| undo.held.button = Some(held));
    }
    let shown =
        context.pages.state().target(&context.target).and_then(|target| target.key(&aim.found.key.frame));
    if shown.as_ref() != Some(&aim.found.key) {
        context.undo(|undo| undo.held.button = None);
        hold(context, &session, gesture.modifiers, false).await;
        return Err(OpError::failed(
            ErrorKind::StaleReference,
            Phase::Dispatch,
            "the document was replaced before the press, which was not sent",
            "observe the page",
        )
        .reason("navigated"));
    }
    if gesture.contact == Contact::Touch {
        // The page gets mouse events of it, unless it kept the touch for itself.
        context.pages.state().lose_pointer(&session);
    } else {
        context.pages.state().note_pointer(&session, point);
    }
    let press = Press::send(context.pages.client(), &session, point, gesture.contact, modifiers);
    let mut blocked = false;
    for acknowledgement in press.acknowledgements {
        match context.pages.or_halt(&context.target, acknowledgement).await {
            Ok(_) => {}
            // A dialog or the end of the page withholds the acknowledgement: that is the evidence (DESIGN 7).
            Err(EngineError::Halted(_) | EngineError::Gone) => {
                blocked = true;
                break;
            }
            Err(error) => return Err(context.engine(&error, Phase::Dispatch)),
        }
    }
    // The release was sent with the press, so the browser lets go by itself.
    context.undo(|undo| undo.held.button = None);
    hold(context, &session, gesture.modifiers, false).await;
    if blocked {
        context.undo(|undo| undo.armed.clear());
        return gone(context, &aim.found.key).await;
    }
    settle(context, gesture, aim).await
}

async fn settle(context: &Context, gesture: &Gesture<'_>, aim: &Aim) -> Result<Pressed, OpError> {
    let key = &aim.found.key;
    let alone = context.pages.state().target(&context.target).is_some_and(|target| target.frames.len() == 1);
    if alone {
        return settle_and_look(context, gesture, aim).await;
    }
    match context.pages.run(key, vec![Step("settle", json!({ "frames": 2 }))]).await {
        Ok(_) | Err(EngineError::Gone | EngineError::Halted(_)) => {}
        Err(error) => return Err(context.engine(&error, Phase::BrowserEffect)),
    }
    let Some(report) = disarm_all(context, key).await else {
        return gone(context, key).await;
    };
    judge(gesture, &report, aim, None)
}

/// A page without frames: settle, guard and look in one call.
async fn settle_and_look(context: &Context, gesture: &Gesture<'_>, aim: &Aim) -> Result<Pressed, OpError> {
    let key = &aim.found.key;
    let steps = vec![
        Step("settle", json!({ "frames": 2 })),
        Step("disarm", json!({ "token": context.token })),
        Step("check", json!({})),
        Step("info", json!({})),
    ];
    context.undo(|undo| undo.armed.clear());
    let mut call = match context.pages.run(key, steps).await {
        Ok(call) => call,
        Err(EngineError::Gone | EngineError::Halted(_)) => return gone(context, key).await,
        Err(error) => return Err(context.engine(&error, Phase::BrowserEffect)),
    };
    let fault = |error: EngineError| context.engine(&error, Phase::BrowserEffect);
    call.take::<serde_json::Value>().map_err(fault)?;
    let report: Report = call.take().map_err(fault)?;
    let check: Check = call.take().map_err(fault)?;
    let info: Info = call.take().map_err(fault)?;
    let changes = context.pages.take_reports(&context.target, &[(key.clone(), check)]);
    judge(gesture, &report, aim, Some((changes, info)))
}

/// The document went or is held by a dialog: the press made that happen, if its guard said that it let it through. A
/// guard says so before the page sees the event.
async fn gone(context: &Context, key: &FrameKey) -> Result<Pressed, OpError> {
    let reported = |state: &crate::page::State| state.reported(&context.token).cloned();
    // The report and what took the page away can travel different ways.
    let until = Instant::now() + Duration::from_millis(100);
    let hit = context.pages.until(until, reported).await.ok().flatten();
    let hit = hit.and_then(|hit| serde_json::from_value::<Blocker>(hit).ok());
    let halt = Halt::of(&context.pages.state(), &context.target);
    if hit.is_none() && !matches!(halt, Some(Halt::Closed)) {
        let error = OpError::unknown(
            if matches!(halt, Some(Halt::Dialog(_))) { "dialog" } else { "navigated" },
            "the press was sent while the page went or was held by a dialog; what received it is not known",
            "observe the page before doing it again",
        );
        return Err(match halt {
            Some(Halt::Dialog(dialog)) => {
                error.detail("dialog", serde_json::to_value(dialog).unwrap_or_default())
            }
            _ => error,
        });
    }
    let report = Report { hit, ..Report::default() };
    Ok(Pressed::Landed { hit: report.hit_target(key), fresh: None, left: false })
}

/// Roles whose press may open a list of the browser's own, which takes the rest of the press.
const OPENS_LIST: &[&str] = &["combobox", "listbox"];

fn judge(
    gesture: &Gesture<'_>,
    report: &Report,
    aim: &Aim,
    fresh: Option<(Changes, Info)>,
) -> Result<Pressed, OpError> {
    let own = || report.wrong.clone().and_then(|wrong| candidate(&aim.found.key, wrong));
    let would_hit = || report.would_hit.clone().or_else(own);
    let done = match gesture.contact {
        Contact::Hover => true,
        Contact::Press(_, 2) => report.doubled || report.left,
        Contact::Press(..) | Contact::Touch => {
            report.landed || report.left || report.answered || report.stopped > 0
        }
    };
    if report.hit.is_some() && !done && !OPENS_LIST.contains(&aim.role.as_str()) {
        let message = if report.landed {
            "the first click reached the element and the second did not"
        } else {
            "the press began on the element and ended elsewhere, so that the page saw no click on it"
        };
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::BrowserEffect,
            message,
            "observe the page: the element moved or was replaced while it was pressed",
        )
        .reason("geometry_changed")
        .with_candidates(would_hit().into_iter().collect()));
    }
    if report.hit.is_some() {
        let hit = report.hit_target(&aim.found.key);
        return Ok(Pressed::Landed { hit, fresh, left: report.left || report.answered });
    }
    if report.stopped > 0 {
        return Ok(Pressed::Stopped(would_hit()));
    }
    Err(OpError::failed(
        ErrorKind::NotActionable,
        Phase::BrowserEffect,
        "the press was sent, and the page's document received no event of it",
        "observe the page: the element may have gone at that moment",
    )
    .reason("node_unavailable")
    .ended(Outcome::Failed, Dispatched::Yes))
}

/// Presses or releases modifier keys.
pub(super) async fn hold(
    context: &Context,
    session: &std::sync::Arc<str>,
    modifiers: &[Modifier],
    down: bool,
) {
    use crate::cdp::types::input::{DispatchKeyEvent, KeyEventType};
    for (at, modifier) in modifiers.iter().enumerate() {
        let stroke = modifier_key(*modifier);
        let kind = if down { KeyEventType::RawKeyDown } else { KeyEventType::KeyUp };
        let bits = modifier_bits(if down { &modifiers[..=at] } else { &modifiers[at + 1..] });
        let event = DispatchKeyEvent {
            modifiers: Some(bits),
            key: Some(&stroke.key),
            code: Some(stroke.code),
            windows_virtual_key_code: Some(stroke.key_code),
            ..DispatchKeyEvent::new(kind)
        };
        drop(context.pages.client().start_send(Some(session), event));
        context.undo(|undo| {
            if down {
                undo.held.keys.push((session.clone(), stroke));
            } else {
                undo.held.keys.retain(|(_, held)| *held != stroke);
            }
        });
    }
}
