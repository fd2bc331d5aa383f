//! The demo's own place: directories, a daemon of its own, and glassctl run as a user would run it.
//!
//! Touches neither the user's sessions nor the user's daemon. Dropping it removes the directories; a daemon that
//! could not be stopped ends when it sees that they are gone.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use glass_proto::paths::{Environment, MAX_SOCKET_PATH, Overrides, Paths};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// Longest time for one command; each has its own, shorter deadline.
const LIMIT: Duration = Duration::from_secs(120);

/// A command's answer.
#[derive(Debug)]
pub(super) struct Ran {
    /// Its exit code; none when a signal or the limit ended it.
    pub(super) exit: Option<i32>,
    /// Standard output.
    pub(super) out: String,
    /// Standard error.
    pub(super) err: String,
}

/// Where the demo lives.
#[derive(Debug)]
pub(super) struct World {
    program: PathBuf,
    /// State of the demo's daemon, and the files that the demo makes.
    state: TempDir,
    /// The socket's directory, apart where the other's path is too long for a socket.
    runtime: TempDir,
    /// Made for the demo, and removed with it when nothing else came to lie there.
    parent: Option<PathBuf>,
    /// The session that all commands use.
    pub(super) session: String,
}

impl World {
    /// Makes the directories, 0700.
    pub(super) fn create() -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let (state, parent) = beside_state().map_or_else(
            || private_dir(&std::env::temp_dir()).map(|dir| (dir, None)),
            |(dir, parent)| Ok((dir, Some(parent))),
        )?;
        let mut runtime = private_dir(state.path())?;
        if runtime.path().join("glass/glassd.sock").as_os_str().len() > MAX_SOCKET_PATH {
            runtime = private_dir(&std::env::temp_dir())?;
        }
        let name = state.path().file_name().and_then(OsStr::to_str).unwrap_or("demo").to_lowercase();
        let session = name.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
        Ok(Self { program, state, runtime, parent, session })
    }

    /// Where the demo's commands run, and leave their files.
    pub(super) fn directory(&self) -> &Path {
        self.state.path()
    }

    /// Runs glassctl with these arguments and this standard input.
    pub(super) async fn glassctl(&self, arguments: &[&str], input: &str) -> io::Result<Ran> {
        let mut child = Command::new(&self.program)
            .args(arguments)
            .env("XDG_RUNTIME_DIR", self.runtime.path())
            .env("XDG_STATE_HOME", self.state.path())
            .env("GLASS_SESSION", &self.session)
            .current_dir(self.directory())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is the demo's to handle: a second one must not end the command that stops the daemon.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read it has gone on without it.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        let output = match timeout(LIMIT, child.wait_with_output()).await {
            Ok(output) => output?,
            Err(_) => return Ok(Ran { exit: None, out: String::new(), err: "no answer".to_owned() }),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        Ok(Ran { exit: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(parent) = &self.parent {
            // The directory itself goes first, by hand: fields are dropped after this. What cannot be removed is
            // left to the fields, and a parent that holds something else stays.
            let _ = std::fs::remove_dir_all(self.state.path());
            let _ = std::fs::remove_dir(parent);
        }
    }
}

/// A directory where Glass's state would lie, since profiles belong on a disk of the user's; `None` where that
/// cannot be written to. Also the parent, which is Glass's own.
fn beside_state() -> Option<(TempDir, PathBuf)> {
    let paths = Paths::resolve(&Environment::of_process(), &Overrides::default()).ok()?;
    let parent = paths.state_dir;
    make_private(&parent).ok()?;
    Some((private_dir(&parent).ok()?, parent))
}

fn make_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

fn private_dir(parent: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("demo-").tempdir_in(parent)
}

#[cfg(test)]
mod tests {
    use glass_proto::SessionName;

    use super::*;

    #[test]
    fn a_place_of_ones_own_leaves_nothing() {
        let world = World::create().unwrap();
        assert!(world.session.parse::<SessionName>().is_ok(), "{}", world.session);
        let (state, runtime) = (world.state.path().to_owned(), world.runtime.path().to_owned());
        assert!(runtime.join("glass/glassd.sock").as_os_str().len() <= MAX_SOCKET_PATH);
        drop(world);
        assert!(!state.exists() && !runtime.exists());
    }
}
