//! glassctl, the command line of Glass, and `glass --mcp` ([`mcp`]).
//!
//! Reads arguments ([`args`]), asks the daemon ([`client`], [`connect`], [`launch`]), runs commands ([`commands`]) and prints
//! their answers ([`output`]). Holds no browser, no policy and no state: everything that is true of a session is
//! true in the daemon.
#![forbid(unsafe_code)]

pub mod args;
pub mod client;
pub mod commands;
pub mod connect;
pub mod error;
pub mod execution;
pub mod files;
pub mod follow;
pub mod launch;
pub mod mcp;
pub mod output;
pub mod policy;
#[cfg(test)]
mod reference;
mod run;
pub mod schemas;
pub mod session;
pub mod signals;
mod terminal;
pub mod trace;
pub mod usage;
mod wanted;

pub use run::run;
