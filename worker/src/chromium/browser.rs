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
    whose: Whose,
}

#[derive(Debug)]
enum Whose {
    /// Started here.
    Ours(Watched),
    /// Attached to; with its own user agent.
    Elsewhere(String),
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
    /// It is somebody else's, and goes on.
    Left,
}

impl Browser {
    pub(super) fn new(client: Client, version: Version, watched: Watched, stderr: Stderr) -> Self {
        // Ends with the browser, and is what makes its end known to every call.
        tokio::spawn(supervise(client.closer(), watched.clone(), stderr));
        Self { client, version, whose: Whose::Ours(watched) }
    }

    pub(super) fn elsewhere(client: Client, version: Version, user_agent: String) -> Self {
        Self { client, version, whose: Whose::Elsewhere(user_agent) }
    }

    /// Whether it is somebody else's.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.whose, Whose::Elsewhere(_))
    }

    /// Its own user agent, without the word Headless where it is ours.
    pub fn user_agent(&self) -> String {
        match &self.whose {
            Whose::Ours(_) => self.version.user_agent(),
            Whose::Elsewhere(agent) => agent.clone(),
        }
    }

    /// The connection to it.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its version.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The process id of the browser process; `None` for somebody else's.
    pub fn pid(&self) -> Option<u32> {
        match &self.whose {
            Whose::Ours(watched) => Some(watched.pid()),
            Whose::Elsewhere(_) => None,
        }
    }

    /// Waits for its end, or for that of the connection to somebody else's; says how.
    pub async fn exited(&self) -> String {
        match &self.whose {
            Whose::Ours(watched) => watched.exited().await.to_string(),
            Whose::Elsewhere(_) => self.client.closed().await.reason.to_string(),
        }
    }

    /// Ends it: asks through CDP and waits up to `grace`, then SIGTERM, then SIGKILL. Returns when it is reaped. From
    /// somebody else's it only takes its leave: the connection ends.
    pub async fn close(&self, grace: Duration) -> Ended {
        let started = Instant::now();
        let ended = match &self.whose {
            Whose::Ours(watched) => self.end(watched, grace).await,
            Whose::Elsewhere(_) => {
                self.client.fail(Gone::because("it was left"));
                Ended::Left
            }
        };
        tracing::debug!(?ended, elapsed = ?started.elapsed(), "the browser was ended");
        ended
    }

    async fn end(&self, watched: &Watched, grace: Duration) -> Ended {
        if let Some(exit) = watched.exit() {
            return Ended::AlreadyGone(exit);
        }
        // The answer does not matter, the end of the process does.
        let asked = self.client.start_send(None, browser::Close {});
        let ended = tokio::time::timeout(grace, watched.exited()).await;
        drop(asked);
        if let Ok(exit) = ended {
            return Ended::OnClose(exit);
        }
        watched.signal(Signal::SIGTERM);
        if let Ok(exit) = tokio::time::timeout(TERM_GRACE, watched.exited()).await {
            return Ended::OnTerm(exit);
        }
        watched.signal(Signal::SIGKILL);
        Ended::OnKill(watched.exited().await)
    }
}

/// Turns the end of the process into the end of the connection, with the reason.
async fn supervise(closer: Closer, watched: Watched, stderr: Stderr) {
    let exit = watched.exited().await;
    // Late lines only miss in a log.
    let _late = tokio::time::timeout(STDERR_GRACE, stderr.ended()).await;
    closer.fail(Gone { reason: exit.to_string().into(), stderr: stderr.tail().into() });
}
