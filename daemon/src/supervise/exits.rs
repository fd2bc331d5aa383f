//! Waits under tokio for a process to exit.

use std::io;
use std::sync::Arc;

use glass_sandbox::Pidfd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A pidfd that tokio watches.
#[derive(Debug)]
pub(super) struct Exits(AsyncFd<Arc<Pidfd>>);

impl Exits {
    /// Watches `pidfd` from now on.
    ///
    /// # Errors
    /// The runtime cannot watch it.
    #[expect(
        deprecated,
        reason = "the other constructor is unsafe because a type could answer different descriptors over time; \
                  a Pidfd owns one and answers no other"
    )]
    pub(super) fn of(pidfd: Arc<Pidfd>) -> io::Result<Self> {
        AsyncFd::with_interest(pidfd, Interest::READABLE).map(Self)
    }

    /// The process.
    pub(super) fn pidfd(&self) -> &Pidfd {
        self.0.get_ref()
    }

    /// Waits until it has exited; it may still have to be reaped.
    ///
    /// # Errors
    /// The runtime ends.
    pub(super) async fn exited(&self) -> io::Result<()> {
        loop {
            let mut ready = self.0.readable().await?;
            if self.pidfd().has_exited()? {
                return Ok(());
            }
            ready.clear_ready();
        }
    }
}
