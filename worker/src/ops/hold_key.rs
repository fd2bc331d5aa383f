//! `keyDown`, `keyUp` and `shortcut`: keys that stay down, and chords that do not (contract 5.3, 5.7).

use glass_proto::error::{OpError, Phase};
use glass_proto::op::{Chord, Key, KeyDown, KeyName, KeyUp, Shortcut};
use glass_proto::result::{Acted, Evidence};

use super::{begin, key};
use crate::act::{Before, guard_revision, look, measure};
use crate::cdp::types::input::{DispatchKeyEvent, KeyEventType};
use crate::context::{Context, halted};
use crate::input::{KeyStroke, shifted, stroke};
use crate::page::{EngineError, Halt};

pub(super) async fn shortcut(context: &Context, params: &Shortcut) -> Result<Acted, OpError> {
    let keys = Key { keys: vec![params.shortcut.clone()] };
    Ok(Acted { action: "shortcut".to_owned(), ..key::run(context, &keys).await? })
}

pub(super) async fn down(context: &Context, params: &KeyDown) -> Result<Acted, OpError> {
    change(context, "keyDown", &params.key, true).await
}

pub(super) async fn up(context: &Context, params: &KeyUp) -> Result<Acted, OpError> {
    change(context, "keyUp", &params.key, false).await
}

async fn change(context: &Context, action: &str, chord: &Chord, down: bool) -> Result<Acted, OpError> {
    begin::page(context)?;
    let looked = look(context, None, false, 1).await?;
    guard_revision(context, None, &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    let held = context.pages.state().device(&context.target).cloned().unwrap_or_default();
    let same =
        |one: &KeyStroke, other: &KeyStroke| (one.code == other.code && !one.code.is_empty()) || one == other;
    let mut key = stroke(&chord.key);
    let is_down = held.keys.iter().find(|one| same(one, &key)).cloned();
    if !down {
        key = is_down.clone().ok_or_else(|| {
            OpError::invalid(
                "the key is not down; nothing was sent",
                "key-down presses it; key presses and lets go",
            )
        })?;
    }
    let shift = held.bits() & 8 != 0 || key.shifted;
    if let (true, KeyName::Character(c)) = (shift && down, &chord.key) {
        let typed = shifted(*c).to_string();
        key.key.clone_from(&typed);
        key.text = typed;
    }
    // With Control, Alt or Meta a key types nothing.
    let types = down && !key.text.is_empty() && held.bits() & 7 == 0;
    let mut after = held.clone();
    after.keys.retain(|one| !same(one, &key));
    if down {
        after.keys.push(key.clone());
    }
    let text = types.then_some(key.text.as_str());
    let event = DispatchKeyEvent {
        modifiers: Some(after.bits()),
        key: Some(&key.key),
        code: Some(key.code),
        windows_virtual_key_code: Some(key.key_code),
        text,
        unmodified_text: text,
        auto_repeat: down && is_down.is_some(),
        ..DispatchKeyEvent::new(match (down, types) {
            (true, true) => KeyEventType::KeyDown,
            (true, false) => KeyEventType::RawKeyDown,
            (false, _) => KeyEventType::KeyUp,
        })
    };
    context.dispatching().await;
    if down {
        // Let go again if this operation is cut off.
        context.undo(|undo| undo.held.keys.push((session.clone(), key.clone())));
    }
    let sent = context.pages.client().start_send(Some(&session), event);
    match context.pages.or_halt(&context.target, sent).await {
        Ok(_) | Err(EngineError::Halted(_) | EngineError::Gone) => {}
        Err(error) => return Err(context.engine(&error, Phase::Dispatch)),
    }
    key::settle(context).await?;
    let (measured, revision) = measure(context, &before, None).await?;
    context.undo(|undo| undo.held.keys.retain(|(_, held)| *held != key));
    let held_keys = after.keys.iter().map(|stroke| stroke.key.clone()).collect();
    if let Some(device) = context.pages.state().device(&context.target) {
        device.keys = after.keys;
    }
    Ok(Acted {
        action: action.to_owned(),
        target: None,
        target_id: context.target.clone(),
        frame_id: None,
        previous_revision: before.revision,
        revision,
        evidence: Evidence { held_keys, ..measured },
    })
}
