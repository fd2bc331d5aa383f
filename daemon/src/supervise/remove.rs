//! Removes a directory that a browser, perhaps a hostile one, has written.
//!
//! Never follows a symbolic link, never leaves the tree, and needs a bounded number of descriptors and no recursion
//! whatever the depth: a directory within the tree is emptied by moving its own subdirectories up to the root.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, SFlag, fchmodat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// Removes the directory `name` beneath `parent`, with everything in it. One that is not there is no error.
///
/// # Errors
/// What the kernel refused first; the rest of the tree is left then.
pub(super) fn remove_tree(parent: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    let mut root = match open(parent, &name) {
        Err(Errno::ENOENT) => return Ok(()),
        other => other?,
    };
    let mut moved = 0_u64;
    loop {
        let entries = entries(&mut root)?;
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            if is_directory(root.as_fd(), &entry)? {
                flatten(root.as_fd(), &entry.name, &mut moved)?;
            } else {
                unlinkat(root.as_fd(), entry.name.as_c_str(), UnlinkatFlags::NoRemoveDir)?;
            }
        }
    }
    unlinkat(parent, name.as_c_str(), UnlinkatFlags::RemoveDir)?;
    Ok(())
}

/// Entries that are looked at in one go: a directory of a million files must not cost a million names of memory.
const BATCH: usize = 1024;

struct Entry {
    name: CString,
    kind: Option<Type>,
}

fn open(parent: BorrowedFd<'_>, name: &CString) -> nix::Result<Dir> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_RDONLY;
    match Dir::openat(parent, name.as_c_str(), flags, Mode::empty()) {
        // Whoever wrote the tree may have taken our rights away. It is a directory, as the caller looked, and the
        // one that could swap it is gone.
        Err(Errno::EACCES) => {
            fchmodat(parent, name.as_c_str(), Mode::S_IRWXU, FchmodatFlags::FollowSymlink)?;
            Dir::openat(parent, name.as_c_str(), flags, Mode::empty())
        }
        other => other,
    }
}

/// The first entries of a directory, from its beginning each time.
fn entries(dir: &mut Dir) -> nix::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in dir.iter() {
        let entry = entry?;
        if found.len() == BATCH {
            break;
        }
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            found.push(Entry { name: entry.file_name().to_owned(), kind: entry.file_type() });
        }
    }
    Ok(found)
}

fn is_directory(parent: BorrowedFd<'_>, entry: &Entry) -> nix::Result<bool> {
    if let Some(kind) = entry.kind {
        return Ok(kind == Type::Directory);
    }
    let found = fstatat(parent, entry.name.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW)?;
    Ok(SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR)
}

/// Empties one directory of the root, moving its subdirectories up, and removes it.
fn flatten(root: BorrowedFd<'_>, name: &CString, moved: &mut u64) -> nix::Result<()> {
    // Moving a directory writes its `..`, and emptying it needs all rights.
    fchmodat(root, name.as_c_str(), Mode::S_IRWXU, FchmodatFlags::FollowSymlink)?;
    let mut dir = open(root, name)?;
    loop {
        let entries = entries(&mut dir)?;
        if entries.is_empty() {
            return unlinkat(root, name.as_c_str(), UnlinkatFlags::RemoveDir);
        }
        for entry in entries {
            if is_directory(dir.as_fd(), &entry)? {
                raise(root, dir.as_fd(), &entry.name, moved)?;
            } else {
                unlinkat(dir.as_fd(), entry.name.as_c_str(), UnlinkatFlags::NoRemoveDir)?;
            }
        }
    }
}

/// Moves a directory up to the root, under a name that is free.
fn raise(root: BorrowedFd<'_>, from: BorrowedFd<'_>, name: &CString, moved: &mut u64) -> nix::Result<()> {
    loop {
        *moved += 1;
        let target = CString::new(format!(".glass-{moved}")).unwrap_or_default();
        if fstatat(root, target.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW) == Err(Errno::ENOENT) {
            return match renameat(from, name.as_c_str(), root, target.as_c_str()) {
                Err(Errno::EACCES) => {
                    fchmodat(from, name.as_c_str(), Mode::S_IRWXU, FchmodatFlags::FollowSymlink)?;
                    renameat(from, name.as_c_str(), root, target.as_c_str())
                }
                other => other,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn remove(parent: &std::path::Path, name: &str) -> io::Result<()> {
        remove_tree(File::open(parent).unwrap().as_fd(), name)
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/precious"), "x").unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir_all(tree.join("a/b")).unwrap();
        symlink("../outside", tree.join("link")).unwrap();
        symlink("../../../outside", tree.join("a/b/link")).unwrap();
        fs::write(tree.join("a/.glass-1"), "x").unwrap();
        fs::create_dir_all(tree.join(".glass-1/.glass-2")).unwrap();
        remove(dir.path(), "tree").unwrap();
        assert!(!tree.exists());
        assert!(dir.path().join("outside/precious").exists());
        symlink("outside", dir.path().join("tree")).unwrap();
        assert!(remove(dir.path(), "tree").is_err());
        assert!(dir.path().join("outside/precious").exists());
    }

    #[test]
    fn what_is_not_there_is_removed_already() {
        remove(tempfile::tempdir().unwrap().path(), "tree").unwrap();
    }

    #[test]
    fn depth_and_missing_rights_do_not_stop_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tree")).unwrap();
        let mut at = Dir::open(&dir.path().join("tree"), OFlag::O_DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..3_000 {
            nix::sys::stat::mkdirat(at.as_fd(), "d", Mode::S_IRWXU).unwrap();
            at = Dir::openat(at.as_fd(), "d", OFlag::O_DIRECTORY, Mode::empty()).unwrap();
        }
        let locked = dir.path().join("tree/locked");
        fs::create_dir_all(locked.join("in/ner")).unwrap();
        for number in 0..BATCH + 10 {
            fs::write(locked.join(format!("in/{number}")), "").unwrap();
        }
        fs::set_permissions(locked.join("in"), Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(&locked, Permissions::from_mode(0o000)).unwrap();
        remove(dir.path(), "tree").unwrap();
        assert!(!dir.path().join("tree").exists());
    }
}
