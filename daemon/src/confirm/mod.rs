//! Confirmations: what a person has to agree to, and how a person does that where no client can (contract 10.4).
//!
//! Owns the book of what waits, the tokens that a client's command line gave, and the three ways to agree: on a terminal,
//! on a terminal with a secret, and by an approver. A call never grants anything: it asks, is refused, and finds the grant
//! when it is made again.

mod approver;
mod book;
mod confirmations;
mod deciding;
mod secret;
mod terminal;

pub use approver::Approver;
pub(crate) use book::{About, Found, IN_ALL, Key, LIFE, No};
pub(crate) use confirmations::Used;
pub use confirmations::{Confirmations, Ways};
pub use secret::{MAX_SECRET, SecretHash};
pub(crate) use terminal::{Asker, began, on_terminal};
