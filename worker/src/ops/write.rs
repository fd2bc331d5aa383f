//! Putting text into fields: the ways in, and reading back what the field made of it (contract 5.6).
//!
//! Used by `fill`, `clear`, `type` and `fillForm`. Text goes in only while the guard sees it go into the target.

use std::sync::Arc;
use std::time::Duration;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Chord, KeyName, Modifier};
use glass_proto::outcome::{Dispatched, Outcome};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::key::press;
use crate::act::{Aim, disarm_all};
use crate::cdp::types::input::{DispatchKeyEvent, ImeSetComposition, InsertText, KeyEventType};
use crate::context::{Context, dialog_blocked};
use crate::page::{Call, EngineError, FrameKey, Halt, Step};

/// What a field is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Field {
    /// input, textarea, contenteditable, native, …
    pub(super) kind: String,
    /// Whether it has the focus.
    #[serde(default)]
    pub(super) focused: bool,
    /// Whether it holds more than one line.
    #[serde(default)]
    pub(super) multiline: bool,
    /// Most UTF-16 units that it takes.
    pub(super) max_length: Option<u64>,
    /// It shows several spaces as one.
    #[serde(default)]
    pub(super) collapses: bool,
    /// `type` of an input, else the tag.
    #[serde(default, rename = "type")]
    pub(super) of_type: String,
}

/// A field after text was put in.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ReadBack {
    /// It holds what it should.
    pub(super) matches: bool,
    /// It holds what it held before.
    #[serde(default)]
    pub(super) unchanged: bool,
    /// How it differs.
    pub(super) kind: Option<String>,
    /// Whether it still has the focus.
    #[serde(default)]
    pub(super) focused: Option<bool>,
}

/// What filling a field came to.
#[derive(Debug)]
pub(super) struct Filled {
    /// The field had the focus when the text went in.
    pub(super) focused: bool,
    /// The native setter did it.
    pub(super) native: bool,
    /// The field afterwards; absent when the page took it away, and a guard had seen the text reach it.
    pub(super) read: Option<ReadBack>,
}

/// Longest text that is tried by keys after a field made something else of it, in UTF-16 units.
const MASKED: usize = 100;

/// Events that the guard looks at while text is put in.
pub(super) const GUARDED: &[&str] = &["key", "input"];

/// Replaces the whole content of a field that is ready and guarded, and reads it back. Takes the guards off.
///
/// # Errors
/// When it does not take such text, or did not keep the focus; when nobody can tell whether it got there.
pub(super) async fn replace(context: &Context, aim: &Aim, text: &str) -> Result<Filled, OpError> {
    let key = &aim.found.key;
    let node = aim.found.node;
    context.dispatching().await;
    let steps = vec![
        Step("remember", json!({ "ref": node })),
        Step("focus", json!({ "ref": node })),
        Step("selectAll", json!({ "ref": node })),
    ];
    let mut call = approach(context, key, steps).await?;
    take::<Value>(context, &mut call)?;
    take::<Value>(context, &mut call)?;
    let field: Field = take(context, &mut call)?;
    if field.kind == "contenteditable" {
        // An editor with a model of its own learns of the selection by an event that comes later.
        run(context, key, vec![Step("settle", json!({ "frames": 1 }))]).await?;
    }
    let native = field.kind == "native";
    if native {
        set_native(context, key, node, &field, text).await?;
    } else {
        admit(context, key, &field, text).await?;
        // A line that begins or ends with a space would lose it.
        let shown = if field.collapses { shown(text, true) } else { text.to_owned() };
        insert(context, key, &field, &shown).await?;
    }
    let value = || Step("value", json!({ "ref": node, "expected": text }));
    let mut read = read_back(context, key, value()).await?;
    if read.as_ref().is_some_and(|read| masked(&field, read, text)) {
        by_keys(context, key, node, text).await?;
        read = read_back(context, key, value()).await?;
    }
    let report = disarm_all(context, key).await;
    if let Some(report) = report.filter(|report| report.stopped > 0) {
        return Err(strayed(report.seen > report.stopped));
    }
    Ok(Filled { focused: field.focused, native, read })
}

