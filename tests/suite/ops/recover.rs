//! `recover`: ends what an operation is stuck in, and nothing else.

use std::time::Duration;

use glass_tests::Stage;
use serde_json::Value;

/// An operation that spins, and its execution.
fn stuck(stage: &Stage, target: &str) -> (glass_tests::Asking, String) {
    let spinning =
        stage.begin(&["evaluate", "while (true) {}", "--timeout-ms", "60000", "--target-id", target]);
    let execution = loop {
        let health = stage.ok(&["health"]);
        if health["running"][0]["dispatched"] == true {
            break health["running"][0]["executionId"].as_str().expect("an id").to_owned();
        }
    };
    (spinning, execution)
}

fn id(target: &Value) -> &str {
    target.as_str().expect("an id")
}

// contract: 7.7 2.7
#[test]
fn only_the_page_that_is_stuck_is_closed_and_its_operation_is_unknown() {
    let (stage, visit) = Stage::open("form.html");
    let made = stage.ok(&["create-target", &visit.url_at("other.localhost", "spin.html")]);
    let other = id(&made["targetId"]).to_owned();
    let (spinning, execution) = stuck(&stage, &other);
    for bad in ["", &"x".repeat(2001)] {
        let asks = ["recover", &execution, "--method", "close_target", "--approval", bad];
        stage.fails("invalid_argument", &asks);
    }
    let why = ["--method", "close_target", "--approval", "the page spins"];
    let recovered = stage.ok(&[&["recover", execution.as_str()][..], &why].concat());
    assert!(recovered["targetId"] == other && recovered["left"] == 1, "{recovered:#}");
    let answer = spinning.answer_within(Duration::from_secs(20));
    assert_eq!(answer.fails("unknown_outcome")["reason"], "recovered", "{}", answer.run);
    assert_eq!(stage.eval("document.title"), "A form", "the other page goes on");
    let error = stage.fails("target_not_found", &[&["recover", execution.as_str()][..], &why].concat());
    assert_eq!(error["reason"], "not_running");
}

// contract: 7.7 12.2
#[test]
fn the_end_of_the_browser_is_answered_and_the_next_navigate_begins_anew() {
    let (stage, visit) = Stage::open("form.html");
    let target = stage.ok(&["list-targets"])["targets"][0]["id"].clone();
    let (spinning, execution) = stuck(&stage, id(&target));
    let why = ["--method", "restart_browser", "--approval", "nothing else helps"];
    let recovered = stage.ok(&[&["recover", execution.as_str()][..], &why].concat());
    assert_eq!(recovered["method"], "restart_browser", "{recovered:#}");
    spinning.answer_within(Duration::from_secs(20)).fails("unknown_outcome");
    let anew = loop {
        let answer = stage.ask(&["navigate", &visit.url("form.html")]);
        // The old session may not have ended yet.
        if answer.json["ok"] == true {
            break answer;
        }
    };
    assert_eq!(anew.json["session"]["started"], "new", "{}", anew.run);
}
