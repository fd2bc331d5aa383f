//! What is kept of a target's console, errors and requests (contract 7.5): a ring with numbers that only grow.
//!
//! Text is bounded, redacted and escaped where it enters ([`glass_proto::redact`]); nothing of a body ever does.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use glass_proto::escape::cut;
use glass_proto::op::Diagnostics as Asked;
use glass_proto::result::{Diagnostic, DiagnosticKind, DiagnosticLevel, RequestSummary};

use super::preview;
use crate::cdp::types::{log, network, runtime};
use crate::forward::Failure;
use glass_proto::redact::{MAX_TEXT, address, headers, text};

/// Entries that are kept of a target.
const KEPT: usize = Asked::MAX_LIMIT as usize;
/// Requests under way that are remembered.
const UNDER_WAY: usize = 1024;

/// The ring of one target.
#[derive(Debug, Default)]
pub struct Log {
    entries: VecDeque<Kept>,
    /// The number of the newest.
    newest: u64,
    under_way: HashMap<String, UnderWay>,
    /// How many requests have begun.
    begun: u64,
    /// Requests that were forgotten before they ended have numbers too: the first and the last of each run of them, as
    /// far as an entry that is kept is older.
    forgotten: VecDeque<(u64, u64)>,
}

/// An entry with what is not told of it.
#[derive(Debug)]
struct Kept {
    entry: Diagnostic,
    /// Its number when it was new; later ones are those of its repetitions.
    first: u64,
    /// Values of a console message.
    values: u64,
    /// How a request went.
    transfer: Option<Box<Transfer>>,
}

#[derive(Debug)]
struct UnderWay {
    /// Which one it is of those that have begun.
    order: u64,
    url: String,
    /// When it was heard of.
    heard: Instant,
    began: f64,
    worker: bool,
    summary: RequestSummary,
    transfer: Box<Transfer>,
}

/// How a request went, as far as an export needs it.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The CDP session that has the answer's body, as long as anybody has.
    pub session: Arc<str>,
    /// When it began, in seconds since 1970.
    pub wall: f64,
    /// Seconds of the monotonic clock.
    pub began: f64,
    /// From the request to its end, in milliseconds.
    pub took: f64,
    /// Harmless headers of the request, and how many others it had.
    pub sent: (Vec<(String, String)>, u64),
    /// Harmless headers of the answer, and how many others it had.
    pub received: (Vec<(String, String)>, u64),
    /// The answer's status line, after the number.
    pub status_text: String,
    /// Such as `http/1.1`, `h2`.
    pub protocol: String,
    /// Media type of the answer.
    pub media_type: String,
    /// Where it redirected to.
    pub redirect: Option<String>,
    /// Bytes of the answer's body, decoded.
    pub size: f64,
    /// When which part was done.
    pub timing: Option<network::ResourceTiming>,
}

/// A request that ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its entry.
    pub entry: Diagnostic,
    /// How it went.
    pub transfer: Transfer,
}

impl Ended {
    fn of(kept: &Kept) -> Option<Self> {
        let transfer = kept.transfer.as_deref()?.clone();
        Some(Self { entry: kept.entry.clone(), transfer })
    }
}

/// What fits a question.
#[derive(Debug)]
pub struct Read {
    /// In order: after a cursor the oldest that fit, else the newest.
    pub entries: Vec<Diagnostic>,
    /// The cursor that reads on.
    pub next: u64,
    /// After the cursor, and gone: entries, and requests that were forgotten before they ended.
    pub dropped: u64,
    /// Fitting, and not given.
    pub left_out: u64,
    /// Requests that have not ended.
    pub under_way: u64,
}

/// Where an event came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    /// The CDP session.
    pub(super) session: &'a Arc<str>,
    /// Whether it is that of a worker.
    pub(super) worker: bool,
}

