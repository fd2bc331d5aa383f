//! The daemon's socket and its two locks (contract 12.1, DESIGN 8).
//!
//! Owns: one daemon a socket, one daemon a state directory, whatever the race; directories 0700, socket and locks
//! 0600; and the look every second whether the socket is still the one that was bound. Removes a socket only while it
//! holds the lock and nobody answers there, and nothing else ever.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use glass_proto::paths::Paths;
use nix::libc::O_NOFOLLOW;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, sleep};

use crate::activation::Activated;
use crate::limits;

/// Why the daemon does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another daemon serves this socket.
    #[error("a daemon serves {} already", socket.display())]
    Served {
        /// The socket.
        socket: PathBuf,
    },
    /// Another daemon has this state directory.
    #[error("the state directory {} belongs to the daemon at {socket}; use that one (--socket), or stop it", state.display())]
    OtherDaemon {
        /// The state directory.
        state: PathBuf,
        /// Its daemon's socket, as it wrote it down.
        socket: String,
    },
    /// The daemon that ends there does not come to its end.
    #[error("the daemon that holds {} neither answers nor ends", lock.display())]
    Stuck {
        /// The lock.
        lock: PathBuf,
    },
    /// Something that is no socket lies at the socket's path.
    #[error("{} is there and is no socket; it was left alone: move it away, or set --socket", path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// Somebody answers there who does not hold the lock.
    #[error("another program listens at {}", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
    },
    /// A directory that must be this user's alone is not.
    #[error("{} {what}", path.display())]
    Unsafe {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The system refused.
    #[error("cannot {what} {}: {error}", path.display())]
    System {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ListenError {
    move |error| ListenError::System { what, path: path.to_owned(), error }
}

/// A socket that listens, and the locks that make it the only one.
#[derive(Debug)]
pub struct Listening {
    socket: PathBuf,
    identity: (u64, u64),
    /// A service manager has made it, and goes on listening when the daemon ends.
    lent: bool,
    // Released by the kernel when the files close, after everything else.
    _lock: File,
    _state_lock: File,
}

/// Takes both locks and binds the socket, or serves the one that a service manager has bound. Waits for a daemon that is just ending, at most `patience`.
///
/// # Errors
/// Another daemon serves, or a path is not what it must be.
pub async fn listen(
    paths: &Paths,
    activated: Option<Activated>,
    patience: Duration,
) -> Result<(Listening, UnixListener), ListenError> {
    make_private_dir(&paths.runtime_dir)?;
    make_private_dir(&paths.state_dir)?;
    let until = Instant::now() + patience;
    let lock = take_socket_lock(paths, until).await?;
    let state_lock = take_state_lock(paths, until).await?;
    let lent = activated.is_some();
    let listener = match activated {
        Some(activated) => UnixListener::from_std(activated.listener),
        None => {
            remove_stale(&paths.socket).await?;
            UnixListener::bind(&paths.socket)
        }
    };
    let listener = listener.map_err(failed("listen at", &paths.socket))?;
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&paths.socket, mode).map_err(failed("restrict", &paths.socket))?;
    let found = paths.socket.symlink_metadata().map_err(failed("look at", &paths.socket))?;
    let identity = (found.dev(), found.ino());
    let socket = paths.socket.clone();
    Ok((Listening { socket, identity, lent, _lock: lock, _state_lock: state_lock }, listener))
}

impl Listening {
    /// Whether the socket at the path is still the one that was bound (user reports, entry 70).
    pub fn is_in_place(&self) -> bool {
        self.socket.symlink_metadata().is_ok_and(|found| (found.dev(), found.ino()) == self.identity)
    }

    /// Waits until the socket is no longer in its place.
    pub async fn gone(&self) {
        while self.is_in_place() {
            sleep(limits::SOCKET_CHECK).await;
        }
    }

    /// Takes the socket's name away, if it is still ours and not lent, so that no client finds a daemon that ends.
    pub fn unlink(&self) {
        if !self.lent
            && self.is_in_place()
            && let Err(error) = std::fs::remove_file(&self.socket)
        {
            tracing::warn!(%error, "the socket could not be removed");
        }
    }
}

/// Makes `dir` with its parents, 0700, and refuses one that others could change.
///
/// # Errors
/// It cannot be made, or belongs to somebody else.
pub fn make_private_dir(dir: &Path) -> Result<(), ListenError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed("make", dir))?;
    let found = dir.symlink_metadata().map_err(failed("look at", dir))?;
    let bad = |what| Err(ListenError::Unsafe { path: dir.to_owned(), what });
    if !found.is_dir() {
        return bad("is no directory of its own");
    }
    if found.uid() != nix::unistd::geteuid().as_raw() {
        return bad("belongs to another user");
    }
    // Not mended here: a directory that the user named may be anything, the shared temporary directory too.
    if found.mode() & 0o022 != 0 {
        return bad("can be changed by other users; make it 0700, or name another");
    }
    Ok(())
}

