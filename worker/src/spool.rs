//! The session's spool: where the browser puts downloads. What lies there was written by the browser, so it is opened
//! beneath the directory's descriptor, must be a regular file with one name, and only the descriptor is used (DESIGN 8).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::{Mode, SFlag, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// The directory, by its descriptor.
#[derive(Debug)]
pub struct Spool {
    directory: OwnedFd,
}

impl Spool {
    /// Opens the directory.
    ///
    /// # Errors
    /// The operating system's.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_RDONLY;
        let directory = nix::fcntl::open(path, flags, Mode::empty())?;
        Ok(Self { directory })
    }

    /// A file in it and its size.
    ///
    /// # Errors
    /// The operating system's; `InvalidData` for what is no regular file or has another name as well.
    pub fn file(&self, name: &str) -> io::Result<(File, u64)> {
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
        let file = openat2(self.directory.as_fd(), name, OpenHow::new().flags(flags).resolve(resolve))?;
        let stat = fstat(&file)?;
        let regular = SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT == SFlag::S_IFREG;
        if !regular || stat.st_nlink != 1 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no regular file with one name"));
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        Ok((File::from(file), size))
    }

    /// Removes a file of it; one that is not there is fine.
    pub fn remove(&self, name: &str) {
        let removed = unlinkat(self.directory.as_fd(), name, UnlinkatFlags::NoRemoveDir);
        if let Err(error) = removed {
            tracing::debug!(%error, "a file of the spool was not removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_with_one_name_beneath_it_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("spool")).unwrap();
        std::fs::write(at("outside"), "secret").unwrap();
        std::fs::write(at("spool/good"), "four").unwrap();
        std::fs::write(at("spool/twice"), "x").unwrap();
        std::fs::hard_link(at("spool/twice"), at("spool/second")).unwrap();
        std::os::unix::fs::symlink(at("outside"), at("spool/link")).unwrap();
        std::fs::create_dir(at("spool/inner")).unwrap();
        nix::unistd::mkfifo(&at("spool/pipe"), Mode::S_IRWXU).unwrap();
        let spool = Spool::open(&at("spool")).unwrap();
        assert_eq!(spool.file("good").unwrap().1, 4);
        for bad in ["twice", "link", "inner", "pipe", "../outside", "/etc/passwd", "none"] {
            assert!(spool.file(bad).is_err(), "{bad}");
        }
        spool.remove("good");
        spool.remove("good");
        assert!(spool.file("good").is_err());
    }
}
