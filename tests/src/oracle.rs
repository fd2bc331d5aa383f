//! Holds each answer against what the pages say they received: an answer is Glass's word, the ledger is the page's.
//!
//! Only pages with `ledger.js` say anything, so a press that was told and not received proves nothing; a press that was
//! received and not told does. Off in a world that runs several commands at once, where nobody can say whose an event is.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use glass_proto::op::{Effect, Facts};
use serde_json::Value;

use crate::site::{Event, site};

/// How many events the pages of each visit had reported; none where the oracle looks away.
pub(crate) type Before = Option<Vec<(String, usize)>>;

/// What a world knows of its pages.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    visits: Mutex<BTreeSet<String>>,
    off: AtomicBool,
}

impl Oracle {
    /// Another test begins.
    pub(crate) fn anew(&self) {
        self.visits.lock().expect("nobody panics while it holds this").clear();
        self.off.store(false, Ordering::Relaxed);
    }

    /// Commands run beside each other from now on.
    pub(crate) fn look_away(&self) {
        self.off.store(true, Ordering::Relaxed);
    }

    /// What the pages have received so far, before a command runs.
    pub(crate) fn before(&self, arguments: &[&str]) -> Before {
        let mut visits = self.visits.lock().expect("nobody panics while it holds this");
        visits.extend(arguments.iter().filter_map(|argument| site().visit_of(argument)));
        if self.off.load(Ordering::Relaxed) {
            return None;
        }
        Some(visits.iter().map(|visit| (visit.clone(), site().events(visit).len())).collect())
    }

    /// Holds the answer of a command against what came since.
    ///
    /// # Panics
    /// When the page received what the answer does not tell.
    #[track_caller]
    pub(crate) fn judge(&self, arguments: &[&str], answer: &Value, before: Before) {
        let Some(before) = before.filter(|_| !self.off.load(Ordering::Relaxed)) else { return };
        let command = arguments.first().copied().unwrap_or_default();
        let Some(facts) = Facts::of(command) else { return };
        let new = |(visit, known): &(String, usize)| site().events(visit).into_iter().skip(*known);
        let events: Vec<Event> = before.iter().flat_map(new).collect();
        let of = |kind: &str| events.iter().filter(|event| event.kind == kind && event.trusted).count();
        let (presses, keys) = (of("mousedown"), of("keydown"));
        let told =
            |what: &str| panic!("the page received {presses} presses and {keys} keys, and {what}: {answer}");
        let result = &answer["result"];
        let refused = answer["error"]["dispatched"] == "no";
        if refused || (facts.effect == Effect::Read && command != "evaluate") {
            if presses + keys > 0 {
                told("nothing was to be sent");
            }
            return;
        }
        if answer["ok"] != true {
            return;
        }
        let already = result["evidence"]["already"] == true;
        let most = match command {
            "hover" | "move-mouse" | "scroll" | "screenshot" => 0,
            "check" | "uncheck" | "dismiss-consent" if already => 0,
            "click" | "click-expect-popup" | "check" | "uncheck" | "tap" => 1,
            "double-click" => 2,
            _ => return value(arguments, result, &events),
        };
        if presses > most {
            told("more was pressed than is told");
        }
    }
}

/// A filled field of which the page saw input held the text.
#[track_caller]
fn value(arguments: &[&str], result: &Value, events: &[Event]) {
    // What stands after options, in a file or on standard input is not the second word.
    let (["fill", _, text], true) = (arguments, result["evidence"]["valueMatches"] == true) else { return };
    if text.starts_with('-') {
        return;
    }
    let seen = events.iter().rfind(|event| event.kind == "input" && event.trusted);
    if let Some(seen) = seen.filter(|seen| !seen.value.is_empty()) {
        assert_eq!(
            seen.value,
            text.replace("\r\n", "\n"),
            "the page holds another text than was filled: {result}"
        );
    }
}
