//! `submit`: the form's own button by a press, or Enter in its first field; and whether the page saw a submit event.

use glass_proto::error::{Candidate, ErrorKind, OpError, Phase};
use glass_proto::op::{Button, Chord, KeyName, Locator, Ref, Submit};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Acted, Evidence, Hit};
use serde::Deserialize;
use serde_json::json;

use super::begin;
use super::click::{Gesture, acted, touch};
use super::key::press;
use super::write::{run as call, take};
use crate::act::{Aim, Before, Found, Need, candidate, disarm_all, find, guard_revision, measure, ready};
use crate::context::Context;
use crate::input::Contact;
use crate::page::{Blocker, Changes, EngineError, FrameKey, Step};

#[derive(Deserialize)]
struct Form {
    #[serde(default)]
    none: bool,
    #[serde(default)]
    form: u32,
    button: Option<u32>,
    #[serde(default)]
    off: bool,
    field: Option<u32>,
}

#[derive(Deserialize)]
struct After {
    submits: u64,
    invalid: Option<Blocker>,
}

pub(super) async fn run(context: &Context, params: &Submit) -> Result<Acted, OpError> {
    begin::page(context)?;
    let (found, looked) = find(context, &params.target).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let need = Need { word: "none", guarded: &[], position: None };
    let (aim, _) = ready(context, &params.target, found, need).await?;
    let key = &aim.found.key;
    let mut answer = call(context, key, vec![Step("formState", json!({ "ref": aim.found.node }))]).await?;
    let form: Form = take(context, &mut answer)?;
    let (hit, fresh) = match (form.none, form.button, form.field) {
        (true, ..) => return Err(refused("it is no form and lies in none; nothing was sent")),
        (_, Some(_), _) if form.off => {
            return Err(refused("the form's submit button is disabled; nothing was sent").reason("disabled"));
        }
        (_, Some(button), _) => by_button(context, key, button).await?,
        (_, None, Some(field)) => {
            by_enter(context, key, field).await?;
            (None, None)
        }
        (_, None, None) => {
            return Err(refused(
                "the form has no submit button and no field to press Enter in; nothing was sent",
            ));
        }
    };
    let after = after(context, key, form.form).await?;
    let (measured, revision) = measure(context, &before, fresh).await?;
    // A document that went was left by what was pressed.
    let submitted = after.as_ref().map(|after| after.submits > 0);
    if submitted == Some(false) && measured.document_changed != Some(true) {
        let invalid = after.and_then(|after| after.invalid).and_then(|blocker| candidate(key, blocker));
        return Err(not_submitted(invalid));
    }
    let evidence = Evidence { hit_target: hit, submitted, ..measured };
    Ok(acted(context, "submit", &aim, &before, revision, evidence, carried))
}

fn refused(message: &str) -> OpError {
    OpError::rejected(
        ErrorKind::NotActionable,
        Phase::Preflight,
        message,
        "observe the form; click what sends it",
    )
    .reason("not_editable")
}

fn not_submitted(invalid: Option<Candidate>) -> OpError {
    let (message, reason) = match &invalid {
        Some(_) => ("the form was not submitted: a field does not fit", "invalid_field"),
        None => ("the page saw no submit event of the form", "not_submitted"),
    };
    let invalid = invalid.map(|field| Candidate { reason: Some("invalid".to_owned()), ..field });
    OpError::failed(
        ErrorKind::VerificationFailed,
        Phase::Verification,
        message,
        "observe the form; fill what is missing or wrong",
    )
    .reason(reason)
    .with_candidates(invalid.into_iter().collect())
    .ended(Outcome::Failed, Dispatched::Yes)
}

type Fresh = Option<(Changes, crate::act::Info)>;

async fn by_button(context: &Context, key: &FrameKey, node: u32) -> Result<(Option<Hit>, Fresh), OpError> {
    let (found, locator) = named(key, node)?;
    let gesture = Gesture {
        action: "submit",
        target: &locator,
        position: None,
        modifiers: &[],
        contact: Contact::Press(Button::Left, 1),
    };
    let touched = touch(context, &gesture, found, |_| Ok(true)).await?;
    Ok(touched.landed.map_or((None, None), |landed| (landed.hit, landed.fresh)))
}

fn named(key: &FrameKey, node: u32) -> Result<(Found, Locator), OpError> {
    let by = Ref { revision: None, frame: key.label, node };
    let locator = by.to_string().parse().map_err(|_| refused("the form is gone; nothing was sent"))?;
    Ok((Found { key: key.clone(), node, by_ref: Some(by), as_of: None }, locator))
}

async fn by_enter(context: &Context, key: &FrameKey, node: u32) -> Result<(), OpError> {
    let (found, locator) = named(key, node)?;
    let need = Need { word: "fill", guarded: &["key"], position: None };
    let (aim, _): (Aim, _) = ready(context, &locator, found, need).await?;
    let session =
        context.pages.session_of(key).ok_or_else(|| context.engine(&EngineError::Gone, Phase::Dispatch))?;
    context.dispatching().await;
    call(context, key, vec![Step("focus", json!({ "ref": aim.found.node }))]).await?;
    press(context, &session, &Chord { modifiers: Vec::new(), key: KeyName::Named("Enter") }).await?;
    super::key::settle(context).await?;
    disarm_all(context, key).await;
    Ok(())
}

/// `None` when the form's document went or is held.
async fn after(context: &Context, key: &FrameKey, form: u32) -> Result<Option<After>, OpError> {
    match context.pages.run(key, vec![Step("formAfter", json!({ "ref": form }))]).await {
        Ok(mut call) => match call.take::<After>() {
            Ok(after) => Ok(Some(after)),
            Err(EngineError::Engine { kind, .. }) if kind == "stale" || kind == "unknown_ref" => Ok(None),
            Err(error) => Err(context.engine(&error, Phase::Verification)),
        },
        Err(EngineError::Gone | EngineError::Halted(_)) => Ok(None),
        Err(error) => Err(context.engine(&error, Phase::Verification)),
    }
}
