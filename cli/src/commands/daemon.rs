//! `glassctl daemon start|stop|status` and `glassctl status`.

use std::time::Duration;

use glass_proto::escape::visible;
use glass_proto::version::PROGRAM;
use glass_proto::wire::client as pb;
use glass_proto::{ErrorKind, OpError, Phase};
use serde::Serialize;

use super::gone::Process;
use super::session;
use crate::client::Server;
use crate::error::{self, Failure};
use crate::output::{Report, Table, amount, duration};

/// A session that closes within this time is warned about (contract 1.4), in milliseconds.
const SOON_MS: u64 = 15 * 60 * 1000;
/// How long a stopping daemon may take: running operations get 5 s, then sessions close (contract 12.2).
const STOPPING: Duration = Duration::from_secs(20);

/// The daemon in the machine form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Daemon<'a> {
    version: &'a str,
    protocol: String,
    pid: u32,
    phase: &'a str,
    uptime_ms: u64,
    socket: &'a str,
    state_directory: &'a str,
    sessions: u32,
    running_operations: u32,
    /// Absent where no cage can be had, or nobody has looked yet.
    #[serde(skip_serializing_if = "str::is_empty")]
    mode: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probe: Vec<Step<'a>>,
    egress: &'a str,
    /// Absent where that is standard error.
    #[serde(skip_serializing_if = "str::is_empty")]
    log_file: &'a str,
}

#[derive(Serialize)]
struct Step<'a> {
    name: &'a str,
    ok: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
}

impl<'a> Daemon<'a> {
    fn of(reply: &'a pb::StatusReply) -> Self {
        let step = |step: &'a pb::ProbeStep| Step { name: &step.name, ok: step.ok, detail: &step.detail };
        Self {
            version: &reply.program_version,
            protocol: format!("{}.{}", reply.major, reply.minor),
            pid: reply.pid,
            phase: &reply.phase,
            uptime_ms: reply.uptime_ms,
            socket: &reply.socket,
            state_directory: &reply.state_directory,
            sessions: reply.sessions,
            running_operations: reply.running_operations,
            mode: &reply.mode,
            probe: reply.probe.iter().map(step).collect(),
            egress: &reply.egress,
            log_file: &reply.log_file,
        }
    }
}

/// What glassd says of itself. Starts none.
pub(super) async fn status(server: &Server) -> Result<Report, Failure> {
    let Some(mut client) = server.connect_running().await? else {
        let why = "it is not running";
        return Err(error::unreachable(server.socket(), why, "start it with `glassctl daemon start`").into());
    };
    let reply = client.status().await?;
    let sessions = client.list_sessions().await?;
    let warnings = warnings(&reply, &sessions);
    let mut text = describe(&reply);
    if !sessions.is_empty() {
        text = format!("{text}\n\n{}", session::table(&sessions).text());
    }
    for warning in &warnings {
        text = format!("{text}\nwarning: {warning}");
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Status<'a> {
        #[serde(flatten)]
        daemon: Daemon<'a>,
        client_version: &'static str,
        session_rows: Vec<session::Session<'a>>,
        warnings: &'a [String],
    }
    let status = Status {
        daemon: Daemon::of(&reply),
        client_version: PROGRAM,
        session_rows: sessions.iter().map(session::Session::of).collect(),
        warnings: &warnings,
    };
    Report::of(&status, text)
}

/// What somebody should know before it happens, and what does not fit together.
fn warnings(reply: &pb::StatusReply, sessions: &[pb::SessionInfo]) -> Vec<String> {
    let mut warnings = Vec::new();
    if reply.program_version != PROGRAM {
        let theirs = visible(&reply.program_version, false);
        warnings.push(format!(
            "this glassctl is {PROGRAM} and glassd {theirs}; `glassctl daemon stop` lets the next command start the installed one"
        ));
    }
    if !matches!(reply.mode.as_str(), "" | "namespaces") {
        let mode = visible(&reply.mode, false);
        warnings.push(format!("browsers run in the weaker cage `{mode}`; `glassctl doctor` says why"));
    }
    for info in sessions.iter().filter(|info| (1..SOON_MS).contains(&info.closes_in_ms)) {
        let (name, left) = (visible(&info.name, false), duration(info.closes_in_ms));
        warnings.push(format!("session {name} closes in {left} for want of use, and its pages and profile are lost; any operation keeps it"));
    }
    warnings
}

