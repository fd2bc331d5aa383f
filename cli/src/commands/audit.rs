//! `glassctl audit` and `glassctl audit verify` (contract 10.7).
//!
//! Reads the files itself, so it works without a daemon, and with one that hangs. Everything is escaped: clients had a say
//! in what is written there.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use glass_proto::audit::{HASH_TEXT, Head, Report as Judged, Sealed, file_name, first_of, verify};
use glass_proto::escape::visible;
use glass_proto::{ErrorKind, OpError, Phase, SessionName};
use serde::Serialize;

use crate::args::{AuditArgs, AuditCommand};
use crate::client::Server;
use crate::error::Failure;
use crate::output::{Report, Table};

/// How long a daemon may take to say where its state is.
const ASK: Duration = Duration::from_secs(1);
/// Entries that are listed where nobody says how many.
const LINES: u16 = 100;
/// How often the files are read again when one went in between: glassd removes the oldest.
const TRIES: u32 = 3;

/// What is asked.
#[derive(Debug)]
pub(super) enum Prepared {
    List { since: Option<SystemTime>, session: Option<SessionName>, lines: usize },
    Verify { holds: Option<String> },
}

/// Reads what was given.
pub(super) fn prepare(args: AuditArgs, session: Option<SessionName>) -> Result<Prepared, Failure> {
    let AuditArgs { command, since, lines } = args;
    match command {
        None => Ok(Prepared::List { since, session, lines: lines.unwrap_or(LINES).into() }),
        Some(AuditCommand::Verify { .. }) if since.is_some() || lines.is_some() => {
            Err(Failure::invalid("the whole log is checked, whatever its age", "leave out --since and -n"))
        }
        Some(AuditCommand::Verify { holds }) => {
            let is_hash = |text: &String| {
                text.len() == HASH_TEXT
                    && text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
            };
            match holds.as_ref().is_none_or(is_hash) {
                true => Ok(Prepared::Verify { holds }),
                false => Err(Failure::invalid(
                    "that is no hash of an entry",
                    "give the 64 hexadecimal digits that a check has printed",
                )),
            }
        }
    }
}

pub(super) async fn run(prepared: Prepared, server: &Server) -> Result<Report, Failure> {
    let directory = place(server).await;
    let shown = visible(&directory.to_string_lossy(), false).into_owned();
    match prepared {
        Prepared::List { since, session, lines } => {
            let mut kept = VecDeque::new();
            let judged = read(&directory, None, |sealed| {
                // It is read again from its beginning.
                let Some(sealed) = sealed else { return kept.clear() };
                let wanted = session
                    .as_ref()
                    .is_none_or(|name| sealed.entry.session.as_deref() == Some(name.as_str()))
                    && since.is_none_or(|since| is_since(sealed, since));
                if wanted {
                    if kept.len() == lines {
                        kept.pop_front();
                    }
                    kept.push_back(sealed.clone());
                }
            })?;
            list(&shown, judged, &kept)
        }
        Prepared::Verify { holds } => {
            let judged = read(&directory, holds.as_deref(), |_| {})?;
            check(&shown, &judged)
        }
    }
}

/// The directory of the running daemon, else the one that it would have.
async fn place(server: &Server) -> PathBuf {
    let asked =
        tokio::time::timeout(ASK, async { server.connect_running().await.ok()??.status().await.ok() });
    match asked.await {
        Ok(Some(status)) => Path::new(&status.state_directory).join("audit"),
        Ok(None) | Err(_) => server.state_dir().join("audit"),
    }
}

/// Gives every entry to `each`, and `None` when it begins anew.
fn read(
    directory: &Path,
    holds: Option<&str>,
    mut each: impl FnMut(Option<&Sealed>),
) -> Result<Judged, Failure> {
    let mut tries = 0;
    loop {
        tries += 1;
        each(None);
        match once(directory, holds, |sealed| each(Some(sealed))) {
            Ok(judged) => return Ok(judged),
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES && directory.exists() => {}
            Err(error) => return Err(unreadable(directory, &error)),
        }
    }
}

fn once(directory: &Path, holds: Option<&str>, each: impl FnMut(&Sealed)) -> io::Result<Judged> {
    // Before the lines: it tells of none that is not there yet.
    let head: Option<Head> = match std::fs::read(directory.join("head")) {
        Ok(bytes) => serde_json::from_slice(&bytes).ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        numbers.extend(entry?.file_name().to_str().and_then(first_of));
    }
    numbers.sort_unstable();
    let open = |number: u64| {
        let name = file_name(number);
        let file = File::open(directory.join(&name))?;
        match file.metadata()?.is_file() {
            true => Ok((name, BufReader::new(file))),
            false => Err(io::Error::other("something in it is no regular file")),
        }
    };
    verify(head.as_ref(), numbers.into_iter().map(open), holds, each)
}

