//! Files that clients put into a session for `upload` (contract 7.4): copies in the spool, which the browser can see.
//! They stay until the session closes, since a page reads a file when it likes.

use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::Upload;
use glass_proto::result::FileGiven;
use sha2::{Digest, Sha256};

/// Longest path of a file in its directory, in bytes.
const LONGEST: usize = 1024;
/// Files that a session keeps at most.
const MOST: usize = 256;

/// The files of one session.
#[derive(Debug, Default)]
pub struct Uploads {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    directory: Option<PathBuf>,
    files: HashMap<String, Staged>,
    begun: usize,
    bytes: u64,
}

/// A file that is there.
#[derive(Clone, Debug)]
pub struct Staged {
    /// Where the browser finds it.
    pub path: PathBuf,
    /// What it is.
    pub file: FileGiven,
}

/// A file that is coming. Dropped before its end it is removed again.
#[derive(Debug)]
pub struct Coming<'a> {
    uploads: &'a Uploads,
    id: String,
    path: PathBuf,
    name: String,
    size: u64,
    file: File,
    hash: Sha256,
    came: u64,
    whole: bool,
}

impl Uploads {
    /// Says where they go.
    pub fn lie_in(&self, directory: PathBuf) {
        self.kept().directory = Some(directory);
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> u64 {
        self.kept().bytes
    }

    /// The file of that id.
    pub fn get(&self, id: &str) -> Option<Staged> {
        self.kept().files.get(id).cloned()
    }

    /// Begins one. The session keeps `used` bytes of the `most` that it may.
    ///
    /// # Errors
    /// `invalid_argument` for a name or a size that cannot be, `quota_exceeded`, `transport`.
    pub fn begin(&self, name: &str, size: u64, used: u64, most: u64) -> Result<Coming<'_>, OpError> {
        if !is_usable(name) {
            return Err(OpError::invalid("the file's name cannot be used", "give the file another name"));
        }
        if size > Upload::MAX_BYTES {
            let most = Upload::MAX_BYTES;
            return Err(OpError::invalid(
                format!("the file has {size} bytes; at most {most} are taken"),
                "upload a smaller file",
            ));
        }
        let (id, directory) = {
            let mut kept = self.kept();
            if size > most.saturating_sub(used) || kept.files.len() >= MOST {
                return Err(quota(used, most));
            }
            let directory = kept.directory.clone().ok_or_else(|| broken(&io::ErrorKind::NotFound.into()))?;
            kept.begun += 1;
            // Counted from now on, so that two that come at once do not both fit.
            kept.bytes += size;
            let id = format!("u{}", kept.begun);
            (id.clone(), directory.join(id))
        };
        let opened = DirBuilder::new().recursive(true).mode(0o700).create(&directory).and_then(|()| {
            let path = directory.join(name.rsplit('/').next().unwrap_or(name));
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            Ok((path, file))
        });
        match opened {
            Ok((path, file)) => Ok(Coming {
                uploads: self,
                id,
                path,
                name: name.to_owned(),
                size,
                file,
                hash: Sha256::new(),
                came: 0,
                whole: false,
            }),
            Err(error) => {
                self.kept().bytes -= size;
                Err(broken(&error))
            }
        }
    }

    /// The directory that these files are of, as one that the browser can be given.
    ///
    /// # Errors
    /// The operating system's; two files of one name.
    pub fn directory_of(&self, files: &[Staged]) -> io::Result<PathBuf> {
        let root = {
            let mut kept = self.kept();
            kept.begun += 1;
            let directory = kept.directory.clone().ok_or(io::ErrorKind::NotFound)?;
            directory.join(format!("d{}", kept.begun))
        };
        let mut top = None;
        for Staged { path, file } in files {
            let place = root.join(&file.name);
            if let Some(parent) = place.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            }
            std::fs::hard_link(path, &place)?;
            top = file.name.split_once('/').map(|(top, _)| root.join(top));
        }
        top.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it is a name, or a path below a directory, no part of which leads anywhere else.
fn is_usable(name: &str) -> bool {
    let fits = |part: &str| {
        !part.is_empty() && part.len() <= 255 && !matches!(part, "." | "..") && !part.contains('\0')
    };
    name.len() <= LONGEST && name.split('/').all(fits)
}

impl Coming<'_> {
    /// Takes the next piece.
    ///
    /// # Errors
    /// `invalid_argument` for more than was announced, `transport`.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), OpError> {
        self.came += piece.len() as u64;
        if self.came > self.size {
            return Err(changed());
        }
        self.hash.update(piece);
        self.file.write_all(piece).map_err(|error| broken(&error))
    }

    /// Its id, once it is whole.
    ///
    /// # Errors
    /// `invalid_argument` for less than was announced.
    pub fn finish(mut self) -> Result<(String, FileGiven), OpError> {
        if self.came != self.size {
            return Err(changed());
        }
        self.whole = true;
        let hash = std::mem::take(&mut self.hash).finalize();
        let sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = FileGiven { name: self.name.clone(), size: self.size, sha256 };
        let staged = Staged { path: self.path.clone(), file: file.clone() };
        self.uploads.kept().files.insert(self.id.clone(), staged);
        Ok((self.id.clone(), file))
    }
}

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        if self.whole {
            return;
        }
        self.uploads.kept().bytes -= self.size;
        let removed = std::fs::remove_file(&self.path);
        if let Err(error) = removed {
            tracing::debug!(%error, "what came of an upload was not removed");
        }
    }
}

