//! Hostile pages: each is loaded, observed, clicked and filled within its deadlines. What was answered is held against what
//! the page received, the session goes on, and nothing of it is left when it is closed.
//!
//! `make corpus` takes all of them, and prints how long each took; each run of the suite takes ten.

mod pages;

use std::time::{Duration, Instant};

use glass_tests::site::{Visit, site};
use glass_tests::{Answer, World};

use pages::{Hostile, all};

/// What starting programs on a loaded machine may take beyond a deadline.
const SLACK: Duration = Duration::from_secs(13);
/// How often a dialog is answered before a page counts as one that cannot be worked.
const DIALOGS: usize = 6;

// contract: 2.1, 2.7, 1.5, 5.5
#[test]
fn hostile_pages_are_worked_with_truth_or_refused_with_it() {
    // `all`, `quick` (which every run of the suite takes), names with commas between them, or `NAME..` for the rest
    // from that page on.
    let wanted = std::env::var("GLASS_CORPUS").unwrap_or_else(|_| "quick".to_owned());
    let pages = all();
    let from = wanted.strip_suffix("..").map(|first| {
        pages
            .iter()
            .position(|page| page.name == first)
            .unwrap_or_else(|| panic!("no page is called {first}"))
    });
    let chosen = |(at, page): &(usize, &Hostile)| match (from, wanted.as_str()) {
        (Some(from), _) => *at >= from,
        (None, "all") => true,
        (None, "quick") => page.quick,
        (None, names) => names.split(',').any(|name| name == page.name),
    };
    let world = World::new();
    world.glassctl(["daemon", "start"]).success();
    // A browser of its own for each page costs two seconds.
    let shared = (wanted == "quick").then_some("c-quick");
    let mut broken = Vec::new();
    for (_, page) in pages.iter().enumerate().filter(chosen) {
        let (times, faults) = Visitor::new(&world, page, shared).work();
        println!("| {} | {} |", page.name, times.join(" | "));
        broken.extend(faults.into_iter().map(|fault| format!("{}: {fault}", page.name)));
    }
    assert!(broken.is_empty(), "{} faults:\n{}", broken.len(), broken.join("\n"));
}

struct Visitor<'a> {
    world: &'a World,
    page: &'a Hostile,
    visit: Visit,
    session: String,
    /// Others work in it afterwards.
    shared: bool,
    times: Vec<String>,
    faults: Vec<String>,
}

impl<'a> Visitor<'a> {
    fn new(world: &'a World, page: &'a Hostile, shared: Option<&str>) -> Self {
        let visit = site().visit();
        for file in &page.files {
            let headers: Vec<_> = file.headers.iter().map(|(name, value)| (*name, *value)).collect();
            visit.serve_with(file.path, &file.text, &headers);
        }
        visit.serve("plain.html", "<!doctype html><title>Plain</title><button>Fine</button>");
        let session = shared.map_or_else(|| format!("c-{}", page.name), str::to_owned);
        Self { world, page, visit, session, shared: shared.is_some(), times: vec![], faults: vec![] }
    }

    /// The deadline of each operation, in milliseconds.
    fn deadline(&self) -> String {
        (self.page.seconds * 1000).to_string()
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(self.page.seconds) + SLACK
    }

    fn work(mut self) -> (Vec<String>, Vec<String>) {
        let deadline = self.deadline();
        let url = self.visit.url(self.page.files[0].path);
        let navigated = self.ask(&["navigate", &url, "--timeout-ms", &deadline]);
        self.must("navigate", &navigated);
        let observed = self.past_dialogs(&["observe", "--timeout-ms", &deadline]);
        self.must("observe", &observed);
        self.click();
        self.fill();
        self.goes_on();
        if !self.shared {
            let closed = self.ask(&["session", "close"]);
            self.must("close", &closed);
        }
        (self.times, self.faults)
    }