impl Log {
    /// Reads what fits.
    pub fn read(&self, asked: &Asked) -> Read {
        let after = asked.after.unwrap_or(0);
        let fits = |kept: &&Kept| {
            let entry = &kept.entry;
            entry.sequence > after
                && (asked.kinds.is_empty() || asked.kinds.contains(&entry.kind))
                && asked.since.is_none_or(|since| entry.time_ms >= since)
                && asked.level.is_none_or(|level| entry.level >= level)
                && (!asked.failed_only || failed(entry))
        };
        let mut fitting: Vec<_> = self.entries.iter().filter(fits).collect();
        let limit = usize::from(asked.limit.unwrap_or(Asked::LIMIT));
        let left_out = fitting.len().saturating_sub(limit);
        let mut next = self.newest;
        if asked.after.is_none() {
            fitting.drain(..left_out);
        } else if left_out > 0 {
            fitting.truncate(limit);
            next = fitting.last().map_or(after, |kept| kept.entry.sequence);
        }
        let told = fitting.iter().map(|kept| {
            let mut entry = kept.entry.clone();
            if entry.kind == DiagnosticKind::Console && entry.browser.is_none() && !asked.shows_values() {
                entry.page_text = None;
                entry.values = Some(kept.values);
            }
            entry
        });
        Read {
            entries: told.collect(),
            next,
            dropped: self.gone_after(after),
            left_out: left_out as u64,
            under_way: self.under_way.len() as u64,
        }
    }

    /// The requests that are known, in the order in which they ended.
    pub fn requests(&self) -> impl Iterator<Item = Ended> {
        self.entries.iter().filter_map(Ended::of)
    }

    /// The request of that id: of a chain of redirects, the last.
    pub fn request(&self, id: &str) -> Option<Ended> {
        let of_id = |kept: &&Kept| {
            let request = kept.entry.request.as_ref().filter(|_| kept.transfer.is_some());
            request.is_some_and(|request| request.request_id == id)
        };
        self.entries.iter().rev().find(of_id).and_then(Ended::of)
    }

    /// Whether the request of that id has not ended.
    pub fn is_under_way(&self, id: &str) -> bool {
        self.under_way.contains_key(id)
    }

    /// Entries that had to make room, and requests that were forgotten.
    pub fn gone(&self) -> u64 {
        self.gone_after(0)
    }

    /// The same of those with a greater number than this.
    fn gone_after(&self, after: u64) -> u64 {
        let oldest = self.oldest();
        let between = self.forgotten.iter().filter(|(first, _)| *first >= oldest);
        let between: u64 =
            between.map(|(first, last)| (last + 1).saturating_sub(*first.max(&(after + 1)))).sum();
        (oldest - 1).saturating_sub(after) + between
    }

    /// The number of the oldest entry that is kept.
    fn oldest(&self) -> u64 {
        self.entries.front().map_or(self.newest + 1, |kept| kept.first)
    }

    fn add(&mut self, entry: Diagnostic, values: u64, transfer: Option<Box<Transfer>>) {
        self.newest += 1;
        let (times, time_ms) = (entry.times, entry.time_ms);
        let entry = match self.entries.back_mut() {
            Some(last) if entry.request.is_none() => {
                let Diagnostic { sequence, times: before, time_ms: at, .. } = last.entry;
                let alike = Diagnostic { sequence, times: before, time_ms: at, ..entry };
                // A page that writes the same line for ever does not push everything else out.
                if last.entry == alike {
                    last.entry.sequence = self.newest;
                    last.entry.times += 1;
                    last.entry.time_ms = time_ms;
                    return;
                }
                alike
            }
            _ => entry,
        };
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        let entry = Diagnostic { sequence: self.newest, times, time_ms, ..entry };
        self.entries.push_back(Kept { entry, first: self.newest, values, transfer });
        let oldest = self.oldest();
        while self.forgotten.front().is_some_and(|(_, last)| *last < oldest) {
            self.forgotten.pop_front();
        }
    }

    /// Forgets the request that began first, of a browser that never tells of its end.
    fn forget_one(&mut self) {
        let first = self.under_way.iter().min_by_key(|(_, under_way)| under_way.order);
        let Some(id) = first.map(|(id, _)| id.clone()) else { return };
        self.under_way.remove(&id);
        self.newest += 1;
        match self.forgotten.back_mut() {
            Some((_, last)) if *last + 1 == self.newest => *last = self.newest,
            _ => self.forgotten.push_back((self.newest, self.newest)),
        }
    }

