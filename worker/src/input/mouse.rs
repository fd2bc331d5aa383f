//! One press of a mouse button at a point.

use glass_proto::op::Button;

use crate::cdp::types::empty::Empty;
use crate::cdp::types::input::{DispatchMouseEvent, MouseButton, MouseEventType};
use crate::cdp::{Client, Pending};

/// A press under way: acknowledgements of move, press and release.
#[derive(Debug)]
pub struct Press {
    /// In the order of their sending.
    pub acknowledgements: Vec<Pending<Empty>>,
}

/// The browser's name of a button, and its bit.
pub fn button_of(button: Button) -> (MouseButton, u8) {
    match button {
        Button::Left => (MouseButton::Left, 1),
        Button::Right => (MouseButton::Right, 2),
        Button::Middle => (MouseButton::Middle, 4),
    }
}

impl Press {
    /// Sends move, press and release back to back, so that nothing can come between them.
    pub fn send(client: &Client, session: &str, (x, y): (f64, f64), button: Button, modifiers: u8) -> Self {
        let (name, bit) = button_of(button);
        let event =
            |kind| DispatchMouseEvent { modifiers: Some(modifiers), ..DispatchMouseEvent::new(kind, x, y) };
        let moved = event(MouseEventType::MouseMoved);
        let pressed = DispatchMouseEvent {
            button: Some(name),
            buttons: Some(bit),
            click_count: Some(1),
            ..event(MouseEventType::MousePressed)
        };
        let released = DispatchMouseEvent {
            button: Some(name),
            buttons: Some(0),
            click_count: Some(1),
            ..event(MouseEventType::MouseReleased)
        };
        let acknowledgements = [moved, pressed, released]
            .into_iter()
            .map(|event| client.start_send(Some(session), event))
            .collect();
        Self { acknowledgements }
    }
}
