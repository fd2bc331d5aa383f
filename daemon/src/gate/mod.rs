//! The one path of every operation: checks, session, turn, worker, outcome (contract 2).
//!
//! Owns what is refused before a session hears of it, the deadline over the whole operation, cancelling, and what
//! becomes of an operation that is interrupted. Every error leaves in the one shape of contract 2.6; a bare gRPC
//! status is never the answer to an operation.
//!
//! Invariant: no operation reaches a worker but through here.

mod admit;
mod agree;
mod ending;
mod executions;
mod permit;
mod rates;
mod record;
mod relay;
mod run;
mod secrets;
mod stage;

pub use ending::Cause;
pub use executions::{Ending, Execution, Executions, IN_FLIGHT, Stage};
pub use permit::{Private, Privates};
pub use rates::{FORGET_EVERY, Limiters, Rates};
pub use run::{Call, Events, Gate};
