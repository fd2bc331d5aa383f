//! Makes a profile directory fit for a new browser.
//!
//! Only the locks that a killed browser leaves are touched: their pid is of another pid namespace, where it may well
//! be a living process here, and then Chromium would refuse to start. Who calls owns the profile alone (the
//! daemon's flock), so no other browser can hold them.

use std::{
    io,
    path::{Path, PathBuf},
};

/// What Chromium makes to keep a second browser out.
const LOCKS: [&str; 3] = ["SingletonLock", "SingletonCookie", "SingletonSocket"];

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("remove the stale lock {}", path.display())]
pub struct ProfileError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Removes the locks of a browser that is gone.
pub(super) fn remove_stale_locks(profile: &Path) -> Result<(), ProfileError> {
    for name in LOCKS {
        let path = profile.join(name);
        match std::fs::remove_file(&path) {
            Ok(()) => tracing::debug!(name, "removed the lock of an earlier browser"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(ProfileError { path, source }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dangling_locks_go_and_the_rest_stays() {
        let profile = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("glass-7", profile.path().join("SingletonLock")).expect("a symlink");
        std::fs::write(profile.path().join("Local State"), "{}").expect("a file");
        remove_stale_locks(profile.path()).expect("removed");
        remove_stale_locks(profile.path()).expect("nothing to remove");
        let left: Vec<_> = std::fs::read_dir(profile.path()).expect("a directory").collect();
        assert_eq!(left.len(), 1);
    }
}
