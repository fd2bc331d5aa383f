//! Starts glassd for the first client (contract 12.1).
//!
//! Finds the program beside glassctl, never on PATH, and starts it away from this process's terminal, directory
//! and pipes. Owns how long a start may take and what is said when it fails. glassd itself decides who of many
//! becomes the one daemon.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use glass_proto::escape::{cut, visible};
use tonic::transport::Channel;

use crate::connect::{Behind, connect};

/// How long a started daemon may take until it answers.
pub const LIMIT: Duration = Duration::from_secs(10);
/// Between two attempts to connect.
const STEP: Duration = Duration::from_millis(5);
/// When a daemon that gave way to another may be started again: the other may have been about to end.
const AGAIN: Duration = Duration::from_millis(200);
/// Most bytes of what a failed start said.
const MAX_SAID: usize = 300;

/// A daemon that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No program beside this one.
    #[error("there is no glassd beside glassctl in {}", directory.display())]
    NoProgram {
        /// Where glassctl lies.
        directory: PathBuf,
    },
    /// This program does not know where it lies, or the other could not be run.
    #[error("glassd cannot be started: {0}")]
    Spawn(#[from] io::Error),
    /// It ended with an error.
    #[error("glassd did not start ({status}): {said}")]
    Ended {
        /// How it ended.
        status: ExitStatus,
        /// The end of what it wrote to standard error.
        said: String,
    },
    /// Nobody answers within [`LIMIT`].
    #[error("glassd was started and does not answer after {} s{}", LIMIT.as_secs(), heard(said))]
    NoAnswer {
        /// The end of what it wrote to standard error; may be empty.
        said: String,
    },
    /// The socket cannot be reached for a reason that no start mends.
    #[error("{0}")]
    Connect(#[source] io::Error),
}

fn heard(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// Starts glassd and waits until it speaks at `socket`.
///
/// `explicit` is whether the socket was named on the command line: then glassd is told.
///
/// # Errors
/// See [`LaunchError`]. The started program is left alone then: another client may be waiting for it.
pub async fn start(socket: &Path, explicit: bool) -> Result<Channel, LaunchError> {
    let program = find_program()?;
    let mut arguments: Vec<OsString> = vec!["--from-client".into()];
    if explicit {
        arguments.extend(["--socket".into(), socket.into()]);
    }
    let begun = Instant::now();
    let mut running = Starting::spawn(&program, &arguments)?;
    loop {
        let left = LIMIT.saturating_sub(begun.elapsed());
        match connect(socket, left).await.map_err(LaunchError::Connect)? {
            Behind::Daemon(channel) => return Ok(channel),
            // Not there yet, or about to end after it listened: its exit says why.
            Behind::Nobody | Behind::Closed | Behind::Silent => {}
        }
        match running.child.try_wait()? {
            Some(status) if !status.success() => {
                return Err(LaunchError::Ended { status, said: running.said() });
            }
            Some(_) if running.since.elapsed() >= AGAIN => running = Starting::spawn(&program, &arguments)?,
            _ => {}
        }
        if begun.elapsed() >= LIMIT {
            return Err(LaunchError::NoAnswer { said: running.said() });
        }
        tokio::time::sleep(STEP).await;
    }
}

/// The program file of glassd: beside glassctl, or in `../libexec/glass`.
pub(crate) fn find_program() -> Result<PathBuf, LaunchError> {
    let own = std::env::current_exe()?;
    let directory = own.parent().unwrap_or(Path::new("/")).to_owned();
    let places = [directory.join("glassd"), directory.join("../libexec/glass/glassd")];
    places.into_iter().find(|place| place.is_file()).ok_or(LaunchError::NoProgram { directory })
}

/// A daemon on its way up, with the memory file that it writes its last words to. A pipe would end up held by the
/// daemon, and would block or break; a file on disk would have to be removed.
struct Starting {
    child: Child,
    words: Option<File>,
    since: Instant,
}

impl Starting {
    fn spawn(program: &Path, arguments: &[OsString]) -> io::Result<Self> {
        let words = memory_file();
        let stderr = match &words {
            Some(file) => Stdio::from(file.try_clone()?),
            None => Stdio::null(),
        };
        // glassd makes itself a session of its own and closes what else it inherited, first thing.
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .current_dir("/")
            .spawn()?;
        Ok(Self { child, words, since: Instant::now() })
    }

    /// The last line of what it wrote, bounded and escaped.
    fn said(&self) -> String {
        let Some(file) = &self.words else { return String::new() };
        let end = file.metadata().map_or(0, |found| found.len());
        let mut bytes = vec![0; 4096];
        let read = file.read_at(&mut bytes, end.saturating_sub(4096)).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..read]);
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
        let line = line.trim().trim_start_matches("glassd: ").trim_start_matches("error: ");
        cut(&visible(line, false), MAX_SAID).into_owned()
    }
}

/// `None` where the system has none: then what glassd wrote when it did not start is not known.
#[cfg(target_os = "linux")]
fn memory_file() -> Option<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    memfd_create("glassd-start", MemfdFlags::CLOEXEC).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn memory_file() -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_failed_start_are_heard() {
        let arguments =
            ["-c".into(), "echo first >&2; printf 'glassd: no \\033[31mway\\n\\n' >&2; exit 3".into()];
        let mut starting = Starting::spawn(Path::new("/bin/sh"), &arguments).unwrap();
        assert_eq!(starting.child.wait().unwrap().code(), Some(3));
        assert_eq!(starting.said(), "no \\u{1b}[31mway");
    }
}