fn describe(reply: &pb::StatusReply) -> String {
    let mut facts = Table::plain();
    let or =
        |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
    facts.row(["socket", &reply.socket]);
    facts.row(["state", &reply.state_directory]);
    let running = amount(reply.running_operations.into(), "running operation");
    facts.row(["sessions", &format!("{}, {running}", reply.sessions)]);
    let unknown = if reply.probe.is_empty() { "not probed yet" } else { "none can be had here" };
    facts.row(["cage", &or(&reply.mode, unknown)]);
    facts.row(["egress", &or(&reply.egress, "not started yet")]);
    facts.row(["log", &or(&reply.log_file, "standard error")]);
    let mut text = format!("{}\n{}", headline(reply), facts.text());
    if !reply.probe.is_empty() {
        let mut probe = Table::new(&["layer", "can be had", ""]);
        for step in &reply.probe {
            probe.row([step.name.as_str(), if step.ok { "yes" } else { "no" }, &step.detail]);
        }
        text = format!("{text}\n\n{}", probe.text());
    }
    text
}

fn headline(reply: &pb::StatusReply) -> String {
    let line = format!(
        "glassd {} {} · pid {} · up {}",
        reply.program_version,
        reply.phase,
        reply.pid,
        duration(reply.uptime_ms)
    );
    visible(&line, false).into_owned()
}

/// Starts glassd unless one runs; either way it answers when this returns.
pub(super) async fn start(server: &Server) -> Result<Report, Failure> {
    let (mut client, started) = match server.connect_running().await? {
        Some(client) => (client, false),
        None => (server.start().await?, true),
    };
    let reply = client.status().await?;
    #[derive(Serialize)]
    struct Started<'a> {
        started: bool,
        daemon: Daemon<'a>,
    }
    let word = if started { "started" } else { "already running" };
    let text = format!("{word}: {} · {}", headline(&reply), visible(&reply.socket, false));
    Report::of(&Started { started, daemon: Daemon::of(&reply) }, text)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stopped {
    stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    sessions_closed: u32,
}

/// Ends glassd with its sessions; its process is gone when this returns.
pub(super) async fn stop(server: &Server) -> Result<Report, Failure> {
    // Taken before it is told, so that the number cannot come to mean another process.
    let process = Process::behind(server.socket()).await;
    let asked = match server.connect_running().await {
        Ok(Some(mut client)) => client.stop().await,
        Ok(None) => {
            let nothing = Stopped { stopped: false, pid: None, sessions_closed: 0 };
            return Report::of(&nothing, "glassd is not running".to_owned());
        }
        Err(error) => Err(error),
    };
    let reply = match asked {
        Ok(reply) => reply,
        // One of another version, or one that hangs, still takes the signal.
        Err(error) => {
            // Or it ended while it was asked, which is what was wanted.
            let pid = process.ask_to_end().or_else(|| process.ended()).ok_or(error)?;
            pb::StopReply { pid, sessions_closed: 0 }
        }
    };
    let gone = match Process::of(reply.pid) {
        Some(named) if !process.is_held() => named.gone(server.socket(), STOPPING).await,
        // One that cannot be found by its number has ended.
        None if !process.is_held() && cfg!(target_os = "linux") => true,
        _ => process.gone(server.socket(), STOPPING).await,
    };
    if !gone {
        return Err(OpError::failed(
            ErrorKind::Transport,
            Phase::Transport,
            format!(
                "glassd (pid {}) was told to stop and has not ended after {} s",
                reply.pid,
                STOPPING.as_secs()
            ),
            "look into glassd.log in the state directory; end the process by its id",
        )
        .reason("still_running")
        .into());
    }
    let closed = amount(reply.sessions_closed.into(), "session");
    let text = format!("stopped glassd (pid {}), {closed} closed", reply.pid);
    Report::of(&Stopped { stopped: true, pid: Some(reply.pid), sessions_closed: reply.sessions_closed }, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 1.4
    #[test]
    fn a_status_warns_before_a_session_closes() {
        let session =
            |left| pb::SessionInfo { name: "s".into(), closes_in_ms: left, ..pb::SessionInfo::default() };
        let same = pb::StatusReply { program_version: PROGRAM.into(), ..pb::StatusReply::default() };
        assert!(warnings(&same, &[session(0), session(SOON_MS)]).is_empty());
        assert!(warnings(&same, &[session(60_000)])[0].contains("s closes in 1 min"));
        assert_eq!(warnings(&pb::StatusReply::default(), &[]).len(), 1);
    }

    #[test]
    fn a_status_says_what_is_not_known_yet() {
        let reply = pb::StatusReply { program_version: "0.1.0".into(), pid: 7, ..pb::StatusReply::default() };
        let text = describe(&reply);
        assert!(text.contains("not probed yet") && text.contains("not started yet"), "{text}");
        let probe = vec![pb::ProbeStep { name: "user namespace".into(), ok: false, detail: "EPERM".into() }];
        let text = describe(&pb::StatusReply { probe, ..reply });
        assert!(text.contains("none can be had here") && text.contains("user namespace  no"), "{text}");
    }
}
