//! SIGKILL of each process, when nothing runs, in the middle of a click, and in the middle of a navigation: nothing of
//! the dead session is left, the next command works, and nothing is done a second time.

use std::time::Duration;

use glass_tests::process::Process;
use glass_tests::site::{Visit, site};
use glass_tests::{Answer, Asking, GONE, Who, World, gone, holds, process, session_tree};
use nix::sys::signal::Signal;

/// Until the client of a killed operation has its answer.
const ANSWERED: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Worker,
    Stub,
    Browser,
    Daemon,
    Egress,
    Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Idle,
    Click,
    Navigation,
}

impl Victim {
    /// Whether the session dies with it.
    fn ends_the_session(self) -> bool {
        !matches!(self, Self::Egress | Self::Client)
    }

    fn find(self, world: &World) -> Process {
        let session = world.session();
        match self {
            Self::Worker => session.worker,
            Self::Stub => session.stub,
            Self::Browser => session.browser,
            Self::Daemon | Self::Client => process::read(world.daemon()).expect("the daemon runs"),
            Self::Egress => session_tree::egress(world.daemon()).expect("the daemon has its egress"),
        }
    }
}

/// Begins what is to be interrupted, and returns when the page or the server has seen it.
fn begin(world: &World, visit: &Visit, victim: Victim, moment: Moment) -> Option<Asking> {
    match moment {
        // A client that runs is never idle: it waits, and the session has nothing to do.
        Moment::Idle if victim == Victim::Client => {
            let asking = world.begin(&["wait", "text=never", "--timeout-ms", "60000"]);
            holds("the wait is under way", ANSWERED, || {
                world.ask(&["session", "show", "default"]).json.to_string().contains("wait")
            });
            Some(asking)
        }
        Moment::Idle => None,
        Moment::Click => {
            let asking = world.begin(&["click", "name=Block", "--timeout-ms", "60000"]);
            visit.asked_for("slow/click");
            Some(asking)
        }
        Moment::Navigation => {
            let asking = world.begin(&["navigate", &visit.url("slow/page"), "--timeout-ms", "60000"]);
            visit.asked_for("slow/page");
            Some(asking)
        }
    }
}

/// Lets go what the server holds back.
fn release(visit: &Visit) {
    visit.release("click");
    visit.release("page");
}

fn check_answer(victim: Victim, moment: Moment, answer: &Answer) {
    match victim {
        Victim::Egress => {
            // The browser asks again over a new connection where the old one was in use before; else the request broke.
            let kind = answer.kind();
            match moment {
                Moment::Click => assert!(matches!(kind, None | Some("unknown_outcome")), "{}", answer.run),
                _ => assert!(
                    matches!(kind, None | Some("navigation_failed" | "unknown_outcome")),
                    "{}",
                    answer.run
                ),
            }
        }
        _ => {
            let error = answer.fails("unknown_outcome");
            let reason = error["reason"].as_str().unwrap_or_default();
            let fits = match victim {
                Victim::Browser => matches!(reason, "browser_crashed" | "worker_lost"),
                Victim::Daemon => reason == "daemon_lost",
                _ => matches!(reason, "worker_lost" | "browser_crashed"),
            };
            assert!(fits, "{reason}: {}", answer.run);
            assert_ne!(error["retry"], "safe", "{}", answer.run);
            assert_eq!(answer.run.code, Some(7));
        }
    }
}

