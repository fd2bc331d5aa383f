//! One child process: its descriptor, its end, and the one who reaps it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use glass_sandbox::{Exit, Pidfd, Signal};
use tokio::sync::watch;

use super::exits::Exits;
use crate::shutdown::Shutdown;

/// A child of the daemon. Dropping it kills the process; a task reaps it in any case.
#[derive(Debug)]
pub struct Child {
    pidfd: Arc<Pidfd>,
    exit: Ending,
}

/// Tells how a child ended, without holding it.
#[derive(Clone, Debug)]
pub struct Ending(watch::Receiver<Option<Exit>>);

impl Ending {
    /// Waits for the end.
    pub async fn exited(&self) -> Exit {
        let mut exit = self.0.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Code(-1)),
            // The task that reaps has gone without an answer, which only the end of the runtime does.
            Err(_) => Exit::Code(-1),
        }
    }

    fn is_over(&self) -> bool {
        self.0.borrow().is_some()
    }
}

impl Child {
    /// Watches a process from now on.
    ///
    /// # Errors
    /// The runtime cannot wait for it; it is killed then.
    pub fn watch(pidfd: Pidfd, tasks: &Shutdown) -> io::Result<Self> {
        let pidfd = Arc::new(pidfd);
        let (sender, exit) = watch::channel(None);
        let child = Self { pidfd: pidfd.clone(), exit: Ending(exit) };
        let waiting = Exits::of(pidfd)?;
        tasks.spawn("child", async move {
            let ended = reap(&waiting).await;
            sender.send_replace(Some(ended));
        });
        Ok(child)
    }

    /// Its pid, for messages and for looking it up in /proc while it is not reaped.
    pub fn pid(&self) -> u32 {
        self.pidfd.pid()
    }

    /// Sends a signal; a process that is gone takes none.
    pub fn signal(&self, signal: Signal) {
        if !self.exit.is_over() {
            let _ = self.pidfd.signal(signal);
        }
    }

    /// What tells of its end.
    pub fn ending(&self) -> Ending {
        self.exit.clone()
    }

    /// Waits for its end.
    pub async fn exited(&self) -> Exit {
        self.exit.exited().await
    }

    /// Waits for its end, at most `limit`.
    pub async fn exited_within(&self, limit: Duration) -> Option<Exit> {
        tokio::time::timeout(limit, self.exited()).await.ok()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

async fn reap(waiting: &Exits) -> Exit {
    let reaped = match waiting.exited().await {
        Ok(()) => waiting.pidfd().reap(),
        Err(error) => Err(error),
    };
    match reaped {
        Ok(Some(exit)) => exit,
        other => {
            tracing::error!(pid = waiting.pidfd().pid(), ?other, "a child could not be reaped");
            Exit::Code(-1)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[tokio::test]
    #[expect(clippy::zombie_processes, reason = "the pidfd's task reaps it, which is what is tested")]
    async fn a_child_that_is_dropped_is_killed_and_reaped() {
        let tasks = Shutdown::default();
        let process = Command::new("sleep").arg("1000").spawn().unwrap();
        let child = Child::watch(Pidfd::open(process.id()).unwrap(), &tasks).unwrap();
        let ending = child.ending();
        drop(child);
        assert_eq!(ending.exited().await, Exit::Signal(9));
    }

    #[tokio::test]
    #[expect(clippy::zombie_processes, reason = "the pidfd's task reaps it, which is what is tested")]
    async fn an_exit_code_is_told_to_all_who_ask() {
        let tasks = Shutdown::default();
        let process = Command::new("sh").args(["-c", "exit 20"]).spawn().unwrap();
        let child = Child::watch(Pidfd::open(process.id()).unwrap(), &tasks).unwrap();
        assert_eq!(child.exited().await, Exit::Code(20));
        assert_eq!(child.exited().await, Exit::Code(20));
    }
}
