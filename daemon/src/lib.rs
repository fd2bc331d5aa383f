//! glassd, the supervisor, and glass-egress, its proxy.
//!
//! | thing | owned by | ended by |
//! |---|---|---|
//! | socket and locks | [`listen`] | [`app`], last; the kernel if the daemon dies |
//! | connections, hello | [`serve`], [`rpc`] | `serve`, when the daemon has stopped |
//! | which policy holds | [`authority`] | nothing: it changes with its file |
//! | what waits for a person, and what one agreed to | [`confirm`] | a minute, or its call |
//! | the audit log | the task of [`audit`] | [`app`], when all sessions are closed |
//! | an operation: deadline, cancel, outcome | [`gate`] | its own end |
//! | which session a name means | `session::Registry` | the session's actor |
//! | a session's phase, queue, worker | its actor | the actor |
//! | a session's secrets | [`vault`] | the actor, when the session ends; their time |
//! | processes, session directories, the proxy | [`supervise`] | whoever asked for them, through it |
//!
//! Invariants: the main thread forks and does nothing else; only the actor changes a phase; no operation reaches a
//! worker but through the gate; every spawn ends in one reap; the daemon opens no TCP port and parses no page content.

#![forbid(unsafe_code)]

pub mod activation;
pub mod app;
pub mod args;
pub mod audit;
pub mod authority;
pub mod config;
pub mod confirm;
pub mod diagnose;
pub mod egress;
pub mod exit;
pub mod gate;
pub mod limits;
pub mod listen;
pub mod logging;
pub mod peer;
pub mod process;
pub mod quota;
pub mod rpc;
pub mod serve;
pub mod session;
pub mod shutdown;
pub mod supervise;
pub mod vault;
