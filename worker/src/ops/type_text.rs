//! `type`: text at the caret. With a target it goes there and nowhere else; keys without one follow the focus, as a
//! person's do (contract 5.3, 5.6).

use std::time::Duration;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Locator, Ref, Type, TypeMode};
use glass_proto::result::Acted;
use serde::Deserialize;
use serde_json::{Value, json};

use super::begin;
use super::click::acted;
use super::write::{
    Field, GUARDED, admit, approach, compose, did_not_stick, insert, keys, read_back, strayed,
};
use crate::act::{Aim, Before, Found, Looked, Need, disarm_all, find, guard_revision, look, measure, ready};
use crate::context::{Context, halted};
use crate::page::{EngineError, FrameKey, Halt, Step};

/// Frames within frames that the focus is followed into.
const DEEPEST: usize = 32;
/// What the settle and the reading back need of the time.
const AFTER: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
struct Caret {
    #[serde(default)]
    none: bool,
    frame: Option<String>,
    #[serde(rename = "ref")]
    node: Option<u32>,
    #[serde(default)]
    editable: bool,
}

pub(super) async fn run(context: &Context, params: &Type) -> Result<Acted, OpError> {
    begin::page(context)?;
    let text = Text::of(context, params)?;
    fits_the_time(context, params, text)?;
    let Some(target) = &params.target else { return at_focus(context, params, text).await };
    let (found, looked) = find(context, target).await?;
    into(context, params, text, target, found, &looked).await
}

/// What is put in.
#[derive(Clone, Copy)]
struct Text<'a> {
    text: &'a str,
    /// Whether it is a secret: then it goes into one field, whose content no reading tells from then on.
    secret: bool,
}

impl<'a> Text<'a> {
    fn of(context: &'a Context, params: &'a Type) -> Result<Self, OpError> {
        let Some(name) = &params.secret else { return Ok(Self { text: &params.text, secret: false }) };
        let text = context.secrets.value(name)?;
        if text.is_empty() || params.fits(text).is_err() {
            return Err(OpError::invalid(
                "the secret is empty, or longer than is typed in this mode",
                "mode insert takes the longest; capture it anew where it is empty",
            ));
        }
        Ok(Self { text, secret: true })
    }
}

/// Keys that cannot all be pressed in time are not begun.
fn fits_the_time(context: &Context, params: &Type, text: Text<'_>) -> Result<(), OpError> {
    if params.mode != TypeMode::Keys {
        return Ok(());
    }
    let count = u32::try_from(text.text.chars().count()).unwrap_or(u32::MAX);
    let needed = Duration::from_millis(u64::from(params.delay())) * count.saturating_sub(1) + AFTER;
    if needed <= context.left() {
        return Ok(());
    }
    Err(OpError::invalid(
        format!("{count} keys with {} ms between them take longer than the deadline", params.delay()),
        format!(
            "give --timeout-ms {} or more, or a shorter --delay-ms",
            needed.as_millis() + AFTER.as_millis() * 2
        ),
    ))
}

/// Where nobody names a field: the one that has the focus.
async fn at_focus(context: &Context, params: &Type, text: Text<'_>) -> Result<Acted, OpError> {
    let looked = look(context, None, false, 1).await?;
    guard_revision(context, None, &looked.changes, None)?;
    let focus = focused(context).await?;
    if let Some(frame) = context.frame()
        && focus.as_ref().is_none_or(|(key, ..)| *key != frame)
    {
        return Err(nothing_focused());
    }
    // Keys follow the focus; a secret follows nothing.
    let one_field = text.secret || params.mode != TypeMode::Keys;
    match focus {
        Some((key, node, true)) if one_field => {
            let by = Ref { revision: None, frame: key.label, node };
            let locator: Locator = by.to_string().parse().map_err(|_| nothing_focused())?;
            let found = Found { key, node, by_ref: Some(by), as_of: None };
            into(context, params, text, &locator, found, &looked).await
        }
        _ if one_field => Err(nothing_focused()),
        focus => follow(context, params, focus, &looked).await,
    }
}

fn nothing_focused() -> OpError {
    OpError::rejected(
        ErrorKind::NotActionable,
        Phase::Preflight,
        "nothing that takes text has the focus; nothing was sent",
        "name the field with --target, or click it first",
    )
    .reason("not_editable")
}

/// The focused element, in whichever frame, and whether text can be put into it.
async fn focused(context: &Context) -> Result<Option<(FrameKey, u32, bool)>, OpError> {
    context.pages.place_frames(&context.target).await;
    let main = {
        let state = context.pages.state();
        state.target(&context.target).and_then(|target| target.key(&target.main))
    };
    let mut key = main.ok_or_else(|| halted(&Halt::Closed))?;
    for _ in 0..DEEPEST {
        let answer = context.pages.run(&key, vec![Step("caret", json!({}))]).await;
        let caret: Caret = answer
            .and_then(|mut call| call.take())
            .map_err(|error| context.engine(&error, Phase::TargetResolution))?;
        if caret.none {
            return Ok(None);
        }
        let Some(label) = caret.frame else {
            return Ok(caret.node.map(|node| (key, node, caret.editable)));
        };
        let child = {
            let state = context.pages.state();
            let keys = state.target(&context.target).map(crate::page::Target::keys).unwrap_or_default();
            keys.into_iter().find(|child| format!("f{}", child.label) == label)
        };
        let Some(child) = child else { return Ok(None) };
        key = child;
    }
    Ok(None)
}

