//! The audit log (contract 10.7): who asked for what, what policy said, and how it ended.
//!
//! Owns the files in the state directory and the one task that writes them. What an entry and a chain are is
//! `glass_proto::audit`'s. Nothing is ever lost in silence: what could not be written is counted, and the count is the
//! next entry. No entry holds a text that somebody typed or a URL's query ([`redact`]).

mod log;
mod redact;
mod task;

pub use log::{Limits, Log};
pub(crate) use redact::{arguments, host};
pub use task::Audit;
