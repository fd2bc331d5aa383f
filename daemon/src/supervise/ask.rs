//! Runs a program of ours to its end and takes what it says.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::{Instant, timeout_at};

use super::child::Child;
use super::programs::Program;
use super::spawn::{Order, Output, Spawner};
use super::stderr;
use crate::shutdown::Shutdown;

/// The largest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 * 1024;

/// Runs `program` and returns its standard output; it is killed at `limit`. Its standard error is logged as `who`'s.
///
/// # Errors
/// It cannot be started, or does not end in time (`TimedOut`).
pub async fn ask(
    spawner: &Spawner,
    tasks: &Shutdown,
    program: &Arc<Program>,
    args: Vec<OsString>,
    who: &'static str,
    limit: Duration,
) -> io::Result<Vec<u8>> {
    let until = Instant::now() + limit;
    let order = Order { program: program.clone(), args, descriptors: Vec::new(), output: Output::Pipe };
    let mut spawned = spawner.spawn(order).await?;
    let pidfd = spawned.pidfd.take().ok_or(io::ErrorKind::NotFound)?;
    // Dropping it kills the process.
    let child = Child::watch(pidfd, tasks)?;
    if let Some(pipe) = spawned.stderr.take() {
        stderr::follow(pipe, who, String::new(), tasks);
    }
    let stdout = spawned.stdout.take().ok_or(io::ErrorKind::NotFound)?;
    let mut text = Vec::new();
    let mut stdout = pipe::Receiver::from_owned_fd(stdout)?.take(MAX_ANSWER);
    let late = || io::Error::new(io::ErrorKind::TimedOut, "it gave no answer");
    timeout_at(until, stdout.read_to_end(&mut text)).await.map_err(|_| late())??;
    timeout_at(until, child.exited()).await.map_err(|_| late())?;
    Ok(text)
}
