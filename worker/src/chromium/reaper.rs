//! Waits for every child of this process.
//!
//! The worker is pid 1 of its cage, so orphans of the browser become its children and stay as zombies unless it
//! takes their status. One owner of all waiting makes sure that the browser's status reaches who asks for it:
//! nothing else in the worker may call `wait`, which is why there is no `tokio::process` here.
//!
//! Where the process is not pid 1 only children that were spawned here are waited for.

use std::{
    collections::HashMap,
    io,
    process::{Child, Command},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use super::exit::Exit;

type Waiting = HashMap<u32, watch::Sender<Option<Exit>>>;

/// The one who waits; clones share it.
#[derive(Clone, Debug)]
pub struct Reaper {
    waiting: Arc<Mutex<Waiting>>,
}

/// A child whose end can be awaited, any number of times.
#[derive(Clone, Debug)]
pub struct Watched {
    pid: u32,
    exit: watch::Receiver<Option<Exit>>,
    waiting: Arc<Mutex<Waiting>>,
}

impl Reaper {
    /// Starts reaping on the current tokio runtime. Once a process.
    ///
    /// # Errors
    /// When SIGCHLD cannot be listened to.
    pub fn start() -> io::Result<Self> {
        let mut signals = signal(SignalKind::child())?;
        let waiting = Arc::new(Mutex::new(Waiting::new()));
        let reaper = Self { waiting: waiting.clone() };
        let takes_orphans = std::process::id() == 1;
        // Lives as long as the process, whose children it waits for.
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                reap(&mut lock(&waiting), takes_orphans);
            }
        });
        Ok(reaper)
    }

    /// Starts a child. Only its pipes may be taken from the returned [`Child`]; its end is in [`Watched`].
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn(&self, command: &mut Command) -> io::Result<(Child, Watched)> {
        // Held across the start, so that even a child that ends at once is known before it is reaped.
        let mut waiting = lock(&self.waiting);
        let child = command.spawn()?;
        let (sender, exit) = watch::channel(None);
        waiting.insert(child.id(), sender);
        let watched = Watched { pid: child.id(), exit, waiting: self.waiting.clone() };
        Ok((child, watched))
    }
}

impl Watched {
    /// The process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the end.
    pub async fn exited(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await.map(|exit| *exit) {
            Ok(Some(exit)) => exit,
            Ok(None) | Err(_) => Exit::Unknown,
        }
    }

    /// How it ended, if it did.
    pub fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Sends a signal, unless the process ended: its pid is never one that was given to another process, because
    /// only the reaper frees it, under the same lock.
    pub fn signal(&self, signal: Signal) {
        let waiting = lock(&self.waiting);
        if waiting.contains_key(&self.pid)
            && let Err(error) = kill(pid(self.pid), signal)
        {
            tracing::debug!(pid = self.pid, %signal, %error, "signal not delivered");
        }
    }
}

fn reap(waiting: &mut Waiting, takes_orphans: bool) {
    if takes_orphans {
        while let Some((pid, exit)) = next_exit(None) {
            match waiting.remove(&pid) {
                Some(sender) => drop(sender.send_replace(Some(exit))),
                None => tracing::trace!(pid, %exit, "an orphan ended"),
            }
        }
        return;
    }
    waiting.retain(|child, sender| match waitpid(pid(*child), Some(WaitPidFlag::WNOHANG)) {
        Ok(status) => match Exit::of(status) {
            Some((_, exit)) => {
                sender.send_replace(Some(exit));
                false
            }
            None => true,
        },
        Err(Errno::EINTR) => true,
        Err(_) => {
            sender.send_replace(Some(Exit::Unknown));
            false
        }
    });
}

/// The next child that ended, if there is one.
fn next_exit(of: Option<Pid>) -> Option<(u32, Exit)> {
    loop {
        match waitpid(of, Some(WaitPidFlag::WNOHANG)) {
            Ok(status) => return Exit::of(status),
            Err(Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).expect("a pid of the kernel fits in 31 bits"))
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    // The map is whole after every statement; a panic elsewhere does not spoil it.
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[tokio::test]
    async fn every_child_reports_its_own_end() {
        let reaper = Reaper::start().expect("a reaper");
        let (_, seven) = reaper.spawn(&mut shell("exit 7")).expect("a child");
        let (_, killed) = reaper.spawn(&mut shell("kill -9 $$")).expect("a child");
        let (_, asleep) = reaper.spawn(&mut shell("exec sleep 60")).expect("a child");
        assert_eq!(seven.exited().await, Exit::Code(7));
        assert_eq!(killed.exited().await, Exit::Signal(Signal::SIGKILL));
        assert_eq!(asleep.exit(), None);
        asleep.signal(Signal::SIGTERM);
        assert_eq!(asleep.exited().await, Exit::Signal(Signal::SIGTERM));
        asleep.signal(Signal::SIGTERM);
        assert!(reaper.spawn(&mut Command::new("/does/not/exist")).is_err());
    }

    #[test]
    fn ends_read_well() {
        assert_eq!(Exit::Code(1).to_string(), "it exited with code 1");
        assert_eq!(Exit::Signal(Signal::SIGSEGV).to_string(), "it was killed by signal SIGSEGV");
    }
}
