//! `glassctl logs`: the end of glassd's log, and what comes after it (contract 12.5).
//!
//! Reads the file itself, so it works with a daemon that hangs or is dead. Bounded in lines and in the bytes of a
//! line; escaped, since workers and clients had a say in what is logged.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use glass_proto::escape::{cut, visible};
use glass_proto::{ErrorKind, OpError, Phase, SessionName};
use serde::Serialize;

use crate::client::Server;
use crate::error::Failure;
use crate::output::{Output, Report};
use crate::signals::Cancel;

/// Most bytes of one line.
const MAX_LINE: usize = 4 * 1024;
/// Older files that glassd keeps beside the current one.
const KEPT: u32 = 3;
/// Between two looks at a file that is followed.
const LOOK: Duration = Duration::from_millis(100);
/// How long a daemon may take to say where it logs. One that hangs is why people read logs.
const ASK: Duration = Duration::from_secs(1);

/// What is asked.
#[derive(Debug)]
pub(super) struct Prepared {
    /// At most so many of the last lines.
    pub(super) lines: usize,
    /// Goes on with what comes.
    pub(super) follow: bool,
    /// Only of this session.
    pub(super) session: Option<SessionName>,
}

pub(super) async fn run(
    prepared: Prepared,
    server: &Server,
    output: Output,
    mut cancel: Cancel,
) -> Result<Report, Failure> {
    let path = place(server).await?;
    let mut wanted = Wanted::new(prepared.session);
    // What is followed begins where the listing ends.
    let (lines, rest) =
        last(&path, prepared.lines, &mut wanted).map_err(|error| unreadable(&path, &error))?;
    if prepared.follow {
        for line in &lines {
            if let Err(error) = output.line(line) {
                return stopped(error);
            }
        }
        let followed = cancel.race(follow(&path, rest, &mut wanted, output)).await;
        return match followed {
            None => Ok(Report { printed: true, ..Report::of(&(), String::new())? }),
            Some(Err(Ended::Output(error))) => stopped(error),
            Some(Err(Ended::Log(error))) => Err(unreadable(&path, &error)),
            Some(Ok(never)) => match never {},
        };
    }
    let file = path.to_string_lossy();
    let text = match lines.is_empty() {
        true if path.exists() => "no such lines".to_owned(),
        true => format!("no log yet at {}", visible(&file, false)),
        false => lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n"),
    };
    #[derive(Serialize)]
    struct Logs<'a> {
        file: &'a str,
        lines: &'a VecDeque<String>,
    }
    Report::of(&Logs { file: &file, lines: &lines }, text)
}

/// The file that the running daemon names, else the one that it would have.
async fn place(server: &Server) -> Result<PathBuf, Failure> {
    // Logs are read most where the daemon does not answer: then they lie where it would have put them.
    let asked =
        tokio::time::timeout(ASK, async { server.connect_running().await.ok()??.status().await.ok() });
    match asked.await {
        Ok(Some(status)) if status.log_file.is_empty() => Err(OpError::rejected(
            ErrorKind::Unsupported,
            Phase::Preflight,
            "this glassd logs to its standard error",
            "look where it was started: a terminal, or `journalctl --user -u glassd`",
        )
        .into()),
        Ok(Some(status)) => Ok(status.log_file.into()),
        Ok(None) | Err(_) => Ok(server.log_file().to_owned()),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    OpError::rejected(
        ErrorKind::Transport,
        Phase::Preflight,
        format!("{} cannot be read: {error}", visible(&path.to_string_lossy(), false)),
        "the log belongs to the user that glassd runs as",
    )
    .reason("log_unreadable")
    .into()
}

/// Whoever reads the lines has gone, which ends a follower as it ends `tail`.
fn stopped(error: io::Error) -> Result<Report, Failure> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Ok(Report {
            printed: true,
            exit_code: crate::run::EXIT_PIPE,
            ..Report::of(&(), String::new())?
        });
    }
    Err(OpError::failed(
        ErrorKind::Transport,
        Phase::Transport,
        format!("standard output takes no more: {error}"),
        "make room for it",
    )
    .into())
}

