//! How much room a session's files take, counted in a tree that a hostile browser may have made.
//!
//! Never follows a link and never leaves the tree. Counts what the file system gave and not what sizes say; each file
//! counts as a block at least, so that a million empty ones are not for nothing.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{Mode, SFlag, fstatat};

/// What a file counts at least, in bytes.
const LEAST: u64 = 4096;
/// A block as the kernel counts them, in bytes.
const BLOCK: u64 = 512;
/// Directories within each other that are entered. No browser makes as many.
const DEEPEST: usize = 64;

/// Entries of the session's own directory, of which Glass makes a handful; with more it is not counted on.
const MOST_AT_THE_TOP: usize = 1024;

/// What lies in a session's directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    /// Bytes in the spool.
    pub(super) spool: u64,
    /// Bytes of everything else.
    pub(super) rest: u64,
}

/// Counts the directory of a session; stops once a part is beyond its limit. What is nested too deep to be counted is
/// taken to be more than is allowed. Blocks.
pub(super) fn of_session(directory: &Path, spool_limit: u64, rest_limit: u64) -> Option<Room> {
    let mut dir = Dir::open(directory, flags(), Mode::empty()).ok()?;
    let mut room = Room::default();
    for (number, name) in names(&mut dir).into_iter().enumerate() {
        if number == MOST_AT_THE_TOP {
            room.rest = room.rest.max(rest_limit.saturating_add(1));
        }
        let is_spool = name.as_bytes() == b"spool";
        let limit = if is_spool { spool_limit } else { rest_limit };
        let bytes = of_entry(dir.as_fd(), &name, 2 * limit, DEEPEST);
        let part = if is_spool { &mut room.spool } else { &mut room.rest };
        *part = part.saturating_add(bytes);
    }
    Some(room)
}

fn flags() -> OFlag {
    OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_RDONLY
}

fn names(dir: &mut Dir) -> Vec<CString> {
    let entries = dir.iter().filter_map(Result::ok).map(|entry| entry.file_name().to_owned());
    let others = entries.filter(|name| !matches!(name.to_bytes(), b"." | b".."));
    others.take(MOST_AT_THE_TOP + 1).collect()
}

/// Bytes of an entry and everything in it, as far as `most`.
fn of_entry(parent: BorrowedFd<'_>, name: &CStr, most: u64, depth: usize) -> u64 {
    let Ok(found) = fstatat(parent, name, AtFlags::AT_SYMLINK_NOFOLLOW) else { return 0 };
    let blocks = u64::try_from(found.st_blocks).unwrap_or(0) * BLOCK;
    // One file under many names takes its room once.
    #[allow(clippy::useless_conversion, reason = "other processors count links in fewer bits")]
    let names = if is(found.st_mode, SFlag::S_IFDIR) { 1 } else { u64::from(found.st_nlink).max(1) };
    let mut bytes = (blocks / names).max(LEAST);
    if !is(found.st_mode, SFlag::S_IFDIR) {
        return bytes;
    }
    let mut dir = match Dir::openat(parent, name, flags(), Mode::empty()) {
        Ok(dir) => dir,
        // Rights that were taken away hide nothing.
        Err(Errno::EACCES) => return most.saturating_add(1),
        // It has gone by now.
        Err(_) => return bytes,
    };
    if depth == 0 {
        return most.saturating_add(1);
    }
    // A directory of millions of names is not read into memory.
    let Ok(again) = Dir::openat(parent, name, flags(), Mode::empty()) else { return bytes };
    for entry in dir.iter().filter_map(Result::ok) {
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            bytes = bytes.saturating_add(of_entry(again.as_fd(), entry.file_name(), most, depth - 1));
        }
        if bytes > most {
            break;
        }
    }
    bytes
}

fn is(mode: nix::libc::mode_t, kind: SFlag) -> bool {
    SFlag::from_bits_truncate(mode) & SFlag::S_IFMT == kind
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const MUCH: u64 = 1 << 30;

    #[test]
    fn what_was_given_is_counted_once_and_links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let session = place.path().join("session");
        for dir in ["spool/uploads", "profile/Default"] {
            fs::create_dir_all(session.join(dir)).unwrap();
        }
        fs::write(place.path().join("outside"), vec![1; 4 << 20]).unwrap();
        symlink(place.path(), session.join("spool/out")).unwrap();
        symlink("..", session.join("profile/up")).unwrap();
        fs::write(session.join("spool/file"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(session.join("spool/file"), session.join("spool/uploads/again")).unwrap();
        fs::File::create(session.join("profile/sparse")).unwrap().set_len(1 << 40).unwrap();
        let room = of_session(&session, MUCH, MUCH).unwrap();
        assert!((1 << 20..3 << 19).contains(&room.spool), "{room:?}");
        assert!(room.rest < 100_000, "{room:?}");
        for number in 0..1000 {
            fs::write(session.join(format!("profile/{number}")), "").unwrap();
        }
        assert!(of_session(&session, MUCH, MUCH).unwrap().rest >= 1000 * LEAST);
        assert!(of_session(&place.path().join("none"), MUCH, MUCH).is_none());
    }

    #[test]
    fn what_cannot_be_counted_is_too_much() {
        let place = tempfile::tempdir().unwrap();
        let mut deep = place.path().join("profile");
        for _ in 0..=DEEPEST {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        assert!(of_session(place.path(), MUCH, MUCH).unwrap().rest > MUCH);
    }
}
