//! A page that spins, and a session that is busy, delay nothing but themselves.

use std::time::{Duration, Instant};

use glass_tests::site::site;
use glass_tests::{Stage, World, gone};

/// Contract 1.7: 50 ms plus scheduling. The machine's two cores run a spinning page and another test meanwhile.
const AT_ONCE: Duration = Duration::from_millis(1000);
/// The middle of them, the start of glassctl included.
const USUALLY: Duration = Duration::from_millis(200);
const LIMIT: Duration = Duration::from_secs(30);

// contract: 1.7 report: 61
#[test]
fn a_spinning_page_does_not_delay_status_lists_or_another_session() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html"), "--session", "other"]);
    world.ok(&["navigate", &visit.url("spin.html")]);
    let spinning = world.begin(&["evaluate", "while (true) {}", "--timeout-ms", "8000"]);
    let mut times = Vec::new();
    for _ in 0..5 {
        for command in [
            &["daemon", "status"][..],
            &["status"],
            &["session", "list"],
            &["session", "show", "default"],
            &["list-targets"],
        ] {
            let answer = world.ask(command);
            answer.result();
            assert!(answer.run.took < AT_ONCE, "{}", answer.run);
            times.push(answer.run.took);
        }
    }
    times.sort_unstable();
    assert!(times[times.len() / 2] < USUALLY, "{times:?}");
    let answer = world.ask(&["click", "name=Save", "--session", "other"]);
    answer.result();
    assert!(answer.run.took < Duration::from_secs(3), "{}", answer.run);
    assert_eq!(visit.clicks(), ["save"]);
    spinning.answer_within(LIMIT).fails("unknown_outcome");
}

// contract: 1.7, 1.5 report: 61
#[test]
fn a_spinning_session_is_closed_at_once() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("spin.html")]);
    let session = world.session();
    let spinning = world.begin(&["evaluate", "while (true) {}", "--timeout-ms", "60000"]);
    glass_tests::holds("the script runs", LIMIT, || {
        world.ask(&["session", "show", "default"]).json.to_string().contains("evaluate")
    });
    let since = Instant::now();
    let closed = world.ask(&["session", "close", "default"]);
    closed.result();
    gone("the spinning session", &session.all);
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
    spinning.answer_within(LIMIT).fails("unknown_outcome");
}

// contract: 1.7
#[test]
fn page_operations_of_a_session_run_in_the_order_of_their_arrival() {
    let (stage, visit) = Stage::open("spin.html");
    let blocked = stage.begin(&["click", "name=Block", "--timeout-ms", "30000"]);
    visit.asked_for("slow/click");
    let second =
        stage.begin(&["evaluate", "window.order = (window.order ?? '') + 'b'", "--timeout-ms", "30000"]);
    glass_tests::holds("the second waits its turn", LIMIT, || {
        let shown = stage.ask(&["session", "show", "default"]).json;
        queued(&shown) >= Some(1)
    });
    visit.release("click");
    blocked.answer_within(LIMIT).result();
    assert_eq!(second.answer_within(LIMIT).result()["value"], "b");
}

fn queued(value: &serde_json::Value) -> Option<u64> {
    value["result"]["queued"].as_u64().or_else(|| value["result"]["session"]["queued"].as_u64())
}

// contract: 2.7
#[test]
fn the_deadline_covers_the_time_in_the_queue() {
    let (stage, visit) = Stage::open("spin.html");
    let blocked = stage.begin(&["click", "name=Block", "--timeout-ms", "20000"]);
    visit.asked_for("slow/click");
    let answer = stage.ask(&["evaluate", "1", "--timeout-ms", "700"]);
    answer.fails("timeout");
    assert_eq!(answer.error()["dispatched"], "no", "{}", answer.run);
    assert!(answer.run.took < Duration::from_secs(3), "{}", answer.run);
    visit.release("click");
    blocked.answer_within(LIMIT).result();
}

// contract: 2.7, 5.4
#[test]
fn a_click_whose_handler_never_returns_ends_at_its_deadline_and_the_page_can_be_left() {
    let (stage, visit) = Stage::open("spin.html");
    let answer = stage.ask(&["click", "name=Block", "--timeout-ms", "1500"]);
    answer.fails("unknown_outcome");
    assert_eq!(answer.error()["reason"], "timeout", "{}", answer.run);
    assert!(answer.run.took < Duration::from_secs(5), "{}", answer.run);
    visit.release("click");
    stage.go(&visit, "form.html");
    assert_eq!(stage.eval("document.title"), "A form");
    assert_eq!(visit.clicks(), ["block"]);
}

// contract: 2.8
#[test]
fn a_cancelled_operation_in_the_queue_never_runs() {
    let (stage, visit) = Stage::open("spin.html");
    let blocked = stage.begin(&["click", "name=Block", "--timeout-ms", "30000"]);
    visit.asked_for("slow/click");
    let queued_one = stage.begin(&["evaluate", "window.ran = true", "--timeout-ms", "30000"]);
    glass_tests::holds("it waits its turn", LIMIT, || {
        queued(&stage.ask(&["session", "show", "default"]).json) >= Some(1)
    });
    queued_one.running.signal_group(nix::sys::signal::Signal::SIGINT);
    let answer = queued_one.answer_within(LIMIT);
    assert_eq!(answer.kind(), Some("cancelled"), "{}", answer.run);
    assert_eq!(answer.error()["dispatched"], "no");
    visit.release("click");
    blocked.answer_within(LIMIT).result();
    assert_eq!(stage.eval("typeof window.ran"), "undefined");
}
