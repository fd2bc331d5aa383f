//! Ctrl-C and SIGTERM: the first asks the command to give up (contract 2.8), the second ends the program.

use std::io;

use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
use tokio::sync::watch;

/// A signal that ends the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Signal {
    /// The exit code, as shells have it: 128 and the signal's number.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// The signals as they come.
#[derive(Debug)]
pub struct Signals {
    interrupt: Stream,
    terminate: Stream,
    /// Held for its handler alone.
    _child: Stream,
}

impl Signals {
    /// Takes the signals from their default action.
    ///
    /// # Errors
    /// When the system refuses the handler.
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            // Whoever started us may ignore it, and then no child could be waited for.
            _child: signal(SignalKind::child())?,
        })
    }

    /// The next signal.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}

/// Tells a command that it shall give up.
#[derive(Clone, Debug)]
pub struct Cancel(watch::Receiver<Option<Signal>>);

impl Cancel {
    /// The sender of the news and what commands hold of it.
    pub fn channel() -> (watch::Sender<Option<Signal>>, Self) {
        let (tell, told) = watch::channel(None);
        (tell, Self(told))
    }

    /// Waits until the command shall give up.
    pub async fn asked(&mut self) {
        if self.0.wait_for(Option::is_some).await.is_err() {
            // The sender is gone: nobody can ask any more.
            std::future::pending::<()>().await;
        }
    }

    /// Runs `work` until it ends or is given up: `None`.
    pub async fn race<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.asked() => None,
        }
    }
}
