//! The requests that are known of a target as an HTTP archive, HAR 1.2 (contract 7.5, 7.8): what diagnostics keeps of
//! them, and no more. Sensitive headers, cookies and query values are not in it; bodies only where they are asked for.

use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glass_proto::op::ExportPage;
use glass_proto::result::RequestSummary;
use serde_json::{Value, json};

use crate::cdp::types::network::ResourceTiming;
use crate::context::Context;
use crate::ops::network_body;
use crate::page::{Ended, Transfer};

/// An archive, and what is not in it.
pub(super) struct Archive {
    pub(super) json: Vec<u8>,
    pub(super) requests: u64,
    pub(super) requests_gone: u64,
    pub(super) bodies_left_out: u64,
}

/// Makes the archive of the operation's target.
pub(super) async fn archive(context: &Context, with_bodies: bool) -> Archive {
    let (mut known, gone, title) = {
        let state = context.pages.state();
        match state.target(&context.target) {
            Some(target) => (target.log.requests().collect(), target.log.gone(), target.title.clone()),
            None => (Vec::new(), 0, String::new()),
        }
    };
    known.sort_by(|a, b| a.transfer.wall.total_cmp(&b.transfer.wall));
    let mut left = ExportPage::MAX_BYTES / 2;
    let mut bodies_left_out = 0;
    let mut entries = Vec::with_capacity(known.len());
    for ended in &known {
        let mut content =
            json!({ "size": ended.transfer.size.max(0.0), "mimeType": ended.transfer.media_type });
        if with_bodies && has_body(ended) {
            match body(context, ended, &mut left).await {
                Some((text, true)) => content["text"] = text.into(),
                Some((text, false)) => {
                    content["text"] = text.into();
                    content["encoding"] = "base64".into();
                }
                None => bodies_left_out += 1,
            }
        }
        entries.push(entry(ended, content));
    }
    let version =
        context.pages.browser().map_or_else(String::new, |browser| browser.version().full().to_owned());
    let began = known.first().map_or(0.0, |first| first.transfer.wall);
    let archive = json!({ "log": {
        "version": "1.2",
        "creator": { "name": "Glass", "version": env!("CARGO_PKG_VERSION") },
        "browser": { "name": "Chromium", "version": version },
        "pages": [{ "startedDateTime": time(began), "id": "page", "title": title, "pageTimings": {} }],
        "entries": entries,
        "comment": format!(
            "Cookies, query values and headers that may be sensitive are left out. \
             {gone} older entries had to make room or were forgotten. {bodies_left_out} bodies are not in it."
        ),
    } });
    Archive {
        json: archive.to_string().into_bytes(),
        requests: entries.len() as u64,
        requests_gone: gone,
        bodies_left_out,
    }
}

/// A redirect's body belongs to nobody, and a failed request has none.
fn has_body(ended: &Ended) -> bool {
    ended.transfer.redirect.is_none()
        && ended
            .entry
            .request
            .as_ref()
            .is_some_and(|request| request.failure.is_none() && request.status.is_some())
}

/// The body as text, or as Base64 where it is none; nothing where it is not kept or would be too much.
async fn body(context: &Context, ended: &Ended, left: &mut usize) -> Option<(String, bool)> {
    if *left == 0 || context.left().is_zero() {
        return None;
    }
    let kept = network_body::body(context, ended).await.ok()?;
    let (bytes, is_text) = network_body::decode(kept).ok()?;
    let shown = if is_text { String::from_utf8(bytes).ok()? } else { STANDARD.encode(bytes) };
    *left = left.checked_sub(shown.len())?;
    Some((shown, is_text))
}