    /// A message that the page wrote to the console.
    pub(super) fn console(&mut self, from: Origin<'_>, called: &runtime::ConsoleApiCalled) {
        let level = match called.kind.as_str() {
            "error" | "assert" => DiagnosticLevel::Error,
            "warning" => DiagnosticLevel::Warning,
            "debug" | "trace" => DiagnosticLevel::Debug,
            _ => DiagnosticLevel::Info,
        };
        let place = called.stack_trace.as_ref().and_then(|stack| stack.call_frames.first());
        let entry = Diagnostic {
            page_text: Some(text(&preview::message(&called.args))),
            page_url: place
                .map(|place| address(&place.url))
                .filter(|_| place.is_some_and(|at| !at.url.is_empty())),
            line: place.and_then(|place| line(place.line_number)),
            ..blank(from, DiagnosticKind::Console, level)
        };
        self.add(entry, called.args.len() as u64, None);
    }

    /// A message that the browser wrote to the console. Failed requests are entries of their own, and workers tell by
    /// themselves what they write.
    pub(super) fn noted(&mut self, from: Origin<'_>, note: &log::Entry) {
        if matches!(note.source.as_str(), "network" | "worker") {
            return;
        }
        let level = match note.level.as_str() {
            "error" => DiagnosticLevel::Error,
            "warning" => DiagnosticLevel::Warning,
            "verbose" => DiagnosticLevel::Debug,
            _ => DiagnosticLevel::Info,
        };
        let entry = Diagnostic {
            page_text: Some(text(&note.text)),
            browser: Some(cut(&note.source, 32).into_owned()),
            page_url: note.url.as_deref().filter(|url| !url.is_empty()).map(address),
            line: note.line_number.and_then(line),
            ..blank(from, DiagnosticKind::Console, level)
        };
        self.add(entry, 0, None);
    }

    /// An error that the page did not catch.
    pub(super) fn exception(&mut self, from: Origin<'_>, thrown: &runtime::ExceptionThrown) {
        let details = &thrown.exception_details;
        let described = details.exception.as_ref().map(preview::value);
        let entry = Diagnostic {
            page_text: Some(text(described.as_deref().unwrap_or(&details.text))),
            page_url: details.url.as_deref().filter(|url| !url.is_empty()).map(address),
            line: line(details.line_number),
            ..blank(from, DiagnosticKind::Error, DiagnosticLevel::Error)
        };
        self.add(entry, 0, None);
    }

    /// A request begins, or goes on after a redirect, which ends what was before.
    pub(super) fn asked(&mut self, from: Origin<'_>, sent: &network::RequestWillBeSent) {
        if let Some(answer) = &sent.redirect_response {
            self.answered(&sent.request_id, answer);
            if let Some(under_way) = self.under_way.get_mut(&sent.request_id) {
                under_way.transfer.redirect = Some(address(&sent.request.url));
            }
            self.finished(from, &sent.request_id, sent.timestamp, Some(answer.encoded_data_length));
        }
        let resource = cut(sent.kind.as_deref().unwrap_or("other"), 32).to_ascii_lowercase();
        let summary = RequestSummary {
            request_id: cut(&sent.request_id, 128).into_owned(),
            method: cut(&sent.request.method, 32).into_owned(),
            resource,
            ..RequestSummary::default()
        };
        self.begins(from, &sent.request_id, &sent.request.url, summary);
        if let Some(under_way) = self.under_way.get_mut(&sent.request_id) {
            under_way.began = sent.timestamp;
            under_way.transfer.began = sent.timestamp;
            under_way.transfer.wall = sent.wall_time;
            under_way.transfer.sent = headers(&sent.request.headers);
        }
    }

    fn begins(&mut self, from: Origin<'_>, id: &str, url: &str, summary: RequestSummary) {
        if self.under_way.len() >= UNDER_WAY && !self.under_way.contains_key(id) {
            self.forget_one();
        }
        self.begun += 1;
        let transfer = Transfer {
            session: from.session.clone(),
            wall: 0.0,
            began: 0.0,
            took: 0.0,
            sent: Default::default(),
            received: Default::default(),
            status_text: String::new(),
            protocol: String::new(),
            media_type: String::new(),
            redirect: None,
            size: 0.0,
            timing: None,
        };
        let (worker, began) = (from.worker, f64::NAN);
        let (order, url, heard) = (self.begun, address(url), Instant::now());
        let under_way = UnderWay { order, url, heard, began, worker, summary, transfer: Box::new(transfer) };
        self.under_way.insert(id.to_owned(), under_way);
    }

