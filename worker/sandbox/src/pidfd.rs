//! A process held by descriptor, so that its number cannot come to mean another process.
//!
//! Owns opening, signalling, polling and reaping. Does not decide when a process should end.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::{PeerCredentials, PeerPidfd};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};

/// A descriptor of one process. It becomes readable when the process has exited, so an event loop can wait on
/// it.
#[derive(Debug)]
pub struct Pidfd {
    fd: OwnedFd,
    pid: u32,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It called `exit` with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Pidfd {
    /// Opens the process `pid`.
    ///
    /// The number is only safe to use while it cannot be reused: for a child of the caller that was not
    /// reaped yet. The descriptor is close-on-exec and non-blocking.
    pub fn open(pid: u32) -> io::Result<Self> {
        let number = libc::pid_t::try_from(pid).map_err(|_| io::Error::from(Errno::EINVAL))?;
        // SAFETY: the call takes two integers and no pointer. PIDFD_NONBLOCK has the value of O_NONBLOCK.
        let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, number, libc::O_NONBLOCK) };
        let raw = RawFd::try_from(Errno::result(raw)?).map_err(|_| io::Error::from(Errno::EBADF))?;
        // SAFETY: the kernel has just made this descriptor for us; nothing else in the process knows its
        // number.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(raw) }, pid })
    }

    /// Holds the process that made a connection, even if it has given the connection away and its number means another by
    /// now.
    ///
    /// # Errors
    /// The kernel does not know of this (Linux before 6.5), or the process is gone.
    pub fn of_peer(connection: &impl AsFd) -> io::Result<Self> {
        let pid = getsockopt(connection, PeerCredentials)?.pid();
        let fd = getsockopt(connection, PeerPidfd)?;
        Ok(Self { fd, pid: u32::try_from(pid).map_err(|_| io::Error::from(Errno::ESRCH))? })
    }

    /// The number that the process was opened by: for messages, never for signalling.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends `signal`; a process that is already gone gives `ESRCH`.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        // SAFETY: a null siginfo is allowed and means "as kill(2) would send it"; the descriptor is borrowed
        // from us.
        let result = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.fd.as_raw_fd(),
                signal as libc::c_int,
                std::ptr::null::<libc::siginfo_t>(),
                0,
            )
        };
        Errno::result(result)?;
        Ok(())
    }

    /// Whether the process has exited (it may still wait to be reaped by its parent).
    pub fn has_exited(&self) -> io::Result<bool> {
        self.wait_exit(PollTimeout::ZERO)
    }

    /// Waits at most `limit` for the process to exit, and says whether it did.
    pub fn wait_timeout(&self, limit: std::time::Duration) -> io::Result<bool> {
        self.wait_exit(PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX))
    }

    /// Takes the exit status of a child of the caller; `None` while it runs.
    ///
    /// Reaps the child: whoever waits for it by another way afterwards gets `ECHILD`.
    pub fn reap(&self) -> io::Result<Option<Exit>> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG;
        loop {
            return match waitid(Id::PIDFd(self.fd.as_fd()), flags) {
                Err(Errno::EINTR) => continue,
                // What waitid answers for a running child behind a non-blocking pidfd.
                Err(Errno::EAGAIN) => Ok(None),
                Err(errno) => Err(errno.into()),
                Ok(WaitStatus::Exited(_, code)) => Ok(Some(Exit::Code(code))),
                Ok(WaitStatus::Signaled(_, signal, _)) => Ok(Some(Exit::Signal(signal as i32))),
                Ok(_) => Ok(None),
            };
        }
    }

    fn wait_exit(&self, limit: PollTimeout) -> io::Result<bool> {
        let mut polled = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)];
        loop {
            match poll(&mut polled, limit) {
                Err(Errno::EINTR) => {}
                other => return Ok(other? > 0),
            }
        }
    }
}

impl AsFd for Pidfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Pidfd {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    #[expect(clippy::zombie_processes, reason = "reaped by its pidfd")]
    fn a_killed_child_is_seen_and_reaped() {
        let child = Command::new("sleep").arg("100").spawn().unwrap();
        let held = Pidfd::open(child.id()).unwrap();
        assert!(!held.has_exited().unwrap());
        assert_eq!(held.reap().unwrap(), None);
        held.signal(Signal::SIGKILL).unwrap();
        assert!(held.wait_timeout(Duration::from_secs(10)).unwrap());
        assert_eq!(held.reap().unwrap(), Some(Exit::Signal(9)));
        assert_eq!(held.signal(Signal::SIGKILL).unwrap_err().raw_os_error(), Some(Errno::ESRCH as i32));
    }

    #[test]
    #[expect(clippy::zombie_processes, reason = "reaped by its pidfd")]
    fn an_exit_code_is_kept() {
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let held = Pidfd::open(child.id()).unwrap();
        assert!(held.wait_timeout(Duration::from_secs(10)).unwrap());
        assert_eq!(held.reap().unwrap(), Some(Exit::Code(7)));
    }

    #[test]
    fn a_number_without_process_is_an_error() {
        assert!(Pidfd::open(0).is_err());
        assert!(Pidfd::open(u32::MAX).is_err());
    }
}
