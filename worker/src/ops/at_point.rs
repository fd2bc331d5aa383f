//! `clickAt` and `moveMouse`: the pointer at a point of the viewport. No element was meant, so nothing is guarded; every
//! frame is watched, and what received the input is told.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{ClickAt, Modifier, MoveMouse, Point};
use glass_proto::result::{Acted, Evidence, Hit};
use serde::Deserialize;
use serde_json::json;

use super::click::hold;
use super::{begin, travel};
use crate::act::{Before, from_picture, guard_revision, look, measure, unwatch_all, watch_all};
use crate::context::{Context, halted};
use crate::input::{Contact, Press, button_of, modifier_bits};
use crate::page::{EngineError, Halt, Step};

pub(super) async fn click(context: &Context, params: &ClickAt) -> Result<Acted, OpError> {
    let ClickAt { x, y, button, count, screenshot_id, modifiers } = params;
    let contact = Contact::Press(*button, count.unwrap_or(1));
    let place = At { action: "clickAt", point: Point { x: *x, y: *y }, picture: screenshot_id.as_deref() };
    at(context, &place, contact, modifiers).await
}

pub(super) async fn move_mouse(context: &Context, params: &MoveMouse) -> Result<Acted, OpError> {
    let MoveMouse { x, y, modifiers } = params;
    let place = At { action: "moveMouse", point: Point { x: *x, y: *y }, picture: None };
    at(context, &place, Contact::Hover, modifiers).await
}

#[derive(Deserialize)]
struct Inside {
    inside: bool,
}

/// Refuses a point outside the viewport.
///
/// # Errors
/// `invalid_argument`.
pub(super) async fn check_inside(context: &Context, point: Point) -> Result<(), OpError> {
    let main = {
        let state = context.pages.state();
        state.target(&context.target).and_then(|target| target.key(&target.main))
    };
    let main = main.ok_or_else(|| halted(&Halt::Closed))?;
    let step = Step("pointState", json!({ "x": point.x, "y": point.y }));
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let mut call = context.pages.run(&main, vec![step]).await.map_err(fault)?;
    if call.take::<Inside>().map_err(fault)?.inside {
        return Ok(());
    }
    Err(OpError::invalid(
        "the point lies outside the viewport",
        "points count CSS pixels from the top left of what is in view; scroll first",
    ))
}

/// Where the pointer goes.
struct At<'a> {
    action: &'static str,
    /// In the viewport, or in the picture.
    point: Point,
    /// The picture that the point is read off.
    picture: Option<&'a str>,
}

async fn at(
    context: &Context,
    place: &At<'_>,
    contact: Contact,
    modifiers: &[Modifier],
) -> Result<Acted, OpError> {
    let At { action, point, picture } = *place;
    begin::page(context)?;
    let looked = look(context, None, false, 1).await?;
    guard_revision(context, None, &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let point = match picture {
        Some(id) => {
            let (x, y) = from_picture(context, id, (point.x, point.y)).await?;
            Point { x, y }
        }
        None => point,
    };
    check_inside(context, point).await?;
    if travel::wanted(context) {
        travel::travel(context, (point.x, point.y)).await?;
    }
    let kinds: &[&str] = if contact == Contact::Hover { &["move"] } else { &["pointer", "mouse", "click"] };
    watch_all(context, kinds).await;
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    context.dispatching().await;
    let down = context.pages.state().device(&context.target).map_or(0, |device| device.bits());
    hold(context, &session, modifiers, true).await;
    if let Contact::Press(button, _) = contact {
        let held = (session.clone(), point.x, point.y, button_of(button).0);
        context.undo(|undo| undo.held.button = Some(held));
    }
    let place = (point.x, point.y);
    let press =
        Press::send(context.pages.client(), &session, place, contact, modifier_bits(modifiers) | down);
    context.pages.state().note_pointer(&session, place);
    let mut held_up = false;
    for acknowledgement in press.acknowledgements {
        match context.pages.or_halt(&context.target, acknowledgement).await {
            Ok(_) => {}
            Err(EngineError::Halted(_) | EngineError::Gone) => {
                held_up = true;
                break;
            }
            Err(error) => return Err(context.engine(&error, Phase::Dispatch)),
        }
    }
    context.undo(|undo| undo.held.button = None);
    hold(context, &session, modifiers, false).await;
    let mut hit = None;
    if held_up {
        context.undo(|undo| undo.armed.clear());
    } else {
        super::key::settle(context).await?;
        hit = received(context).await;
    }
    let (measured, revision) = measure(context, &before, None).await?;
    let went = measured.document_changed == Some(true) || measured.target_closed == Some(true);
    if hit.is_none() && !held_up && !went {
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::BrowserEffect,
            "the input was sent, and no document of the page received it",
            "observe the page: something of the browser's own may lie there",
        )
        .reason("node_unavailable"));
    }
    let evidence = Evidence { hit_target: hit, ..measured };
    Ok(Acted {
        action: action.to_owned(),
        target: None,
        target_id: context.target.clone(),
        frame_id: None,
        previous_revision: before.revision,
        revision,
        evidence,
    })
}

/// What received the watched input, in whichever frame.
pub(super) async fn received(context: &Context) -> Option<Hit> {
    let seen = unwatch_all(context).await;
    seen.iter().find_map(|(key, report)| report.hit_target(key))
}
