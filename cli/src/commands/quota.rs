//! `glassctl quota` (contract 11): what may be used, what is, and who sees to it. Starts no daemon.

use glass_proto::wire::client as pb;
use glass_proto::{ErrorKind, OpError, Phase, SessionName};
use serde::Serialize;

use crate::client::Server;
use crate::error::Failure;
use crate::output::{Report, Table};

pub(super) async fn run(session: Option<SessionName>, server: &Server) -> Result<Report, Failure> {
    let Some(mut client) = server.connect_running().await? else {
        let error = OpError::rejected(
            ErrorKind::DaemonUnreachable,
            Phase::Transport,
            "glassd is not running, so nothing is used",
            "`glassctl config show` lists the limits that it would start with",
        );
        return Err(error.reason("not_running").into());
    };
    let rows = client.quotas(session.map(String::from).unwrap_or_default()).await?;
    told(&rows)
}

/// One quota in the machine form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    /// Absent for what holds for the user or for each client.
    #[serde(skip_serializing_if = "str::is_empty")]
    session: &'a str,
    quota: &'a str,
    limit: u64,
    /// Absent where it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<u64>,
    /// Absent for a number of things.
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    /// Empty where nobody does.
    enforced_by: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
}

#[derive(Serialize)]
struct Told<'a> {
    quotas: Vec<Row<'a>>,
}

fn told(rows: &[pb::Quota]) -> Result<Report, Failure> {
    let mut table = Table::new(&["session", "quota", "used", "limit", "enforced by", ""]);
    for row in rows {
        let by = match row.enforced_by.as_slice() {
            [] => "not enforced".to_owned(),
            some => some.join(", "),
        };
        let session = if row.session.is_empty() { "-" } else { &row.session };
        let used = row.used.map_or_else(|| "-".to_owned(), |used| amount(used, &row.unit));
        table.row([session, &row.name, &used, &amount(row.limit, &row.unit), &by, &row.detail]);
    }
    let quotas = rows.iter().map(|row| Row {
        session: &row.session,
        quota: &row.name,
        limit: row.limit,
        used: row.used,
        unit: &row.unit,
        enforced_by: &row.enforced_by,
        detail: &row.detail,
    });
    Report::of(&Told { quotas: quotas.collect() }, table.text())
}

fn amount(value: u64, unit: &str) -> String {
    match unit {
        "bytes" if value < 1 << 20 => format!("{} KiB", value.div_ceil(1 << 10)),
        "bytes" => format!("{} MiB", value >> 20),
        "percent" => format!("{value} %"),
        "per_second" => format!("{value}/s"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 11
    #[test]
    fn each_says_who_sees_to_it_and_what_was_not_measured_is_not_zero() {
        let quota = |name: &str, used, unit: &str, by: &[&str]| pb::Quota {
            session: "default".into(),
            name: name.into(),
            limit: 2 << 30,
            used,
            unit: unit.into(),
            enforced_by: by.iter().map(|who| (*who).to_owned()).collect(),
            detail: String::new(),
        };
        let rows = [
            quota("memory", Some(5 << 20), "bytes", &["rlimit", "watchdog"]),
            quota("cpu", None, "percent", &[]),
        ];
        let report = told(&rows).unwrap();
        for words in ["5 MiB", "2048 MiB", "rlimit, watchdog", "not enforced"] {
            assert!(report.text.contains(words), "{words}: {}", report.text);
        }
        let json: serde_json::Value = serde_json::from_str(report.result.get()).unwrap();
        assert_eq!(json["quotas"][0]["used"], 5 << 20);
        assert!(json["quotas"][1].get("used").is_none());
        assert_eq!(json["quotas"][1]["enforcedBy"], serde_json::json!([]));
        assert_eq!(amount(100, "bytes"), "1 KiB");
    }
}