    /// The head of an answer.
    pub(super) fn answered(&mut self, id: &str, response: &network::Response) {
        if let Some(under_way) = self.under_way.get_mut(id) {
            under_way.summary.status = u16::try_from(response.status).ok().filter(|status| *status > 0);
            under_way.summary.from_cache |= response.from_disk_cache;
            under_way.summary.from_service_worker = response.from_service_worker;
            let transfer = &mut under_way.transfer;
            transfer.received = headers(&response.headers);
            transfer.status_text = cut(&response.status_text, 64).into_owned();
            transfer.protocol = cut(response.protocol.as_deref().unwrap_or_default(), 32).into_owned();
            transfer.media_type = cut(&response.mime_type, 128).into_owned();
            transfer.timing = response.timing;
        }
    }

    /// A part of the answer's body came.
    pub(super) fn came(&mut self, from: Origin<'_>, part: &network::DataReceived) {
        if let Some(under_way) = self.under_way.get_mut(&part.request_id) {
            under_way.transfer.size += part.data_length;
            // What was asked for in one place may be answered in another: a frame gets a process of its own.
            under_way.transfer.session = from.session.clone();
        }
    }

    /// The memory of the page answered.
    pub(super) fn remembered(&mut self, id: &str) {
        if let Some(under_way) = self.under_way.get_mut(id) {
            under_way.summary.from_cache = true;
        }
    }

    /// The whole answer came.
    pub(super) fn finished(&mut self, from: Origin<'_>, id: &str, at: f64, bytes: Option<f64>) {
        let Some(mut ended) = self.under_way.remove(id) else { return };
        ended.summary.bytes = bytes.and_then(whole);
        let level = match ended.summary.status {
            Some(400..) => DiagnosticLevel::Warning,
            _ => DiagnosticLevel::Info,
        };
        self.ended(from, ended, at, level);
    }

    /// The address of a request that has not ended, as it is told, and when it was heard of.
    pub(super) fn place_of(&self, id: &str) -> Option<(&str, Instant)> {
        self.under_way.get(id).map(|under_way| (under_way.url.as_str(), under_way.heard))
    }

    /// What really ended a request, where the browser knows only of the proxy.
    pub(super) fn truth(&mut self, id: &str, truth: &Failure) {
        if let Some(under_way) = self.under_way.get_mut(id) {
            under_way.summary.failure = Some(truth.net_error().to_owned());
            under_way.summary.rule_id = truth.rule.as_deref().map(|rule| cut(rule, MAX_TEXT).into_owned());
        }
    }

    /// It failed.
    pub(super) fn failed(&mut self, from: Origin<'_>, failed: &network::LoadingFailed) {
        let Some(mut ended) = self.under_way.remove(&failed.request_id) else { return };
        let cors = failed.cors_error_status.as_ref().map(|status| &status.cors_error);
        let name = || Some(cut(&failed.error_text, 128).into_owned()).filter(|name| !name.is_empty());
        ended.summary.failure = ended.summary.failure.or_else(name);
        ended.summary.blocked = failed.blocked_reason.as_ref().or(cors).map(|why| cut(why, 64).into_owned());
        ended.summary.given_up = failed.canceled;
        // A page gives requests up all the time.
        let level = if failed.canceled { DiagnosticLevel::Info } else { DiagnosticLevel::Error };
        self.ended(from, ended, failed.timestamp, level);
    }

    fn ended(&mut self, from: Origin<'_>, ended: UnderWay, at: f64, level: DiagnosticLevel) {
        let took = (at - ended.began) * 1000.0;
        let summary = RequestSummary { duration_ms: whole(took), ..ended.summary };
        let (worker, mut transfer) = (ended.worker, ended.transfer);
        transfer.took = took;
        let entry = blank(Origin { worker, ..from }, DiagnosticKind::Request, level);
        let transfer = (transfer.wall > 0.0).then_some(transfer);
        self.add(Diagnostic { page_url: Some(ended.url), request: Some(summary), ..entry }, 0, transfer);
    }

    /// A web socket is asked for. It counts as a request that ends when it is closed.
    pub(super) fn socket_begins(&mut self, from: Origin<'_>, created: &network::WebSocketCreated) {
        let summary = RequestSummary {
            request_id: cut(&created.request_id, 128).into_owned(),
            method: "GET".to_owned(),
            resource: "websocket".to_owned(),
            ..RequestSummary::default()
        };
        self.begins(from, &created.request_id, &created.url, summary);
    }

