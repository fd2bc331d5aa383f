//! What the browser says on stderr: to the log at debug level, and the last lines kept for when it dies.
//!
//! The lines can quote pages, so they reach no user; only what is recognised here in our words does.

use std::{
    collections::VecDeque,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::unix::pipe,
    sync::watch,
};

/// Lines kept.
const LINES: usize = 20;

/// Bytes of a line that are looked at; the rest of it is dropped.
const LINE: u64 = 4096;

/// The last lines of a process's stderr; clones share them.
#[derive(Clone, Debug)]
pub(super) struct Stderr {
    lines: Arc<Mutex<VecDeque<String>>>,
    ended: watch::Receiver<bool>,
}

impl Stderr {
    /// Starts to read on the current tokio runtime, until every writer is gone.
    pub(super) fn read(fd: OwnedFd) -> std::io::Result<Self> {
        let reader = BufReader::new(pipe::Receiver::from_owned_fd(fd)?);
        let lines = Arc::new(Mutex::new(VecDeque::with_capacity(LINES)));
        let (ending, ended) = watch::channel(false);
        let kept = lines.clone();
        tokio::spawn(async move {
            keep_lines(reader, &kept).await;
            ending.send_replace(true);
        });
        Ok(Self { lines, ended })
    }

    /// The kept lines, oldest first.
    pub(super) fn tail(&self) -> String {
        let lines = lock(&self.lines);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Waits until everything was read.
    pub(super) async fn ended(&self) {
        // An error means that the reading task is gone, so it has ended as well.
        drop(self.ended.clone().wait_for(|ended| *ended).await);
    }
}

async fn keep_lines(mut reader: BufReader<pipe::Receiver>, lines: &Mutex<VecDeque<String>>) {
    let mut line = Vec::new();
    let mut inside = false;
    loop {
        line.clear();
        match (&mut reader).take(LINE).read_until(b'\n', &mut line).await {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "the browser's stderr cannot be read");
                return;
            }
        }
        // What follows the first piece of an over-long line is dropped.
        let goes_on = !line.ends_with(b"\n");
        if !std::mem::replace(&mut inside, goes_on) {
            let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
            tracing::debug!(target: "chromium", "{text}");
            let mut lines = lock(lines);
            if lines.len() == LINES {
                lines.pop_front();
            }
            lines.push_back(text);
        }
    }
}

fn lock(lines: &Mutex<VecDeque<String>>) -> MutexGuard<'_, VecDeque<String>> {
    // A list of lines is whole after every statement.
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_and_long_ones_cut() {
        let (read, mut write) = std::io::pipe().expect("a pipe");
        let stderr = Stderr::read(read.into()).expect("a reader");
        let writer = std::thread::spawn(move || {
            for number in 0..30 {
                writeln!(write, "line {number}").expect("write");
            }
            writeln!(write, "{}", "x".repeat(10_000)).expect("write");
            write!(write, "the end").expect("write");
        });
        stderr.ended().await;
        writer.join().expect("the writer");
        let tail = stderr.tail();
        let lines: Vec<&str> = tail.lines().collect();
        assert_eq!(lines.len(), LINES);
        assert_eq!((lines[0], lines[17]), ("line 12", "line 29"));
        assert_eq!(lines[18].len(), 4096);
        assert_eq!(lines[19], "the end");
    }
}
