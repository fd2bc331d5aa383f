//! What `diagnostics` answers (contract 7.5).

use std::fmt::Write as _;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape::visible;

/// What an entry tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum DiagnosticKind {
    /// A message in the console, written by the page or by the browser
    Console,
    /// An error of the page's script that nobody caught
    Error,
    /// A request, once it ended
    Request,
}

/// How bad an entry is; the order follows it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "camelCase")]
pub enum DiagnosticLevel {
    /// Chatter
    Debug,
    /// As usual
    Info,
    /// A warning, or an answer with a status of 400 or more
    Warning,
    /// An error, or a request that failed
    Error,
}

impl DiagnosticLevel {
    fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Entries of a target's ring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostics {
    /// The target.
    pub target_id: String,
    /// In order: after a cursor the oldest that fit, else the newest.
    pub entries: Vec<Diagnostic>,
    /// The cursor for `after`.
    pub next: u64,
    /// Entries after the cursor that had to make room before they were read, and requests that were forgotten before they
    /// ended; without a cursor all of them.
    pub dropped: u64,
    /// Entries that fit and are not given: newer ones where there is a cursor, else older ones.
    pub left_out: u64,
    /// Requests that have not ended.
    pub under_way: u64,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Its number in the target.
    pub sequence: u64,
    /// When it was heard of, in milliseconds since 1970.
    pub time_ms: u64,
    /// What it tells of.
    pub kind: DiagnosticKind,
    /// How bad it is.
    pub level: DiagnosticLevel,
    /// What was written or thrown, in short, at most 1 KiB. Page data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_text: Option<String>,
    /// How many values the console message has, where they are not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<u64>,
    /// What part of the browser wrote the console message, where the page did not: security, deprecation, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// Where in which script, or what was asked for; without query values and credentials, at most 1 KiB. Page data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// Line in the script, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// How often the same message came in a row.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
    /// It came from a worker of the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worker: bool,
    /// The request, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestSummary>,
}

fn once() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_once(times: &u64) -> bool {
    *times == 1
}

/// A request that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestSummary {
    /// Its id, opaque; the requests of a chain of redirects share it.
    pub request_id: String,
    /// Its method.
    pub method: String,
    /// document, script, xhr, fetch, image, websocket, ….
    pub resource: String,
    /// The HTTP status, where there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Chromium's name of the failure, such as `net::ERR_CONNECTION_REFUSED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Why Chromium kept it from the page or the network, such as csp, mixed-content, `LocalNetworkAccessPermissionDenied`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// The rule of policy that denied its host, or what it turned out to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// The page gave it up, or left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given_up: bool,
    /// From the request to its end, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Bytes received, headers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The browser's cache answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
    /// A service worker answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_service_worker: bool,
}

/// Entries as rows for people: level, kind, and what it says.
pub(super) fn text(told: &Diagnostics) -> String {
    let mut lines = Vec::new();
    if told.dropped > 0 {
        lines.push(format!("[left out: {} that had to make room or were forgotten]", told.dropped));
    }
    if told.left_out > 0 {
        lines.push(format!("[left out: {}; --limit shows up to 500]", told.left_out));
    }
    lines.extend(told.entries.iter().map(row));
    if told.entries.is_empty() {
        lines.push("nothing that fits".to_owned());
    }
    let under_way = match told.under_way {
        0 => String::new(),
        n => format!(" · {n} requests under way"),
    };
    lines.push(format!("next {}{under_way}", told.next));
    lines.join("\n")
}

fn row(entry: &Diagnostic) -> String {
    let page = |text: &Option<String>| visible(text.as_deref().unwrap_or_default(), false).into_owned();
    let mut out = format!("{} ", entry.level.word());
    if let Some(request) = &entry.request {
        let _ = write!(out, "request {} {}", visible(&request.method, false), page(&entry.page_url));
        request_end(&mut out, request);
    } else {
        out.push_str(match (entry.kind, &entry.browser) {
            (DiagnosticKind::Error, _) => "page error",
            (_, Some(_)) => "browser",
            (_, None) => "console",
        });
        match entry.values {
            Some(values) => {
                let _ = write!(out, " {values} values, not shown");
            }
            None => {
                let _ = write!(out, " {}", page(&entry.page_text));
            }
        }
        if let (Some(_), Some(line)) = (&entry.page_url, entry.line) {
            let _ = write!(out, " at {}:{line}", page(&entry.page_url));
        }
    }
    if entry.worker {
        out.push_str(" (worker)");
    }
    if entry.times > 1 {
        let _ = write!(out, " ({} times)", entry.times);
    }
    out
}

fn request_end(out: &mut String, request: &RequestSummary) {
    if let Some(status) = request.status {
        let _ = write!(out, " {status}");
    }
    if let Some(failure) = &request.failure {
        let _ = write!(out, " {}", visible(failure, false));
    }
    if let Some(blocked) = &request.blocked {
        let _ = write!(out, " ({})", visible(blocked, false));
    }
    if let Some(rule) = &request.rule_id {
        let _ = write!(out, " denied by {}", visible(rule, false));
    }
    if request.given_up {
        out.push_str(" given up");
    }
    if request.from_cache {
        out.push_str(" from the cache");
    }
    if request.from_service_worker {
        out.push_str(" by a service worker");
    }
    if let Some(ms) = request.duration_ms {
        let _ = write!(out, " {ms} ms");
    }
    let _ = write!(out, " [{}]", visible(&request.request_id, false));
}