fn changed() -> OpError {
    OpError::invalid(
        "the file has another size than it had when it was opened",
        "upload it when nothing writes to it any more",
    )
    .reason("file_changed")
}

fn quota(used: u64, limit: u64) -> OpError {
    OpError::rejected(
        ErrorKind::QuotaExceeded,
        Phase::Policy,
        "the session keeps as much of downloads and uploads as it may",
        "close the session to let them go, or use another one",
    )
    .detail("quota", "spool")
    .detail("limit", limit)
    .detail("used", used)
}

fn broken(error: &io::Error) -> OpError {
    tracing::warn!(%error, "an upload cannot be kept");
    OpError::rejected(
        ErrorKind::Transport,
        Phase::Transport,
        "the session cannot keep the file",
        "try again; if it fails again, close the session",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uploads() -> (tempfile::TempDir, Uploads) {
        let directory = tempfile::tempdir().unwrap();
        let uploads = Uploads::default();
        uploads.lie_in(directory.path().join("uploads"));
        (directory, uploads)
    }

    #[test]
    fn a_whole_file_is_kept_under_an_id_with_its_own_name() {
        let (_directory, uploads) = uploads();
        let mut coming = uploads.begin("отчёт №1 .pdf", 4, 0, 100).unwrap();
        coming.take(b"ab").unwrap();
        coming.take(b"cd").unwrap();
        let (id, file) = coming.finish().unwrap();
        assert_eq!((file.name.as_str(), file.size), ("отчёт №1 .pdf", 4));
        let staged = uploads.get(&id).unwrap();
        assert_eq!(staged.path.file_name().unwrap(), "отчёт №1 .pdf");
        assert_eq!(std::fs::read(staged.path).unwrap(), b"abcd");
        assert_eq!(uploads.bytes(), 4);
    }

    #[test]
    fn files_of_a_directory_lie_in_one_again() {
        let (_directory, uploads) = uploads();
        let staged: Vec<Staged> = ["d/a", "d/sub/b"]
            .map(|name| {
                let mut coming = uploads.begin(name, 1, 0, 100).unwrap();
                coming.take(b"x").unwrap();
                uploads.get(&coming.finish().unwrap().0).unwrap()
            })
            .into();
        let directory = uploads.directory_of(&staged).unwrap();
        assert_eq!(directory.file_name().unwrap(), "d");
        assert!(directory.join("a").is_file() && directory.join("sub/b").is_file());
        assert!(uploads.directory_of(&[staged[0].clone(), staged[0].clone()]).is_err());
    }

    #[test]
    fn what_is_not_whole_or_not_allowed_leaves_nothing() {
        let (directory, uploads) = uploads();
        let mut short = uploads.begin("a", 4, 0, 100).unwrap();
        short.take(b"ab").unwrap();
        assert_eq!(short.finish().unwrap_err().reason.as_deref(), Some("file_changed"));
        let mut long = uploads.begin("a", 1, 0, 100).unwrap();
        assert!(long.take(b"ab").is_err());
        drop(long);
        for name in ["", ".", "..", "a/../b", "/a", "a//b", "a/", &"x".repeat(256)] {
            assert_eq!(
                uploads.begin(name, 1, 0, 100).unwrap_err().kind,
                ErrorKind::InvalidArgument,
                "{name}"
            );
        }
        assert_eq!(uploads.begin("a", 51, 50, 100).unwrap_err().kind, ErrorKind::QuotaExceeded);
        assert_eq!(
            uploads.begin("a", Upload::MAX_BYTES + 1, 0, u64::MAX).unwrap_err().kind,
            ErrorKind::InvalidArgument
        );
        assert_eq!(uploads.bytes(), 0);
        let left = std::fs::read_dir(directory.path().join("uploads")).unwrap();
        assert_eq!(left.flat_map(|entry| std::fs::read_dir(entry.unwrap().path()).unwrap()).count(), 0);
    }
}
