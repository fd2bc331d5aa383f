//! Child processes: workers with their cages, the egress proxy, the probe.
//!
//! Owns spawning (through the main thread only, since PDEATHSIG follows the thread that forked), greeting, watching
//! and ending them, and the directories of sessions. Does not decide when: sessions do (`crate::session`).
//!
//! Invariants: every spawn ends in exactly one reap; a session's directory is removed only after its processes are
//! gone; nothing is executed by a name that could be changed after the daemon started.

mod ask;
mod cgroup;
mod child;
mod claims;
mod disk;
mod egress;
mod exits;
mod files;
mod greet;
mod journal;
mod launch;
pub mod memory;
mod probe;
mod programs;
mod remove;
mod run;
mod settings;
mod spawn;
mod start_error;
mod stderr;
mod sweep;
mod terminate;
mod watchdog;
mod worker;

pub use ask::ask;
pub use cgroup::Cgroups;
pub use child::{Child, Ending};
pub use claims::Claims;
pub use egress::{Egress, EgressState};
pub use files::SessionFiles;
pub use greet::Greeting;
pub use journal::Journal;
pub use launch::{Launcher, Terms};
pub use probe::{Probe, Probed};
pub use programs::{Program, Programs, ProgramsError};
pub use run::run;
pub use settings::{Common, Locale};
pub use spawn::{Order, Output, Requests, Spawned, Spawner, serve, spawner};
pub use start_error::StartError;
pub use sweep::{left_over, sweep};
pub use terminate::{Ended, end};
pub use watchdog::{Watch, Watchdog};
pub use worker::{Body, Condemn, LossReason, Lost, Worker};
