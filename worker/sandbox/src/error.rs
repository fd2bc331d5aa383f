//! Why a cage could not be built: the step, the kernel's answer and what to do about it.
//!
//! Owns the names of the steps, which are the same in errors, in the probe and in `doctor`.

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use crate::mode::Mode;

macro_rules! steps {
    ($($variant:ident = $name:literal: $about:literal,)*) => {
        /// One thing that building a cage does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Step {
            $(#[doc = $about] #[serde(rename = $name)] $variant,)*
        }

        impl Step {
            /// The name in messages, JSON and `doctor`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

steps! {
    Quiet = "process": "Setting the process apart: session, umask, OOM score.",
    Own = "own-session": "Giving the session's directory to its uid.",
    MountBind = "mount-bind": "Opening a host path for binding, or binding it.",
    Uid = "uid": "Becoming the session's uid.",
    Unshare = "unshare": "Making the namespaces.",
    Setgroups = "setgroups": "Giving up supplementary groups in the user namespace.",
    UidMap = "uid_map": "Mapping the uid.",
    GidMap = "gid_map": "Mapping the gid.",
    Parent = "parent": "Binding the life of the cage to the daemon's.",
    Fork = "fork": "Starting pid 1.",
    Stub = "stub": "Stripping the process outside the cage.",
    Hostname = "hostname": "Naming the host.",
    Loopback = "netns-lo": "Bringing up the loopback interface.",
    MountPrivate = "mount-private": "Cutting mount propagation.",
    MountTmpfs = "mount-tmpfs": "Mounting a memory file system.",
    MountProc = "mount-proc": "Mounting the cage's own /proc.",
    Root = "root": "Filling the new root.",
    Pivot = "pivot-root": "Changing to the new root.",
    Listen = "listen": "Listening for the forwarder.",
    Capabilities = "capabilities": "Dropping capabilities.",
    NoNewPrivs = "no-new-privs": "Refusing new privileges.",
    Place = "place": "Making the places that programs write to.",
    Rlimits = "rlimits": "Setting resource limits.",
    Landlock = "landlock": "Restricting by Landlock.",
    Seccomp = "seccomp": "Installing the seccomp filter.",
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a cage was not built.
#[derive(Debug, thiserror::Error)]
pub enum CageError {
    /// The kernel refused a step.
    #[error("cage step {step}: {what}: {errno}")]
    Step {
        /// The step that failed.
        step: Step,
        /// What was tried, on which object.
        what: String,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The plan itself cannot be built.
    #[error("cage plan: {what}")]
    Plan {
        /// What is wrong.
        what: String,
    },
    /// The browser would run as uid 0.
    #[error("started as root without a uid for the session; the browser never runs as uid 0")]
    RootWithoutUid,
    /// An ordinary user cannot become another uid.
    #[error("uid {wanted} was asked for, but only root can change its uid (this is {own})")]
    CannotBecome {
        /// The uid of the plan.
        wanted: u32,
        /// The uid of the caller.
        own: u32,
    },
    /// Namespaces need a process with one thread.
    #[error("the cage must be entered before any thread is started, and this process has {threads}")]
    Threads {
        /// How many there are.
        threads: usize,
    },
    /// The daemon or the stub died while the cage was built.
    #[error("the process that started the cage is gone")]
    ParentGone,
    /// Without a root of its own, a session's uid does not reach its directory beneath root's.
    #[error("the cage `{mode}` is not for root, only `namespaces` is")]
    NotForRoot {
        /// The mode.
        mode: Mode,
    },
}

impl CageError {
    /// The step that failed, where it was one.
    pub fn step(&self) -> Option<Step> {
        match self {
            Self::Step { step, .. } => Some(*step),
            _ => None,
        }
    }

    /// The kernel's answer by name (`EPERM`), where it gave one.
    pub fn errno(&self) -> Option<String> {
        match self {
            Self::Step { errno, .. } => Some(format!("{errno:?}")),
            _ => None,
        }
    }

    /// What a person can do about it, read from this machine's settings.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Step { step, errno, .. } => crate::hints::hint(*step, *errno),
            Self::NotForRoot { .. } => Some("run glassd as an ordinary user".to_owned()),
            Self::RootWithoutUid => Some("give the worker a uid of its own, not 0".to_owned()),
            _ => None,
        }
    }
}

/// Attaches a step and its object to the kernel's answer.
pub(crate) trait AtStep<T> {
    /// Names the step and what was tried.
    fn at(self, step: Step, what: impl Into<String>) -> Result<T, CageError>;
}

impl<T> AtStep<T> for nix::Result<T> {
    fn at(self, step: Step, what: impl Into<String>) -> Result<T, CageError> {
        self.map_err(|errno| CageError::Step { step, what: what.into(), errno })
    }
}

impl<T> AtStep<T> for std::io::Result<T> {
    fn at(self, step: Step, what: impl Into<String>) -> Result<T, CageError> {
        self.map_err(|error| {
            let errno = error.raw_os_error().map_or(Errno::EIO, Errno::from_raw);
            CageError::Step { step, what: what.into(), errno }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_step_object_and_answer() {
        let error =
            nix::Result::<()>::Err(Errno::EPERM).at(Step::UidMap, "write /proc/self/uid_map").unwrap_err();
        assert_eq!(
            error.to_string(),
            "cage step uid_map: write /proc/self/uid_map: EPERM: Operation not permitted"
        );
        assert_eq!((error.step(), error.errno().as_deref()), (Some(Step::UidMap), Some("EPERM")));
    }
}
