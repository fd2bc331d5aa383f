//! Removes what sessions of a dead daemon left (contract 1.5).
//!
//! Only directories whose own lock is free are removed. Their processes are gone or going: they die with the daemon
//! that started them (PDEATHSIG), so a lock that is free means that no daemon watches over them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use super::files::LOCK;
use super::remove::remove_tree;

/// Removes every left-over directory beneath `sessions` and returns how many. Blocks.
///
/// # Errors
/// The directory cannot be read. What cannot be removed is logged.
pub fn sweep(sessions: &Path) -> io::Result<usize> {
    let root = File::open(sessions)?;
    let mut removed = 0;
    for name in left_over(sessions)? {
        match remove_tree(root.as_fd(), &name) {
            Ok(()) => removed += 1,
            Err(error) => tracing::warn!(%error, session = name, "a left-over session could not be removed"),
        }
    }
    Ok(removed)
}

/// The names of directories beneath `sessions` that no daemon watches over. Blocks.
///
/// # Errors
/// The directory cannot be read.
pub fn left_over(sessions: &Path) -> io::Result<Vec<String>> {
    let mut left = Vec::new();
    for entry in std::fs::read_dir(sessions)? {
        let entry = entry?;
        let name = entry.file_name();
        // Only what this program names: a ULID in lower case.
        let Some(name) = name.to_str().filter(|name| is_session_id(name)) else { continue };
        // One that is gone by now is nobody's business.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_left_over(&entry.path()) {
            left.push(name.to_owned());
        }
    }
    Ok(left)
}

/// Whether `name` is the id of a session.
pub(crate) fn is_session_id(name: &str) -> bool {
    name.len() == 26 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn is_left_over(directory: &Path) -> bool {
    // The session could have put anything in the lock's place.
    let lock = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(directory.join(LOCK));
    match lock {
        Ok(file) => !matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
        // No session that runs is without its lock.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::SessionFiles;
    use super::*;

    fn id() -> String {
        glass_proto::ExecutionId::generate().as_str().to_ascii_lowercase()
    }

    #[test]
    fn only_directories_of_dead_sessions_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (live, dead, broken) = (id(), id(), id());
        let held = SessionFiles::create(dir.path(), &live).unwrap();
        drop(SessionFiles::create(dir.path(), &dead).unwrap());
        std::fs::create_dir(dir.path().join(&broken)).unwrap();
        std::fs::create_dir(dir.path().join("keepsake")).unwrap();
        assert_eq!(sweep(dir.path()).unwrap(), 2);
        assert!(dir.path().join(&live).exists() && dir.path().join("keepsake").exists());
        assert!(!dir.path().join(&dead).exists() && !dir.path().join(&broken).exists());
        held.remove().unwrap();
        assert!(!dir.path().join(&live).exists());
    }
}
