//! The egress proxy: each session's only way to the network (DESIGN 5, contract 10.3).
//!
//! Owns what runs in the process `glass-egress`: one for all sessions, a child of glassd, reached over an
//! inherited socket. Refuses to be reached in any other way: it listens nowhere. glassd sends it a socket per
//! session ([`Command::Session`]), the worker's forwarder sends each connection that the caged browser made as a
//! descriptor over that socket, and so a connection belongs to a session without anyone saying so.
//!
//! ```text
//! glassd ── Command + endpoint ─► service ── one task per session ─► session ── one task per connection ─► proxy
//!        ◄─────────── Event ────                                     ▲ worker's descriptors         relay │ tunnel
//!                                                                    └─ Failed ─► worker                 └ dial
//! ```
//!
//! Invariants: nothing is connected to before [`glass_policy::egress::Rules`] allowed its name and the very
//! address that is used; TLS is never opened; a body is never held whole; a response that broke off upstream
//! breaks off for the browser too; no request is sent twice unless HTTP calls it safe.
//!
//! The process drops no system calls of its own yet. It holds no database, vault, policy file or other session's
//! page, and needs no files but the resolver's.

mod answer;
mod channel;
mod dial;
mod failure;
#[cfg(test)]
mod fuzz;
mod head;
mod meter;
mod proxy;
mod relay;
mod service;
mod session;
mod tunnel;
mod upstream;
mod wire;

pub use channel::Channel;
pub use failure::FailureKind;
pub use service::serve;
pub use session::MAX_CONNECTIONS;
pub use upstream::Upstream;
pub use wire::{Command, Event, MAX_MESSAGE_BYTES, SessionCounters};
