//! Programs that run at a terminal of their own, as a person's shell does: in a session that the terminal controls, in its
//! foreground.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use nix::pty::openpty;
use nix::sys::termios::{FlushArg, tcflush};
use nix::unistd::ttyname;

use crate::answer::Answer;
use crate::mcp::Mcp;
use crate::run::Run;
use crate::world::World;

/// A terminal and whoever sits at it.
#[derive(Debug)]
pub struct Terminal {
    keyboard: File,
    slave: OwnedFd,
}

impl Terminal {
    /// A new one.
    ///
    /// # Panics
    /// When the system has none left.
    pub fn new() -> Self {
        let pair = openpty(None, None).expect("a pair of pseudo-terminals");
        Self { keyboard: pair.master.into(), slave: pair.slave }
    }

    /// Its name in the file system.
    ///
    /// # Panics
    /// Never: it is a terminal.
    pub fn name(&self) -> PathBuf {
        ttyname(&self.slave).expect("a terminal has a name")
    }

    /// Runs glassctl there in its machine form, with `typed` on the keyboard. What it shows is kept apart from its answer.
    ///
    /// # Panics
    /// When it cannot be run.
    #[track_caller]
    pub fn glassctl(&self, world: &World, arguments: &[&str], typed: &str) -> Answer {
        let mut command = world.command_at(Path::new("setsid"));
        command.arg("--ctty").arg(world.command("glassctl").get_program()).arg("--json").args(arguments);
        let line = format!("{command:?}");
        let input = self.slave.try_clone().expect("another descriptor of it");
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        // What another command has left unread is not for this one.
        tcflush(&self.slave, FlushArg::TCIFLUSH).expect("forget what was typed");
        (&self.keyboard).write_all(typed.as_bytes()).expect("type");
        let since = Instant::now();
        let child = command.spawn().unwrap_or_else(|error| panic!("start {line}: {error}"));
        let ended = child.wait_with_output().expect("its end");
        let run = Run {
            line,
            code: ended.status.code(),
            stdout: String::from_utf8(ended.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8_lossy(&ended.stderr).into_owned(),
            took: since.elapsed(),
        };
        Answer::read(arguments.first().copied().unwrap_or_default(), run)
    }

    /// Starts `glass --mcp` below a program that runs there, as an agent's does. Its own input and output are pipes.
    pub fn host(&self, world: &World, arguments: &[&str]) -> Mcp {
        let mut command = world.command_at(Path::new("setsid"));
        // The leader of a session without a terminal gets the first one that it opens.
        command.args(["sh", "-c", "exec 9<>\"$0\"; \"$@\"; exit $?"]).arg(self.name());
        command.arg(world.command("glass").get_program()).arg("--mcp").args(arguments);
        Mcp::of(command)
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}
