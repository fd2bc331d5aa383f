//! `selectTarget`: where later commands go.

use glass_tests::site::site;
use glass_tests::{Stage, World};

// contract: 7.1
#[test]
fn commands_go_to_the_page_that_was_selected_until_another_is() {
    let (stage, visit) = Stage::open("form.html");
    let first = stage.ok(&["list-targets"])["targets"][0]["id"].as_str().expect("an id").to_owned();
    let second = stage.ok(&["create-target", &visit.url("sections.html")])["targetId"].clone();
    let second = second.as_str().expect("an id");
    let selected = stage.ok(&["select-target", second]);
    assert_eq!(selected["targetId"], second);
    assert_eq!(selected["pageUrl"], visit.url("sections.html"));
    assert_eq!(stage.eval("location.href"), visit.url("sections.html"));
    assert_eq!(stage.ok(&["observe"])["page"]["targetId"], second);
    // A name in the call wins, and selects nothing.
    stage.ok(&["get-text", "--target-id", &first]);
    assert_eq!(stage.eval("location.href"), visit.url("sections.html"));
    stage.ok(&["select-target", &first]);
    assert_eq!(stage.eval("location.href"), visit.url("form.html"));
    stage.ok(&["close-target", second]);
}

// contract: 7.1 report: 38
#[test]
fn a_ref_of_the_other_page_is_refused() {
    let (stage, visit) = Stage::open("form.html");
    let save = stage.reference("button", "Save");
    let first = stage.ok(&["list-targets"])["targets"][0]["id"].as_str().expect("an id").to_owned();
    let second = stage.ok(&["create-target"])["targetId"].as_str().expect("an id").to_owned();
    stage.ok(&["select-target", &second]);
    let answer = stage.ask(&["click", &save]);
    assert!(matches!(answer.kind(), Some("target_not_found" | "stale_reference")), "{}", answer.run);
    assert!(visit.clicks().is_empty());
    stage.ok(&["select-target", &first]);
    stage.ok(&["click", &save]);
    stage.ok(&["close-target", &second]);
}

// contract: 7.1
#[test]
fn what_is_not_open_cannot_be_selected() {
    let (stage, visit) = Stage::open("form.html");
    let error = stage.fails("target_not_found", &["select-target", "nosuchtarget"]);
    assert_eq!(error["details"]["targets"][0]["pageUrl"], visit.url("form.html"), "{error}");
    assert_eq!(stage.glassctl(["select-target", "no such"]).code, Some(2));
    assert_eq!(stage.glassctl(["select-target"]).code, Some(2));
    assert_eq!(stage.eval("location.href"), visit.url("form.html"));
}

// contract: 7.1
#[test]
fn sessions_have_selections_of_their_own() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let second = world.ok(&["create-target", &visit.url("sections.html")])["targetId"].clone();
    world.ok(&["select-target", second.as_str().expect("an id")]);
    world.ok(&["navigate", &visit.url("twins.html"), "--session", "other"]);
    world
        .fails("target_not_found", &["select-target", second.as_str().expect("an id"), "--session", "other"]);
    let there = world.ok(&["evaluate", "location.href", "--session", "other"]);
    assert_eq!(there["value"], visit.url("twins.html"));
    assert_eq!(world.eval("location.href"), visit.url("sections.html"));
}
