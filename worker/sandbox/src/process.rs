//! Small settings of the calling process that the daemon and its helpers need too.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::prctl;
use nix::sys::signal::{SigHandler, Signal};
use nix::unistd::{ForkResult, fork, getppid};

use crate::error::{AtStep, CageError, Step};

/// Says whether other processes of the same user may trace this one and read its memory.
///
/// The daemon switches it off first thing: it then writes no core, and `ptrace` and `pidfd_getfd` on it need
/// privilege.
pub fn set_dumpable(allowed: bool) -> io::Result<()> {
    Ok(prctl::set_dumpable(allowed)?)
}

/// Has what `command` starts killed when the thread that starts it ends.
///
/// For a child that must not outlive this process where no pid namespace sees to it. Start it from a thread that lives
/// as long as the process.
pub fn die_with_this_thread(command: &mut Command) {
    // SAFETY: the closure makes one system call, which is allowed between fork and exec: it allocates nothing, takes no
    // lock and touches no memory but its own.
    unsafe { command.pre_exec(|| Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)) };
}

/// Names the calling process (its main thread) for `ps` and /proc; what lies beyond 15 bytes is cut off.
///
/// A program started through `/proc/self/fd/N` is called `N` otherwise.
pub fn set_name(name: &str) -> io::Result<()> {
    let name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(prctl::set_name(&name)?)
}

/// Has the kernel send SIGKILL to this process when the thread that started it ends.
///
/// `parent` is the pid of the process that ought to be our parent; if it is gone already, the signal would
/// never come, so this fails with [`io::ErrorKind::NotFound`] and the caller ends itself. Any later change of
/// uid clears the setting.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    follow_parent(parent, Signal::SIGKILL)
}

/// The same with another signal, for a process that has something to do before it ends.
pub(crate) fn follow_parent(parent: u32, signal: Signal) -> io::Result<()> {
    prctl::set_pdeathsig(signal)?;
    if u32::try_from(getppid().as_raw()) == Ok(parent) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "the parent process is gone"))
}

/// Gives a signal its default action.
///
/// Ignored signals are inherited through execve, and where SIGCHLD is ignored no child can be waited for. Call it first
/// thing: what the process itself set for the signal is lost.
///
/// # Errors
/// The signal cannot be changed (SIGKILL, SIGSTOP).
pub fn default_action(signal: Signal) -> io::Result<()> {
    Ok(reset(signal)?)
}

pub(crate) fn reset(signal: Signal) -> nix::Result<()> {
    // SAFETY: the default action runs no code of ours, so no rule for signal handlers can be broken.
    unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }.map(drop)
}

/// Fails where this process has more than one thread: no user namespace can be made then, and no safe fork.
pub(crate) fn one_thread() -> Result<(), CageError> {
    let threads = fs::read_dir("/proc/self/task").at(Step::Fork, "list threads")?.count();
    if threads == 1 { Ok(()) } else { Err(CageError::Threads { threads }) }
}

/// Forks a process that has one thread; anything else is refused.
pub(crate) fn fork_single() -> Result<ForkResult, CageError> {
    one_thread()?;
    // SAFETY: with one thread, no lock of the allocator or the standard library can be held by a thread that
    // the child lacks, so the child may run any code. No thread can have started since the check: only we
    // run.
    unsafe { fork() }.at(Step::Fork, "fork")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_parent_is_noticed() {
        assert!(die_with_parent(u32::MAX).is_err());
        prctl::set_pdeathsig(None).unwrap();
    }

    #[test]
    fn a_name_is_cut_and_a_nul_refused() {
        std::thread::spawn(|| {
            set_name("glass-worker-with-a-long-name").unwrap();
            assert_eq!(prctl::get_name().unwrap().to_str(), Ok("glass-worker-wi"));
            assert!(set_name("a\0b").is_err());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn many_threads_are_refused() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || wait.recv());
        assert!(matches!(one_thread(), Err(CageError::Threads { threads: 2.. })));
        drop(stop);
        assert!(other.join().unwrap().is_err());
    }
}