fn unreadable(directory: &Path, error: &io::Error) -> Failure {
    let shown = visible(&directory.to_string_lossy(), false).into_owned();
    if error.kind() == io::ErrorKind::NotFound {
        return OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::Preflight,
            format!("there is no audit log in {shown}"),
            "glassd writes one from its start on, unless audit.enabled is false",
        )
        .reason("no_audit_log")
        .into();
    }
    OpError::rejected(
        ErrorKind::Transport,
        Phase::Preflight,
        format!("the audit log in {shown} cannot be read: {error}"),
        "it belongs to the user that glassd runs as",
    )
    .reason("audit_unreadable")
    .into()
}

fn is_since(sealed: &Sealed, since: SystemTime) -> bool {
    // What cannot be placed in time is shown: an entry with a broken time is worth a look.
    humantime::parse_rfc3339_weak(&sealed.entry.time).map_or(true, |time| time >= since)
}

fn list(directory: &str, judged: Judged, entries: &VecDeque<Sealed>) -> Result<Report, Failure> {
    let mut table = Table::plain();
    for sealed in entries {
        table.row(row(sealed));
    }
    let mut text = if entries.is_empty() { "no such entries".to_owned() } else { table.text() };
    if judged.problem_count > 0 {
        text.push_str(&format!(
            "\nthis log has {} faults: see `glassctl audit verify`",
            judged.problem_count
        ));
    }
    #[derive(Serialize)]
    struct Listed<'a> {
        directory: &'a str,
        /// Whether the whole log holds together.
        intact: bool,
        entries: &'a VecDeque<Sealed>,
    }
    Report::of(&Listed { directory, intact: judged.problem_count == 0, entries }, text)
}

fn row(sealed: &Sealed) -> Vec<String> {
    let entry = &sealed.entry;
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| if name.is_empty() { value } else { format!("{name}={value}") }));
    };
    fact("", entry.outcome.clone());
    fact("", entry.kind.clone());
    fact("reason", entry.reason.clone());
    fact("ms", entry.ms.map(|ms| ms.to_string()));
    fact("host", entry.host.clone());
    fact("rule", entry.rule.clone());
    fact("count", entry.count.map(|count| count.to_string()));
    fact("confirmation", entry.confirmation_id.clone());
    fact("client", entry.client.as_ref().map(|client| format!("{}/{}", client.name, client.pid)));
    fact("execution", entry.execution_id.clone());
    let details = entry.details.iter().map(|(key, value)| format!("{key}={value}"));
    facts.extend(details);
    vec![
        sealed.seq.to_string(),
        entry.time.clone(),
        entry.event.name().to_owned(),
        entry.session.clone().unwrap_or_default(),
        entry.operation.clone().unwrap_or_default(),
        facts.join(" "),
    ]
}

fn check(directory: &str, judged: &Judged) -> Result<Report, Failure> {
    let missing = judged.holds_hash == Some(false);
    if judged.problem_count == 0 && !missing {
        let mut text =
            format!("{directory}: {} entries in {} files hold together", judged.entries, judged.files);
        if let Some(last) = &judged.last {
            text.push_str(&format!("\nlast {} of {}: {}", last.seq, last.time, last.hash));
        }
        if let Some(bytes) = judged.unfinished_bytes {
            text.push_str(&format!("\n{bytes} bytes of a last line are there that is not whole"));
        }
        return Report::of(judged, text);
    }
    let message = match judged.problems.first() {
        Some(first) => {
            let more = judged.problem_count.saturating_sub(1);
            let more = if more == 0 { String::new() } else { format!("; and {more} more") };
            format!(
                "the audit log does not hold together: {} line {}: {}{more}",
                first.file, first.line, first.what
            )
        }
        None => "no entry of the audit log has that hash".to_owned(),
    };
    let reason = if judged.problem_count > 0 { "audit_broken" } else { "audit_hash_missing" };
    let problems = serde_json::to_value(&judged.problems).unwrap_or_default();
    // Every one is named as far as an error has room.
    let problems = match problems.as_array() {
        Some(all) if all.len() > 16 => all[..16].into(),
        _ => problems,
    };
    let remedy = "somebody changed the files, or the disk lost them; keep a copy, and see what went on then";
    Err(OpError::rejected(ErrorKind::VerificationFailed, Phase::Verification, message, remedy)
        .reason(reason)
        .detail("directory", directory)
        .detail("problems", problems)
        .detail("problemCount", judged.problem_count)
        .detail("entries", judged.entries)
        .into())
}

/// A time of `--since`: one like 2026-12-01T10:00:00Z, or how long ago.
pub(crate) fn since(text: &str) -> Result<SystemTime, String> {
    if let Ok(time) = humantime::parse_rfc3339_weak(text) {
        return Ok(time);
    }
    let ago = humantime::parse_duration(text).ok().and_then(|ago| SystemTime::now().checked_sub(ago));
    ago.ok_or_else(|| "a time is one like 2026-12-01T10:00:00Z, or how long ago, like 10m or 2h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_points_or_spans() {
        assert_eq!(since("1970-01-01T00:00:10Z"), Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(10)));
        let hour = SystemTime::now().duration_since(since("1h").unwrap()).unwrap();
        assert!(hour.as_secs().abs_diff(3600) < 60, "{hour:?}");
        for wrong in ["", "yesterday", "10", "-1h"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
