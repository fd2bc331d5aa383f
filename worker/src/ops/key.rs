//! `key`: chords, one after the other. Modifiers that it presses it releases, whatever happens (contract 5.7).

use std::sync::Arc;

use glass_proto::error::{OpError, Phase};
use glass_proto::op::{Chord, Key, KeyName, Modifier};
use glass_proto::result::Acted;
use serde_json::json;

use super::begin;
use super::click::hold;
use crate::act::{Before, guard_revision, look, measure};
use crate::cdp::types::input::{DispatchKeyEvent, KeyEventType};
use crate::context::{Context, halted};
use crate::input::{modifier_bits, shifted, stroke};
use crate::page::{EngineError, Halt, Step};

pub(super) async fn run(context: &Context, params: &Key) -> Result<Acted, OpError> {
    begin::page(context)?;
    let looked = look(context, None, false, 1).await?;
    guard_revision(context, None, &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    context.dispatching().await;
    for chord in &params.keys {
        if !press(context, &session, chord).await? {
            break;
        }
    }
    settle(context).await?;
    let (evidence, revision) = measure(context, &before, None).await?;
    Ok(Acted {
        action: "key".to_owned(),
        target: None,
        target_id: context.target.clone(),
        frame_id: None,
        previous_revision: before.revision,
        revision,
        evidence,
    })
}

/// Answers whether further chords can be pressed: not while a dialog is open or the page is gone.
pub(super) async fn press(context: &Context, session: &Arc<str>, chord: &Chord) -> Result<bool, OpError> {
    let mut key = stroke(&chord.key);
    let down = context.pages.state().device(&context.target).map_or(0, |device| device.bits());
    if let (true, KeyName::Character(c)) = (down & 8 != 0, &chord.key) {
        let typed = shifted(*c).to_string();
        key.key.clone_from(&typed);
        key.text = typed;
    }
    let mut modifiers = chord.modifiers.clone();
    if key.shifted && down & 8 == 0 && !modifiers.contains(&Modifier::Shift) {
        modifiers.push(Modifier::Shift);
    }
    hold(context, session, &modifiers, true).await;
    let bits = modifier_bits(&modifiers) | down;
    // With Control, Alt or Meta a key types nothing: it is a shortcut.
    let text = if bits & 7 == 0 { key.text.as_str() } else { "" };
    let pressed = DispatchKeyEvent {
        modifiers: Some(bits),
        key: Some(&key.key),
        code: Some(key.code),
        windows_virtual_key_code: Some(key.key_code),
        text: (!text.is_empty()).then_some(text),
        unmodified_text: (!text.is_empty()).then_some(text),
        ..DispatchKeyEvent::new(if text.is_empty() {
            KeyEventType::RawKeyDown
        } else {
            KeyEventType::KeyDown
        })
    };
    let up =
        DispatchKeyEvent { kind: KeyEventType::KeyUp, text: None, unmodified_text: None, ..pressed.clone() };
    context.undo(|undo| undo.held.keys.push((session.clone(), key.clone())));
    let client = context.pages.client();
    let events = [client.start_send(Some(session), pressed), client.start_send(Some(session), up)];
    let mut open = true;
    for acknowledgement in events {
        match context.pages.or_halt(&context.target, acknowledgement).await {
            Ok(_) => {}
            Err(EngineError::Halted(_) | EngineError::Gone) => {
                open = false;
                break;
            }
            Err(error) => return Err(context.engine(&error, Phase::Dispatch)),
        }
    }
    context.undo(|undo| undo.held.keys.retain(|(_, held)| *held != key));
    modifiers.reverse();
    hold(context, session, &modifiers, false).await;
    Ok(open)
}

pub(super) async fn settle(context: &Context) -> Result<(), OpError> {
    let main = {
        let state = context.pages.state();
        state.target(&context.target).and_then(|target| target.key(&target.main))
    };
    let Some(main) = main else { return Ok(()) };
    match context.pages.run(&main, vec![Step("settle", json!({ "frames": 2 }))]).await {
        Ok(_) | Err(EngineError::Gone | EngineError::Halted(_)) => Ok(()),
        Err(error) => Err(context.engine(&error, Phase::BrowserEffect)),
    }
}
