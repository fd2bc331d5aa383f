//! `glassctl session list|show|close` (contract 12.5). Starts no daemon: where none runs, there are no sessions.

use glass_proto::wire::client as pb;
use glass_proto::{ErrorKind, OpError, Phase, SessionName};
use serde::Serialize;

use crate::client::Server;
use crate::error::Failure;
use crate::output::{Report, Table, amount, duration};

/// What is asked.
#[derive(Debug)]
pub(super) enum Prepared {
    List,
    Show(SessionName),
    Close(SessionName),
    CloseAll,
}

pub(super) async fn run(prepared: Prepared, server: &Server) -> Result<Report, Failure> {
    let client = server.connect_running().await?;
    match (prepared, client) {
        (Prepared::List, None) => list(&[]),
        (Prepared::List, Some(mut client)) => list(&client.list_sessions().await?),
        (Prepared::CloseAll, None) => closed(&[]),
        (Prepared::CloseAll, Some(mut client)) => closed(&client.close_session(String::new(), true).await?),
        (Prepared::Show(name) | Prepared::Close(name), None) => Err(absent(&name).into()),
        (Prepared::Show(name), Some(mut client)) => show(&client.show_session(name.into()).await?),
        (Prepared::Close(name), Some(mut client)) => closed(&client.close_session(name.into(), false).await?),
    }
}

pub(super) fn absent(name: &SessionName) -> OpError {
    OpError::rejected(
        ErrorKind::TargetNotFound,
        Phase::Preflight,
        format!("there is no session {name}; glassd is not running"),
        "`glassctl navigate URL` begins one",
    )
    .reason("no_such_session")
}

/// A session in the machine form. Never an address.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Session<'a> {
    name: &'a str,
    id: &'a str,
    kind: &'a str,
    state: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    age_ms: u64,
    idle_ms: u64,
    /// Absent while it is used, or where it is never closed for want of use.
    #[serde(skip_serializing_if = "Option::is_none")]
    closes_in_ms: Option<u64>,
    /// The kind of cage; absent without a browser.
    #[serde(skip_serializing_if = "str::is_empty")]
    cage: &'a str,
    targets: u32,
    queued: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    running: &'a str,
    /// Absent where it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details<'a>>,
}

/// What `show` adds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    mode: &'a str,
    browser: &'a str,
    /// What it was started with; no secrets.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    options: &'a [String],
    /// Who makes the network rules hold: `enforced` by the kernel, or `advisory`; absent without a browser.
    #[serde(skip_serializing_if = "str::is_empty")]
    egress: &'a str,
    /// The proxy behind Glass's own. Rules hold by name then: it alone sees addresses.
    #[serde(skip_serializing_if = "str::is_empty")]
    upstream_proxy: &'a str,
    /// What went through the proxy since the session began, or the proxy was started anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<Traffic>,
    uid: u32,
    layers: Vec<Layer<'a>>,
    operations: Operations,
    pages: Vec<Page<'a>>,
}

#[derive(Serialize)]
struct Layer<'a> {
    name: &'a str,
    state: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
}

#[derive(Serialize)]
struct Operations {
    total: u64,
    completed: u64,
    failed: u64,
    rejected: u64,
    unknown: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Traffic {
    bytes_sent: u64,
    bytes_received: u64,
    requests: u64,
    open_connections: u64,
    denied: u64,
    failed: u64,
}

impl Traffic {
    fn of(told: &pb::Traffic) -> Self {
        Self {
            bytes_sent: told.bytes_sent,
            bytes_received: told.bytes_received,
            requests: told.requests,
            open_connections: told.connections,
            denied: told.denied,
            failed: told.failed,
        }
    }
}

#[derive(Serialize)]
struct Page<'a> {
    id: &'a str,
    url: &'a str,
    title: &'a str,
}

impl<'a> Session<'a> {
    pub(super) fn of(info: &'a pb::SessionInfo) -> Self {
        Self {
            name: &info.name,
            id: &info.id,
            kind: &info.kind,
            state: &info.state,
            reason: &info.reason,
            age_ms: info.age_ms,
            idle_ms: info.idle_ms,
            closes_in_ms: Some(info.closes_in_ms).filter(|left| *left > 0),
            cage: &info.mode,
            targets: info.targets,
            queued: info.queued,
            running: &info.running,
            memory_bytes: Some(info.memory_bytes).filter(|bytes| *bytes > 0),
            details: None,
        }
    }

    fn with_details(info: &'a pb::SessionInfo) -> Self {
        let layer =
            |layer: &'a pb::Layer| Layer { name: &layer.name, state: &layer.state, detail: &layer.detail };
        let page = |row: &'a pb::TargetInfo| Page { id: &row.id, url: &row.url, title: &row.title };
        let details = Details {
            mode: &info.mode,
            browser: &info.browser_version,
            options: &info.options,
            egress: &info.egress,
            upstream_proxy: &info.upstream_proxy,
            traffic: info.traffic.as_ref().map(Traffic::of),
            uid: info.uid,
            layers: info.layers.iter().map(layer).collect(),
            operations: Operations {
                total: info.operations,
                completed: info.completed,
                failed: info.failed,
                rejected: info.rejected,
                unknown: info.unknown,
            },
            pages: info.target_rows.iter().map(page).collect(),
        };
        Self { details: Some(details), ..Self::of(info) }
    }
}

#[derive(Serialize)]
struct Listed<'a> {
    sessions: Vec<Session<'a>>,
}

fn list(sessions: &[pb::SessionInfo]) -> Result<Report, Failure> {
    let text = if sessions.is_empty() { "no sessions".to_owned() } else { table(sessions).text() };
    Report::of(&Listed { sessions: sessions.iter().map(Session::of).collect() }, text)
}