/// Which lines are wanted. Reads the log in its order, since only some lines tell which id a name had.
#[derive(Debug)]
struct Wanted {
    session: Option<SessionName>,
    ids: HashSet<String>,
}

impl Wanted {
    fn new(session: Option<SessionName>) -> Self {
        Self { session, ids: HashSet::new() }
    }

    fn takes(&mut self, line: &str) -> bool {
        let Some(wanted) = &self.session else { return true };
        let session = field(line, " session=");
        if field(line, " name=") == Some(wanted.as_str()) {
            self.ids.extend(session.map(str::to_owned));
            return true;
        }
        session.is_some_and(|session| session == wanted.as_str() || self.ids.contains(session))
    }
}

/// The value of a field, with or without quotes. Names and ids have neither spaces nor quotes in them.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let value = line.split_once(key)?.1.trim_start_matches('"');
    value.split([' ', '"']).next()
}

/// The last `count` wanted lines of the log and the files before it, and the current file after its last whole line.
fn last(path: &Path, count: usize, wanted: &mut Wanted) -> io::Result<(VecDeque<String>, Option<Tail>)> {
    let mut lines = VecDeque::new();
    let mut take = |line: &str| {
        if wanted.takes(line) {
            if lines.len() == count {
                lines.pop_front();
            }
            lines.extend((count > 0).then(|| line.to_owned()));
        }
    };
    for number in (1..=KEPT).rev() {
        let mut older = path.as_os_str().to_owned();
        older.push(format!(".{number}"));
        if let Some(mut tail) = Tail::open(Path::new(&older))? {
            tail.read(&mut take)?;
        }
    }
    let mut tail = Tail::open(path)?;
    if let Some(tail) = &mut tail {
        tail.read(&mut take)?;
    }
    Ok((lines, tail))
}

/// A log file and how far it was read.
#[derive(Debug)]
struct Tail {
    file: BufReader<File>,
    identity: (u64, u64),
    /// A line that is not whole yet.
    begun: Vec<u8>,
}

impl Tail {
    /// `None` where there is no such file.
    fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let identity = (found.dev(), found.ino());
        Ok(Some(Self { file: BufReader::new(file), identity, begun: Vec::new() }))
    }

    /// Gives every whole line that has come, cut and escaped.
    fn read(&mut self, mut each: impl FnMut(&str)) -> io::Result<()> {
        // A file that became shorter was emptied by somebody: what is in it now is new.
        let length = self.file.get_ref().metadata()?.len();
        if length < self.file.stream_position()? {
            self.file.seek(SeekFrom::Start(0))?;
            self.begun.clear();
        }
        loop {
            let room = (MAX_LINE + 1).saturating_sub(self.begun.len()) as u64;
            if room == 0 {
                // The rest of a line that is cut anyway.
                let rest = self.file.fill_buf()?;
                let used = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let ends = used < rest.len();
                if used == 0 && !ends {
                    return Ok(());
                }
                self.file.consume(used + usize::from(ends));
                if !ends {
                    continue;
                }
            } else {
                if self.file.by_ref().take(room).read_until(b'\n', &mut self.begun)? == 0 {
                    return Ok(());
                }
                if self.begun.last() != Some(&b'\n') {
                    continue;
                }
            }
            let line = String::from_utf8_lossy(&self.begun);
            let line = line.trim_end_matches('\n');
            let shown = visible(cut(line, MAX_LINE).as_ref(), false).into_owned();
            self.begun.clear();
            each(&shown);
        }
    }

    /// Whether another file has taken the place.
    fn is_replaced(&self, path: &Path) -> bool {
        path.metadata().is_ok_and(|there| (there.dev(), there.ino()) != self.identity)
    }
}

/// Why following ended.
enum Ended {
    Output(io::Error),
    Log(io::Error),
}

