//! Uids for the sessions of a daemon that runs as root: one for each, never the same for two at a time.
//!
//! Owns the range and the locks. A lease is a locked file below one directory of the machine, so daemons of
//! different state directories, and tests beside them, do not meet; the kernel drops the lock when its holder
//! dies, however.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::libc;

use crate::procfs::{self, Status};

/// Where leases lie on every machine.
pub const LEASE_DIR: &str = "/run/glass-uids";
/// The first uid of the range: above those of users, services (`DynamicUser`) and containers (subuid).
pub const FIRST_UID: u32 = 1_900_000_000;
/// The uid of glass-egress where the daemon is root: no session's, and next to theirs.
pub const EGRESS_UID: u32 = FIRST_UID - 1;
/// How many session uids there are.
pub const UID_COUNT: u32 = 512;

/// A uid that is ours until this is dropped. Drop it only when no process of the session is left.
#[derive(Debug)]
pub struct UidLease {
    uid: u32,
    lock: Flock<File>,
}

/// Why there is no lease.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// All are taken.
    #[error("all {UID_COUNT} session uids from {FIRST_UID} up are in use")]
    Exhausted,
    /// The one asked for is taken.
    #[error("session uid {uid} is in use")]
    Busy {
        /// The uid.
        uid: u32,
    },
    /// The one asked for is no session uid.
    #[error("uid {uid} is not a session uid ({FIRST_UID} to {})", FIRST_UID + UID_COUNT - 1)]
    OutOfRange {
        /// The uid.
        uid: u32,
    },
    /// Somebody else could plant locks there.
    #[error(
        "{path} is not a directory that only its owner, who must be us, can write to; remove it (rm -r {path}), and \
         it is made anew",
        path = path.display()
    )]
    UnsafeDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The directory or a lock could not be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
}

impl UidLease {
    /// Leases any free uid by a lock in `dir` ([`LEASE_DIR`], but for tests), which is made where it is
    /// missing.
    ///
    /// A uid under which some process still runs counts as taken: its last holder may have died a moment ago.
    pub fn take(dir: &Path) -> Result<Self, LeaseError> {
        prepare(dir)?;
        let running = running_uids();
        // Started at a place of its own, a daemon seldom hands a uid from one session straight to the next.
        let start = std::process::id().wrapping_mul(31) % UID_COUNT;
        for step in 0..UID_COUNT {
            let uid = FIRST_UID + (start + step) % UID_COUNT;
            if !running.contains(&uid)
                && let Some(lease) = try_lock(dir, uid)?
            {
                return Ok(lease);
            }
        }
        Err(LeaseError::Exhausted)
    }

    /// Leases this uid and no other: for a profile, whose files belong to it.
    pub fn take_uid(dir: &Path, uid: u32) -> Result<Self, LeaseError> {
        if !(FIRST_UID..FIRST_UID + UID_COUNT).contains(&uid) {
            return Err(LeaseError::OutOfRange { uid });
        }
        prepare(dir)?;
        if running_uids().contains(&uid) {
            return Err(LeaseError::Busy { uid });
        }
        try_lock(dir, uid)?.ok_or(LeaseError::Busy { uid })
    }

    /// The uid, which is the gid too.
    pub fn uid(&self) -> u32 {
        self.uid
    }
}

impl AsFd for UidLease {
    /// The lock's descriptor, close-on-exec.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.lock.as_fd()
    }
}

fn prepare(dir: &Path) -> Result<(), LeaseError> {
    let failed = |source| LeaseError::Io { path: dir.to_owned(), source };
    match DirBuilder::new().mode(0o755).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => other.map_err(failed)?,
    }
    let found = dir.symlink_metadata().map_err(failed)?;
    let ours = found.uid() == nix::unistd::geteuid().as_raw();
    if found.is_dir() && ours && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(LeaseError::UnsafeDirectory { path: dir.to_owned() })
}

fn try_lock(dir: &Path, uid: u32) -> Result<Option<UidLease>, LeaseError> {
    let path = dir.join(uid.to_string());
    // The file stays when the lease ends: were it removed, two holders could each lock a file of this name.
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&path)
        .map_err(|source| LeaseError::Io { path: path.clone(), source })?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(UidLease { uid, lock })),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, errno)) => Err(LeaseError::Io { path, source: errno.into() }),
    }
}

/// The session uids under which processes run now.
fn running_uids() -> Vec<u32> {
    procfs::processes()
        .into_iter()
        .filter_map(|pid| Status::of(&pid.to_string()))
        .flat_map(|status| status.uids())
        .filter(|uid| (FIRST_UID..FIRST_UID + UID_COUNT).contains(uid))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn two_leases_differ_and_one_comes_back() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("uids");
        let (a, b) = (UidLease::take(&dir).unwrap(), UidLease::take(&dir).unwrap());
        assert_ne!(a.uid(), b.uid());
        let uid = a.uid();
        assert!(matches!(UidLease::take_uid(&dir, uid), Err(LeaseError::Busy { .. })));
        drop(a);
        assert_eq!(UidLease::take_uid(&dir, uid).unwrap().uid(), uid);
        assert_eq!(dir.metadata().unwrap().mode() & 0o777, 0o755);
        assert_eq!(dir.join(uid.to_string()).metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn all_can_be_taken_and_no_more() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("uids");
        prepare(&dir).unwrap();
        let held: Vec<_> =
            (FIRST_UID..FIRST_UID + UID_COUNT).map(|uid| try_lock(&dir, uid).unwrap().unwrap()).collect();
        assert!(matches!(UidLease::take(&dir), Err(LeaseError::Exhausted)));
        drop(held);
        assert!(UidLease::take(&dir).is_ok());
    }

    #[test]
    fn directories_that_others_could_use_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let open = root.path().join("open");
        DirBuilder::new().mode(0o700).create(&open).unwrap();
        std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(matches!(UidLease::take(&open), Err(LeaseError::UnsafeDirectory { .. })));
        symlink(root.path(), root.path().join("link")).unwrap();
        assert!(matches!(UidLease::take(&root.path().join("link")), Err(LeaseError::UnsafeDirectory { .. })));
        assert!(matches!(UidLease::take_uid(&open, 0), Err(LeaseError::OutOfRange { .. })));
    }
}
