//! `check` and `uncheck`: one press at most, and the state read back (contract 5.3).

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Check, Locator, Uncheck};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Acted, Evidence};
use serde::Deserialize;
use serde_json::json;

use super::begin;
use super::click::{Gesture, Landed, Touched, acted, touch};
use crate::act::{Before, Checked, find, guard_revision, measure};
use crate::context::Context;
use crate::input::Contact;
use crate::page::{EngineError, Step};

/// How long a page may take to show the state that a press gave.
const TURNS: Duration = Duration::from_millis(800);
/// Between two looks at it.
const AGAIN: Duration = Duration::from_millis(40);

pub(super) async fn check(context: &Context, params: &Check) -> Result<Acted, OpError> {
    set(context, "check", &params.target, true).await
}

pub(super) async fn uncheck(context: &Context, params: &Uncheck) -> Result<Acted, OpError> {
    set(context, "uncheck", &params.target, false).await
}

#[derive(Deserialize)]
struct State {
    checked: Option<Checked>,
    role: String,
}

pub(super) async fn set(
    context: &Context,
    action: &'static str,
    target: &Locator,
    wanted: bool,
) -> Result<Acted, OpError> {
    begin::page(context)?;
    let (found, looked) = find(context, target).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let gesture = Gesture {
        action,
        target,
        position: None,
        modifiers: &[],
        contact: Contact::Press(glass_proto::op::Button::Left, 1),
    };
    let first = found.clone();
    let is = |state: Option<Checked>| state == Some(Checked::Is(wanted));
    let mut was = None;
    let touched = touch(context, &gesture, found, |aim| {
        was = aim.checked;
        match aim.checked {
            None => Err(no_state()),
            Some(state) if !wanted && aim.role == "radio" && state == Checked::Is(true) => {
                Err(OpError::invalid("a radio button cannot be unticked", "tick another one of its group"))
            }
            state => Ok(!is(state)),
        }
    })
    .await?;
    let Touched { aim, landed } = touched;
    let (evidence, revision) = match landed {
        None => {
            let (measured, revision) = measure(context, &before, None).await?;
            let evidence = Evidence { value_matches: Some(true), already: Some(true), ..measured };
            (evidence, revision)
        }
        Some(Landed { hit, fresh, .. }) => {
            let after = turned(context, &first, wanted).await?;
            let (measured, revision) = measure(context, &before, fresh).await?;
            if let Some(state) = after
                && !is(state)
            {
                return Err(did_not_stay(state == was));
            }
            // Where the page took the control away its state was not measured.
            let value_matches = after.map(|_| true);
            (Evidence { hit_target: hit, value_matches, ..measured }, revision)
        }
    };
    Ok(acted(context, action, &aim, &before, revision, evidence, carried))
}

/// The state once it is as wanted: pages may ask somebody before they show it. Otherwise the last one seen.
async fn turned(
    context: &Context,
    found: &crate::act::Found,
    wanted: bool,
) -> Result<Option<Option<Checked>>, OpError> {
    let until = Instant::now() + TURNS.min(context.left() / 2);
    loop {
        if context.pages.has_internals(&context.target) {
            context.pages.tell_internals(&context.target, context.left() / 4).await;
        }
        let state = read(context, found).await?;
        let done = state.is_none_or(|state| state == Some(Checked::Is(wanted)));
        if done || Instant::now() >= until {
            return Ok(state);
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// The state now; `None` when the control is gone.
async fn read(context: &Context, found: &crate::act::Found) -> Result<Option<Option<Checked>>, OpError> {
    let answer =
        context.pages.run(&found.key, vec![Step("checkedState", json!({ "ref": found.node }))]).await;
    match answer.and_then(|mut call| call.take::<State>()) {
        Ok(State { checked, role }) => {
            tracing::debug!(%role, "the state was read back");
            Ok(Some(checked))
        }
        Err(EngineError::Gone | EngineError::Halted(_)) => Ok(None),
        Err(EngineError::Engine { kind, .. }) if kind == "stale" => Ok(None),
        Err(error) => Err(context.engine(&error, Phase::Verification)),
    }
}

fn no_state() -> OpError {
    OpError::rejected(
        ErrorKind::NotActionable,
        Phase::Preflight,
        "it is no check box, radio button or switch, or has no state that can be read; nothing was sent",
        "click presses it; observe shows which rows are checked or unchecked",
    )
    .reason("not_editable")
}

fn did_not_stay(as_before: bool) -> OpError {
    let (how, outcome) = if as_before {
        ("is as it was before", Outcome::Failed)
    } else {
        ("is neither as it was nor as wanted", Outcome::Completed)
    };
    OpError::failed(
        ErrorKind::VerificationFailed,
        Phase::Verification,
        format!("it was pressed once, and its state {how}"),
        "observe the page: it may ask something first, or refuse",
    )
    .reason("reverted")
    .ended(outcome, Dispatched::Yes)
}
