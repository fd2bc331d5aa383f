//! Reading a page leaves no trace in it: a page that was read again and again reports the same as one that never was.

use std::time::Duration;

use glass_tests::{Stage, eventually};
use serde_json::Value;

// contract: 3.3
#[test]
fn a_page_that_was_read_looks_like_one_that_never_was() {
    let (stage, visit) = Stage::open("traces.html");
    stage.ok(&["create-target", &visit.url("traces.html?alone")]);
    eventually("the page that nobody reads", Duration::from_secs(20), || {
        visit.requests().into_iter().find(|request| request.path == "traces.html" && request.query == "alone")
    });
    for _ in 0..3 {
        let observed = stage.ok(&["observe"]);
        assert_eq!(glass_tests::rows(&observed, "button", "In closed").len(), 1, "{}", observed["outline"]);
        stage.ok(&["observe", "--interactive", "--scope", "css=body"]);
        stage.ok(&["get-text"]);
        stage.ok(&["find", "name=~part", "--limit", "5"]);
        stage.ok(&["find", "role=button"]);
        stage.ok(&["wait", "visible=name=Press"]);
        stage.fails("target_not_found", &["observe", "--scope", "name=Nothing here"]);
        stage.ok(&["screenshot", "-o", "traces.png"]);
        stage.ok(&["screenshot", "--annotate", "--clip", "0,0,200,100", "-o", "part.png"]);
    }
    stage.eval("new BroadcastChannel('traces').postMessage(1); 1");
    let report = |who: &str| -> Value {
        let request = visit.asked_for(&format!("report/{who}"));
        let state = request.parameter("state").expect("a report has a state");
        serde_json::from_str(&state).expect("a report is JSON")
    };
    let (read, alone) = (report("read"), report("alone"));
    let keys = alone.as_object().expect("an object").keys();
    for key in keys {
        assert_eq!(read[key], alone[key], "{key} differs");
    }
}
