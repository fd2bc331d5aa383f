//! The Glass contract in types: what can be asked, in which words, and what is answered.
//!
//! Owns the operations ([`op`]), outcomes and errors ([`outcome`], [`error`]), results ([`result`]), names and
//! ids ([`id`]), the audit log's entries ([`audit`]), the wire format ([`wire`]) and the sockets that carry it ([`transport`]), where they lie
//! ([`paths`]) and how a worker starts ([`start`]). Does no other I/O, and depends on nothing else of
//! Glass but the words of [`policy`].
#![forbid(unsafe_code)]

pub mod attach;
pub mod audit;
pub mod authority;
pub mod configuration;
pub mod confirmation;
pub mod diagnosis;
pub mod error;
pub mod escape;
pub mod filename;
#[cfg(test)]
mod fuzz;
mod r#gen;
pub mod id;
pub mod op;
pub mod outcome;
pub mod paths;
pub mod redact;
pub mod result;
pub mod secret;
pub mod session;
pub mod start;
pub mod storage;
pub mod transport;
pub mod version;
pub mod wire;

pub use glass_policy as policy;

pub use error::{ErrorKind, OpError, Phase, Retry};
pub use id::{ClientId, ConfirmationId, ExecutionId, SessionName, TargetId};
pub use op::{AnyOperation, CallOptions, Operation};
pub use outcome::{Dispatched, Outcome};
pub use secret::SecretName;
