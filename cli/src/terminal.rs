//! Asking a person on the terminal.

use std::io;
use std::os::fd::AsFd;

use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcsetattr};
use tokio::sync::oneshot;

use crate::output::prompt;

/// Asks for one line of standard input; what is typed is not shown where it is `hidden`. The end of the input is an empty
/// line.
///
/// # Errors
/// Standard input or the terminal's own.
pub(crate) async fn ask(question: &str, hidden: bool) -> io::Result<String> {
    let silence = if hidden && isatty(io::stdin()) { Some(Silence::begin()?) } else { None };
    prompt(question)?;
    let (send, answer) = oneshot::channel();
    // Whoever gives up must not wait for a key: the thread ends with the process.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line).map(|_| line);
        // The one who asked may have given up.
        let _ = send.send(read);
    });
    let line = answer.await.map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))??;
    if silence.is_some() {
        prompt("\n")?;
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// The terminal shows nothing of what is typed while this lives.
struct Silence(Termios);

impl Silence {
    fn begin() -> io::Result<Self> {
        let input = io::stdin();
        let before = tcgetattr(input.as_fd())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(input.as_fd(), OptionalActions::Now, &silent)?;
        Ok(Self(before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // Where that fails there is no terminal any more.
        let _ = tcsetattr(io::stdin().as_fd(), OptionalActions::Now, &self.0);
    }
}
