//! The frame that a call is confined to (contract 4.1, 7.1): by its id, by the elements that hold it, or as selected.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::locator::{Locator, Step as LocatorStep};
use glass_proto::op::{FrameId, FrameStep};
use serde::Deserialize;
use serde_json::json;

use super::find::find;
use crate::context::{Context, halted};
use crate::page::{FrameKey, Halt, Step};

#[derive(Deserialize)]
struct Held {
    label: Option<String>,
}

/// The frame's document that this call is confined to. `None`: locators look into every frame.
///
/// # Errors
/// A frame that is not there, an element that holds none, a selected frame whose document has gone.
pub async fn confine(context: &Context) -> Result<Option<FrameKey>, OpError> {
    if let Some(id) = context.options.frame_id {
        return frame_of(context, id).map(Some);
    }
    match context.options.frame.as_slice() {
        [] => selected(context),
        [FrameStep::Id(id)] => frame_of(context, *id).map(Some),
        steps => inwards(context, steps).await.map(Some),
    }
}

/// The present document of that id.
///
/// # Errors
/// `target_not_found` when no frame shows such a document.
pub fn frame_of(context: &Context, id: FrameId) -> Result<FrameKey, OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    let found = target.keys().into_iter().find(|key| key.label == id.0);
    found.ok_or_else(|| {
        OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::TargetResolution,
            format!("the page has no frame {id}; a frame has a new id with each document"),
            "list-frames shows the frames of now",
        )
        .reason("no_frame")
    })
}

fn selected(context: &Context) -> Result<Option<FrameKey>, OpError> {
    let state = context.pages.state();
    let Some(selection) = state.selection(&context.client) else { return Ok(None) };
    let Some(frame) = selection.frame.filter(|_| selection.target == context.target) else { return Ok(None) };
    let shown = state.target(&context.target).and_then(|target| target.key(&frame.frame));
    if shown.as_ref() == Some(&frame) {
        return Ok(Some(frame));
    }
    Err(frame_gone(&frame))
}

/// The frame's document is not shown any more.
pub fn frame_gone(frame: &FrameKey) -> OpError {
    OpError::rejected(
        ErrorKind::NoTargetSelected,
        Phase::TargetResolution,
        format!("the document of frame {} is gone, and none is chosen in its place", FrameId(frame.label)),
        "select-frame chooses another, `main` for the whole page; or name one with --frame",
    )
    .reason("frame_gone")
}

/// From the main frame inwards, one element at a time.
async fn inwards(context: &Context, steps: &[FrameStep]) -> Result<FrameKey, OpError> {
    let mut at = frame_of(context, FrameId(0))?;
    for step in steps {
        let FrameStep::Element(locator) = step else {
            return Err(OpError::invalid("a frame id stands alone", "give the id, or locators, not both"));
        };
        at = inside(context, &at, locator).await?;
    }
    Ok(at)
}

/// The frame that the one element holds.
async fn inside(context: &Context, at: &FrameKey, locator: &Locator) -> Result<FrameKey, OpError> {
    context.set_frame(Some(at.clone()));
    let found = find(context, locator).await;
    context.set_frame(None);
    let (found, _) = found?;
    if found.key != *at && !matches!(locator.step, LocatorStep::Ref(_)) {
        return Err(no_frame_there());
    }
    context.pages.place_frames(&context.target).await;
    let step = vec![Step("frameIn", json!({ "ref": found.node }))];
    let held = context.pages.run(&found.key, step).await.and_then(|mut call| call.take::<Held>());
    let held = held.map_err(|error| context.engine(&error, Phase::TargetResolution))?;
    let id = held.label.and_then(|label| label.parse::<FrameId>().ok()).ok_or_else(no_frame_there)?;
    frame_of(context, id)
}

fn no_frame_there() -> OpError {
    OpError::rejected(
        ErrorKind::TargetNotFound,
        Phase::TargetResolution,
        "the element that --frame names holds no frame that can be looked into",
        "name the iframe itself; list-frames shows the frames of the page",
    )
    .reason("no_frame")
}