/// Whether a field made something else of a text that came at once, as masks do that look at single keys.
fn masked(field: &Field, read: &ReadBack, text: &str) -> bool {
    let length = text.encode_utf16().count();
    field.kind == "input"
        && !read.matches
        && matches!(read.kind.as_deref(), Some("other" | "truncated" | "reverted" | "empty"))
        && length <= MASKED
        && field.max_length.is_none_or(|most| u64::try_from(length).is_ok_and(|length| length <= most))
}

/// The same text by keys, as a person types it.
async fn by_keys(context: &Context, key: &FrameKey, node: u32, text: &str) -> Result<(), OpError> {
    let session =
        context.pages.session_of(key).ok_or_else(|| context.engine(&EngineError::Gone, Phase::Dispatch))?;
    let steps = vec![Step("focus", json!({ "ref": node })), Step("selectAll", json!({ "ref": node }))];
    run(context, key, steps).await?;
    let delete = Chord { modifiers: Vec::new(), key: KeyName::Named("Delete") };
    if press(context, &session, &delete).await? {
        keys(context, &session, text, Duration::ZERO).await?;
    }
    Ok(())
}

/// Refuses what the field cannot take, before any text goes in.
pub(super) async fn admit(
    context: &Context,
    key: &FrameKey,
    field: &Field,
    text: &str,
) -> Result<(), OpError> {
    if !field.multiline && text.contains(['\n', '\r']) {
        disarm_all(context, key).await;
        return Err(OpError::invalid(
            "this field holds a single line, and the text has a line break",
            "leave the line break out; to submit, press Enter with `key Enter`",
        )
        .ended(Outcome::Failed, Dispatched::Yes));
    }
    if !field.focused {
        disarm_all(context, key).await;
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::Dispatch,
            "the field did not keep the focus; no text was put in",
            "observe the page: something else takes the focus",
        )
        .reason("not_editable"));
    }
    Ok(())
}

/// For controls that no trusted input reaches: the native setter, which is said in the result (5.2).
async fn set_native(
    context: &Context,
    key: &FrameKey,
    node: u32,
    field: &Field,
    text: &str,
) -> Result<(), OpError> {
    let step = Step("setNative", json!({ "ref": node, "text": text }));
    let mut call = run(context, key, vec![step]).await?;
    match call.take::<Value>() {
        Ok(_) => Ok(()),
        Err(EngineError::Engine { kind, .. }) if kind == "not_native" => {
            disarm_all(context, key).await;
            let form = match field.of_type.as_str() {
                "date" => "a date is written 2026-11-30",
                "time" => "a time is written 14:05",
                "month" => "a month is written 2026-11",
                "week" => "a week is written 2026-W48",
                "datetime-local" => "date and time are written 2026-11-30T14:05",
                "color" => "a colour is written #aabbcc",
                _ => "a number within its bounds and steps is taken; it cannot be empty",
            };
            Err(OpError::failed(
                ErrorKind::VerificationFailed,
                Phase::Dispatch,
                "the field does not take such a value, and keeps the one that it had",
                form,
            )
            .reason("refused"))
        }
        Err(error) => Err(context.engine(&error, Phase::Dispatch)),
    }
}

/// Key code of a key press that an input method takes for itself.
const TAKEN_BY_METHOD: u16 = 229;

/// Text as an input method composes it: each word grows under key presses that the method takes, and is committed.
pub(super) async fn compose(
    context: &Context,
    key: &FrameKey,
    field: &Field,
    text: &str,
) -> Result<(), OpError> {
    let session =
        context.pages.session_of(key).ok_or_else(|| context.engine(&EngineError::Gone, Phase::Dispatch))?;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        if !word.is_empty() && !compose_word(context, &session, word).await? {
            break;
        }
        let rest = &piece[word.len()..];
        if !rest.is_empty() {
            insert(context, key, field, rest).await?;
        }
    }
    Ok(())
}

