//! Why glassd did not start or did not end well, as an exit code (those of sysexits.h).

use crate::activation::ActivationError;
use crate::authority::PolicyError;
use crate::config::ConfigError;
use crate::listen::ListenError;
use crate::supervise::ProgramsError;
use glass_proto::paths::PathError;

/// It ended as it should, or another daemon serves and a client asked for nothing else.
pub const OK: u8 = 0;
/// The command line is wrong.
pub const USAGE: u8 = 64;
/// Another daemon is there.
pub const OTHER_DAEMON: u8 = 69;
/// A fault of the daemon's own.
pub const FAULT: u8 = 70;
/// A program of Glass is missing.
pub const PROGRAMS: u8 = 72;
/// A directory, socket or log cannot be made.
pub const FILES: u8 = 73;
/// The configuration is broken.
pub const CONFIG: u8 = 78;

/// Why the daemon did not start. The message is for whoever started it.
#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    /// No place for socket or state.
    #[error("{0}")]
    Paths(#[from] PathError),
    /// The configuration.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The policy.
    #[error("{0}")]
    Policy(#[from] PolicyError),
    /// The socket.
    #[error("{0}")]
    Listen(#[from] ListenError),
    /// What the service manager handed over.
    #[error("{0}")]
    Activation(#[from] ActivationError),
    /// The programs.
    #[error("{0}")]
    Programs(#[from] ProgramsError),
    /// Something that the system refused.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: std::io::Error,
    },
}

impl StartupError {
    /// For `map_err`.
    pub fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self::System { what, error }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Policy(_) => CONFIG,
            Self::Programs(_) => PROGRAMS,
            Self::Listen(
                ListenError::Served { .. }
                | ListenError::OtherDaemon { .. }
                | ListenError::Stuck { .. }
                | ListenError::Foreign { .. },
            ) => OTHER_DAEMON,
            Self::Listen(_) | Self::Paths(_) | Self::Activation(_) | Self::System { .. } => FILES,
        }
    }

    /// Whether a client that wanted a daemon has what it wants: one serves already.
    pub fn is_served(&self) -> bool {
        matches!(self, Self::Listen(ListenError::Served { .. }))
    }
}
