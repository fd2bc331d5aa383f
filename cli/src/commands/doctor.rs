//! `glassctl doctor`: looks at the whole installation, and says what to do (contract 12.5).
//!
//! Works without a daemon, with a dead one and with one that hangs. Most looking is done by `glassd --diagnose`, a
//! process of its own that is ended when its time is up, so that nothing that hangs can make the doctor hang (user
//! reports, entry 88); here are the bounds, the daemon as a client meets it, and the judgement.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use glass_proto::diagnosis::{Finding, Line, Verdict};
use glass_proto::escape::{cut, visible};
use glass_proto::version::PROGRAM;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, timeout, timeout_at};

use super::service;
use crate::args::Global;
use crate::client::{Client, Server};
use crate::connect::{Behind, connect};
use crate::error::Failure;
use crate::launch;
use crate::output::{Report, amount, duration};

/// How long `glassd --diagnose` may take in all. The longest of its checks, the probe, gives up after 10 s.
const LOOKING: Duration = Duration::from_secs(12);
/// How long the daemon may take for its first word, and for an answer.
const DAEMON: Duration = Duration::from_secs(2);
/// Most bytes of its answer that are read.
const MAX_ANSWER: u64 = 256 * 1024;
/// Most bytes of a line of text that is shown.
const MAX_DETAIL: usize = 1024;

/// What the doctor answers.
#[derive(Debug, Serialize)]
struct Diagnosis {
    verdict: Verdict,
    version: &'static str,
    checks: Vec<Finding>,
}

pub(super) async fn run(fix: bool, deep: bool, global: &Global) -> Result<Report, Failure> {
    let (looked, daemon, service) = match Server::find(global) {
        Ok(server) => tokio::join!(look(fix, Some(&server)), daemon(&server), service::finding()),
        // `glassd --diagnose` finds the same, and says it as a finding.
        Err(_) => (look(fix, None).await, Vec::new(), service::finding().await),
    };
    let mut checks = looked;
    checks.extend(daemon);
    checks.extend(service);
    // After the rest: it may start a daemon.
    if deep && let Ok(server) = Server::find(global) {
        checks.extend(super::deep::look(&server).await);
    }
    for check in &mut checks {
        check.detail = cut(&visible(&check.detail, false), MAX_DETAIL).into_owned();
        check.remedy = check.remedy.as_ref().map(|text| cut(&visible(text, false), MAX_DETAIL).into_owned());
    }
    let verdict = checks.iter().map(|check| check.verdict).max().unwrap_or(Verdict::Broken);
    let text = describe(verdict, &checks);
    let diagnosis = Diagnosis { verdict, version: PROGRAM, checks };
    Ok(Report { exit_code: exit_code(verdict), ..Report::of(&diagnosis, text)? })
}

fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Good => 0,
        Verdict::Degraded => 1,
        Verdict::Broken => 10,
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "good",
        Verdict::Degraded => "degraded",
        Verdict::Broken => "broken",
    }
}

fn describe(verdict: Verdict, checks: &[Finding]) -> String {
    let mut lines = Vec::new();
    let width = checks.iter().map(|check| check.check.len()).max().unwrap_or(0);
    for check in checks {
        lines.push(format!("{:<8}  {:<width$}  {}", word(check.verdict), check.check, check.detail));
        let indent = " ".repeat(width + 12);
        lines.extend(check.mended.iter().map(|what| format!("{indent}mended: {what}")));
        lines.extend(check.remedy.iter().map(|remedy| format!("{indent}do: {remedy}")));
    }
    let bad = |verdict| checks.iter().filter(|check| check.verdict == verdict).count() as u64;
    lines.push(match verdict {
        Verdict::Good => format!("all good: {} passed", amount(checks.len() as u64, "check")),
        _ => format!("{} broken, {} degraded", bad(Verdict::Broken), bad(Verdict::Degraded)),
    });
    lines.join("\n")
}

/// What `glassd --diagnose` finds, and what is wrong with it itself.
async fn look(fix: bool, server: Option<&Server>) -> Vec<Finding> {
    let broken = |detail: String, remedy: &str| vec![Finding::broken("programs", detail, remedy)];
    let program = match launch::find_program() {
        Ok(program) => program,
        Err(error) => return broken(error.to_string(), "install glassctl and glassd into one directory"),
    };
    let mut command = Command::new(&program);
    command.arg("--diagnose").args(fix.then_some("--fix"));
    if let Some(socket) = server.and_then(Server::explicit_socket) {
        command.arg("--socket").arg(socket);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return broken(format!("{}: {error}", program.display()), "reinstall Glass"),
    };
    let mut seen = Seen::default();
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout.take(MAX_ANSWER)).lines();
        let until = Instant::now() + LOOKING;
        loop {
            match timeout_at(until, lines.next_line()).await {
                Ok(Ok(Some(line))) => seen.take(&line),
                Ok(Ok(None) | Err(_)) => break,
                Err(_) => {
                    seen.late = true;
                    break;
                }
            }
        }
    }
    // It was not waited for yet, so its number is still its own: also a browser that it asked goes, whatever it does.
    end_group(child.id());
    // Killed, so it is there at once; nothing depends on its exit code.
    let _ = timeout(DAEMON, child.wait()).await;
    seen.findings(&program)
}

fn end_group(leader: Option<u32>) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(leader) = leader.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
        // Nobody is left in it where everything ended by itself.
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

