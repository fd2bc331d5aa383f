//! What a session may do, decided without doing anything.
//!
//! Owns the rules and the reasoning: given a request, is it allowed, and if not, by which rule and what would
//! help. Refuses every kind of I/O: no sockets, no files, no clock, no runtime. Whoever asks carries the
//! decision out (`glass-egress` for connections, the daemon's gate for operations).
//!
//! - [`capability`]: what can be allowed or denied, and the presets (contract 10.2).
//! - [`host`], [`address`]: rules about hosts, in the browser's own spelling, and which addresses are public (10.3).
//! - [`layer`], [`file`](mod@file): one side's policy, from a command line or from `policy.toml`.
//! - [`decide`]: both sides together: the daemon's is a ceiling (10.1).
//! - [`egress`]: may this session connect to that host, port and address (10.3)?
//! - [`navigation`]: what does this text mean as a URL (contract 12.3), and may a target be sent there (10.3)?

#![forbid(unsafe_code)]

pub mod address;
pub mod capability;
pub mod decide;
pub mod egress;
pub mod file;
pub mod host;
pub mod layer;
pub mod navigation;

pub use capability::{Capability, Preset, Stance};
