//! Who is at the other end of a connection, and whether it may be (contract 12.1, DESIGN 4).
//!
//! Owns the two checks that the socket's mode cannot make: that the peer is the daemon's own user, and that it is no
//! process of a session. A peer that cannot be looked at is refused.

use std::path::PathBuf;
use std::sync::Arc;

use glass_proto::audit;
use glass_proto::escape::cut;
use glass_sandbox::Pidfd;
use tokio::net::UnixStream;
use tokio::net::unix::UCred;

/// Longest path of an executable that is kept, in bytes.
const MAX_PATH: usize = 512;
/// Longest name of a client that is kept, in bytes.
const MAX_NAME: usize = 32;

/// A connection that is not served.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PeerError {
    /// Another user's process.
    #[error("the peer has uid {theirs}, and this daemon serves uid {ours} only")]
    OtherUser {
        /// Its uid.
        theirs: u32,
        /// Ours.
        ours: u32,
    },
    /// Its process cannot be seen from here: it is in another pid namespace, or gone.
    #[error("the peer's process cannot be seen")]
    Unseen,
    /// It belongs to a session: it descends from this daemon, which starts nothing else.
    #[error("the peer (pid {pid}) is a process of a session")]
    OfSession {
        /// Its pid.
        pid: i32,
    },
    /// It runs inside a session's cage or another container.
    #[error("the peer (pid {pid}) is in another pid namespace")]
    OtherNamespace {
        /// Its pid.
        pid: i32,
    },
}

/// The process at the other end of a connection, as it was when it connected.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its user.
    pub uid: u32,
    /// Its number, which means it as long as it lives.
    pub pid: u32,
    /// The file that it runs, where that can be seen.
    pub executable: Option<String>,
    /// When it began, in the kernel's ticks.
    began: Option<u64>,
    /// Holds it, where the kernel can.
    process: Option<Arc<Pidfd>>,
}

impl Peer {
    /// Who is at the other end of a connection.
    pub fn of(connection: &UnixStream, peer: &UCred) -> Self {
        let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
        let executable = std::fs::read_link(format!("/proc/{pid}/exe"));
        Self {
            uid: peer.uid(),
            pid,
            // A program that has been replaced, or that another user may not look at: it is left out.
            executable: executable.ok().map(|path| cut(&path.to_string_lossy(), MAX_PATH).into_owned()),
            began: i32::try_from(pid).ok().and_then(crate::confirm::began),
            // Kernels before 6.5 cannot; then the moment that it began tells it from others.
            process: Pidfd::of_peer(connection).ok().map(Arc::new),
        }
    }

    /// Whether the process still lives, so that what its number was asked for was asked of it.
    pub fn lives(&self) -> bool {
        match &self.process {
            Some(process) => process.has_exited().is_ok_and(|exited| !exited),
            None => {
                let began = i32::try_from(self.pid).ok().and_then(crate::confirm::began);
                began.is_some() && began == self.began
            }
        }
    }

    /// It as the audit log tells of it, by the name that it gives itself.
    pub fn told(&self, name: &str) -> audit::Client {
        audit::Client {
            name: cut(name, MAX_NAME).into_owned(),
            uid: self.uid,
            pid: self.pid,
            executable: self.executable.clone(),
        }
    }
}

/// Tells peers that may be served from others.
#[derive(Clone, Debug)]
pub struct PeerCheck {
    uid: u32,
    namespace: Option<PathBuf>,
}

impl PeerCheck {
    /// For this process. Linux says by `/proc/PID/ns/pid` where a peer lives; elsewhere only the uid is compared.
    pub fn of_process() -> Self {
        Self { uid: nix::unistd::geteuid().as_raw(), namespace: pid_namespace("self") }
    }

    /// Decides on the peer of one connection.
    ///
    /// # Errors
    /// Why it is not served.
    pub fn admit(&self, peer: &UCred) -> Result<(), PeerError> {
        if peer.uid() != self.uid {
            return Err(PeerError::OtherUser { theirs: peer.uid(), ours: self.uid });
        }
        let Some(own) = &self.namespace else { return Ok(()) };
        // The kernel gives 0 for a process that our namespace does not hold.
        let pid = peer.pid().filter(|pid| *pid > 0).ok_or(PeerError::Unseen)?;
        match pid_namespace(&pid.to_string()) {
            Some(theirs) if theirs == *own && descends_from_us(pid) => Err(PeerError::OfSession { pid }),
            Some(theirs) if theirs == *own => Ok(()),
            Some(_) => Err(PeerError::OtherNamespace { pid }),
            None => Err(PeerError::Unseen),
        }
    }
}

/// Whether a process has this one among its ancestors. A cage without a pid namespace has nothing else that shows; its
/// stub keeps every process of the session beneath it.
fn descends_from_us(pid: i32) -> bool {
    let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
    // An ancestor may end while it is looked at, and its children are another's then. Who cannot be followed is refused.
    (0..3).find_map(|_| descends_from(pid, own)).unwrap_or(true)
}

/// `None` where an ancestor was gone before it could be looked at.
fn descends_from(pid: i32, ancestor: i32) -> Option<bool> {
    let mut at = pid;
    // As deep as any process tree; one that goes deeper wants to hide.
    for _ in 0..1024 {
        let parent = parent(at)?;
        if parent == ancestor || parent <= 1 {
            return Some(parent == ancestor);
        }
        at = parent;
    }
    Some(true)
}

fn parent(pid: i32) -> Option<i32> {
    // One that has gone has no parent to be followed to.
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// `None` where it cannot be read: whoever cannot be looked at is refused.
fn pid_namespace(process: &str) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{process}/ns/pid")).ok()
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn the_own_user_is_served_and_others_are_not() {
        let (a, _b) = UnixStream::pair().unwrap();
        let peer = a.peer_cred().unwrap();
        let mut check = PeerCheck::of_process();
        assert_eq!(check.admit(&peer), Ok(()));
        check.uid += 1;
        assert!(matches!(check.admit(&peer), Err(PeerError::OtherUser { .. })));
    }

    #[tokio::test]
    async fn what_descends_from_the_daemon_is_not_served() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(!descends_from_us(own));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(descends_from_us(i32::try_from(child.id()).unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[tokio::test]
    async fn another_pid_namespace_is_not_served() {
        let (a, _b) = UnixStream::pair().unwrap();
        let mut check = PeerCheck::of_process();
        check.namespace = Some("pid:[1]".into());
        assert!(matches!(check.admit(&a.peer_cred().unwrap()), Err(PeerError::OtherNamespace { .. })));
    }
}
