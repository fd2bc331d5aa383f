//! `clickExpectPopup`: the path of a click, and exactly one page that came of it (contract 7.2).

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::ClickExpectPopup;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Acted, PopupSeen};

use super::click::{Gesture, perform};
use crate::context::Context;
use crate::page::EngineError;

pub(super) async fn run(context: &Context, params: &ClickExpectPopup) -> Result<Acted, OpError> {
    let ClickExpectPopup { target, button, modifiers, position } = params;
    let mark = context.pages.state().mark();
    let press = Some((*button, 1));
    let gesture = Gesture { action: "clickExpectPopup", target, position: *position, modifiers, press };
    let mut acted = perform(context, &gesture).await?;
    // A page may open it only when something else has come; the deadline is the caller's.
    let opened = context.pages.until(context.soft, |state| {
        let opened = state.opened_since(&context.target, mark);
        let stands = |popup: &PopupSeen| {
            popup.closed
                || state.target(&popup.target_id).is_none_or(|target| {
                    target.crashed
                        || target.dialog.is_some()
                        || target.main_frame().is_some_and(|frame| frame.lifecycle.dom)
                })
        };
        (!opened.is_empty() && opened.iter().all(stands)).then_some(())
    });
    opened.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?;
    let opened = context.pages.state().opened_since(&context.target, mark);
    if let [_] = opened.as_slice() {
        acted.evidence.popups = opened;
        return Ok(acted);
    }
    let (kind, message, remedy) = if opened.is_empty() {
        (
            ErrorKind::PopupMissing,
            "the click was acknowledged, and no page opened until the deadline".to_owned(),
            "observe the page; something on it may have to be answered first",
        )
    } else {
        (
            ErrorKind::PopupAmbiguous,
            format!("the click opened {} pages, and one was expected", opened.len()),
            "list-targets shows them; go on with the id of the one that is meant",
        )
    };
    let listed: Vec<_> = opened.into_iter().take(8).collect();
    let error = OpError::failed(kind, Phase::Verification, message, remedy)
        .detail("popups", serde_json::to_value(listed).unwrap_or_default());
    Err(error.ended(Outcome::Completed, Dispatched::Yes))
}
