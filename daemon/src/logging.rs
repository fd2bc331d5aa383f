//! The daemon's log: a file that rotates, or standard error.
//!
//! Owns where lines go. What may stand in them is a rule for whoever writes them: at info and above no query of a
//! URL, no typed text, no text of a page (DESIGN 8).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::libc::O_NOFOLLOW;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::limits;

/// Begins to log: to `file`, or to standard error where there is none. Panics of tasks are logged too.
///
/// # Errors
/// The file or its directory cannot be made.
pub fn start(file: Option<&Path>, filter: Targets) -> io::Result<()> {
    let writer = match file {
        Some(path) => BoxMakeWriter::new(RotatingFile::open(path, limits::LOG_FILE, limits::LOG_FILES)?),
        None => BoxMakeWriter::new(io::stderr),
    };
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
    // A second subscriber in one process exists only in tests.
    let _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let text = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(place, "a task panicked");
        // It may quote anything, typed text too.
        tracing::debug!(place, "the panic says: {text}");
    }));
    Ok(())
}

/// A log file that moves aside at a size.
pub struct RotatingFile {
    path: PathBuf,
    limit: u64,
    keep: u32,
    state: Mutex<State>,
}

struct State {
    file: File,
    size: u64,
}

impl RotatingFile {
    /// Opens or makes the file, 0600 in a directory 0700.
    ///
    /// # Errors
    /// It cannot be made, or is a symbolic link.
    pub fn open(path: &Path, limit: u64, keep: u32) -> io::Result<Self> {
        if let Some(dir) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        let state = State::open(path)?;
        Ok(Self { path: path.to_owned(), limit, keep, state: Mutex::new(state) })
    }

    fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.size >= self.limit {
            self.rotate(&mut state);
        }
        state.file.write_all(line)?;
        state.size += line.len() as u64;
        Ok(())
    }

    /// Moves the files one number up. What fails leaves the old file in use: a log must not end for want of a name.
    fn rotate(&self, state: &mut State) {
        for number in (1..self.keep).rev() {
            let _ = std::fs::rename(self.numbered(number), self.numbered(number + 1));
        }
        let moved = std::fs::rename(&self.path, self.numbered(1));
        match moved.and_then(|()| State::open(&self.path)) {
            Ok(fresh) => *state = fresh,
            // Nobody could read of it: the file goes on, and is moved at the next turn.
            Err(_) => state.size = 0,
        }
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        name.into()
    }
}

impl State {
    fn open(path: &Path) -> io::Result<Self> {
        let file =
            OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(O_NOFOLLOW).open(path)?;
        let size = file.metadata()?.len();
        Ok(Self { file, size })
    }
}

/// One line on its way to the file.
pub struct Line<'a>(&'a RotatingFile);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> tracing_subscriber::fmt::MakeWriter<'a> for RotatingFile {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_full_file_moves_aside_and_a_number_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/x.log");
        let log = RotatingFile::open(&path, 10, 2).unwrap();
        for text in ["first line\n", "second line\n", "third line\n", "fourth line\n"] {
            log.write(text.as_bytes()).unwrap();
        }
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(read(&path), "fourth line\n");
        assert_eq!(read(&log.numbered(1)), "third line\n");
        assert_eq!(read(&log.numbered(2)), "second line\n");
        assert!(!log.numbered(3).exists());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_symbolic_link_is_no_log_file() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("x.log")).unwrap();
        assert!(RotatingFile::open(&dir.path().join("x.log"), 10, 2).is_err());
    }
}
