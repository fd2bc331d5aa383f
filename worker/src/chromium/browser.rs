//! A running browser, and its end.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{exit::Exit, reaper::Watched, stderr::Stderr, version::Version};
use crate::cdp::{Client, Closer, Gone, types::browser};

/// How long after SIGTERM a browser may still end by itself.
const TERM_GRACE: Duration = Duration::from_secs(1);

/// How long what a dead browser wrote to stderr is waited for; its children may keep the pipe open.
const STDERR_GRACE: Duration = Duration::from_millis(100);

/// A browser that answered.
///
/// Dropping it does not end the browser; dropping the last [`Client`] does.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    version: Version,
    watched: Watched,
}

/// What it took to end a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was gone before.
    AlreadyGone(Exit),
    /// It closed as asked.
    OnClose(Exit),
    /// It ended on SIGTERM.
    OnTerm(Exit),
    /// It had to be killed.
    OnKill(Exit),
}

impl Browser {
    pub(super) fn new(client: Client, version: Version, watched: Watched, stderr: Stderr) -> Self {
        // Ends with the browser, and is what makes its end known to every call.
        tokio::spawn(supervise(client.closer(), watched.clone(), stderr));
        Self { client, version, watched }
    }

    /// The connection to it.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its version.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The process id of the browser process.
    pub fn pid(&self) -> u32 {
        self.watched.pid()
    }

    /// Waits for its end.
    pub async fn exited(&self) -> Exit {
        self.watched.exited().await
    }

    /// Ends it: asks through CDP and waits up to `grace`, then SIGTERM, then SIGKILL. Returns when it is reaped.
    pub async fn close(&self, grace: Duration) -> Ended {
        let started = Instant::now();
        let ended = self.end(grace).await;
        tracing::debug!(?ended, elapsed = ?started.elapsed(), "the browser was ended");
        ended
    }

    async fn end(&self, grace: Duration) -> Ended {
        if let Some(exit) = self.watched.exit() {
            return Ended::AlreadyGone(exit);
        }
        // The answer does not matter, the end of the process does.
        let asked = self.client.start_send(None, browser::Close {});
        let ended = tokio::time::timeout(grace, self.watched.exited()).await;
        drop(asked);
        if let Ok(exit) = ended {
            return Ended::OnClose(exit);
        }
        self.watched.signal(Signal::SIGTERM);
        if let Ok(exit) = tokio::time::timeout(TERM_GRACE, self.watched.exited()).await {
            return Ended::OnTerm(exit);
        }
        self.watched.signal(Signal::SIGKILL);
        Ended::OnKill(self.watched.exited().await)
    }
}

/// Turns the end of the process into the end of the connection, with the reason.
async fn supervise(closer: Closer, watched: Watched, stderr: Stderr) {
    let exit = watched.exited().await;
    // Late lines only miss in a log.
    let _late = tokio::time::timeout(STDERR_GRACE, stderr.ended()).await;
    closer.fail(Gone { reason: exit.to_string().into(), stderr: stderr.tail().into() });
}
