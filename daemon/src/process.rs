//! What the daemon's process is, before it does anything: apart from whoever started it.
//!
//! Owns descriptors, session, umask, directory, signals and standard streams. The daemon must hold nothing of its
//! client: a pipe that it kept would make the client's caller wait for the daemon's end (user reports, entry 84).

use std::io;

use nix::errno::Errno;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{chdir, dup2_stderr, dup2_stdin, dup2_stdout, setsid};

/// Sets the process apart. Call it first, before a thread or a file.
///
/// # Errors
/// The system's.
pub fn settle() -> io::Result<()> {
    glass_sandbox::close_inherited(&[])?;
    // Whoever started us may have ignored it, and then no child could be waited for.
    glass_sandbox::default_action(glass_sandbox::Signal::SIGCHLD)?;
    // Neither traced nor dumped: it will hold policy and secrets (DESIGN 1).
    glass_sandbox::set_dumpable(false)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    umask(Mode::S_IRWXG | Mode::S_IRWXO);
    match setsid() {
        // The leader of a process group, started from a shell, has a session that is good enough.
        Ok(_) | Err(Errno::EPERM) => {}
        Err(errno) => return Err(errno.into()),
    }
    chdir("/")?;
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
    Ok(())
}

/// Lets go of the standard streams; of standard error only where it is not the log.
///
/// # Errors
/// The system's.
pub fn let_go(keep_stderr: bool) -> io::Result<()> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    if !keep_stderr {
        dup2_stderr(&null)?;
    }
    Ok(())
}
