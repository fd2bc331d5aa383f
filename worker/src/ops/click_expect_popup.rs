//! `clickExpectPopup`: the path of a click, and exactly one page that came of it (contract 7.2).

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::ClickExpectPopup;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::Acted;

use super::click::{Gesture, perform};
use crate::context::Context;
use crate::input::Contact;
use crate::page::{EngineError, State};

/// How long a page that has opened may take to show what it was opened for.
const STANDS: Duration = Duration::from_secs(2);

pub(super) async fn run(context: &Context, params: &ClickExpectPopup) -> Result<Acted, OpError> {
    let ClickExpectPopup { target, button, modifiers, position } = params;
    let mark = context.pages.state().mark();
    let contact = Contact::Press(*button, 1);
    let gesture = Gesture { action: "clickExpectPopup", target, position: *position, modifiers, contact };
    let mut acted = perform(context, &gesture).await?;
    let closed = |error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect);
    // A page may open it only when something else has come; the deadline is the caller's.
    let opened = context
        .pages
        .until(context.soft, |state| (!state.opened_since(&context.target, mark).is_empty()).then_some(()));
    opened.await.map_err(closed)?;
    let until = context.soft.min(Instant::now() + STANDS);
    let stands = context.pages.until(until, |state| {
        let opened = state.opened_since(&context.target, mark);
        opened.iter().all(|popup| popup.closed || stands(state, &popup.target_id)).then_some(())
    });
    stands.await.map_err(closed)?;
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

/// Whether a new page shows what it was opened for, or cannot.
fn stands(state: &State, id: &str) -> bool {
    let Some(target) = state.target(id) else { return true };
    let shown = !target.url.is_empty()
        && target.document.pending.is_none()
        && target.main_frame().is_some_and(|frame| frame.lifecycle.dom);
    shown || target.crashed || target.dialog.is_some()
}
