//! Sessions: one name, one actor, one worker (contract 1).
//!
//! Owns the phases of a session and who may change them (its actor only), the queue of its page operations, and the
//! map from names to sessions. Does not start or end processes itself (`crate::supervise`) and does not run
//! operations (`crate::gate`): it gives them their turn.

mod actor;
mod handle;
mod info;
mod phase;
mod queue;
mod registry;

pub use handle::{Admitted, Job, NoTurn, SessionHandle, SubmitError, Turn, Unfit};
pub use info::{IdleTimeouts, Info};
pub use phase::{CloseReason, Effect, Event, FailReason, IllegalTransition, Phase};
pub use registry::{Registry, Submitted};
pub(crate) use registry::{other_policy, quota};
