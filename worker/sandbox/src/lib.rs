//! The cage round a Glass worker, and the few process primitives that need `unsafe`.
//!
//! Owns: becoming an unprivileged uid, the namespaces, the new root, capabilities, rlimits, Landlock and
//! seccomp of a worker; the probe that says whether this machine allows them; the report of what is observed
//! active; session uids; pidfds and descriptor passing. Refuses: anything about browsers, sessions or policy.
//! The rest of the workspace forbids `unsafe` and reaches the kernel through the safe functions here.

mod caps;
mod environment;
mod error;
pub mod fdpass;
mod fds;
mod hints;
mod identity;
mod landlock;
mod layers;
mod locked;
mod mode;
mod mounts;
mod namespaces;
mod pidfd;
mod plan;
mod probe;
mod process;
mod procfs;
mod rlimits;
mod rootfs;
mod seccomp;
mod stage;
mod strays;
mod stub;
mod syscalls;
mod uids;

pub use environment::environment;
pub use error::{CageError, Step};
pub use fds::{close_inherited, duplicate_above, take_inherited};
pub use identity::become_unprivileged;
pub use layers::{Layer, LayerState, Observer};
pub use locked::LockedBytes;
pub use mode::Mode;
pub use nix::sys::signal::Signal;
pub use pidfd::{Exit, Pidfd};
pub use plan::{CagePlan, HOME, INSIDE_ID, Limits, SESSION};
pub use probe::{ProbeReport, ProbeStep, probe};
pub use process::{default_action, die_with_parent, die_with_this_thread, set_dumpable, set_name};
pub use stage::{Entered, enter};
pub use strays::reap_strays;
pub use uids::{EGRESS_UID, FIRST_UID, LEASE_DIR, LeaseError, UID_COUNT, UidLease};
