//! `closeTarget`: closes whatever the page does, and leaves nothing selected that nobody chose.

use std::time::Duration;

use glass_tests::site::{Visit, site};
use glass_tests::{Stage, World};

/// Closing takes Chromium half a second when the page spins; the machine is slow five times over.
const SOON: Duration = Duration::from_secs(5);
const LIMIT: Duration = Duration::from_secs(30);

fn open(stage: &World, visit: &Visit, page: &str) -> String {
    stage.ok(&["create-target", &visit.url(page)])["targetId"].as_str().expect("an id").to_owned()
}

// contract: 7.1
#[test]
fn closing_the_selected_page_leaves_none_and_says_which_there_are() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let first = world.ok(&["list-targets"])["targets"][0]["id"].as_str().expect("an id").to_owned();
    let second = open(&world, &visit, "sections.html");
    let closed = world.ok(&["close-target", &first]);
    assert_eq!((closed["wasSelected"].clone(), closed["left"].clone()), (true.into(), 1.into()), "{closed}");
    for command in [&["observe"][..], &["click", "name=Save"], &["navigate", "about:blank"], &["reload"]] {
        let error = world.fails("no_target_selected", command);
        assert_eq!(error["details"]["targets"][0]["id"], second.as_str(), "{error}");
        assert_eq!(error["dispatched"], "no", "{error}");
    }
    let rows = world.ok(&["list-targets"])["targets"].as_array().cloned().expect("rows");
    assert!(rows.len() == 1 && rows[0]["selected"] == false, "{rows:?}");
    world.ok(&["get-text", "--target-id", &second]);
    world.fails("no_target_selected", &["observe"]);
    world.ok(&["select-target", &second]);
    assert_eq!(world.eval("location.href"), visit.url("sections.html"));
}

// contract: 7.1
#[test]
fn the_last_page_can_be_closed_and_another_opened() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let only = world.ok(&["list-targets"])["targets"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(world.ok(&["close-target", &only])["left"], 0);
    assert_eq!(world.ok(&["list-targets"])["targets"].as_array().map(Vec::len), Some(0));
    world.fails("no_target_selected", &["observe"]);
    world.fails("target_not_found", &["close-target", &only]);
    let next = open(&world, &visit, "form.html");
    assert_ne!(next, only, "ids are never used again");
    world.fails("no_target_selected", &["observe"]);
    world.ok(&["select-target", &next]);
    world.ok(&["click", "name=Save"]);
    assert_eq!(visit.clicks(), ["save"]);
}

// contract: 1.7, 5.5 report: 36
#[test]
fn a_page_that_spins_asks_or_shows_a_dialog_is_closed_at_once() {
    let (stage, visit) = Stage::open("form.html");
    visit.serve("dirty.html", "<!doctype html><title>Dirty</title><button>Touch</button><script>onbeforeunload = (event) => { event.preventDefault(); return 'stay' }</script>");
    let dirty = open(&stage, &visit, "dirty.html");
    stage.ok(&["click", "name=Touch", "--target-id", &dirty]);
    let asking = open(&stage, &visit, "dialogs.html");
    stage.ask(&["evaluate", "setTimeout(() => alert('Stop'), 0); 1", "--target-id", &asking]).result();
    glass_tests::holds("the dialog is open", LIMIT, || {
        let rows = stage.ok(&["list-targets"])["targets"].as_array().cloned().unwrap_or_default();
        rows.iter().any(|row| row["id"] == asking.as_str() && row["dialog"] == true)
    });
    let spinning = open(&stage, &visit, "spin.html");
    let spin =
        stage.begin(&["evaluate", "while (true) {}", "--timeout-ms", "20000", "--target-id", &spinning]);
    glass_tests::holds("the page spins", LIMIT, || {
        let rows = stage.ok(&["list-targets"])["targets"].as_array().cloned().unwrap_or_default();
        rows.iter().any(|row| row["id"] == spinning.as_str() && row["responsive"] == false)
    });
    for id in [&dirty, &asking, &spinning] {
        let answer = stage.ask(&["close-target", id]);
        answer.result();
        assert!(answer.run.took < SOON, "{}", answer.run);
    }
    spin.answer_within(LIMIT).fails("unknown_outcome");
    assert_eq!(stage.ok(&["list-targets"])["targets"].as_array().map(Vec::len), Some(1));
    stage.ok(&["click", "name=Save"]);
    assert_eq!(visit.clicks(), ["save"]);
}

// contract: 7.1
#[test]
fn an_unknown_id_closes_nothing() {
    let (stage, _visit) = Stage::open("form.html");
    stage.fails("target_not_found", &["close-target", "nosuchtarget"]);
    assert_eq!(stage.ok(&["list-targets"])["targets"].as_array().map(Vec::len), Some(1));
}
