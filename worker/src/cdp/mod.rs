//! The Chrome DevTools Protocol, spoken to one browser over a pipe.
//!
//! Owns framing, the pairing of replies with calls, the order of events, and the wire types in [`types`].
//! Knows nothing of pages, operations or sessions of Glass, sets no deadlines (callers race a [`Pending`] against
//! theirs), and never retries a command: only the caller knows whether a second try is safe.
//!
//! Wire types stop at the modules that call CDP; nothing outside the worker sees them.

mod client;
mod command;
mod decode;
mod envelope;
mod error;
mod frame;
#[cfg(test)]
mod fuzz;
mod outbox;
mod pending;
mod reader;
pub mod types;
mod waiters;

pub use client::{Client, Closer, Limits};
pub use command::Command;
pub use envelope::Event;
pub use error::{CdpError, Gone};
pub use frame::{Decoder, Frame};
pub use pending::{InOrder, Pending, PendingRaw};
