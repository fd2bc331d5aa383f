//! The programs that the daemon starts, opened once.
//!
//! A package upgrade replaces files; what was opened at the start stays what it was, so a daemon never meets a worker
//! of another version (DESIGN 1). They are looked for beside glassd, in `../libexec/glass`, or where the
//! configuration says; never on PATH.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::fcntl::{FcntlArg, fcntl};

/// Descriptors of programs lie above this number, out of the way of those that a child gets: a mapping onto the
/// number would replace the program before it is executed.
const ABOVE: i32 = 64;

/// A program, opened unless it is somebody else's.
#[derive(Debug)]
pub struct Program {
    name: &'static str,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Opened(OwnedFd),
    At(PathBuf),
}

impl Program {
    /// What it calls itself, its `argv[0]`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The path that executes exactly the opened file.
    pub fn exec_path(&self) -> PathBuf {
        match &self.place {
            Place::Opened(file) => format!("/proc/self/fd/{}", file.as_raw_fd()).into(),
            Place::At(path) => path.clone(),
        }
    }

    /// Whether it is a program of Glass, which sees to its own end when the daemon dies.
    pub fn is_own(&self) -> bool {
        matches!(self.place, Place::Opened(_))
    }

    /// One that the user keeps: whatever lies there when it is run. It may be a script, which cannot be run from a
    /// descriptor that closes when it is.
    pub fn at(name: &'static str, path: PathBuf) -> Self {
        Self { name, place: Place::At(path) }
    }

    fn open(name: &'static str, path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let found = file.metadata()?;
        if !found.is_file() || found.mode() & 0o111 == 0 {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is no executable file"));
        }
        let high = fcntl(&file, FcntlArg::F_DUPFD(ABOVE))?;
        // Not close-on-exec for this moment; the daemon has no other thread that forks.
        Ok(Self { name, place: Place::Opened(glass_sandbox::take_inherited(high)?) })
    }
}

/// Both programs.
#[derive(Clone, Debug)]
pub struct Programs {
    /// glass-worker
    pub worker: Arc<Program>,
    /// glass-egress
    pub egress: Arc<Program>,
}

/// Why a program is not there.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// It is in none of the places.
    #[error("no {name} in {places}; reinstall Glass, or set programs.directory")]
    Missing {
        /// Its name.
        name: &'static str,
        /// Where it was looked for.
        places: String,
    },
    /// It is there and cannot be used.
    #[error("cannot use {}: {error}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl Programs {
    /// Opens both, in `configured` when it is given.
    ///
    /// # Errors
    /// One is missing or no executable.
    pub fn open(configured: Option<&Path>) -> Result<Self, ProgramsError> {
        let places = match configured {
            Some(directory) => vec![directory.to_owned()],
            None => beside_this_program(),
        };
        let open = |name| find(name, &places).map(Arc::new);
        Ok(Self { worker: open("glass-worker")?, egress: open("glass-egress")? })
    }
}

fn beside_this_program() -> Vec<PathBuf> {
    let Ok(program) = std::env::current_exe() else { return Vec::new() };
    let Some(directory) = program.parent() else { return Vec::new() };
    vec![directory.to_owned(), directory.join("../libexec/glass")]
}

fn find(name: &'static str, places: &[PathBuf]) -> Result<Program, ProgramsError> {
    for place in places {
        let path = place.join(name);
        match Program::open(name, &path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(error) => return Err(ProgramsError::Unusable { path, error }),
            Ok(program) => return Ok(program),
        }
    }
    let places = places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ");
    Err(ProgramsError::Missing { name, places })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_names_the_places_and_a_text_file_is_no_program() {
        let dir = tempfile::tempdir().unwrap();
        let error = Programs::open(Some(dir.path())).unwrap_err();
        assert!(error.to_string().contains(&dir.path().display().to_string()), "{error}");
        std::fs::write(dir.path().join("glass-worker"), "text").unwrap();
        assert!(matches!(Programs::open(Some(dir.path())), Err(ProgramsError::Unusable { .. })));
    }

    #[test]
    fn an_opened_program_is_executed_even_after_it_was_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tool");
        std::fs::copy("/bin/true", &path).unwrap();
        let program = Program::open("tool", &path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::copy("/bin/false", &path).unwrap();
        let status = std::process::Command::new(program.exec_path()).status();
        assert!(status.unwrap().success());
    }
}