    /// A web socket tells when it was asked for.
    pub(super) fn socket_asks(&mut self, asks: &network::WebSocketTold) {
        if let Some(under_way) = self.under_way.get_mut(&asks.request_id) {
            under_way.began = asks.timestamp;
        }
    }

    /// A web socket's answer.
    pub(super) fn socket_answered(&mut self, answered: &network::WebSocketTold) {
        if let (Some(under_way), Some(response)) =
            (self.under_way.get_mut(&answered.request_id), &answered.response)
        {
            under_way.summary.status = u16::try_from(response.status).ok();
        }
    }

    /// A web socket failed; it is closed right after.
    pub(super) fn socket_failed(&mut self, failed: &network::WebSocketTold) {
        if let Some(under_way) = self.under_way.get_mut(&failed.request_id)
            && under_way.summary.failure.is_none()
        {
            under_way.summary.failure = failed.error_message.as_deref().map(text);
        }
    }

    /// A web socket is closed.
    pub(super) fn socket_closed(&mut self, from: Origin<'_>, closed: &network::WebSocketTold) {
        let Some(ended) = self.under_way.remove(&closed.request_id) else { return };
        let level = match ended.summary.failure {
            Some(_) => DiagnosticLevel::Error,
            None => DiagnosticLevel::Info,
        };
        self.ended(from, ended, closed.timestamp, level);
    }
}

fn failed(entry: &Diagnostic) -> bool {
    match (&entry.kind, &entry.request) {
        (DiagnosticKind::Error, _) => true,
        (_, Some(request)) => request.failure.is_some() || request.status.is_some_and(|status| status >= 400),
        _ => false,
    }
}

fn blank(from: Origin<'_>, kind: DiagnosticKind, level: DiagnosticLevel) -> Diagnostic {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Diagnostic {
        sequence: 0,
        time_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
        kind,
        level,
        page_text: None,
        values: None,
        browser: None,
        page_url: None,
        line: None,
        times: 1,
        worker: from.worker,
        request: None,
    }
}

