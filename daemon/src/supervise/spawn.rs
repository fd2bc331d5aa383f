//! Starts processes from the main thread, which does nothing else.
//!
//! The kernel's PDEATHSIG follows the *thread* that forked, so a child of a pool's thread would die with that thread.
//! Whoever needs a process sends an [`Order`] and gets a [`Spawned`].

use std::ffi::OsString;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;

use command_fds::{CommandFdExt, FdMapping};
use glass_sandbox::{Pidfd, Signal};
use tokio::sync::oneshot;

use super::programs::Program;

/// Orders that may wait for the main thread: sessions start two at a time, so a handful is plenty.
const ORDERS: usize = 32;

/// A process to start. Its environment is empty, its directory `/`, its standard input and output `/dev/null`
/// unless `output` says otherwise, its standard error a pipe.
#[derive(Debug)]
pub struct Order {
    /// What to run.
    pub program: Arc<Program>,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Descriptors, and the numbers under which it finds them.
    pub descriptors: Vec<(OwnedFd, RawFd)>,
    /// Where its standard output goes.
    pub output: Output,
}

/// Where standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Nowhere.
    Null,
    /// Into a pipe to the daemon.
    Pipe,
}

/// A process that runs. Killed and reaped when it is dropped.
#[derive(Debug)]
pub struct Spawned {
    /// The process; taken by whoever watches it.
    pub pidfd: Option<Pidfd>,
    /// The other end of its standard output.
    pub stdout: Option<OwnedFd>,
    /// The other end of its standard error.
    pub stderr: Option<OwnedFd>,
}

impl Drop for Spawned {
    fn drop(&mut self) {
        if let Some(pidfd) = &self.pidfd {
            // Nobody took it: the one who ordered it has gone.
            let _ = pidfd.signal(Signal::SIGKILL);
            let _ = pidfd.wait_timeout(crate::limits::KILL);
            let _ = pidfd.reap();
        }
    }
}

type Request = (Order, oneshot::Sender<io::Result<Spawned>>);

/// Sends orders to the main thread.
#[derive(Clone, Debug)]
pub struct Spawner(mpsc::SyncSender<Request>);

/// What the main thread works off.
#[derive(Debug)]
pub struct Requests(mpsc::Receiver<Request>);

/// The two ends between the runtime and the main thread.
pub fn spawner() -> (Spawner, Requests) {
    let (sender, receiver) = mpsc::sync_channel(ORDERS);
    (Spawner(sender), Requests(receiver))
}

impl Spawner {
    /// Starts a process.
    ///
    /// # Errors
    /// The kernel's, or the main thread has gone or is overrun.
    pub async fn spawn(&self, order: Order) -> io::Result<Spawned> {
        let (reply, answer) = oneshot::channel();
        self.0
            .try_send((order, reply))
            .map_err(|_| io::Error::other("the spawning thread does not answer"))?;
        answer.await.map_err(|_| io::Error::other("the spawning thread has gone"))?
    }
}

/// Works off orders until every [`Spawner`] is gone. Runs in the main thread.
pub fn serve(requests: &Requests) {
    while let Ok((order, reply)) = requests.0.recv() {
        // An unheard answer drops the process, and with it ends it.
        let _ = reply.send(spawn(order));
    }
}

fn spawn(order: Order) -> io::Result<Spawned> {
    let mut command = Command::new(order.program.exec_path());
    command.env_clear().args(&order.args).current_dir("/").stdin(Stdio::null()).stderr(Stdio::piped());
    command.stdout(match order.output {
        Output::Null => Stdio::null(),
        Output::Pipe => Stdio::piped(),
    });
    set_name(&mut command, order.program.name());
    if !order.program.is_own() {
        glass_sandbox::die_with_this_thread(&mut command);
    }
    let mappings = order.descriptors.into_iter();
    command
        .fd_mappings(mappings.map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd }).collect())
        .map_err(|_| io::Error::other("two descriptors under one number"))?;
    let mut child = command.spawn()?;
    // Not reaped yet, so its number is still its own.
    let pidfd = match Pidfd::open(child.id()) {
        Ok(pidfd) => pidfd,
        Err(error) => {
            // One that ended by itself cannot be killed, and is reaped all the same.
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
    };
    Ok(Spawned {
        pidfd: Some(pidfd),
        stdout: child.stdout.take().map(OwnedFd::from),
        stderr: child.stderr.take().map(OwnedFd::from),
    })
}

fn set_name(command: &mut Command, name: &str) {
    use std::os::unix::process::CommandExt;
    command.arg0(name);
}
