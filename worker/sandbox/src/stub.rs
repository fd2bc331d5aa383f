//! The process outside the cage that holds it: it waits for pid 1 and does nothing else.
//!
//! It exists because the first process of a pid namespace is a child. The daemon knows the stub, holds it by
//! pidfd and ends it: on SIGTERM it kills pid 1 and reaps it; when it is killed itself, the kernel kills pid
//! 1 (PDEATHSIG). Either way every process of the pid namespace dies with pid 1.

use std::io::Write;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::error::{AtStep, CageError, Step};
use crate::{caps, fds, process};

/// The exit code of a stub that could not strip itself, beside those of pid 1.
const NOT_STRIPPED: i32 = 70;

/// Strips this process, lets pid 1 go on by a byte into `go`, waits for it and exits as it did.
///
/// The exit code is pid 1's, or 128 and the signal that ended it.
pub(crate) fn run(pid_1: Pid, go: OwnedFd) -> ! {
    // Only for people who look at the process list.
    let _ = process::set_name("glass-stub");
    let code = match strip().and_then(|signals| release(go).map(|()| signals)) {
        Ok(signals) => wait(pid_1, &signals),
        // Pid 1 sees the pipe close without a byte, and reports.
        Err(_) => NOT_STRIPPED,
    };
    std::process::exit(code)
}

/// Gives up all rights and blocks the signals that `wait` takes one by one.
fn strip() -> Result<SigSet, CageError> {
    // Ignored signals are inherited through execve; an ignored SIGCHLD would never be waited for.
    process::reset(Signal::SIGCHLD).at(Step::Stub, "reset SIGCHLD")?;
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.add(Signal::SIGTERM);
    signals.thread_block().at(Step::Stub, "block signals")?;
    caps::drop_all()?;
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
