//! Wire types of the parts of CDP that Glass uses, one module per domain.
//!
//! Written by hand and tolerant: unknown members are ignored and unknown enum values become `Other`, because the
//! browser may be newer than we are. Parameters borrow, since a command is serialised at once; a flag that is
//! false and an option that is `None` are not sent. Events have their name in `METHOD`.
//!
//! Texts of a page (titles, addresses, descriptions) are data here and nothing else: they go into no error and no
//! log above debug level.

pub mod accessibility;
pub mod browser;
pub mod dom;
pub mod dom_debugger;
pub mod dom_storage;
pub mod empty;
pub mod emulation;
pub mod fetch;
pub mod input;
pub mod inspector;
pub mod io;
pub mod log;
pub mod network;
pub mod page;
pub mod remote;
pub mod runtime;
pub mod security;
pub mod storage;
pub mod target;

pub use empty::{Empty, NoParams};
