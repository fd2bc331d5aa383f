//! Enters the cage: the order of the steps, and nothing else.
//!
//! Each step is a function of the module that knows its mechanism. The order is not free: the uid comes
//! before the user namespace (a root mapped to 1000 still owns root's files), PDEATHSIG after the last change
//! of credentials (the kernel clears it), the listener before Landlock (which allows no bind), Landlock after
//! the mounts (which it forbids), seccomp last (it forbids several of the others).

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::stat::{Mode as FileMode, umask};
use nix::unistd::{ForkResult, getegid, geteuid, pipe2, setsid};

use crate::environment::{PLACES, environment, environment_in};
use crate::error::{AtStep, CageError, Step};
use crate::landlock::Enforced;
use crate::layers::Observer;
use crate::mode::Mode;
use crate::namespaces::Identities;
use crate::plan::{CagePlan, SESSION};
use crate::rootfs::{self, Sources};
use crate::stub::Hold;
use crate::{caps, fds, identity, landlock, namespaces, process, rlimits, seccomp, stub};

/// How much sooner than others the kernel ends a caged process when memory runs out (-1000 to 1000); where
/// Chromium puts its renderers.
const OOM_SCORE: i32 = 300;

/// What the first process of a finished cage has.
#[derive(Debug)]
pub struct Entered {
    /// Listens on 127.0.0.1 for the browser; close-on-exec, blocking.
    pub listener: TcpListener,
    /// Tells which layers are seen to be active.
    pub observer: Observer,
    /// The kind of cage.
    pub mode: Mode,
    /// The session's directory as it is seen in here.
    pub session: PathBuf,
    /// The whole environment of programs in here.
    pub environment: Vec<(&'static str, OsString)>,
}

/// Builds the cage of `plan` round the calling process and returns in its first process: pid 1 where it has a pid
/// namespace, else the stub's child.
///
/// Call it before any thread is started. The process that called becomes the stub and never returns: it exits
/// as pid 1 does. Of the inherited descriptors those in `keep` and the three standard ones stay, and become
/// close-on-exec; all others are closed. The working directory is `/` afterwards, or the session's own without a root of
/// its own; the umask is 077.
///
/// An error may come before the fork or after it (then in pid 1). In both cases the process is half caged and
/// good for nothing but to report and exit.
pub fn enter(plan: &CagePlan, keep: &[BorrowedFd<'_>]) -> Result<Entered, CageError> {
    plan.check()?;
    let identity = Identity::decide(plan.worker_uid)?;
    process::one_thread()?;
    match (plan.mode, identity) {
        (Mode::Namespaces, identity) => enter_namespaces(plan, keep, identity),
        (mode, Identity::Become(_)) => Err(CageError::NotForRoot { mode }),
        (mode, Identity::Stay { .. }) => enter_host(plan, keep, mode),
    }
}

fn enter_namespaces(
    plan: &CagePlan,
    keep: &[BorrowedFd<'_>],
    identity: Identity,
) -> Result<Entered, CageError> {
    settle(keep)?;
    let outside = Identities::of("self");

    let sources = match identity {
        Identity::Become(id) => {
            identity::give_tree(&plan.session_dir, id)?;
            let sources = Sources::open(plan)?;
            identity::become_uid(id)?;
            make_namespaces(id, id)?;
            sources
        }
        Identity::Stay { uid, gid } => {
            make_namespaces(uid, gid)?;
            Sources::open(plan)?
        }
    };
    // Not as root, which would set the floor too and keep Chromium from grading its processes.
    raise_oom_score()?;
    process::die_with_parent(plan.parent).map_err(|_| CageError::ParentGone)?;
    namespaces::name_host()?;
    into_child(Hold::Namespace)?;

    rootfs::build(plan, sources)?;
    namespaces::loopback_up()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, plan.forward_port))
        .at(Step::Listen, format!("listen on 127.0.0.1:{}", plan.forward_port))?;
    umask(FileMode::from_bits_truncate(0o077));
    caps::drop_all()?;
    prctl::set_no_new_privs().at(Step::NoNewPrivs, "refuse new privileges")?;
    rlimits::apply(&plan.limits)?;
    let enforced = landlock::apply(plan.forward_port)?;
    seccomp::apply()?;
    // The browser has the same uid: without this it could write to pid 1's memory through /proc/1/mem.
    process::set_dumpable(false).at(Step::Capabilities, "refuse to be traced")?;
    Ok(Entered {
        listener,
        observer: Observer::new(plan.mode, outside, enforced),
        mode: plan.mode,
        session: SESSION.into(),
        environment: environment().map(|(name, value)| (name, value.into())).into(),
    })
}

/// The weaker cages, on the host's own root and network. The order is that of the other, without what needs namespaces.
fn enter_host(plan: &CagePlan, keep: &[BorrowedFd<'_>], mode: Mode) -> Result<Entered, CageError> {
    settle(keep)?;
    let outside = Identities::of("self");
    raise_oom_score()?;
    // Not SIGKILL: without a pid namespace the stub itself must end what is left.
    process::follow_parent(plan.parent, Signal::SIGTERM).map_err(|_| CageError::ParentGone)?;
    into_child(Hold::Descendants)?;

    umask(FileMode::from_bits_truncate(0o077));
    let session = &plan.session_dir;
    for place in PLACES {
        let place = session.join(place);
        fs::create_dir(&place).at(Step::Place, format!("make {}", place.display()))?;
    }
    std::env::set_current_dir(session).at(Step::Place, format!("enter {}", session.display()))?;
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).at(Step::Listen, "listen on a port of 127.0.0.1")?;
    let port = listener.local_addr().at(Step::Listen, "look at the port")?.port();
    caps::clear()?;
    rlimits::apply_on_host(&plan.limits)?;
    let enforced = if mode == Mode::LandlockOnly {
        prctl::set_no_new_privs().at(Step::NoNewPrivs, "refuse new privileges")?;
        let enforced = landlock::apply_to_host(&plan.outermost_read_only(), session, port)?;
        seccomp::apply_in_host_network()?;
        enforced
    } else {
        // Nothing may be in the way of the browser's own sandbox, which may need a set-uid helper.
        Enforced::NOTHING
    };
    process::set_dumpable(false).at(Step::Capabilities, "refuse to be traced")?;
    Ok(Entered {
        listener,
        observer: Observer::new(mode, outside, enforced),
        mode,
        session: session.clone(),
        environment: environment_in(session),
    })
}

/// Who the cage's processes are on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Root becomes this uid and gid first.
    Become(u32),
    /// An ordinary user stays what it is.
    Stay { uid: u32, gid: u32 },
}