    /// A click that completed was received once, a rejected one never.
    fn click(&mut self) {
        let deadline = self.deadline();
        let before = self.received(self.page.press);
        let answer = self.past_dialogs(&["click", "role=button;name=Go on", "--timeout-ms", &deadline]);
        let received = self.received(self.page.press) - before;
        self.judge("click", &answer, received);
    }

    /// The same of a filled field, of which no character went elsewhere.
    fn fill(&mut self) {
        let deadline = self.deadline();
        let answer = self.past_dialogs(&["fill", "label=Your name", "Ann", "--timeout-ms", &deadline]);
        let inputs: Vec<_> = self.visit.events().into_iter().filter(|event| event.kind == "input").collect();
        if let Some(stray) = inputs.iter().find(|event| event.id != "name") {
            self.faults.push(format!("text went to #{}", stray.id));
        }
        let right = usize::from(inputs.last().is_some_and(|event| event.value == "Ann"));
        self.judge(
            "fill",
            &answer,
            if inputs.is_empty() { 0 } else { right.max(usize::from(answer.json["ok"] != true)) },
        );
    }

    fn received(&self, kind: &str) -> usize {
        self.visit.received(kind).iter().filter(|id| *id == "go").count()
    }

    /// After all of it the session takes the next page.
    fn goes_on(&mut self) {
        let deadline = self.deadline();
        let url = self.visit.url("plain.html");
        let navigated = self.past_dialogs(&["navigate", &url, "--timeout-ms", &deadline]);
        // Who is asked again and again leaves by another page.
        let navigated = if navigated.kind() == Some("dialog_blocked") {
            let made = self.ask(&["create-target", &url]);
            let id = made.json["result"]["target"]["id"].as_str().unwrap_or_default().to_owned();
            self.ask(&["select-target", &id])
        } else {
            navigated
        };
        self.must("leave", &navigated);
        let observed = self.ask(&["observe"]);
        self.must("observe the next page", &observed);
        if !observed.json["result"]["outline"].as_str().is_some_and(|outline| outline.contains("Fine")) {
            self.faults.push("the next page does not show".to_owned());
        }
    }

    fn ask(&mut self, arguments: &[&str]) -> Answer {
        let began = Instant::now();
        let session = self.session.clone();
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--session", &session]).collect();
        let answer = self.world.begin(&arguments).answer_within(self.limit() * 2);
        let took = began.elapsed();
        if arguments[0] != "session" {
            let kind = answer.kind().map_or(String::new(), |kind| format!(" {kind}"));
            self.times.push(format!("{} ms{kind}", took.as_millis()));
        }
        if took > self.limit() {
            self.faults.push(format!("{} took {took:?}", arguments[0]));
        }
        answer
    }

    /// Answers dialogs until the page can be worked.
    fn past_dialogs(&mut self, arguments: &[&str]) -> Answer {
        for _ in 0..DIALOGS {
            let answer = self.ask(arguments);
            let blocked = answer.kind() == Some("dialog_blocked");
            let shown = arguments[0] == "observe" && answer.json["result"]["dialog"].is_object();
            if !blocked && !shown {
                return answer;
            }
            self.times.pop();
            let session = self.session.clone();
            // Another dialog may have taken the place of this one, or it may be gone by itself.
            self.world.ask(&["dismiss-dialog", "--session", &session]);
        }
        self.ask(arguments)
    }

    fn must(&mut self, what: &str, answer: &Answer) {
        if answer.json["ok"] != true && !self.page.loose {
            self.faults.push(format!("{what}: {}", answer.json["error"]));
        }
    }

    fn judge(&mut self, what: &str, answer: &Answer, received: usize) {
        self.must(what, answer);
        let outcome = answer.json["outcome"].as_str().unwrap_or_default().to_owned();
        let truth = match outcome.as_str() {
            // A dialog that opened in its course is told, and may have come before the ledger.
            "completed" => received == 1 || answer.json["result"]["evidence"]["dialog"].is_object(),
            "rejected" => received == 0,
            _ => received <= 1,
        };
        if !truth {
            self.faults.push(format!("{what} is {outcome}, and the page received it {received} times"));
        }
    }
}