/// Chromium counts lines from 0.
fn line(number: i64) -> Option<u64> {
    u64::try_from(number).ok().and_then(|number| number.checked_add(1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked right before")]
fn whole(number: f64) -> Option<u64> {
    (number.is_finite() && (0.0..1e15).contains(&number)).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(session: &Arc<str>) -> Origin<'_> {
        Origin { session, worker: false }
    }

    fn message(log: &mut Log, text: &str) {
        let called = format!(
            r#"{{"type":"log","args":[{{"type":"string","value":"{text}"}}],"executionContextId":1,"timestamp":1}}"#
        );
        log.console(from(&"S".into()), &serde_json::from_str(&called).unwrap());
    }

    fn asked(after: Option<u64>, limit: Option<u16>) -> Asked {
        Asked { after, limit, ..Asked::default() }
    }

    #[test]
    fn gaps_are_told_and_what_repeats_is_counted() {
        let mut log = Log::default();
        for number in 0..KEPT + 10 {
            message(&mut log, &format!("m{number}"));
        }
        message(&mut log, "last");
        message(&mut log, "last");
        let read = log.read(&asked(Some(3), Some(2)));
        // 510 and two of the last, which stand as one: the ring begins at 12.
        assert_eq!((read.next, read.dropped), (13, 8));
        assert_eq!(read.entries.len(), 2);
        assert_eq!(
            (read.entries[0].sequence, read.entries[1].sequence, read.left_out),
            (12, 13, KEPT as u64 - 2)
        );
        let newest = log.read(&asked(None, Some(2)));
        assert_eq!((newest.entries[1].times, newest.next), (2, 512));
        let read = log.read(&asked(Some(newest.next), None));
        assert!(read.entries.is_empty() && read.dropped == 0);
        assert_eq!(log.read(&Asked::default()).dropped, 11);
        assert_eq!(Log::default().read(&asked(Some(0), None)).dropped, 0);
    }

    #[test]
    fn a_repetition_is_new_after_its_first_and_is_no_gap() {
        let mut log = Log::default();
        message(&mut log, "same");
        message(&mut log, "same");
        message(&mut log, "same");
        let read = log.read(&asked(Some(1), None));
        assert_eq!((read.entries.len(), read.entries[0].times, read.dropped, read.next), (1, 3, 0, 3));
    }

    // contract: 7.5
    #[test]
    fn requests_that_are_forgotten_count_as_gone_for_whoever_had_not_read_so_far() {
        let session: Arc<str> = "S".into();
        let mut log = Log::default();
        let sent = |number: usize| {
            let text = format!(
                r#"{{"requestId":"{number}","request":{{"url":"http://x.test/","method":"GET"}},"timestamp":1.0,"wallTime":1.0,"type":"Fetch"}}"#
            );
            serde_json::from_str::<network::RequestWillBeSent>(&text).unwrap()
        };
        message(&mut log, "before");
        for number in 0..UNDER_WAY + 3 {
            log.asked(from(&session), &sent(number));
        }
        // Those that began first are gone, and the newest are not.
        assert!(!log.is_under_way("2") && log.is_under_way("3") && log.is_under_way(&UNDER_WAY.to_string()));
        message(&mut log, "between");
        log.asked(from(&session), &sent(UNDER_WAY + 3));
        let dropped = |log: &Log, after| log.read(&asked(after, None)).dropped;
        let read = log.read(&Asked::default());
        assert_eq!((read.dropped, read.under_way, read.next), (4, UNDER_WAY as u64, 6));
        let of = |text: &str| {
            let mut entries = read.entries.iter();
            entries.find(|entry| entry.page_text.as_deref() == Some(text)).unwrap().sequence
        };
        assert_eq!(dropped(&log, Some(of("before"))), 4);
        assert_eq!(dropped(&log, Some(of("before") + 1)), 3);
        assert_eq!((dropped(&log, Some(of("between"))), dropped(&log, Some(read.next))), (1, 0));
        // They stay counted when all that was kept then has made room.
        for number in 0..KEPT {
            message(&mut log, &format!("m{number}"));
        }
        assert_eq!((log.gone(), log.forgotten.len()), (6, 0));
        log.finished(from(&session), "9", 1.5, None);
        assert_eq!(log.request("9").map(|ended| ended.entry.sequence), Some(log.newest));
        assert!(log.request("10").is_none());
    }

    #[test]
    fn values_are_withheld_as_a_count() {
        let mut log = Log::default();
        message(&mut log, "geheim");
        let read = log.read(&Asked { values: Some(false), ..Asked::default() });
        assert_eq!((read.entries[0].page_text.as_deref(), read.entries[0].values), (None, Some(1)));
        assert_eq!(log.read(&Asked::default()).entries[0].page_text.as_deref(), Some("geheim"));
    }

    #[test]
    fn a_failed_request_is_bad_and_one_given_up_is_not() {
        let session: Arc<str> = "S".into();
        let mut log = Log::default();
        let sent = |id: &str| {
            let text = format!(
                r#"{{"requestId":"{id}","request":{{"url":"http://x.test/{id}","method":"GET"}},"timestamp":1.0,"type":"Fetch"}}"#
            );
            serde_json::from_str::<network::RequestWillBeSent>(&text).unwrap()
        };
        let failure = |id: &str, canceled: bool| {
            let text = format!(
                r#"{{"requestId":"{id}","timestamp":1.25,"errorText":"net::ERR_FAILED","canceled":{canceled},"corsErrorStatus":{{"corsError":"Why","failedParameter":""}}}}"#
            );
            serde_json::from_str::<network::LoadingFailed>(&text).unwrap()
        };
        for (id, canceled) in [("a", false), ("b", true)] {
            log.asked(from(&session), &sent(id));
            log.failed(from(&session), &failure(id, canceled));
        }
        log.asked(from(&session), &sent("c"));
        assert_eq!(log.read(&Asked::default()).under_way, 1);
        log.finished(from(&session), "c", 1.5, Some(10.0));
        let read = log.read(&Asked { level: Some(DiagnosticLevel::Warning), ..Asked::default() });
        assert_eq!(read.entries.len(), 1);
        let request = read.entries[0].request.as_ref().unwrap();
        assert_eq!((request.duration_ms, request.resource.as_str()), (Some(250), "fetch"));
        assert_eq!(request.blocked.as_deref(), Some("Why"));
        assert_eq!(log.read(&Asked { failed_only: true, ..Asked::default() }).entries.len(), 2);
        assert_eq!(log.read(&Asked::default()).entries.len(), 3);
    }
}
