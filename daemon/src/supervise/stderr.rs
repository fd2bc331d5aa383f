//! What children write to standard error, taken into the daemon's log.
//!
//! Bounded: long lines are cut, and a child that floods loses lines, not the daemon's time. A line that begins with a
//! level word comes from our own programs and keeps its level; anything else is the browser's and is debug.

use std::os::fd::OwnedFd;
use std::time::Duration;

use glass_proto::escape;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::Instant;

use crate::limits;
use crate::shutdown::Shutdown;

/// Logs what comes out of `pipe` until it ends.
pub(super) fn follow(pipe: OwnedFd, who: &'static str, session: String, tasks: &Shutdown) {
    match pipe::Receiver::from_owned_fd(pipe) {
        Ok(pipe) => tasks.spawn("child log", read(pipe, who, session)),
        Err(error) => tracing::warn!(%error, who, "standard error of a child cannot be read"),
    }
}

async fn read(mut pipe: pipe::Receiver, who: &'static str, session: String) {
    let mut buffer = vec![0; limits::LOG_LINE];
    let mut lines = Lines::default();
    let mut budget = Budget::new(limits::LOG_LINES);
    loop {
        let count = match pipe.read(&mut buffer).await {
            Ok(count) if count > 0 => count,
            _ => break,
        };
        lines.push(&buffer[..count], |line| {
            if budget.take(Instant::now()) {
                log(who, &session, line);
            }
        });
    }
    lines.finish(|line| log(who, &session, line));
}

fn log(who: &str, session: &str, line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    let (level, text) = split_level(&text);
    let text = escape::visible(text, false);
    match level {
        Some("ERROR") => tracing::error!(who, session, "{text}"),
        Some("WARN") => tracing::warn!(who, session, "{text}"),
        Some("INFO") => tracing::info!(who, session, "{text}"),
        _ => tracing::debug!(who, session, "{text}"),
    }
}

/// The level word within the first two words: tracing puts a time before it, or not.
fn split_level(line: &str) -> (Option<&str>, &str) {
    let line = line.trim();
    let mut rest = line;
    for _ in 0..2 {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if matches!(word, "ERROR" | "WARN" | "INFO" | "DEBUG" | "TRACE") {
            return (Some(word), after.trim_start());
        }
        rest = after.trim_start();
    }
    (None, line)
}

/// Cuts a stream of bytes into lines of bounded length.
#[derive(Default)]
struct Lines {
    partial: Vec<u8>,
    skipping: bool,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = part.ends_with(b"\n");
            if !self.skipping {
                let room = limits::LOG_LINE - self.partial.len();
                self.partial.extend_from_slice(&part[..part.len().min(room)]);
                if ends || self.partial.len() == limits::LOG_LINE {
                    self.emit(&mut each);
                    self.skipping = !ends;
                }
            } else if ends {
                self.skipping = false;
            }
        }
    }

    fn finish(mut self, mut each: impl FnMut(&[u8])) {
        self.emit(&mut each);
    }

    fn emit(&mut self, each: &mut impl FnMut(&[u8])) {
        let line = self.partial.trim_ascii();
        if !line.is_empty() {
            each(line);
        }
        self.partial.clear();
    }
}

/// Lines that may be logged in a second.
struct Budget {
    limit: u32,
    left: u32,
    since: Option<Instant>,
}

impl Budget {
    fn new(limit: u32) -> Self {
        Self { limit, left: limit, since: None }
    }

    fn take(&mut self, now: Instant) -> bool {
        if self.since.is_none_or(|since| now - since >= Duration::from_secs(1)) {
            self.since = Some(now);
            self.left = self.limit;
        }
        let allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut lines = Lines::default();
        let mut each = |line: &[u8]| seen.push(String::from_utf8_lossy(line).into_owned());
        for chunk in chunks {
            lines.push(chunk, &mut each);
        }
        lines.finish(&mut each);
        seen
    }

    #[test]
    fn lines_are_put_together_and_cut() {
        assert_eq!(lines(&[b"a", b"b\nc\n\nd"]), ["ab", "c", "d"]);
        let long = vec![b'x'; 3 * limits::LOG_LINE];
        let seen = lines(&[&long, b"yyy\nnext\n"]);
        assert_eq!(seen.iter().map(String::len).collect::<Vec<_>>(), [limits::LOG_LINE, 4]);
    }

    #[test]
    fn levels_are_recognised() {
        assert_eq!(split_level("INFO glass_worker: up"), (Some("INFO"), "glass_worker: up"));
        assert_eq!(split_level("2026-01-01T00:00:00Z  WARN glass: x"), (Some("WARN"), "glass: x"));
        assert_eq!(split_level("[1:2:ERROR:gpu] no GPU"), (None, "[1:2:ERROR:gpu] no GPU"));
    }

    #[test]
    fn a_flood_is_bounded() {
        let mut budget = Budget::new(2);
        let now = Instant::now();
        assert_eq!([0; 3].map(|_| budget.take(now)), [true, true, false]);
        assert!(budget.take(now + Duration::from_secs(1)));
    }
}