async fn take_socket_lock(paths: &Paths, until: Instant) -> Result<File, ListenError> {
    loop {
        if let Some(file) = try_lock(&paths.lock)? {
            return Ok(file);
        }
        if UnixStream::connect(&paths.socket).await.is_ok() {
            return Err(ListenError::Served { socket: paths.socket.clone() });
        }
        // It is starting, or ending.
        if Instant::now() >= until {
            return Err(ListenError::Stuck { lock: paths.lock.clone() });
        }
        sleep(Duration::from_millis(20)).await;
    }
}

async fn take_state_lock(paths: &Paths, until: Instant) -> Result<File, ListenError> {
    let path = paths.state_lock();
    loop {
        if let Some(mut file) = try_lock(&path)? {
            let write = |file: &mut File| {
                file.set_len(0)?;
                file.rewind()?;
                file.write_all(paths.socket.as_os_str().as_encoded_bytes())
            };
            write(&mut file).map_err(failed("write", &path))?;
            return Ok(file);
        }
        let holder = holder(&path);
        // A holder whose socket is gone, or is to be ours, is ending.
        let answers = match &holder {
            Some(socket) => UnixStream::connect(socket).await.is_ok(),
            None => false,
        };
        if answers || Instant::now() >= until {
            let socket = holder.map_or("an unknown place".to_owned(), |socket| socket.display().to_string());
            return Err(ListenError::OtherDaemon { state: paths.state_dir.clone(), socket });
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// The socket that the holder of the state lock wrote down.
pub(crate) fn holder(path: &Path) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    // Only told to a person, who learns less without it.
    File::open(path).ok()?.take(4096).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok().filter(|text| text.starts_with('/'))?;
    Some(text.into())
}

/// The lock, or `None` while another process has it. Retries when the file was replaced between opening and locking.
fn try_lock(path: &Path) -> Result<Option<File>, ListenError> {
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(O_NOFOLLOW)
            .open(path)
            .map_err(failed("open", path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed("lock", path)(error)),
            Ok(()) => {}
        }
        let ours = file.metadata().map_err(failed("look at", path))?;
        match path.symlink_metadata() {
            Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => return Ok(Some(file)),
            Ok(_) => {}
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && path.parent().is_some_and(Path::exists) => {}
            Err(error) => return Err(failed("look at", path)(error)),
        }
    }
}

/// Removes a socket that a dead daemon left. The lock is held, so no daemon of ours is behind it.
async fn remove_stale(socket: &Path) -> Result<(), ListenError> {
    let found = match socket.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(failed("look at", socket))?,
    };
    if !found.file_type().is_socket() {
        return Err(ListenError::NotASocket { path: socket.to_owned() });
    }
    if found.uid() != nix::unistd::geteuid().as_raw() {
        return Err(ListenError::Unsafe { path: socket.to_owned(), what: "belongs to another user" });
    }
    match UnixStream::connect(socket).await {
        Ok(_) => Err(ListenError::Foreign { path: socket.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            tracing::info!(socket = %socket.display(), "a dead daemon's socket is replaced");
            std::fs::remove_file(socket).map_err(failed("remove", socket))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("ask at", socket)(error)),
    }
}

#[cfg(test)]
mod tests;
