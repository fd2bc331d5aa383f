//! The process outside the cage that holds it: it waits for pid 1 and does nothing else.
//!
//! It exists because the first process of a pid namespace is a child. The daemon knows the stub, holds it by
//! pidfd and ends it: on SIGTERM it kills pid 1 and reaps it; when it is killed itself, the kernel kills pid
//! 1 (PDEATHSIG). Either way every process of the pid namespace dies with pid 1.
//!
//! Where there is no pid namespace the stub takes its place: orphans of the session become its children, and it ends
//! only when none is left.

use std::io::Write;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::error::{AtStep, CageError, Step};
use crate::{caps, fds, process, strays};

/// The exit code of a stub that could not strip itself, beside those of pid 1.
const NOT_STRIPPED: i32 = 70;

/// What keeps the processes of a cage together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// A pid namespace: the kernel ends all with its first process.
    Namespace,
    /// The stub itself: every orphan of the session becomes its child, and it ends them one by one.
    Descendants,
}

/// Strips this process, lets pid 1 go on by a byte into `go`, waits for it and exits as it did.
///
/// The exit code is pid 1's, or 128 and the signal that ended it.
pub(crate) fn run(pid_1: Pid, go: OwnedFd, hold: Hold) -> ! {
    // Only for people who look at the process list.
    let _ = process::set_name("glass-stub");
    let code = match strip(hold).and_then(|signals| release(go).map(|()| signals)) {
        Ok(signals) => match hold {
            Hold::Namespace => wait(pid_1, &signals),
            Hold::Descendants => wait_for_all(pid_1, &signals),
        },
        // Pid 1 sees the pipe close without a byte, and reports.
        Err(_) => NOT_STRIPPED,
    };
    std::process::exit(code)
}

/// Gives up all rights and blocks the signals that `wait` takes one by one.
fn strip(hold: Hold) -> Result<SigSet, CageError> {
    // Ignored signals are inherited through execve; an ignored SIGCHLD would never be waited for.
    process::reset(Signal::SIGCHLD).at(Step::Stub, "reset SIGCHLD")?;
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.add(Signal::SIGTERM);
    signals.thread_block().at(Step::Stub, "block signals")?;
    match hold {
        Hold::Namespace => caps::drop_all()?,
        Hold::Descendants => {
            // What sets itself apart becomes our child when its parent ends, and cannot get away.
            nix::sys::prctl::set_child_subreaper(true).at(Step::Stub, "take orphans")?;
            // To empty the bounding set is a privilege that an ordinary user lacks, and without new ones it is of no use.
            caps::clear()?;
        }
    }
    nix::sys::prctl::set_no_new_privs().at(Step::Stub, "refuse new privileges")?;
    process::set_dumpable(false).at(Step::Stub, "refuse to be traced")?;
    Ok(signals)
}

fn release(go: OwnedFd) -> Result<(), CageError> {
    std::fs::File::from(go).write_all(&[1]).at(Step::Stub, "let pid 1 go")?;
    // SAFETY: the stub only waits and exits from here on, so no object that owns a descriptor is used again.
    // What was inherited must not stay open here: the worker's end of a channel would not close with the
    // worker.
    unsafe { fds::close_all_from_three() }.at(Step::Stub, "close descriptors")
}

fn wait(pid_1: Pid, signals: &SigSet) -> i32 {
    loop {
        match waitpid(pid_1, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(_, code)) => return code,
            Ok(WaitStatus::Signaled(_, signal, _)) => return 128 + signal as i32,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return NOT_STRIPPED,
        }
        match signals.wait() {
            Ok(Signal::SIGTERM) => {
                // It is our child and not reaped, so it can neither be another process nor refuse.
                let _ = kill(pid_1, Signal::SIGKILL);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return NOT_STRIPPED,
        }
    }
}

/// Waits for the worker and then ends whatever is left of the session, until there is nothing.
fn wait_for_all(worker: Pid, signals: &SigSet) -> i32 {
    let mut code = None;
    loop {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, exit)) if pid == worker => code = Some(exit),
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == worker => code = Some(128 + signal as i32),
                Ok(WaitStatus::StillAlive) => break,
                Ok(_) | Err(Errno::EINTR) => {}
                // No child is left, and so no descendant: each would be ours by now.
                Err(_) => return code.unwrap_or(NOT_STRIPPED),
            }
        }
        if code.is_some() {
            // Their own children become ours with their end, which is the next SIGCHLD.
            for child in strays::children() {
                end(child);
            }
        }
        match signals.wait() {
            Ok(Signal::SIGTERM) => {
                let _ = kill(worker, Signal::SIGKILL);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return NOT_STRIPPED,
        }
    }
}

/// A child that was not reaped keeps its number, so this can hit no other process.
fn end(child: u32) {
    if let Ok(pid) = i32::try_from(child) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}
