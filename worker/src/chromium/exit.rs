//! How a process ended.

use std::fmt;

use nix::sys::{signal::Signal, wait::WaitStatus};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(Signal),
    /// Somebody else took its status.
    Unknown,
}

impl Exit {
    /// The end that a wait status tells of, with its pid; `None` for stops and the like.
    pub(super) fn of(status: WaitStatus) -> Option<(u32, Self)> {
        let (pid, exit) = match status {
            WaitStatus::Exited(pid, code) => (pid, Self::Code(code)),
            WaitStatus::Signaled(pid, signal, _) => (pid, Self::Signal(signal)),
            _ => return None,
        };
        Some((pid.as_raw().unsigned_abs(), exit))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "it exited with code {code}"),
            Self::Signal(signal) => write!(formatter, "it was killed by signal {}", signal.as_str()),
            Self::Unknown => formatter.write_str("it ended"),
        }
    }
}
