//! `events`: what happened, whether somebody waited for it or not, with the operation that was at work.

use std::time::Duration;

use glass_tests::Stage;
use serde_json::Value;

const PAGE: &str = "<!doctype html><title>Events</title>\
    <button onclick=\"alert('Sure?')\">Ask</button>\
    <button onclick=\"window.open('popups.html')\">Open</button>\
    <button onclick=\"history.pushState(0, '', '?step=geheim')\">Step</button>\
    <input type=file aria-label=File>\
    <a download=notes.txt href='data:text/plain,words'>Save</a>";

fn events(answer: &Value) -> Vec<Value> {
    answer["events"].as_array().expect("events").clone()
}

fn cursor(stage: &Stage) -> String {
    stage.ok(&["events"])["next"].to_string()
}

// contract: 7.6
#[test]
fn what_an_action_brings_about_is_told_with_its_execution_id() {
    let stage = Stage::take();
    stage.show(PAGE);
    let target = stage.ok(&["list-targets"])["targets"][0]["id"].clone();
    let mut from = cursor(&stage);
    for (label, kind, what) in [
        ("name=Ask", "dialog", "opened"),
        ("name=Open", "popup", "opened"),
        ("name=Step", "navigation", "committed"),
        ("label=File", "chooser", "opened"),
        ("name=Save", "download", "began"),
    ] {
        let clicked = stage.ask(&["click", label]);
        clicked.result();
        let waits = ["events", "--after", &from, "--kind", kind, "--timeout-ms", "20000"];
        let told = stage.ok(&waits);
        let event = &events(&told)[0];
        assert_eq!((event["kind"].as_str(), event["what"].as_str()), (Some(kind), Some(what)), "{told:#}");
        assert_eq!(event["targetId"], target, "{told:#}");
        assert_eq!(event["executionId"], clicked.json["executionId"], "{label}: {told:#}");
        assert!(!told.to_string().contains("geheim"), "{told:#}");
        let action = stage.ok(&["events", "--after", &from, "--kind", "action"]);
        assert_eq!(events(&action)[0]["operation"], "click", "{action:#}");
        assert_eq!(events(&action)[0]["executionId"], clicked.json["executionId"]);
        if kind == "dialog" {
            assert_eq!(event["pageMessage"], "Sure?");
            stage.ok(&["accept-dialog"]);
            let closed = stage.ok(&["events", "--after", &from, "--kind", "dialog"]);
            assert_eq!(events(&closed)[1]["what"], "closed", "{closed:#}");
        }
        from = cursor(&stage);
    }
    let all = stage.ok(&["events", "--limit", "200"]);
    let numbers: Vec<_> =
        events(&all).iter().map(|event| event["sequence"].as_u64().expect("a number")).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    let popup = events(&all).into_iter().find(|event| event["kind"] == "popup").expect("the popup");
    let of_popup = stage.ok(&["events", "--target-id", popup["popupId"].as_str().expect("its id")]);
    assert!(events(&of_popup).iter().all(|event| event["targetId"] == popup["popupId"]), "{of_popup:#}");
}

// contract: 5.5 7.6
#[test]
fn what_a_dialog_withheld_is_told_once_it_is_answered() {
    let stage = Stage::take();
    stage.show("<!doctype html><title>Withheld</title>");
    let from = cursor(&stage);
    let asked = stage.ask(&["evaluate", "confirm('Go on?')"]);
    asked.fails("unknown_outcome");
    stage.ok(&["accept-dialog"]);
    let mut told = stage.ok(&["events", "--after", &from, "--kind", "action", "--timeout-ms", "20000"]);
    let of_script = |told: &Value| -> Vec<Value> {
        events(told).into_iter().filter(|event| event["executionId"] == asked.json["executionId"]).collect()
    };
    while of_script(&told).len() < 2 {
        let next = told["next"].to_string();
        stage.ok(&["events", "--after", &next, "--timeout-ms", "20000"]);
        told = stage.ok(&["events", "--after", &from, "--kind", "action"]);
    }
    let outcomes: Vec<_> = of_script(&told).iter().map(|event| event["outcome"].clone()).collect();
    assert_eq!(outcomes, ["unknown", "completed"], "{told:#}");
}

// contract: 7.6 1.7
#[test]
fn it_waits_for_the_first_that_fits_and_bounds_are_checked() {
    let stage = Stage::take();
    stage.show(PAGE);
    stage.fails("invalid_argument", &["events", "--limit", "0"]);
    stage.fails("invalid_argument", &["events", "--limit", "201"]);
    stage.fails("invalid_argument", &["events", "--timeout-ms", "25001"]);
    stage.fails("target_not_found", &["events", "--target-id", "none"]);
    let from = cursor(&stage);
    let quiet = stage.ok(&["events", "--after", &from, "--kind", "crash", "--timeout-ms", "300"]);
    assert!(events(&quiet).is_empty(), "{quiet:#}");
    let waiting = stage.begin(&["events", "--after", &from, "--kind", "popup", "--timeout-ms", "25000"]);
    stage.ok(&["click", "name=Open"]);
    let answer = waiting.answer_within(Duration::from_secs(20));
    assert_eq!(events(answer.result())[0]["what"], "opened");
}

// contract: 7.6, 12.3
#[test]
fn what_comes_is_followed_line_by_line_until_it_is_what_was_waited_for() {
    let stage = Stage::take();
    stage.show(PAGE);
    let from = cursor(&stage);
    let begun = ["--json", "events", "--follow", "--after", &from, "--kind", "navigation", "--kind", "popup"];
    let follower = stage.start([&begun[..], &["--until", "popup", "--timeout-ms", "60000"]].concat());
    stage.ok(&["click", "name=Step"]);
    stage.ok(&["click", "name=Step"]);
    stage.ok(&["click", "name=Open"]);
    stage.ok(&["click", "name=Step"]);
    let run = follower.finish().exits(0);
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let kinds: Vec<_> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(kinds, ["navigation", "navigation", "popup"], "{run}");
    assert!(lines.is_sorted_by_key(|line| line["sequence"].as_u64()), "{run}");

    let missed =
        stage.start(["events", "--follow", "--until", "crash", "--timeout-ms", "300"]).finish().exits(6);
    assert!(missed.stdout.is_empty(), "{missed}");
    let nothing = stage.start(["events", "--follow", "--timeout-ms", "300"]).finish().exits(0);
    assert!(nothing.stdout.is_empty(), "what was before is not told: {nothing}");
    let given_up = stage.start(["events", "--follow", "--after", "0"]);
    glass_tests::holds("it is under way", Duration::from_secs(20), || {
        stage.ok(&["session", "show", "default"]).to_string().contains("events")
    });
    given_up.signal_group(nix::sys::signal::Signal::SIGINT);
    let given_up = given_up.finish().exits(130);
    assert!(!given_up.stdout.contains("geheim"), "{given_up}");
    for wrong in [
        &["--until", "popup"][..],
        &["--follow", "--limit", "3"],
        &["--follow", "--kind", "popup", "--until", "crash"],
    ] {
        stage.start([&["events"][..], wrong].concat()).finish().exits(2);
    }
    stage.start(["events", "--follow", "--session", "nobody"]).finish().exits(3);
}
