//! What a service manager hands over and wants to hear: the listening socket, and that the daemon is ready.
//!
//! The protocol is systemd's (`sd_listen_fds`, `sd_notify`), spoken here directly: it is three variables and a datagram.
//! The variables stay in this process's environment and reach no child, since children get an environment of their own.

use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::PathBuf;

use nix::sys::socket::{getsockopt, sockopt};

/// The first descriptor that is handed over.
const FIRST: i32 = 3;
/// What the socket unit calls ours.
const NAME: &str = "glassd";

/// A socket that listens already.
#[derive(Debug)]
pub struct Activated {
    /// It.
    pub listener: UnixListener,
    /// Where it is bound.
    pub path: PathBuf,
}

/// Why what was handed over is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ActivationError {
    /// The variables contradict each other.
    #[error("the service manager's LISTEN_FDS and LISTEN_FDNAMES name no one socket called `{NAME}`")]
    WhichOne,
    /// It is no listening Unix socket with a path.
    #[error("the descriptor that the service manager handed over is no listening Unix socket with a path")]
    NotASocket,
    /// The system refused.
    #[error("take the service manager's socket: {0}")]
    System(#[from] io::Error),
}

/// Takes the socket that was handed over to this process; `None` where none was. Call it before descriptors are closed.
///
/// # Errors
/// Something was handed over that cannot be served.
pub fn take() -> Result<Option<Activated>, ActivationError> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let fds = Handed {
        pid: variable("LISTEN_PID"),
        fds: variable("LISTEN_FDS"),
        names: variable("LISTEN_FDNAMES"),
    };
    let Some(index) = fds.ours(std::process::id())? else { return Ok(None) };
    adopt(glass_sandbox::take_inherited(FIRST + index)?).map(Some)
}

/// The variables.
struct Handed {
    pid: String,
    fds: String,
    names: String,
}

impl Handed {
    /// Which of the descriptors is ours; `None` where they are not for this process.
    fn ours(&self, pid: u32) -> Result<Option<i32>, ActivationError> {
        // Inherited from somebody who was activated: not ours.
        if self.pid.parse() != Ok(pid) {
            return Ok(None);
        }
        let count: i32 = self.fds.parse().map_err(|_| ActivationError::WhichOne)?;
        let names: Vec<&str> = self.names.split(':').collect();
        let mut named = names.iter().enumerate().filter(|(_, name)| **name == NAME);
        match (named.next(), named.next()) {
            (Some((index, _)), None) => match i32::try_from(index) {
                Ok(index) if index < count => Ok(Some(index)),
                _ => Err(ActivationError::WhichOne),
            },
            // Without names there can be one only.
            (None, _) if count == 1 && (self.names.is_empty() || names.len() == 1) => Ok(Some(0)),
            _ => Err(ActivationError::WhichOne),
        }
    }
}

fn adopt(fd: OwnedFd) -> Result<Activated, ActivationError> {
    let listener = UnixListener::from(fd);
    if !getsockopt(&listener, sockopt::AcceptConn).unwrap_or(false) {
        return Err(ActivationError::NotASocket);
    }
    let address = listener.local_addr().map_err(|_| ActivationError::NotASocket)?;
    let path = address.as_pathname().ok_or(ActivationError::NotASocket)?.to_owned();
    listener.set_nonblocking(true)?;
    Ok(Activated { listener, path })
}

/// Tells the service manager, where there is one: `READY=1`, `STOPPING=1`.
pub fn notify(state: &str) {
    let Some(place) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let bytes = place.as_encoded_bytes();
    let address = match bytes.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&place),
    };
    let sent = address.and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        // A manager that does not read must not hold the daemon.
        socket.set_nonblocking(true)?;
        socket.send_to_addr(state.as_bytes(), &address)
    });
    if let Err(error) = sent {
        tracing::warn!(%error, state, "the service manager could not be told");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(pid: &str, fds: &str, names: &str) -> Result<Option<i32>, ()> {
        let handed = Handed { pid: pid.into(), fds: fds.into(), names: names.into() };
        handed.ours(7).map_err(drop)
    }

    #[test]
    fn only_what_is_for_this_process_and_of_our_name_is_taken() {
        assert_eq!(ours("", "", ""), Ok(None));
        assert_eq!(ours("8", "1", "glassd"), Ok(None));
        assert_eq!(ours("7", "1", "glassd"), Ok(Some(0)));
        assert_eq!(ours("7", "1", ""), Ok(Some(0)));
        assert_eq!(ours("7", "1", "unknown"), Ok(Some(0)));
        assert_eq!(ours("7", "2", "other:glassd"), Ok(Some(1)));
        for (fds, names) in
            [("2", ""), ("2", "glassd:glassd"), ("1", "other:glassd"), ("x", "glassd"), ("0", "")]
        {
            assert_eq!(ours("7", fds, names), Err(()), "{fds} {names}");
        }
    }

    #[test]
    fn only_a_listening_socket_with_a_path_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(adopt(listener.into()).unwrap().path, path);
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(matches!(adopt(one.into()), Err(ActivationError::NotASocket)));
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(matches!(adopt(file.into()), Err(ActivationError::NotASocket)));
    }
}
