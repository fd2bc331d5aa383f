//! Reading a page leaves no trace in it: a page that was read again and again reports the same as one that never was.

use glass_tests::site::site;
use glass_tests::{Stage, rows};
use serde_json::Value;

// contract: 3.3
#[test]
fn a_page_that_was_read_looks_like_one_that_never_was() {
    let stage = Stage::take();
    let visit = site().visit();
    // All are made in the same way, so that their windows are alike.
    let made = |page: &str| {
        let made = stage.ok(&["create-target", &visit.url(page)]);
        made["targetId"].as_str().expect("a target").to_owned()
    };
    stage.go(&visit, "form.html");
    let other = made("form.html");
    let alone_id = made("traces.html?alone");
    let read = made("traces.html");
    let ask = |arguments: &[&str]| {
        let arguments: Vec<_> = arguments.iter().copied().chain(["--target-id", &read]).collect();
        stage.ask(&arguments)
    };
    for _ in 0..3 {
        let observed = ask(&["observe"]);
        assert_eq!(rows(observed.result(), "button", "In closed").len(), 1, "{}", observed.run);
        ask(&["observe", "--interactive", "--scope", "css=body"]).result();
        ask(&["get-text"]).result();
        ask(&["find", "name=~part", "--limit", "5"]).result();
        ask(&["find", "role=button"]).result();
        ask(&["wait", "visible=name=Press"]).result();
        ask(&["observe", "--scope", "name=Nothing here"]).fails("target_not_found");
        ask(&["screenshot", "-o", "traces.png"]).result();
        ask(&["screenshot", "--annotate", "--clip", "0,0,200,100", "-o", "part.png"]).result();
    }
    // An expression: a text that is none is parsed again, and a page can notice that a parser failed.
    ask(&["evaluate", "void new BroadcastChannel('traces').postMessage(1)"]).result();
    let report = |who: &str| -> Value {
        let request = visit.asked_for(&format!("report/{who}"));
        let state = request.parameter("state").expect("a report has a state");
        serde_json::from_str(&state).expect("a report is JSON")
    };
    let (state, alone) = (report("read"), report("alone"));
    let keys = alone.as_object().expect("an object").keys();
    for key in keys {
        assert_eq!(state[key], alone[key], "{key} differs");
    }
    for target in [other, alone_id, read] {
        stage.ok(&["close-target", &target]);
    }
}
