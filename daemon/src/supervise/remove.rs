//! Removes a directory that a browser, perhaps a hostile one, has written.
//!
//! Never follows a symbolic link, never leaves the tree, and needs a bounded number of descriptors and no recursion
//! whatever the depth: a directory within the tree is emptied by moving its own subdirectories up to the root.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, SFlag, fchmodat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// How often a tree is tried that somebody still writes to: a process that is being killed may make one more file.
const TRIES: usize = 20;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// Removes the directory `name` beneath `parent`, with everything in it. One that is not there is no error.
///
/// # Errors
/// What the kernel refused first; the rest of the tree is left then. Blocks, up to a second where others write to it.
pub(super) fn remove_tree(parent: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    for _ in 1..TRIES {
        match try_once(parent, &name) {
            // There is no event to wait for: who writes is no child of ours. Waking early costs a try.
            Err(Errno::ENOTEMPTY | Errno::ENOENT) => std::thread::park_timeout(PAUSE),
            done => return Ok(done?),
        }
    }
    Ok(try_once(parent, &name)?)
}

fn try_once(parent: BorrowedFd<'_>, name: &CString) -> nix::Result<()> {
    let mut root = match open(parent, name) {
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
                unlink(root.as_fd(), &entry.name)?;
            }
        }
    }
    unlinkat(parent, name.as_c_str(), UnlinkatFlags::RemoveDir)
}

/// Removes what is no directory. One that is gone already is no error.
fn unlink(parent: BorrowedFd<'_>, name: &CString) -> nix::Result<()> {
    match unlinkat(parent, name.as_c_str(), UnlinkatFlags::NoRemoveDir) {
        Err(Errno::ENOENT) => Ok(()),
        other => other,
    }
}

/// Takes all rights on the directory `name`, never on what a link in its place points to.
fn own_fully(parent: BorrowedFd<'_>, name: &CString) -> nix::Result<()> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let directory = openat(parent, name.as_c_str(), flags, Mode::empty())?;
    // A descriptor that only names a file takes no fchmod; this link leads to that very file.
    let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
    fchmodat(AT_FDCWD, path.as_str(), Mode::S_IRWXU, FchmodatFlags::FollowSymlink)
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
        // Whoever wrote the tree may have taken our rights away.
        Err(Errno::EACCES) => {
            own_fully(parent, name)?;
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
    own_fully(root, name)?;
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
                unlink(dir.as_fd(), &entry.name)?;
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
                    own_fully(from, name)?;
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
    fn rights_are_never_taken_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::set_permissions(&outside, Permissions::from_mode(0o755)).unwrap();
        symlink(&outside, dir.path().join("link")).unwrap();
        let parent = File::open(dir.path()).unwrap();
        assert_eq!(own_fully(parent.as_fd(), &c"link".to_owned()), Err(Errno::ENOTDIR));
        assert_eq!(outside.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        own_fully(parent.as_fd(), &c"outside".to_owned()).unwrap();
        assert_eq!(outside.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_file_that_comes_late_is_removed_too() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let writer = std::thread::spawn({
            let tree = tree.clone();
            move || {
                (0..2_000).take_while(|number| fs::write(tree.join(number.to_string()), "").is_ok()).count()
            }
        });
        remove(dir.path(), "tree").unwrap();
        writer.join().unwrap();
        assert!(!tree.exists());
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