/// Answers whether more can be put in.
async fn compose_word(context: &Context, session: &Arc<str>, word: &str) -> Result<bool, OpError> {
    let client = context.pages.client();
    let taken = |kind| DispatchKeyEvent {
        key: Some("Process"),
        windows_virtual_key_code: Some(TAKEN_BY_METHOD),
        ..DispatchKeyEvent::new(kind)
    };
    context.undo(|undo| undo.composing = Some(session.clone()));
    for (at, character) in word.char_indices() {
        let so_far = &word[..at + character.len_utf8()];
        let end = i64::try_from(so_far.encode_utf16().count()).unwrap_or(0);
        drop(client.start_send(Some(session), taken(KeyEventType::RawKeyDown)));
        let grown = ImeSetComposition { text: so_far, selection_start: end, selection_end: end };
        let sent = client.start_send(Some(session), grown);
        match context.pages.or_halt(&context.target, sent).await {
            Ok(_) => {}
            Err(EngineError::Halted(_) | EngineError::Gone) => return Ok(false),
            Err(error) => return Err(context.engine(&error, Phase::Dispatch)),
        }
        drop(client.start_send(Some(session), taken(KeyEventType::KeyUp)));
    }
    let open = put(context, session, word).await?;
    context.undo(|undo| undo.composing = None);
    Ok(open)
}

/// Trusted text input over the selection; an empty text is a trusted deletion of it. In a rich editor a line break is
/// Shift+Enter, which no editor takes for "send".
pub(super) async fn insert(
    context: &Context,
    key: &FrameKey,
    field: &Field,
    text: &str,
) -> Result<(), OpError> {
    let session =
        context.pages.session_of(key).ok_or_else(|| context.engine(&EngineError::Gone, Phase::Dispatch))?;
    if text.is_empty() {
        let delete = Chord { modifiers: Vec::new(), key: KeyName::Named("Delete") };
        press(context, &session, &delete).await?;
        return Ok(());
    }
    let shown;
    let text: &str = if field.collapses {
        shown = self::shown(text, false);
        &shown
    } else {
        text
    };
    if field.kind != "contenteditable" || !text.contains(['\n', '\r']) {
        put(context, &session, text).await?;
        return Ok(());
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (at, line) in text.split('\n').enumerate() {
        let line_break = Chord { modifiers: vec![Modifier::Shift], key: KeyName::Named("Enter") };
        if at > 0 && !press(context, &session, &line_break).await? {
            break;
        }
        if !line.is_empty() && !put(context, &session, line).await? {
            break;
        }
    }
    Ok(())
}

/// Spaces that would not be shown as no-break spaces, which is what typing them makes of them: each but the first of
/// several, and with `edges` those at the ends of lines.
fn shown(text: &str, edges: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = if edges { '\n' } else { '\0' };
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends = edges && rest.peek().is_none_or(|next| matches!(next, '\n' | '\r'));
        let lost = c == ' ' && (ends || matches!(before, ' ' | '\n' | '\r'));
        before = if lost { '\u{a0}' } else { c };
        out.push(before);
    }
    out
}

/// Answers whether more can be put in: not while a dialog is open or the page is gone.
async fn put(context: &Context, session: &Arc<str>, text: &str) -> Result<bool, OpError> {
    let sent = context.pages.client().start_send(Some(session), InsertText { text });
    match context.pages.or_halt(&context.target, sent).await {
        Ok(_) => Ok(true),
        Err(EngineError::Halted(_) | EngineError::Gone) => Ok(false),
        Err(error) => Err(context.engine(&error, Phase::Dispatch)),
    }
}

/// Presses a key for each character; what no key types goes in as text. A line break is Enter.
pub(super) async fn keys(
    context: &Context,
    session: &Arc<str>,
    text: &str,
    delay: Duration,
) -> Result<(), OpError> {
    let text = text.replace("\r\n", "\n");
    for (at, character) in text.chars().enumerate() {
        if at > 0 && !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let key = match character {
            '\n' | '\r' => Some(KeyName::Named("Enter")),
            c if c.is_control() => None,
            c => Some(KeyName::Character(c)).filter(|key| !crate::input::stroke(key).code.is_empty()),
        };
        let open = match key {
            Some(key) => press(context, session, &Chord { modifiers: Vec::new(), key }).await?,
            None => put(context, session, character.encode_utf8(&mut [0; 4])).await?,
        };
        if !open {
            break;
        }
    }
    Ok(())
}

