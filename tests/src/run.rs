//! One run of a program: started, bounded in time, with what it printed.

use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

/// No run takes longer. Above every deadline that a test gives to an operation.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Run {
    /// What was run.
    pub line: String,
    /// Exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// From the start to the end of its output.
    pub took: Duration,
}

/// A run that goes on.
#[derive(Debug)]
pub struct Running {
    line: String,
    pid: Pid,
    since: Instant,
    output: Receiver<Output>,
}

impl Running {
    /// Starts `command` in a process group of its own, with `input` on its standard input.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(mut command: Command, input: Option<&[u8]>) -> Self {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let line = format!("{command:?}");
        let since = Instant::now();
        let mut child = command.spawn().unwrap_or_else(|error| panic!("start {line}: {error}"));
        let pid = Pid::from_raw(child.id().try_into().expect("a pid fits its type"));
        if let Some(input) = input {
            feed(&mut child, input.to_vec());
        }
        let (send, output) = channel();
        std::thread::spawn(move || {
            // The receiver is gone when the test gave up on this run.
            let _ = child.wait_with_output().map(|ended| send.send(ended));
        });
        Self { line, pid, since, output }
    }

    /// Its pid, which is its process group too.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Sends a signal to its whole group, as a terminal does.
    pub fn signal_group(&self, signal: Signal) {
        killpg(self.pid, signal).expect("the group of a run can be signalled");
    }

    /// Sends SIGKILL to it alone.
    pub fn kill(&self) {
        kill(self.pid, Signal::SIGKILL).expect("a run can be killed");
    }

    /// Waits for its end, at most [`LIMIT`].
    ///
    /// # Panics
    /// When it takes longer; it is killed then.
    #[track_caller]
    pub fn finish(self) -> Run {
        self.within(LIMIT)
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it takes longer than `limit`, or its output stays open; it is killed then.
    #[track_caller]
    pub fn within(self, limit: Duration) -> Run {
        match self.output.recv_timeout(limit) {
            Ok(output) => Run {
                line: self.line,
                code: output.status.code(),
                stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
                took: self.since.elapsed(),
            },
            Err(why) => {
                // It may have ended with its output held open by another process: nothing to kill then.
                let _ = kill(self.pid, Signal::SIGKILL);
                let why = if why == RecvTimeoutError::Timeout { "did not end" } else { "was lost" };
                panic!("{} {why} within {limit:?} (or something holds its output open)", self.line);
            }
        }
    }
}

/// Writes on a thread: a program that does not read must not block the test.
fn feed(child: &mut Child, input: Vec<u8>) {
    let mut pipe = child.stdin.take().expect("standard input was asked for");
    std::thread::spawn(move || {
        // A program that ends without reading everything closes the pipe; that is its right.
        let _ = pipe.write_all(&input);
    });
}

impl Run {
    /// Asserts exit 0.
    #[track_caller]
    pub fn success(self) -> Self {
        self.exits(0)
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = |text: &str| text.chars().take(4000).collect::<String>();
        write!(
            f,
            "{}\n  exit {:?} after {:?}\n  stdout: {}\n  stderr: {}",
            self.line,
            self.code,
            self.took,
            short(&self.stdout),
            short(&self.stderr)
        )
    }
}
