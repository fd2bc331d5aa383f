//! What a session may do, decided without doing anything.
//!
//! Owns the rules and the reasoning: given a request, is it allowed, and if not, by which rule and what would
//! help. Refuses every kind of I/O: no sockets, no files, no clock, no runtime. Whoever asks carries the
//! decision out (`glass-egress` for connections, the daemon's gate for operations).
//!
//! - [`egress`]: may this session connect to that host, port and address (contract 10.3)?
//! - [`navigation`]: what does this text mean as a URL (contract 12.3), and may a target be sent there (10.3)?

#![forbid(unsafe_code)]

pub mod egress;
pub mod navigation;
