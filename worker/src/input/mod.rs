//! Trusted input: what a mouse and a keyboard would send (contract 5.2), and what they hold down.

mod keys;
mod mouse;

use std::sync::Arc;

pub use keys::{KeyStroke, modifier_bits, modifier_key, stroke};
pub use mouse::{Press, button_of};

/// Buttons and keys that are down, so that they can be released when an operation ends before its time.
#[derive(Debug, Default)]
pub struct Held {
    /// A pressed mouse button and where.
    pub button: Option<(Arc<str>, f64, f64, crate::cdp::types::input::MouseButton)>,
    /// Pressed keys.
    pub keys: Vec<(Arc<str>, KeyStroke)>,
}
