//! Runs a program to its end with something on its standard input, and tells how it ended.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use glass_sandbox::Exit;
use tokio::time::{Instant, timeout_at};

use super::child::Child;
use super::programs::Program;
use super::spawn::{Order, Output, Spawner};
use super::stderr;
use crate::shutdown::Shutdown;

/// What fits into a pipe that nobody has read from yet.
const PIPE: usize = 64 * 1024;

/// Runs `program` with `input`; it is killed at `until`. Its standard error is logged.
///
/// # Errors
/// It cannot be started, the input is too large, or it does not end in time (`TimedOut`).
pub async fn run(
    spawner: &Spawner,
    tasks: &Shutdown,
    program: &Arc<Program>,
    args: Vec<OsString>,
    input: Vec<u8>,
    until: Instant,
) -> io::Result<Exit> {
    if input.len() > PIPE {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is too much to be said to it"));
    }
    let (reader, mut writer) = io::pipe()?;
    // It fits, so this does not wait for a reader.
    writer.write_all(&input)?;
    drop(writer);
    let order = Order {
        program: program.clone(),
        args,
        descriptors: vec![(OwnedFd::from(reader), 0)],
        output: Output::Null,
    };
    let mut spawned = spawner.spawn(order).await?;
    let pidfd = spawned.pidfd.take().ok_or(io::ErrorKind::NotFound)?;
    // Dropping it kills the process.
    let child = Child::watch(pidfd, tasks)?;
    if let Some(pipe) = spawned.stderr.take() {
        stderr::follow(pipe, program.name(), String::new(), tasks);
    }
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "it did not end in time");
    timeout_at(until, child.exited()).await.map_err(late)
}
