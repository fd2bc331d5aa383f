//! The mouse: moves, presses of a button at a point, the wheel.

use glass_proto::op::Button;

use crate::cdp::types::empty::Empty;
use crate::cdp::types::input::{
    DispatchMouseEvent, DispatchTouchEvent, MouseButton, MouseEventType, TouchEventType, TouchPoint,
};
use crate::cdp::{Client, Pending};

/// A press under way: acknowledgements of the move and of each press and release.
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

/// What the pointer does at a point, once it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact {
    /// Nothing.
    Hover,
    /// A button goes down and up, this often.
    Press(Button, u8),
    /// A finger touches it and is lifted.
    Touch,
}

impl Press {
    /// Sends the move and then each press and release back to back, so that nothing can come between them.
    ///
    pub fn send(client: &Client, session: &str, (x, y): (f64, f64), contact: Contact, modifiers: u8) -> Self {
        let event =
            |kind| DispatchMouseEvent { modifiers: Some(modifiers), ..DispatchMouseEvent::new(kind, x, y) };
        if contact == Contact::Touch {
            let touch =
                |kind, points| DispatchTouchEvent { kind, touch_points: points, modifiers: Some(modifiers) };
            let point = [TouchPoint { x, y }];
            let start = client.start_send(Some(session), touch(TouchEventType::TouchStart, &point));
            let end = client.start_send(Some(session), touch(TouchEventType::TouchEnd, &[]));
            return Self { acknowledgements: vec![start, end] };
        }
        let mut events = vec![event(MouseEventType::MouseMoved)];
        if let Contact::Press(button, count) = contact {
            let (name, bit) = button_of(button);
            for click in 1..=count {
                let change = |kind, buttons| DispatchMouseEvent {
                    button: Some(name),
                    buttons: Some(buttons),
                    click_count: Some(click),
                    ..event(kind)
                };
                events.push(change(MouseEventType::MousePressed, bit));
                events.push(change(MouseEventType::MouseReleased, 0));
            }
        }
        let send = |event| client.start_send(Some(session), event);
        Self { acknowledgements: events.into_iter().map(send).collect() }
    }
}
