//! Waits until the process behind a socket is gone.
//!
//! The process is held by a descriptor, never by a number that could come to mean another one.

use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;

/// Between two looks.
const STEP: Duration = Duration::from_millis(5);

/// The process that listens at a socket.
#[derive(Debug)]
pub(super) struct Process(Option<Handle>);

impl Process {
    /// Finds it by the socket; where the system does not tell, only the socket itself is watched.
    pub(super) async fn behind(socket: &Path) -> Self {
        let pid = match UnixStream::connect(socket).await.and_then(|stream| stream.peer_cred()) {
            Ok(peer) => peer.pid(),
            Err(_) => None,
        };
        // A socket that a service manager lent is the manager's, and that one must never be ended.
        Self(pid.filter(|pid| is_glassd(*pid)).and_then(Handle::open))
    }

    /// The process of that number, as it said of itself; `None` where it is gone or cannot be held.
    pub(super) fn of(pid: u32) -> Option<Self> {
        i32::try_from(pid)
            .ok()
            .filter(|pid| is_glassd(*pid))
            .and_then(Handle::open)
            .map(|handle| Self(Some(handle)))
    }

    /// Whether it was found.
    pub(super) fn is_held(&self) -> bool {
        self.0.is_some()
    }

    /// Sends it SIGTERM, and says its number; `None` where it cannot be held.
    pub(super) fn ask_to_end(&self) -> Option<u32> {
        self.0.as_ref().and_then(Handle::terminate)
    }

    /// Its number where it was held and has ended.
    pub(super) fn ended(&self) -> Option<u32> {
        self.0.as_ref().filter(|handle| handle.has_ended()).map(Handle::number)
    }

    /// Waits until it has ended; `false` when it has not within `limit`.
    pub(super) async fn gone(self, socket: &Path, limit: Duration) -> bool {
        let ended = async {
            while match &self.0 {
                Some(handle) => !handle.has_ended(),
                None => UnixStream::connect(socket).await.is_ok(),
            } {
                tokio::time::sleep(STEP).await;
            }
        };
        timeout(limit, ended).await.is_ok()
    }
}

/// Whether a process is glassd by its name. Elsewhere than on Linux nothing is held in any case.
fn is_glassd(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "glassd")
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Handle {
    pid: rustix::process::Pid,
    pidfd: std::os::fd::OwnedFd,
}

#[cfg(target_os = "linux")]
impl Handle {
    fn open(pid: i32) -> Option<Self> {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        let pid = Pid::from_raw(pid)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(|pidfd| Self { pid, pidfd })
    }

    fn terminate(&self) -> Option<u32> {
        use rustix::process::{Signal, pidfd_send_signal};
        pidfd_send_signal(&self.pidfd, Signal::TERM).ok()?;
        Some(self.number())
    }

    fn number(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    fn has_ended(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // Readable from the process's end on, whether or not its parent has taken notice.
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
enum Handle {}

#[cfg(not(target_os = "linux"))]
impl Handle {
    fn open(_: i32) -> Option<Self> {
        None
    }

    fn terminate(&self) -> Option<u32> {
        match *self {}
    }

    fn number(&self) -> u32 {
        match *self {}
    }

    fn has_ended(&self) -> bool {
        match *self {}
    }
}