/// Into this field and nowhere else.
async fn into(
    context: &Context,
    params: &Type,
    text: Text<'_>,
    locator: &Locator,
    found: Found,
    looked: &Looked,
) -> Result<Acted, OpError> {
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let need = Need { word: "fill", guarded: GUARDED, position: None };
    let (aim, _) = ready(context, locator, found, need).await?;
    let key = &aim.found.key;
    context.dispatching().await;
    let caret = vec![Step("caret", json!({ "ref": aim.found.node, "secret": text.secret }))];
    let mut answer = approach(context, key, caret).await?;
    let field: Field = super::write::take(context, &mut answer)?;
    if field.kind == "native" {
        disarm_all(context, key).await;
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::Dispatch,
            "no text can be typed into this kind of field",
            "fill sets it as a whole",
        )
        .reason("not_editable"));
    }
    if text.secret && !matches!(field.kind.as_str(), "input" | "textarea") {
        disarm_all(context, key).await;
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::Dispatch,
            "a secret goes into an input or a text area, and this is neither: every reading would tell its text",
            "name the field itself",
        )
        .reason("not_a_field"));
    }
    let Text { text, secret } = text;
    let expected = match params.mode {
        TypeMode::Insert => {
            admit(context, key, &field, text).await?;
            insert(context, key, &field, text).await?;
            text.to_owned()
        }
        TypeMode::Compose => {
            admit(context, key, &field, text).await?;
            compose(context, key, &field, text).await?;
            text.to_owned()
        }
        TypeMode::Keys => {
            // Enter types no line break where there is a single line: the page takes it as the key.
            admit(context, key, &field, if secret { text } else { "" }).await?;
            let session = session(context, key)?;
            keys(context, &session, text, delay(params)).await?;
            if field.multiline { text.to_owned() } else { text.replace(['\n', '\r'], "") }
        }
    };
    let compare = Step("compareTyped", json!({ "ref": aim.found.node, "text": expected }));
    let read = read_back(context, key, compare).await?;
    let report = disarm_all(context, key).await;
    if let Some(report) = report.filter(|report| report.stopped > 0) {
        return Err(strayed(report.seen > report.stopped));
    }
    let (mut evidence, revision) = measure(context, &before, None).await?;
    if let Some(read) = read {
        evidence.value_matches = Some(read.matches);
        evidence.focused = read.focused;
        if !read.matches {
            return Err(did_not_stick(&read));
        }
    }
    Ok(acted(context, "type", &aim, &before, revision, evidence, carried))
}

fn delay(params: &Type) -> Duration {
    Duration::from_millis(u64::from(params.delay()))
}

fn session(context: &Context, key: &FrameKey) -> Result<std::sync::Arc<str>, OpError> {
    context.pages.session_of(key).ok_or_else(|| context.engine(&EngineError::Gone, Phase::Dispatch))
}

/// Keys that go where the focus goes.
async fn follow(
    context: &Context,
    params: &Type,
    focus: Option<(FrameKey, u32, bool)>,
    looked: &Looked,
) -> Result<Acted, OpError> {
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let session = match &focus {
        Some((key, ..)) => session(context, key)?,
        None => {
            let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
            session.ok_or_else(|| halted(&Halt::Closed))?
        }
    };
    context.dispatching().await;
    keys(context, &session, &params.text, delay(params)).await?;
    let mut stuck = None;
    if let Some((key, node, true)) = &focus {
        // Where the focus stayed, the field can be compared; where it moved on, nobody knows what the whole should be.
        let compare = Step("compareTyped", json!({ "ref": node, "text": params.text }));
        let steps = vec![Step("settle", json!({ "frames": 2 })), compare];
        if let Ok(mut answer) = context.pages.run(key, steps).await {
            let _ = answer.take::<Value>();
            stuck = answer.take::<super::write::ReadBack>().ok().filter(|read| read.focused == Some(true));
        }
    } else {
        super::key::settle(context).await?;
    }
    let (mut evidence, revision) = measure(context, &before, None).await?;
    if let Some(read) = &stuck {
        evidence.value_matches = Some(read.matches);
        evidence.focused = read.focused;
        if !read.matches && !params.text.contains(['\n', '\r']) {
            return Err(did_not_stick(read));
        }
    }
    let aim = focus.map(|(key, node, _)| Aim {
        found: Found { key, node, by_ref: None, as_of: None },
        point: None,
        label: String::new(),
        role: String::new(),
        checked: None,
    });
    let mut done = match aim {
        Some(aim) => acted(context, "type", &aim, &before, revision, evidence, None),
        None => Acted {
            action: "type".to_owned(),
            target: None,
            target_id: context.target.clone(),
            frame_id: None,
            previous_revision: before.revision,
            revision,
            evidence,
        },
    };
    // What had the focus at the beginning is no target that was named.
    done.target = None;
    Ok(done)
}