impl Identity {
    /// Decides by the caller's own uid; a browser as uid 0 is never the answer.
    pub(crate) fn decide(wanted: Option<u32>) -> Result<Self, CageError> {
        let own = geteuid().as_raw();
        match (own, wanted) {
            (0, None | Some(0)) => Err(CageError::RootWithoutUid),
            (0, Some(id)) => Ok(Self::Become(id)),
            (own, Some(wanted)) if wanted != own => Err(CageError::CannotBecome { wanted, own }),
            (own, _) => Ok(Self::Stay { uid: own, gid: getegid().as_raw() }),
        }
    }
}

/// Makes the namespaces, with one mapped id.
fn make_namespaces(uid: u32, gid: u32) -> Result<(), CageError> {
    namespaces::make()?;
    namespaces::deny_setgroups()?;
    namespaces::map_uid(uid)?;
    namespaces::map_gid(gid)
}

/// What needs no privilege and leaves nothing of the daemon's surroundings.
fn settle(keep: &[BorrowedFd<'_>]) -> Result<(), CageError> {
    let numbers: Vec<_> = keep.iter().map(AsRawFd::as_raw_fd).collect();
    fds::close_inherited(&numbers).at(Step::Quiet, "close inherited descriptors")?;
    for fd in keep.iter().filter(|fd| fd.as_raw_fd() > 2) {
        fds::set_close_on_exec(fd.as_fd()).at(Step::Quiet, "keep a descriptor")?;
    }
    // Refused to the leader of a process group; pid 1 is none and starts a session in any case.
    let _ = setsid();
    // For the new root, whose files other ids of nested namespaces read; `enter` tightens it afterwards.
    umask(FileMode::from_bits_truncate(0o022));
    Ok(())
}

/// Raises the score; lowering a higher one is a privilege, and would be wrong.
fn raise_oom_score() -> Result<(), CageError> {
    let path = "/proc/self/oom_score_adj";
    let present = fs::read_to_string(path).at(Step::Quiet, "read oom_score_adj")?;
    if present.trim().parse::<i32>().is_ok_and(|score| score >= OOM_SCORE) {
        return Ok(());
    }
    fs::write(path, OOM_SCORE.to_string()).at(Step::Quiet, "write oom_score_adj")
}

/// Forks; the parent becomes the stub, and the child goes on once the stub is stripped.
fn into_child(hold: Hold) -> Result<(), CageError> {
    let (wait, go) = pipe2(OFlag::O_CLOEXEC).at(Step::Fork, "make a pipe")?;
    match process::fork_single()? {
        ForkResult::Parent { child } => {
            drop(wait);
            stub::run(child, go, hold)
        }
        ForkResult::Child => {
            drop(go);
            prctl::set_pdeathsig(Signal::SIGKILL).at(Step::Parent, "die with the stub")?;
            await_go(wait)?;
            setsid().at(Step::Quiet, "start a session").map(drop)
        }
    }
}

/// Waits for the stub's byte. A stub that died before PDEATHSIG was set, or failed, gives end of file
/// instead.
fn await_go(wait: OwnedFd) -> Result<(), CageError> {
    let mut byte = [0];
    fs::File::from(wait).read_exact(&mut byte).map_err(|_| CageError::ParentGone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_is_never_uid_0() {
        let own = geteuid().as_raw();
        if own == 0 {
            assert!(matches!(Identity::decide(None), Err(CageError::RootWithoutUid)));
            assert!(matches!(Identity::decide(Some(0)), Err(CageError::RootWithoutUid)));
            assert_eq!(Identity::decide(Some(60_123)).unwrap(), Identity::Become(60_123));
        } else {
            assert!(matches!(Identity::decide(Some(own + 1)), Err(CageError::CannotBecome { .. })));
            assert!(matches!(Identity::decide(None).unwrap(), Identity::Stay { .. }));
        }
    }
}
