//! Trusted input: what a mouse and a keyboard would send (contract 5.2), and what they hold down.

mod human;
mod keys;
mod mouse;

use std::sync::Arc;

pub use human::{ease, way};
pub use keys::{KeyStroke, modifier_bits, modifier_key, shifted, stroke};
pub use mouse::{Contact, Press, button_of};

/// The keys of a target, between operations.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// Keys that `keyDown` pressed and nothing let go of yet.
    pub keys: Vec<KeyStroke>,
}

impl Device {
    /// Bits of the modifiers that are down.
    pub fn bits(&self) -> u8 {
        self.keys.iter().fold(0, |bits, stroke| {
            bits | match stroke.key.as_str() {
                "Alt" => 1,
                "Control" => 2,
                "Meta" => 4,
                "Shift" => 8,
                _ => 0,
            }
        })
    }
}

/// Buttons and keys that are down, so that they can be released when an operation ends before its time.
#[derive(Debug, Default)]
pub struct Held {
    /// A pressed mouse button and where.
    pub button: Option<(Arc<str>, f64, f64, crate::cdp::types::input::MouseButton)>,
    /// Pressed keys.
    pub keys: Vec<(Arc<str>, KeyStroke)>,
}
