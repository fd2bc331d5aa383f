//! Becoming the session's uid, and giving it the session's directory.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat};
use nix::sys::prctl;
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::unistd::{Gid, Uid, fchown, fchownat, setgroups, setresgid, setresuid};

use crate::caps;
use crate::error::{AtStep, CageError, Step};

/// How deep a session's directory may be nested before giving it away is refused.
const MAX_DEPTH: usize = 64;

/// Becomes `id` as uid and gid, for good and without supplementary groups.
pub(crate) fn become_uid(id: u32) -> Result<(), CageError> {
    let what = || format!("become uid {id}");
    let (uid, gid) = (Uid::from_raw(id), Gid::from_raw(id));
    setgroups(&[]).at(Step::Uid, "leave all supplementary groups")?;
    setresgid(gid, gid, gid).at(Step::Uid, what())?;
    setresuid(uid, uid, uid).at(Step::Uid, what())?;
    // The change cleared it, and /proc/self/uid_map would belong to root.
    prctl::set_dumpable(true).at(Step::Uid, "own /proc/self")
}

/// Gives up the rights of root for good: becomes `id` as uid and gid, without supplementary groups, capabilities or a
/// way to new privileges.
///
/// Clears what the caller set with [`crate::set_dumpable`] and [`crate::die_with_parent`]. Only for a process with one
/// thread: capabilities are a thread's own.
///
/// # Errors
/// The kernel's refusal; the process must end then.
pub fn become_unprivileged(id: u32) -> io::Result<()> {
    // First the bounding set: emptying it needs a capability, and the change of uid takes those.
    caps::drop_bounding().map_err(io::Error::other)?;
    become_uid(id).map_err(io::Error::other)?;
    caps::clear().map_err(io::Error::other)?;
    Ok(prctl::set_no_new_privs()?)
}

/// Gives the tree at `dir` to `id`, with only its owner allowed into the directory itself.
///
/// The tree was written by a browser before, so nothing in it is trusted: it is walked by descriptors, links
/// are given away themselves and never followed, and a file with a second name is refused, as that name may
/// be anywhere.
pub(crate) fn give_tree(dir: &Path, id: u32) -> Result<(), CageError> {
    let what = || format!("give {} to uid {id}", dir.display());
    let top: OwnedFd = open_dir_at(None, dir).at(Step::Own, what())?;
    give_dir(top, id, 0).at(Step::Own, what())?;
    let top = File::from(open_dir_at(None, dir).at(Step::Own, what())?);
    nix::sys::stat::fchmod(&top, Mode::S_IRWXU).at(Step::Own, what())
}

fn give_dir(dir: OwnedFd, id: u32, depth: usize) -> nix::Result<()> {
    if depth > MAX_DEPTH {
        return Err(Errno::ELOOP);
    }
    if owner(&fstat(&dir)?) != (id, id) {
        fchown(&dir, Some(Uid::from_raw(id)), Some(Gid::from_raw(id)))?;
    }
    let mut entries = Dir::from_fd(dir.try_clone().map_err(|_| Errno::EMFILE)?)?;
    for entry in entries.iter() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = fstatat(&dir, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        if kind(&stat) == SFlag::S_IFDIR {
            let name = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
            give_dir(open_dir_at(Some(dir.as_fd()), name)?, id, depth + 1)?;
        } else if owner(&stat) != (id, id) {
            if stat.st_nlink > 1 {
                return Err(Errno::EMLINK);
            }
            let (uid, gid) = (Uid::from_raw(id), Gid::from_raw(id));
            fchownat(&dir, name, Some(uid), Some(gid), AtFlags::AT_SYMLINK_NOFOLLOW)?;
        }
    }
    Ok(())
}

/// Opens a directory, and fails with `ENOTDIR` or `ELOOP` on anything else.
fn open_dir_at(at: Option<BorrowedFd<'_>>, path: &Path) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_RDONLY;
    match at {
        Some(dir) => openat(dir, path, flags, Mode::empty()),
        None => open(path, flags, Mode::empty()),
    }
}

fn owner(stat: &FileStat) -> (u32, u32) {
    (stat.st_uid, stat.st_gid)
}

fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    /// Giving files away needs root; as an ordinary user giving them to oneself still walks the tree.
    fn someone() -> u32 {
        let own = nix::unistd::geteuid().as_raw();
        if own == 0 { 60_123 } else { own }
    }

    #[test]
    fn a_tree_is_given_without_following_links() {
        let root = tempfile::tempdir().unwrap();
        let (tree, outside) = (root.path().join("tree"), root.path().join("outside"));
        std::fs::create_dir_all(tree.join("a/b")).unwrap();
        std::fs::write(tree.join("a/b/file"), "x").unwrap();
        std::fs::write(&outside, "x").unwrap();
        symlink(&outside, tree.join("link")).unwrap();
        let before = outside.metadata().unwrap().uid();

        give_tree(&tree, someone()).unwrap();
        for given in ["", "a", "a/b", "a/b/file", "link"] {
            assert_eq!(tree.join(given).symlink_metadata().unwrap().uid(), someone(), "{given}");
        }
        assert_eq!(outside.metadata().unwrap().uid(), before);
        assert_eq!(tree.metadata().unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_file_with_a_second_name_is_not_given_away() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(root.path().join("precious"), "x").unwrap();
        std::fs::hard_link(root.path().join("precious"), tree.join("mine")).unwrap();
        let error = give_tree(&tree, someone()).unwrap_err();
        assert_eq!(error.errno().as_deref(), Some("EMLINK"));
    }

    #[test]
    fn a_link_in_place_of_the_directory_is_refused() {
        let root = tempfile::tempdir().unwrap();
        symlink(root.path(), root.path().join("link")).unwrap();
        assert!(give_tree(&root.path().join("link"), someone()).is_err());
    }
}