/// Prints lines as they come, for ever; goes on with the next file when the log moves aside.
async fn follow(
    path: &Path,
    mut tail: Option<Tail>,
    wanted: &mut Wanted,
    output: Output,
) -> Result<std::convert::Infallible, Ended> {
    let mut look = tokio::time::interval(LOOK);
    loop {
        look.tick().await;
        if let Some(tail) = &mut tail {
            // Asked before reading: what was written before the move is read from the old file.
            let replaced = tail.is_replaced(path);
            print(tail, wanted, output)?;
            if !replaced {
                continue;
            }
        }
        tail = Tail::open(path).map_err(Ended::Log)?;
        if let Some(tail) = &mut tail {
            print(tail, wanted, output)?;
        }
    }
}

fn print(tail: &mut Tail, wanted: &mut Wanted, output: Output) -> Result<(), Ended> {
    let mut written = Ok(());
    let read = tail.read(|line| {
        if written.is_ok() && wanted.takes(line) {
            written = output.line(line);
        }
    });
    written.map_err(Ended::Output)?;
    read.map_err(Ended::Log)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(path: &Path, count: usize, session: Option<&str>) -> Vec<String> {
        let mut wanted = Wanted::new(session.map(|name| name.parse().unwrap()));
        last(path, count, &mut wanted).unwrap().0.into()
    }

    #[test]
    fn the_last_lines_come_from_older_files_too_and_are_escaped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g.log");
        assert!(read(&path, 5, None).is_empty());
        std::fs::write(dir.path().join("g.log.1"), "one\ntwo\n").unwrap();
        std::fs::write(&path, "three \x1b[31m\nnot whole").unwrap();
        assert_eq!(read(&path, 5, None), ["one", "two", "three \\u{1b}[31m"]);
        assert_eq!(read(&path, 2, None), ["two", "three \\u{1b}[31m"]);
        assert!(read(&path, 0, None).is_empty());
    }

    #[test]
    fn a_sessions_lines_are_found_by_name_and_by_the_id_that_the_name_had() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g.log");
        let lines = [
            "t INFO x: up session=\"01a\" name=\"shop\" pid=1",
            "t INFO x: done execution=1 session=\"shop\" ms=1",
            "t INFO x: other session=\"01b\" name=\"shopping\"",
            "t INFO x: ended session=\"01b\" ms=1",
            "t INFO x: ended session=01a ms=1",
        ];
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        assert_eq!(read(&path, 9, Some("shop")), [lines[0], lines[1], lines[4]]);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g.log");
        let text = format!("{}\n{}\nnext\n", "x".repeat(3 * MAX_LINE), "y".repeat(MAX_LINE));
        std::fs::write(&path, text).unwrap();
        let seen = read(&path, 9, None);
        assert_eq!(seen.iter().map(String::len).collect::<Vec<_>>(), [MAX_LINE, MAX_LINE, 4]);
        assert_eq!(seen[2], "next");
    }

    #[test]
    fn what_is_written_later_is_read_once_it_is_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g.log");
        let mut file = File::create(&path).unwrap();
        let mut tail = Tail::open(&path).unwrap().unwrap();
        let mut seen = Vec::new();
        file.write_all(b"first\nsec").unwrap();
        tail.read(|line| seen.push(line.to_owned())).unwrap();
        file.write_all(b"ond\n").unwrap();
        tail.read(|line| seen.push(line.to_owned())).unwrap();
        assert_eq!(seen, ["first", "second"]);
        assert!(!tail.is_replaced(&path));
        std::fs::rename(&path, dir.path().join("g.log.1")).unwrap();
        assert!(!tail.is_replaced(&path), "nothing new is there yet");
        File::create(&path).unwrap();
        assert!(tail.is_replaced(&path));
        file.set_len(0).unwrap();
        let mut file = File::options().append(true).open(dir.path().join("g.log.1")).unwrap();
        file.write_all(b"x\n").unwrap();
        tail.read(|line| seen.push(line.to_owned())).unwrap();
        assert_eq!(seen.last().unwrap(), "x");
    }
}