/// What was heard of `glassd --diagnose`.
#[derive(Debug, Default)]
struct Seen {
    found: Vec<Finding>,
    looking: Option<String>,
    late: bool,
    done: bool,
}

impl Seen {
    fn take(&mut self, line: &str) {
        match serde_json::from_str(line) {
            Ok(Line::Looking(what)) => self.looking = Some(what),
            Ok(Line::Found(finding)) => {
                self.looking = None;
                self.found.push(finding);
            }
            Ok(Line::Done) => self.done = true,
            // One of another version; it will not be done either.
            Err(_) => {}
        }
    }

    fn findings(mut self, program: &Path) -> Vec<Finding> {
        if !self.done {
            let at = self.looking.unwrap_or_else(|| "programs".to_owned());
            let detail = match self.late {
                true => format!("no answer within {} s", LOOKING.as_secs()),
                false => format!("{} --diagnose ended before it was through", program.display()),
            };
            let remedy = match self.late {
                true => "what is looked at here hangs; the checks after it were not made",
                false => {
                    "use the programs of one installation; glassd may lack a library: run it with --version"
                }
            };
            self.found.push(Finding::broken(at, detail, remedy));
        }
        self.found
    }
}

/// The daemon as a client meets it, and its sessions' cages.
async fn daemon(server: &Server) -> Vec<Finding> {
    let broken = |detail: String, remedy: &str| vec![Finding::broken("daemon", detail, remedy)];
    let channel = match timeout(DAEMON * 2, connect(server.socket(), DAEMON)).await {
        Ok(Ok(Behind::Daemon(channel))) => channel,
        Ok(Ok(Behind::Nobody)) => {
            return vec![Finding::good("daemon", "not running; the first command starts it")];
        }
        Ok(Ok(Behind::Closed)) => {
            return broken(
                "it ends every connection without a word".to_owned(),
                "it may be ending, or belong to another user",
            );
        }
        Ok(Ok(Behind::Silent)) | Err(_) => {
            let detail = format!("it takes connections and says nothing for {} s", DAEMON.as_secs());
            return broken(
                detail,
                "it is stopped or hangs: look at `glassctl logs`; `glassctl daemon stop` ends it",
            );
        }
        Ok(Err(error)) => return broken(error.to_string(), "look who owns the socket and its directory"),
    };
    let mut client = Client::new(channel, server.hello());
    let status = match timeout(DAEMON, client.status()).await {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => return broken(error.message, &error.remedy),
        Err(_) => return broken("it does not say how it is".to_owned(), "look at `glassctl logs`"),
    };
    let running =
        format!("glassd {}, pid {}, up {}", status.program_version, status.pid, duration(status.uptime_ms));
    let mut findings = vec![if status.program_version == PROGRAM {
        Finding::good("daemon", running)
    } else {
        let remedy = "`glassctl daemon stop`; the next command starts the installed one";
        Finding::degraded("daemon", format!("{running}; this glassctl is {PROGRAM}"), remedy)
    }];
    match timeout(DAEMON, client.list_sessions()).await {
        Ok(Ok(sessions)) => findings.extend(sessions.iter().map(session)),
        Ok(Err(_)) | Err(_) => findings.push(Finding::degraded(
            "sessions",
            "glassd does not list them in time",
            "look at `glassctl logs`",
        )),
    }
    findings
}

fn session(info: &glass_proto::wire::client::SessionInfo) -> Finding {
    let check = format!("session.{}", info.name);
    match (info.state.as_str(), info.mode.as_str()) {
        ("failed", _) => Finding::degraded(
            check,
            format!("failed: {}", info.reason),
            "`glassctl navigate URL` begins it anew; `glassctl logs` may say more",
        ),
        (state, "landlock" | "browser") => Finding::degraded(
            check,
            format!("{state}, in the weaker cage `{}`", info.mode),
            format!("see `cage`; `glassctl session show {}` names the layers", info.name),
        ),
        (state, _) => Finding::good(check, state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hung_is_named() {
        let mut seen = Seen::default();
        for line in [
            r#"{"looking":"socket"}"#,
            r#"{"found":{"check":"socket","verdict":"good","detail":"d"}}"#,
            r#"{"looking":"browser"}"#,
            "nonsense",
        ] {
            seen.take(line);
        }
        seen.late = true;
        let found = seen.findings(Path::new("glassd"));
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].check.as_str(), found[1].verdict), ("browser", Verdict::Broken));
    }

    #[test]
    fn one_that_came_to_its_end_is_taken_as_it_is() {
        let mut seen = Seen::default();
        seen.take(r#"{"found":{"check":"socket","verdict":"good","detail":"d"}}"#);
        seen.take("\"done\"");
        assert_eq!(seen.findings(Path::new("glassd")).len(), 1);
        assert_eq!(Seen::default().findings(Path::new("glassd"))[0].check, "programs");
    }

    // contract: 12.5
    #[test]
    fn the_exit_code_tells_the_verdict() {
        assert_eq!([Verdict::Good, Verdict::Degraded, Verdict::Broken].map(exit_code), [0, 1, 10]);
        let finding = Finding::degraded("disk", "1 MiB", "make room");
        let text = describe(Verdict::Degraded, &[finding]);
        assert!(text.contains("do: make room") && text.ends_with("0 broken, 1 degraded"), "{text}");
    }
}
