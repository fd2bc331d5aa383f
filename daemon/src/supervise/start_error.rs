//! Why a session has no browser, and what its caller is told.

use std::io;

use glass_proto::error::{ErrorKind, OpError, Phase as OpPhase};

use super::greet::Unfit;
use super::worker::LossReason;
use crate::limits;

/// Why a session has no browser.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StartError {
    /// This machine allows no cage that is strong enough.
    #[error("this machine does not allow the sandbox that Glass needs: {0}")]
    NoCage(String),
    /// Its directory, uid, sockets or process could not be made.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: String,
    },
    /// The worker said why it does not start.
    #[error("{message}")]
    Refused {
        /// The step.
        step: String,
        /// The kernel's answer.
        errno: Option<String>,
        /// What happened.
        message: String,
        /// What to do.
        remedy: Option<String>,
    },
    /// It ended while it started.
    #[error("{0} while it started")]
    Died(LossReason),
    /// It took too long.
    #[error("the browser did not start within {} s", limits::START.as_secs())]
    TimedOut,
    /// It is not what the configuration demands.
    #[error("{0}")]
    Unfit(String),
    /// Its browser did not start.
    #[error("the browser did not start: {0}")]
    Greeting(String),
    /// Its network rules would be advice, and its policy asks for more.
    #[error(
        "this policy asks for network rules that the kernel enforces, and the cage that can be had here does not"
    )]
    Advisory,
    /// Its network rules cannot be held behind the upstream proxy.
    #[error("{0}")]
    Upstream(String),
    /// The session was closed meanwhile.
    #[error("the session was closed while it started")]
    Cancelled,
}

impl From<Unfit> for StartError {
    fn from(unfit: Unfit) -> Self {
        Self::Unfit(unfit.to_string())
    }
}

impl StartError {
    /// The error of an operation that needed the session.
    pub fn to_op_error(&self) -> OpError {
        let (reason, remedy) = match self {
            Self::Refused { step, remedy, .. } if step.starts_with("attach_") => {
                (step.as_str(), remedy.as_deref().unwrap_or("see the daemon's log"))
            }
            Self::NoCage(_) => ("sandbox_unavailable", "run `glassctl status` to see which step fails"),
            Self::System { .. } => ("system", "see the daemon's log"),
            Self::Refused { remedy: Some(remedy), .. } => ("start_failed", remedy.as_str()),
            Self::Refused { .. } | Self::Died(_) => ("start_failed", "see the daemon's log"),
            Self::TimedOut => {
                ("start_timeout", "try again; if it happens on an idle machine, see the daemon's log")
            }
            Self::Unfit(_) => (
                "sandbox_too_weak",
                "see `glassctl session show`; sandbox.minimum names the weakest accepted cage",
            ),
            Self::Greeting(_) => {
                ("browser_not_started", "see the daemon's log; browser.path names another browser")
            }
            Self::Advisory => (
                "egress_advisory",
                "run `glassctl doctor` to see why there are no namespaces; or choose a policy without require_egress",
            ),
            Self::Upstream(_) => (
                "upstream_proxy",
                "name the upstream proxy in allow_hosts (or --policy-allow-host) to trust it with that; or take a preset that allows addresses that are not public",
            ),
            Self::Cancelled => ("session_closed", "call navigate to begin the session anew"),
        };
        let (kind, phase) = match self {
            Self::Advisory | Self::Upstream(_) => (ErrorKind::InvalidConfiguration, OpPhase::Policy),
            Self::Refused { step, .. } if step == "attach_no_target" => {
                (ErrorKind::TargetNotFound, OpPhase::TargetResolution)
            }
            Self::Refused { step, .. } if step == "attach_internal_page" => {
                (ErrorKind::Denied, OpPhase::Policy)
            }
            _ => (ErrorKind::SessionFailed, OpPhase::Preflight),
        };
        let error = OpError::rejected(kind, phase, self.to_string(), remedy).reason(reason);
        match self {
            Self::Refused { step, errno, .. } => {
                let error = error.detail("step", step.as_str());
                match errno {
                    Some(errno) => error.detail("errno", errno.as_str()),
                    None => error,
                }
            }
            _ => error,
        }
    }
}

pub(super) fn system(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |error| StartError::System { what, error: error.to_string() }
}