fn killed(who: Who, victim: Victim, moment: Moment) {
    let world = World::of(who);
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("spin.html")]);
    let before = world.remember();
    let session = world.session();
    let daemon = world.daemon();
    let target = victim.find(&world);
    let asking = begin(&world, &visit, victim, moment);

    if victim == Victim::Client {
        let Some(asking) = asking else { return };
        asking.running.kill();
        drop(asking);
        release(&visit);
    } else {
        target.signal(Signal::SIGKILL);
        if victim == Victim::Egress {
            gone("the killed proxy", std::slice::from_ref(&target));
            release(&visit);
        }
        if let Some(asking) = asking {
            check_answer(victim, moment, &asking.answer_within(ANSWERED));
        }
        gone("what was killed", std::slice::from_ref(&target));
    }

    if victim.ends_the_session() {
        gone("the session of what was killed", &session.all);
    }
    if victim == Victim::Daemon {
        gone("everything of a killed daemon", &before);
    } else {
        assert_eq!(world.daemon(), daemon, "the daemon goes on");
    }
    release(&visit);

    // The next command works, and says whether it began anew.
    let next = site().visit();
    if victim.ends_the_session() && moment == Moment::Idle {
        let answer = world.ask(&["click", "name=Block"]);
        assert!(
            matches!(answer.kind(), Some("session_failed" | "browser_crashed" | "target_not_found")),
            "no page operation runs on a page that is gone: {}",
            answer.run
        );
    }
    let answer = world.ask(&["navigate", &next.url("form.html")]);
    answer.result();
    let started = if victim.ends_the_session() { "new" } else { "running" };
    assert_eq!(answer.json["session"]["started"], started, "{}", answer.run);
    assert_eq!(world.eval("document.title"), "A form");
    assert!(world.ok(&["get-text"])["text"].as_str().is_some_and(|text| text.contains("Sign in")));
    assert_eq!(world.ok(&["observe"])["page"]["url"], next.url("form.html"));
    world.ok(&["click", "name=Save"]);
    assert_eq!(next.clicks(), ["save"]);

    // Nothing was done a second time.
    assert_eq!(visit.count("spin.html"), 1, "{:?}", visit.requests());
    let once = usize::from(moment == Moment::Navigation);
    let asked = visit.count("slow/page");
    // The browser's own second try of a request that had no answer is not an operation done again.
    assert!(asked == once || (victim == Victim::Egress && asked <= 2 * once), "{:?}", visit.requests());
    assert!(visit.clicks().len() <= usize::from(moment == Moment::Click), "{:?}", visit.events());
    holds("only the live session has a directory", GONE, || world.session_directories().len() == 1);
    world.end();
}

macro_rules! killings {
    ($($victim:ident: $module:ident),*) => { $(
        // contract: 1.5, 2.1, 12.2 report: 44, 63, 77
        mod $module {
            use super::*;
            twice! {
                fn when_idle(who: Who) { killed(who, Victim::$victim, Moment::Idle) }
                fn in_the_middle_of_a_click(who: Who) { killed(who, Victim::$victim, Moment::Click) }
                fn in_the_middle_of_a_navigation(who: Who) { killed(who, Victim::$victim, Moment::Navigation) }
            }
        }
    )* };
}

killings!(Worker: worker, Stub: stub, Browser: browser, Daemon: daemon, Egress: egress, Client: client);

// report: 77
#[test]
fn the_gpu_process_may_die_without_harm() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let session = world.session();
    if let Some(gpu) = session.gpu() {
        gpu.signal(Signal::SIGKILL);
        gone("the GPU process", std::slice::from_ref(gpu));
    }
    world.ok(&["click", "name=Save"]);
    assert_eq!(visit.clicks(), ["save"]);
    assert_eq!(world.session().browser, session.browser);
}

// report: 77
#[test]
fn a_dead_renderer_is_typed_and_navigate_brings_the_page_back() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let session = world.session();
    for renderer in session.renderers() {
        renderer.signal(Signal::SIGKILL);
    }
    let answer = world.ask(&["click", "name=Save"]);
    assert!(
        matches!(answer.kind(), Some("browser_crashed" | "unknown_outcome" | "target_not_found")),
        "{}",
        answer.run
    );
    assert!(answer.run.took < Duration::from_secs(4), "{}", answer.run);
    let again = world.ask(&["navigate", &visit.url("form.html")]);
    again.result();
    world.ok(&["click", "name=Save"]);
    assert_eq!(visit.clicks(), ["save"]);
}

// report: 63
#[test]
fn fifty_killed_clients_leave_no_work_and_no_descriptors() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let daemon = world.daemon();
    let descriptors = || std::fs::read_dir(format!("/proc/{daemon}/fd")).map_or(0, Iterator::count);
    world.ok(&["observe"]);
    let before = descriptors();
    for _ in 0..50 {
        let waiting = world.begin(&["wait", "text=never", "--timeout-ms", "60000"]);
        // The kernel has started it; how far it came differs from round to round, which is the point.
        waiting.running.kill();
        drop(waiting);
    }
    let answer = world.ask(&["observe"]);
    answer.result();
    assert!(answer.run.took < Duration::from_secs(4), "{}", answer.run);
    holds("the descriptors of dead clients are closed", GONE, || descriptors() <= before + 4);
}