fn entry(ended: &Ended, content: Value) -> Value {
    let Ended { entry, transfer } = ended;
    let empty = RequestSummary::default();
    let request = entry.request.as_ref().unwrap_or(&empty);
    let url = entry.page_url.as_deref().unwrap_or_default();
    let (timings, took) = timings(transfer);
    let mut entry = json!({
        "pageref": "page",
        "startedDateTime": time(transfer.wall),
        "time": took,
        "request": {
            "method": request.method,
            "url": url,
            "httpVersion": version(&transfer.protocol),
            "cookies": [],
            "headers": headers(&transfer.sent.0),
            "queryString": query(url),
            "headersSize": -1,
            "bodySize": -1,
            "comment": left_out(transfer.sent.1),
        },
        "response": {
            "status": request.status.unwrap_or(0),
            "statusText": transfer.status_text,
            "httpVersion": version(&transfer.protocol),
            "cookies": [],
            "headers": headers(&transfer.received.0),
            "content": content,
            "redirectURL": transfer.redirect.as_deref().unwrap_or_default(),
            "headersSize": -1,
            "bodySize": -1,
            "comment": left_out(transfer.received.1),
        },
        "cache": {},
        "timings": timings,
        "_resourceType": request.resource,
        "_fromCache": request.from_cache,
        "_fromServiceWorker": request.from_service_worker,
        "_transferSize": request.bytes,
    });
    if let Some(failure) = &request.failure {
        entry["_error"] = failure.as_str().into();
    }
    entry
}

fn left_out(headers: u64) -> String {
    format!("{headers} headers left out")
}

fn headers(pairs: &[(String, String)]) -> Vec<Value> {
    pairs.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

/// Names of the query; the values are left out already.
fn query(url: &str) -> Vec<Value> {
    let Some((_, query)) = url.split_once('?') else { return Vec::new() };
    let pairs = query.split('&').map(|part| part.split_once('=').unwrap_or(("", part)));
    pairs.map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

fn version(protocol: &str) -> String {
    match protocol {
        "" => "unknown".to_owned(),
        "h2" => "HTTP/2".to_owned(),
        "h3" => "HTTP/3".to_owned(),
        other => other.to_ascii_uppercase(),
    }
}

/// A point in time as ISO 8601.
fn time(seconds: f64) -> String {
    let since = Duration::try_from_secs_f64(seconds.clamp(0.0, 1e11)).unwrap_or_default();
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

/// The parts that HAR knows, in milliseconds, and their sum. -1 is what did not happen.
fn timings(transfer: &Transfer) -> (Value, f64) {
    let whole = if transfer.took.is_finite() { transfer.took.max(0.0) } else { 0.0 };
    let Some(timing) = transfer.timing else {
        let whole = round(whole);
        return (json!({ "send": 0, "wait": 0, "receive": whole }), whole);
    };
    let ResourceTiming { dns_start, dns_end, connect_start, connect_end, ssl_start, ssl_end, .. } = timing;
    let queued = ((timing.request_time - transfer.began) * 1000.0).max(0.0);
    let part = |from: f64, to: f64| if from < 0.0 || to < from { -1.0 } else { round(to - from) };
    let first =
        [dns_start, connect_start, timing.send_start].into_iter().find(|at| *at >= 0.0).unwrap_or(0.0);
    let blocked = round(queued + first);
    let dns = part(dns_start, dns_end);
    let connect = part(connect_start, connect_end);
    let send = part(timing.send_start, timing.send_end).max(0.0);
    let wait = part(timing.send_end, timing.receive_headers_end).max(0.0);
    let receive = round((whole - queued - timing.receive_headers_end).max(0.0));
    // The time of TLS is part of that of the connection.
    let sum = [blocked, dns, connect, send, wait, receive].into_iter().filter(|part| *part > 0.0).sum();
    let timings = json!({
        "blocked": blocked, "dns": dns, "connect": connect, "ssl": part(ssl_start, ssl_end),
        "send": send, "wait": wait, "receive": receive,
    });
    (timings, round(sum))
}

fn round(ms: f64) -> f64 {
    (ms * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_format_wants_them() {
        assert_eq!(time(1_700_000_000.25), "2023-11-14T22:13:20.250Z");
        assert_eq!(time(f64::NAN), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            query("http://x.test/?a=…&…"),
            [json!({"name": "a", "value": "…"}), json!({"name": "", "value": "…"})]
        );
        assert_eq!((version("h2"), version("http/1.1")), ("HTTP/2".to_owned(), "HTTP/1.1".to_owned()));
    }
}
