//! glass-worker: one caged Chromium for one session.
#![forbid(unsafe_code)]

pub mod act;
pub mod cdp;
pub mod chromium;
pub mod context;
pub mod execute;
pub mod forward;
mod glob;
pub mod injected;
pub mod input;
pub mod journal;
pub mod ops;
pub mod page;
pub mod reach;
pub mod run;
pub mod running;
pub mod serve;
pub mod spool;
pub mod uploads;
