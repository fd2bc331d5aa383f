//! The directory of one session: `sessions/ID/{lock, profile, spool}` (DESIGN 8).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use glass_sandbox::UidLease;
use nix::libc::O_NOFOLLOW;

use super::remove::remove_tree;

/// The lock file in a session's directory. While it is held the directory belongs to a session that lives.
pub(super) const LOCK: &str = "lock";

/// A session's directory, its lock, and its uid where the daemon is root.
#[derive(Debug)]
pub struct SessionFiles {
    sessions: PathBuf,
    id: String,
    lease: Option<UidLease>,
    _lock: File,
}

impl SessionFiles {
    /// Makes the directory of the session `id` beneath `sessions`, and takes a uid for it as root.
    ///
    /// # Errors
    /// The directory is there already or cannot be made, or no uid is free.
    pub fn create(sessions: &Path, id: &str) -> io::Result<Self> {
        let lease = if nix::unistd::geteuid().is_root() {
            Some(UidLease::take(Path::new(glass_sandbox::LEASE_DIR)).map_err(io::Error::other)?)
        } else {
            None
        };
        let directory = sessions.join(id);
        let mut make = DirBuilder::new();
        make.mode(0o700).create(&directory)?;
        let made = make.create(directory.join("profile")).and_then(|()| make.create(directory.join("spool")));
        match made.and_then(|()| lock(&directory)) {
            Ok(lock) => Ok(Self { sessions: sessions.to_owned(), id: id.to_owned(), lease, _lock: lock }),
            Err(error) => {
                // What is left of it is removed by the next sweep.
                let _ = std::fs::remove_dir_all(&directory);
                Err(error)
            }
        }
    }

    /// The directory.
    pub fn directory(&self) -> PathBuf {
        self.sessions.join(&self.id)
    }

    /// The uid of the session's processes, where it is not the daemon's own.
    pub fn uid(&self) -> Option<u32> {
        self.lease.as_ref().map(UidLease::uid)
    }

    /// Removes the directory. Only after the session's processes are gone. Blocks.
    ///
    /// # Errors
    /// The kernel refused; the next start of a daemon tries again.
    pub fn remove(self) -> io::Result<()> {
        let sessions = File::open(&self.sessions)?;
        remove_tree(sessions.as_fd(), &self.id)
    }
}

fn lock(directory: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(O_NOFOLLOW)
        .open(directory.join(LOCK))?;
    file.try_lock()?;
    Ok(file)
}