/// Lets the page settle and reads the field. `None` when the page took the field away or is held.
///
/// # Errors
/// When it went and no guard said that the text had reached the field.
pub(super) async fn read_back(
    context: &Context,
    key: &FrameKey,
    read: Step,
) -> Result<Option<ReadBack>, OpError> {
    let steps = vec![Step("settle", json!({ "frames": 2 })), read];
    let mut answer = None;
    match context.pages.run(key, steps).await {
        Ok(mut call) => {
            take::<Value>(context, &mut call)?;
            match call.take::<ReadBack>() {
                Ok(read) => answer = Some(read),
                // The page took the field away when it was filled.
                Err(EngineError::Engine { kind, .. }) if kind == "stale" || kind == "unknown_ref" => {}
                Err(error) => return Err(context.engine(&error, Phase::Verification)),
            }
        }
        Err(EngineError::Gone | EngineError::Halted(_)) => {}
        Err(error) => return Err(context.engine(&error, Phase::Verification)),
    }
    if answer.is_none() && context.pages.state().reported(&context.token).is_none() {
        let held = context.pages.state().target(&context.target).is_some_and(|t| t.dialog.is_some());
        disarm_all(context, key).await;
        return Err(OpError::unknown(
            if held { "dialog" } else { "navigated" },
            "the page was held or went while the text was put in; whether it got there is not known",
            "observe the page before doing it again",
        ));
    }
    Ok(answer)
}

/// The focus left the field, and the guard kept the rest of the text from where it would have gone.
pub(super) fn strayed(some: bool) -> OpError {
    let (message, outcome) = if some {
        ("the focus left the field, and the rest of the text was kept from the page", Outcome::Completed)
    } else {
        ("the focus left the field, and the text was kept from the page", Outcome::Failed)
    };
    OpError::failed(
        ErrorKind::VerificationFailed,
        Phase::Verification,
        message,
        "observe the page: something else takes the focus; type without a target follows it",
    )
    .reason("focus_lost")
    .ended(outcome, Dispatched::Yes)
}

/// The field holds something else than it should.
pub(super) fn did_not_stick(read: &ReadBack) -> OpError {
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

pub(super) async fn run(context: &Context, key: &FrameKey, steps: Vec<Step>) -> Result<Call, OpError> {
    context.pages.run(key, steps).await.map_err(|error| context.engine(&error, Phase::Dispatch))
}

/// The same for what only brings the focus to the field: a dialog that the page shows for it comes before anything else.
pub(super) async fn approach(context: &Context, key: &FrameKey, steps: Vec<Step>) -> Result<Call, OpError> {
    context.pages.run(key, steps).await.map_err(|error| match &error {
        EngineError::Halted(Halt::Dialog(dialog)) => {
            let mut blocked = dialog_blocked(dialog).ended(Outcome::Failed, Dispatched::Yes);
            blocked.message.push_str("; it opened with the focus, before anything else was done");
            blocked
        }
        _ => context.engine(&error, Phase::Dispatch),
    })
}

pub(super) fn take<T: DeserializeOwned>(context: &Context, call: &mut Call) -> Result<T, OpError> {
    call.take().map_err(|error| context.engine(&error, Phase::Dispatch))
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn spaces_that_would_be_lost_are_kept() {
        for (text, edges, kept) in [
            ("a b", true, "a b"),
            ("a  b", false, "a \u{a0}b"),
            ("a   b", false, "a \u{a0} b"),
            (" a ", true, "\u{a0}a\u{a0}"),
            (" a ", false, " a "),
            ("a \n b", true, "a\u{a0}\n\u{a0}b"),
            ("", true, ""),
        ] {
            assert_eq!(shown(text, edges), kept, "{text:?}");
        }
    }
}
