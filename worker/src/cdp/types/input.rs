//! `Input`: mouse, keyboard, text.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::empty::Empty;
use crate::cdp::command::command;

/// What the mouse does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MouseEventType {
    /// A button goes down.
    MousePressed,
    /// A button goes up.
    MouseReleased,
    /// It moves.
    MouseMoved,
    /// The wheel turns.
    MouseWheel,
}

/// A mouse button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MouseButton {
    /// None.
    None,
    /// The left one.
    Left,
    /// The middle one.
    Middle,
    /// The right one.
    Right,
    /// The back button.
    Back,
    /// The forward button.
    Forward,
}

/// Sends a mouse event; the reply comes when the page handled it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchMouseEvent {
    /// What the mouse does.
    #[serde(rename = "type")]
    pub kind: MouseEventType,
    /// CSS pixels from the left of the main frame's viewport.
    pub x: f64,
    /// CSS pixels from its top.
    pub y: f64,
    /// Bits: alt 1, control 2, meta 4, shift 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<u8>,
    /// The button that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub button: Option<MouseButton>,
    /// Bits of the buttons held: left 1, right 2, middle 4, back 8, forward 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buttons: Option<u8>,
    /// Which click in a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub click_count: Option<u8>,
    /// Pressure, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<f64>,
    /// Wheel to the right, CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_x: Option<f64>,
    /// Wheel down, CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_y: Option<f64>,
}
command!(DispatchMouseEvent = "Input.dispatchMouseEvent" -> Empty);

impl DispatchMouseEvent {
    /// A mouse event at a point, without buttons.
    pub fn new(kind: MouseEventType, x: f64, y: f64) -> Self {
        Self {
            kind,
            x,
            y,
            modifiers: None,
            button: None,
            buttons: None,
            click_count: None,
            force: None,
            delta_x: None,
            delta_y: None,
        }
    }
}

/// What the key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyEventType {
    /// It goes down and types its text.
    KeyDown,
    /// It goes up.
    KeyUp,
    /// It goes down and types nothing.
    RawKeyDown,
    /// Text comes.
    Char,
}

/// Sends a key event; the reply comes when the page handled it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchKeyEvent<'a> {
    /// What the key does.
    #[serde(rename = "type")]
    pub kind: KeyEventType,
    /// Bits: alt 1, control 2, meta 4, shift 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<u8>,
    /// Text with the modifiers applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
    /// Text without modifiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmodified_text: Option<&'a str>,
    /// `KeyboardEvent.code`, such as `KeyA`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'a str>,
    /// `KeyboardEvent.key`, such as `a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<&'a str>,
    /// `KeyboardEvent.keyCode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows_virtual_key_code: Option<u16>,
    /// The platform's key code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_virtual_key_code: Option<u16>,
    /// Whether it repeats.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub auto_repeat: bool,
    /// Whether it is on the keypad.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_keypad: bool,
    /// Whether it is a system key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_system_key: bool,
    /// 1 left, 2 right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<u8>,
    /// Editing commands to run with it, such as `selectAll`.
    pub commands: &'a [&'a str],
}
command!(DispatchKeyEvent<'a> = "Input.dispatchKeyEvent" -> Empty);

impl DispatchKeyEvent<'_> {
    /// A key event with nothing but its type.
    pub fn new(kind: KeyEventType) -> Self {
        Self {
            kind,
            modifiers: None,
            text: None,
            unmodified_text: None,
            code: None,
            key: None,
            windows_virtual_key_code: None,
            native_virtual_key_code: None,
            auto_repeat: false,
            is_keypad: false,
            is_system_key: false,
            location: None,
            commands: &[],
        }
    }
}

/// Inserts text at the caret as an input method would: `beforeinput` and `input`, no key events.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InsertText<'a> {
    /// The text.
    pub text: &'a str,
}
command!(InsertText<'a> = "Input.insertText" -> Empty);

/// Shows text as an input method does while it is composed; `Input.insertText` ends it.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImeSetComposition<'a> {
    /// The text so far; an empty one gives it up.
    pub text: &'a str,
    /// Where the selection in it begins, in UTF-16 units.
    pub selection_start: i64,
    /// Where it ends.
    pub selection_end: i64,
}
command!(ImeSetComposition<'a> = "Input.imeSetComposition" -> Empty);

/// Makes the page deaf to all input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetIgnoreInputEvents {
    /// Whether it is.
    pub ignore: bool,
}
command!(SetIgnoreInputEvents = "Input.setIgnoreInputEvents" -> Empty);

/// What fingers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TouchEventType {
    /// They touch.
    TouchStart,
    /// They are lifted.
    TouchEnd,
}

/// Where a finger is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TouchPoint {
    /// CSS pixels from the left of the main frame's viewport.
    pub x: f64,
    /// CSS pixels from its top.
    pub y: f64,
}

/// Sends a touch event; the reply comes when the page handled it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchTouchEvent<'a> {
    /// What the fingers do.
    #[serde(rename = "type")]
    pub kind: TouchEventType,
    /// Where they are; none once they are lifted.
    pub touch_points: &'a [TouchPoint],
    /// Bits: alt 1, control 2, meta 4, shift 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<u8>,
}
command!(DispatchTouchEvent<'a> = "Input.dispatchTouchEvent" -> Empty);

/// Makes the browser tell of drags instead of beginning them itself.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetInterceptDrags {
    /// Whether it does.
    pub enabled: bool,
}
command!(SetInterceptDrags = "Input.setInterceptDrags" -> Empty);

/// A drag began; what it carries is given back with each drag event.
#[derive(Clone, Debug, Deserialize)]
pub struct DragIntercepted {
    /// What is dragged, as the browser wants it back.
    pub data: Box<RawValue>,
}
impl DragIntercepted {
    /// The name of the event.
    pub const METHOD: &'static str = "Input.dragIntercepted";
}

/// Steps of a native drag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DragEventType {
    /// It comes over a place.
    DragEnter,
    /// It moves over it.
    DragOver,
    /// It is let go there.
    Drop,
    /// It is given up.
    DragCancel,
}

/// Sends a step of a native drag.
#[derive(Clone, Debug, Serialize)]
pub struct DispatchDragEvent<'a> {
    /// Which step.
    #[serde(rename = "type")]
    pub kind: DragEventType,
    /// CSS pixels from the left of the main frame's viewport.
    pub x: f64,
    /// CSS pixels from its top.
    pub y: f64,
    /// What is dragged.
    pub data: &'a RawValue,
    /// Bits: alt 1, control 2, meta 4, shift 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<u8>,
}
command!(DispatchDragEvent<'a> = "Input.dispatchDragEvent" -> Empty);
