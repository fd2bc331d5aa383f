//! `fill`: select everything in the field, put the text in its place, and read it back (contract 5.6).

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::Fill;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::Acted;
use serde::Deserialize;
use serde_json::{Value, json};

use super::begin;
use super::click::acted;
use crate::act::{Aim, Before, Need, disarm_all, find, guard_revision, measure, ready};
use crate::cdp::types::input::{DispatchKeyEvent, InsertText, KeyEventType};
use crate::context::Context;
use crate::page::{EngineError, Step};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Selected {
    kind: String,
    #[serde(default)]
    focused: bool,
    #[serde(default)]
    multiline: bool,
}

#[derive(Debug, Deserialize)]
struct ReadBack {
    matches: bool,
    #[serde(default)]
    unchanged: bool,
    kind: Option<String>,
}

pub(super) async fn run(context: &Context, params: &Fill) -> Result<Acted, OpError> {
    begin::page(context)?;
    let (found, looked) = find(context, &params.target).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    // An empty text is a key press, which another element must not get either.
    let guarded: &[&str] = if params.text.is_empty() { &["key", "input"] } else { &["input"] };
    let need = Need { word: "fill", guarded, position: None };
    let (aim, _) = ready(context, &params.target, found, need).await?;
    let key = aim.found.key.clone();
    let node = aim.found.node;
    context.dispatching().await;
    let steps = vec![
        Step("remember", json!({ "ref": node })),
        Step("focus", json!({ "ref": node })),
        Step("selectAll", json!({ "ref": node })),
    ];
    let mut call = step(context, &aim, steps).await?;
    take::<Value>(context, &mut call)?;
    take::<Value>(context, &mut call)?;
    let selected: Selected = take(context, &mut call)?;
    let native = selected.kind == "native";
    if !selected.multiline && params.text.contains(['\n', '\r']) {
        disarm_all(context, &key).await;
        return Err(OpError::invalid(
            "this field holds a single line, and the text has a line break",
            "leave the line break out; to submit, press Enter with `key Enter`",
        )
        .ended(Outcome::Failed, Dispatched::Yes));
    }
    if !native && !selected.focused {
        disarm_all(context, &key).await;
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::Dispatch,
            "the field did not keep the focus; no text was put in",
            "observe the page: something else takes the focus",
        )
        .reason("not_editable"));
    }
    if native {
        let mut call =
            step(context, &aim, vec![Step("setNative", json!({ "ref": node, "text": params.text }))]).await?;
        take::<Value>(context, &mut call)?;
    } else {
        insert(context, &aim, &params.text).await?;
    }
    let mut evidence_value = None;
    let steps = vec![
        Step("settle", json!({ "frames": 2 })),
        Step("value", json!({ "ref": node, "expected": params.text })),
    ];
    match context.pages.run(&key, steps).await {
        Ok(mut call) => {
            take::<Value>(context, &mut call)?;
            match call.take::<ReadBack>() {
                Ok(read) => evidence_value = Some(read),
                // The page took the field away when it was filled.
                Err(EngineError::Engine { kind, .. }) if kind == "stale" || kind == "unknown_ref" => {}
                Err(error) => return Err(context.engine(&error, Phase::Verification)),
            }
        }
        Err(EngineError::Gone | EngineError::Halted(_)) => {}
        Err(error) => return Err(context.engine(&error, Phase::Verification)),
    }
    disarm_all(context, &key).await;
    let (mut evidence, revision) = measure(context, &before, None).await?;
    evidence.focused = Some(selected.focused);
    evidence.native_setter = native.then_some(true);
    if let Some(read) = evidence_value {
        evidence.value_matches = Some(read.matches);
        if !read.matches {
            return Err(did_not_stick(&read));
        }
    } else if context.pages.state().reported(&context.token).is_none() {
        // The page went or was held, and no guard said that the text reached the field.
        return Err(not_known(evidence.dialog.is_some()));
    }
    Ok(acted(context, "fill", &aim, &before, revision, evidence, carried))
}

async fn step(context: &Context, aim: &Aim, steps: Vec<Step>) -> Result<crate::page::Call, OpError> {
    context.pages.run(&aim.found.key, steps).await.map_err(|error| context.engine(&error, Phase::Dispatch))
}

fn take<T: serde::de::DeserializeOwned>(
    context: &Context,
    call: &mut crate::page::Call,
) -> Result<T, OpError> {
    call.take().map_err(|error| match &error {
        EngineError::Engine { kind, .. } if kind == "not_native" => OpError::invalid(
            "the field does not take such a value",
            "use the form of its kind, for example 2026-11-30 for a date",
        )
        .ended(Outcome::Failed, Dispatched::Yes),
        _ => context.engine(&error, Phase::Dispatch),
    })
}

/// Trusted text input over the selection; an empty text is a trusted deletion of it.
async fn insert(context: &Context, aim: &Aim, text: &str) -> Result<(), OpError> {
    let client = context.pages.client();
    let session = context
        .pages
        .session_of(&aim.found.key)
        .ok_or_else(|| context.engine(&EngineError::Gone, Phase::Dispatch))?;
    let sent = if text.is_empty() {
        let delete = |kind| DispatchKeyEvent {
            key: Some("Delete"),
            code: Some("Delete"),
            windows_virtual_key_code: Some(46),
            ..DispatchKeyEvent::new(kind)
        };
        drop(client.start_send(Some(&session), delete(KeyEventType::RawKeyDown)));
        client.start_send(Some(&session), delete(KeyEventType::KeyUp))
    } else {
        client.start_send(Some(&session), InsertText { text })
    };
    match context.pages.or_halt(&context.target, sent).await {
        Ok(_) | Err(EngineError::Halted(_) | EngineError::Gone) => Ok(()),
        Err(error) => Err(context.engine(&error, Phase::Dispatch)),
    }
}

fn not_known(dialog: bool) -> OpError {
    OpError::unknown(
        if dialog { "dialog" } else { "navigated" },
        "the page was held or went while the text was put in; whether it got there is not known",
        "observe the page before doing it again",
    )
}

fn did_not_stick(read: &ReadBack) -> OpError {
    let kind = read.kind.as_deref().unwrap_or("other");
    let how = match kind {
        "empty" => "the field is empty now",
        "truncated" => "the field holds only a part of it",
        "reformatted" => "the page gave it another form",
        "reverted" => "the page put the old value back",
        _ => "the field holds something else",
    };
    let outcome = if read.unchanged { Outcome::Failed } else { Outcome::Completed };
    OpError::failed(
        ErrorKind::VerificationFailed,
        Phase::Verification,
        format!("the text was put in and did not stay: {how}"),
        "observe the field; give the text in the form that the page keeps",
    )
    .reason(kind)
    .ended(outcome, Dispatched::Yes)
}
