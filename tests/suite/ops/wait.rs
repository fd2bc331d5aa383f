//! `wait`: returns when the page is so, beside everything else, or says that it did not come.

use std::time::Duration;

use glass_tests::{Stage, holds};

const LIMIT: Duration = Duration::from_secs(20);

// contract: 8.1
#[test]
fn each_condition_is_met_by_a_later_change() {
    let (stage, visit) = Stage::open("form.html");
    for (condition, change) in [
        ("text=now here", "out.textContent = 'it is now here'"),
        ("title=Other", "document.title = 'Other'"),
        ("visible=role=button;name=Late", "form.insertAdjacentHTML('beforeend', '<button>Late</button>')"),
        ("hidden=role=button;name=Late", "form.lastElementChild.style.display = 'none'"),
        ("url=URL", "location.hash = 'x'"),
    ] {
        let condition = condition.replace("URL", &visit.url("form.html#x"));
        let waiting = stage.begin(&["wait", &condition, "--timeout-ms", "15000"]);
        // The wait is beside: the change can be made by a page operation meanwhile.
        stage.eval(&format!("setTimeout(() => {{ {change} }}, 100)"));
        let answer = waiting.answer_within(LIMIT);
        assert!(answer.result()["waitedMs"].is_u64(), "{}", answer.run);
    }
}

// contract: 8.1
#[test]
fn what_already_holds_returns_at_once() {
    let (stage, visit) = Stage::open("form.html");
    for condition in [
        "text=Sign in".to_owned(),
        "title=A form".to_owned(),
        format!("url={}", visit.url("form.html")),
        "visible=Save".to_owned(),
        "hidden=Nothing".to_owned(),
    ] {
        let answer = stage.ask(&["wait", &condition]);
        assert!(answer.result()["waitedMs"].as_u64() < Some(1000), "{}", answer.run);
    }
}

// contract: 8.1, 2.6
#[test]
fn a_condition_that_never_holds_is_a_timeout_and_nothing_more() {
    let (stage, _visit) = Stage::open("form.html");
    for condition in ["text=never", "visible=role=button;name=Never", "hidden=Save", "title=Never"] {
        let answer = stage.ask(&["wait", condition, "--timeout-ms", "500"]);
        answer.fails("timeout");
        assert_eq!(answer.run.code, Some(6));
        assert!(answer.run.took < Duration::from_secs(4), "{}", answer.run);
    }
}

// contract: 8.1
#[test]
fn a_second_match_ends_a_wait_for_one() {
    let (stage, _visit) = Stage::open("twins.html");
    stage.fails("ambiguous_target", &["wait", "visible=role=button;name=Delete"]);
}

// contract: 8.1
#[test]
fn a_wait_survives_a_navigation() {
    let (stage, visit) = Stage::open("sections.html");
    let waiting = stage.begin(&["wait", "text=Sign in", "--timeout-ms", "15000"]);
    stage.go(&visit, "form.html");
    waiting.answer_within(LIMIT).result();
}

// contract: 1.7, 2.8 report: 63
#[test]
fn a_wait_whose_client_is_killed_is_over() {
    let (stage, _visit) = Stage::open("form.html");
    let waits = || stage.ok(&["session", "show", "default"]).to_string().contains("wait");
    for _ in 0..5 {
        let waiting = stage.begin(&["wait", "text=never", "--timeout-ms", "60000"]);
        holds("the wait is under way", LIMIT, waits);
        waiting.running.kill();
        drop(waiting);
        assert_eq!(stage.eval("1"), 1);
        holds("no wait is left", LIMIT, || !waits());
    }
}

// contract: 12.6
#[test]
fn an_unknown_condition_is_a_wrong_call() {
    let (stage, _visit) = Stage::open("form.html");
    for condition in ["", "networkidle", "text=", "visible=", "visible=a=b"] {
        assert_eq!(stage.glassctl(["wait", condition]).code, Some(2), "{condition}");
    }
}