/// A row for each.
pub(super) fn table(sessions: &[pb::SessionInfo]) -> Table {
    let mut table = Table::new(&["name", "kind", "state", "cage", "age", "idle", "targets", "running"]);
    for info in sessions {
        table.row([
            &info.name,
            &info.kind,
            &state(info),
            &if info.mode.is_empty() { "-".to_owned() } else { info.mode.clone() },
            &duration(info.age_ms),
            &duration(info.idle_ms),
            &info.targets.to_string(),
            &running(info),
        ]);
    }
    table
}

fn state(info: &pb::SessionInfo) -> String {
    if info.reason.is_empty() { info.state.clone() } else { format!("{} ({})", info.state, info.reason) }
}

fn running(info: &pb::SessionInfo) -> String {
    match (info.running.as_str(), info.queued) {
        ("", 0) => "-".to_owned(),
        ("", queued) => format!("{queued} queued"),
        (running, 0) => running.to_owned(),
        (running, queued) => format!("{running}, {queued} queued"),
    }
}

fn kibibytes(bytes: u64) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

fn show(info: &pb::SessionInfo) -> Result<Report, Failure> {
    let mut facts = Table::plain();
    facts.row(["name", &info.name]);
    facts.row(["id", &info.id]);
    facts.row(["kind", &info.kind]);
    facts.row(["state", &state(info)]);
    facts.row(["age", &duration(info.age_ms)]);
    facts.row(["idle", &duration(info.idle_ms)]);
    if info.closes_in_ms > 0 {
        facts.row(["closes", &format!("in {} for want of use", duration(info.closes_in_ms))]);
    }
    facts.row(["running", &running(info)]);
    if info.memory_bytes > 0 {
        facts.row(["memory", &format!("{} MiB", info.memory_bytes / (1024 * 1024))]);
    }
    let count = format!(
        "{}: {} completed, {} failed, {} rejected, {} unknown",
        info.operations, info.completed, info.failed, info.rejected, info.unknown
    );
    facts.row(["operations", &count]);
    if !info.mode.is_empty() {
        facts.row(["cage", &format!("{}, uid {}", info.mode, info.uid)]);
        facts.row(["browser", &info.browser_version]);
        let by_name = match info.upstream_proxy.as_str() {
            "" => String::new(),
            proxy => format!(", by name alone: {proxy} sees the addresses"),
        };
        facts.row(["egress", &format!("{}{by_name}", info.egress)]);
    }
    if let Some(told) = &info.traffic {
        let words = format!(
            "{} sent, {} received, {}, {} denied, {} failed, {} open",
            kibibytes(told.bytes_sent),
            kibibytes(told.bytes_received),
            amount(told.requests, "request"),
            told.denied,
            told.failed,
            told.connections
        );
        facts.row(["traffic", &words]);
    }
    if !info.options.is_empty() {
        facts.row(["options", &info.options.join(", ")]);
    }
    let mut text = facts.text();
    if !info.layers.is_empty() {
        let mut layers = Table::new(&["layer", "observed", ""]);
        for layer in &info.layers {
            layers.row([&layer.name, &layer.state, &layer.detail]);
        }
        text = format!("{text}\n\n{}", layers.text());
    }
    if !info.target_rows.is_empty() {
        let mut pages = Table::new(&["target", "title", "url"]);
        for row in &info.target_rows {
            pages.row([&row.id, &row.title, &row.url]);
        }
        text = format!("{text}\n\n{}", pages.text());
    }
    #[derive(Serialize)]
    struct Shown<'a> {
        session: Session<'a>,
    }
    Report::of(&Shown { session: Session::with_details(info) }, text)
}

fn closed(names: &[String]) -> Result<Report, Failure> {
    #[derive(Serialize)]
    struct Closed<'a> {
        closed: &'a [String],
    }
    let names_shown = names.join(", ");
    let text = match names.len() {
        0 => "no session was open".to_owned(),
        1 => format!("closed {names_shown}"),
        n => format!("closed {}: {names_shown}", amount(n as u64, "session")),
    };
    Report::of(&Closed { closed: names }, glass_proto::escape::visible(&text, false).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> pb::SessionInfo {
        pb::SessionInfo {
            name: "default".into(),
            kind: "ephemeral".into(),
            state: "failed".into(),
            reason: "the browser died\x1b[2J".into(),
            age_ms: 61_000,
            queued: 2,
            running: "click".into(),
            target_rows: vec![pb::TargetInfo { id: "T".into(), url: "http://x/".into(), title: "X".into() }],
            layers: vec![pb::Layer { name: "seccomp".into(), state: "active".into(), detail: String::new() }],
            ..pb::SessionInfo::default()
        }
    }

    #[test]
    fn a_listing_names_why_and_shows_no_address() {
        let report = list(&[info()]).unwrap();
        assert!(report.text.contains("failed (the browser died\\u{1b}[2J)"), "{}", report.text);
        assert!(report.text.contains("click, 2 queued"));
        assert!(!report.text.contains("http://") && !report.result.get().contains("http://"));
        assert_eq!(list(&[]).unwrap().result.get(), r#"{"sessions":[]}"#);
    }

    #[test]
    fn one_session_is_shown_with_its_layers_and_pages() {
        let report = show(&info()).unwrap();
        let json: serde_json::Value = serde_json::from_str(report.result.get()).unwrap();
        assert_eq!(json["session"]["details"]["layers"][0]["name"], "seccomp");
        assert_eq!(json["session"]["details"]["pages"][0]["id"], "T");
        assert!(report.text.contains("seccomp  active"), "{}", report.text);
    }
}
