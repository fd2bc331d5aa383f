//! Refs and guards: Glass acts on the node that was seen, at the page that was seen, or not at all.

use std::time::Duration;

use glass_tests::{Stage, holds};

const SOON: Duration = Duration::from_secs(10);

// contract: 3.5 report: 3
#[test]
fn a_node_that_was_replaced_by_its_like_is_refused_and_no_navigation_is_blamed() {
    let (stage, visit) = Stage::open("replaces.html");
    let reference = stage.reference("button", "Order two");
    let rounds = stage.eval("window.rounds").as_u64().expect("a number");
    holds("the list was replaced", SOON, || stage.eval("window.rounds").as_u64() > Some(rounds + 1));
    let error = stage.fails("stale_reference", &["click", &reference]);
    assert!(matches!(error["reason"].as_str(), Some("replaced" | "detached")), "{error}");
    let message = error["message"].to_string();
    assert!(
        !message.contains("navigat") || message.contains("did not navigate"),
        "no navigation is blamed: {error}"
    );
    assert!(!message.contains("cover"), "no overlay that is not there: {error}");
    assert_eq!(error["recovery"]["suggestion"], "reconcileReferences", "{error}");
    assert_eq!((error["outcome"].as_str(), error["dispatched"].as_str()), (Some("rejected"), Some("no")));
    assert!(visit.events().is_empty());
}

// contract: 3.5 report: 4
#[test]
fn refs_seen_after_going_back_work_at_once() {
    let (stage, visit) = Stage::open("sections.html");
    for cached in [true, false] {
        stage.go(&visit, "sections.html");
        if !cached {
            stage.eval("addEventListener('unload', () => {}); 1");
        }
        stage.ok(&["click", "role=link;name=Leave"]);
        stage.ok(&["wait", "title=A form"]);
        stage.eval("history.back(); 1");
        stage.ok(&["wait", "title=Sections"]);
        let reference = stage.reference("link", "Jump");
        stage.ok(&["click", &reference]);
        assert_eq!(stage.eval("location.hash"), "#two", "cached: {cached}");
        stage.eval("history.back(); 1");
    }
}

// contract: 3.5 report: 5
#[test]
fn a_vanished_rows_button_is_never_another_rows() {
    let (stage, visit) = Stage::open("twins.html");
    let found = stage.ok(&["find", "role=button;name=Delete"]);
    let second = found["matches"][1]["ref"].as_str().expect("a ref").to_owned();
    let third = found["matches"][2]["ref"].as_str().expect("a ref").to_owned();
    stage.eval("document.getElementById('row-2').remove()");
    let error = stage.fails("stale_reference", &["click", &second]);
    assert_eq!(error["reason"], "detached", "{error}");
    assert!(error["candidates"].as_array().is_none_or(|candidates| candidates.len() <= 8));
    assert!(visit.events().is_empty(), "nothing was deleted");
    stage.ok(&["click", &third]);
    assert_eq!(visit.clicks(), ["delete-3"]);
}

// contract: 3.5 report: 101
#[test]
fn a_button_that_was_renamed_is_refused_by_its_ref() {
    let (stage, visit) = Stage::open("renames.html");
    let reference = stage.reference("button", "Save");
    stage.eval("rename()");
    let error = stage.fails("stale_reference", &["click", &reference]);
    assert_eq!(error["reason"], "changed", "{error}");
    assert!(visit.events().is_empty());
    assert_eq!(stage.eval("window.deleted"), 0);
}

// contract: 3.6 report: 101
#[test]
fn a_rename_after_observe_is_stale_under_a_guard() {
    let (stage, visit) = Stage::open("renames.html");
    let revision = stage.revision();
    stage.eval("setTimeout(rename, 50)");
    stage.ok(&["wait", "visible=Delete account"]);
    for target in ["css=#b", "Delete account"] {
        let error =
            stage.fails("stale_revision", &["click", target, "--expected-revision", &revision.to_string()]);
        assert!(
            error["details"].to_string().contains(&revision.to_string()),
            "both numbers are told: {error}"
        );
        assert_eq!((error["outcome"].as_str(), error["dispatched"].as_str()), (Some("rejected"), Some("no")));
    }
    assert!(visit.events().is_empty());
}

// contract: 3.6 report: 101
#[test]
fn a_rename_while_the_click_waits_is_caught_right_before_dispatch() {
    let (stage, visit) = Stage::open("renames.html");
    // The button is covered: the click retries until the cover goes, and at that moment the button is another one. Set
    // before the click, since page operations run one after the other.
    stage.eval("cover(); setTimeout(() => { rename(); uncover() }, 1500)");
    let revision = stage.revision().to_string();
    let clicking = stage.begin(&["click", "css=#b", "--expected-revision", &revision]);
    clicking.answer().fails("stale_revision");
    assert!(visit.clicks().is_empty());
    assert_eq!(stage.eval("window.deleted"), 0);
}

// contract: 3.6
#[test]
fn the_right_revision_lets_an_operation_through() {
    let (stage, visit) = Stage::open("form.html");
    let revision = stage.revision();
    let result = stage.ok(&["click", "name=Save", "--expected-revision", &revision.to_string()]);
    assert_eq!(result["previousRevision"], revision);
    assert_eq!(visit.clicks(), ["save"]);
    stage.fails(
        "stale_revision",
        &["click", "name=Save", "--expected-revision", &(revision + 1000).to_string()],
    );
    for revision in ["0", "-1", "x"] {
        assert_eq!(stage.glassctl(["click", "Save", "--expected-revision", revision]).code, Some(2));
    }
}

// contract: 3.4
#[test]
fn style_position_and_animation_alone_do_not_move_the_revision() {
    let (stage, _visit) = Stage::open("form.html");
    let before = stage.revision();
    for change in [
        "save.style.color = 'red'",
        "save.className = 'other'",
        "save.style.transform = 'translate(5px, 5px)'",
        "save.animate([{opacity: .5}, {opacity: 1}], {duration: 10000, iterations: 9})",
        "scrollTo(0, 200)",
        "document.body.dataset.x = 1",
    ] {
        stage.eval(&format!("{change}; 1"));
        assert_eq!(stage.revision(), before, "{change}");
    }
}

// contract: 3.6
#[test]
fn a_region_guard_looks_at_the_targets_region_alone() {
    let (stage, visit) = Stage::open("regions.html");
    let revision = stage.revision().to_string();
    stage.eval("ticker.textContent = 'tick'; 1");
    stage.fails("stale_revision", &["click", "name=Pay", "--expected-revision", &revision]);
    stage.ok(&["click", "name=Pay", "--expected-revision", &revision, "--guard-scope", "region"]);
    assert_eq!(visit.clicks(), ["pay"]);
    let revision = stage.revision().to_string();
    stage.eval("amount.textContent = '900 €'; 1");
    let error = stage.fails(
        "stale_revision",
        &["click", "name=Pay", "--expected-revision", &revision, "--guard-scope", "region"],
    );
    assert_eq!(error["outcome"], "rejected");
    assert_eq!(visit.clicks(), ["pay"]);
    assert_eq!(stage.glassctl(["click", "Pay", "--guard-scope", "region"]).code, Some(2));
}

// contract: 3.6
#[test]
fn a_frame_guard_does_not_look_at_other_frames_and_a_page_guard_does() {
    let (stage, visit) = Stage::open("frames.html");
    stage.ok(&["wait", "text=Inner words"]);
    let revision = stage.revision().to_string();
    stage.eval("document.getElementById('same').contentDocument.body.append('more words'); 1");
    stage.ok(&["click", "name=Outer", "--expected-revision", &revision]);
    assert_eq!(visit.clicks(), ["outer"]);
    let revision = stage.revision().to_string();
    stage.eval("document.getElementById('same').contentDocument.body.append('still more'); 1");
    stage.fails(
        "stale_revision",
        &["click", "name=Outer", "--expected-revision", &revision, "--guard-scope", "page"],
    );
}

// contract: 3.5
#[test]
fn a_ref_stays_good_while_other_things_change_and_the_answer_says_so() {
    let (stage, visit) = Stage::open("form.html");
    let reference = stage.reference("button", "Save");
    let revision = stage.revision();
    stage.eval("out.textContent = 'changed'; form.before(form); 1");
    let result = stage.ok(&["click", &format!("r{revision}:{reference}")]);
    assert_eq!(result["target"]["carried"], true, "{result}");
    assert_eq!(visit.clicks(), ["save"]);
    let name = stage.reference("textbox", "Name");
    stage.ok(&["fill", &name, "Bob"]);
    stage.ok(&["fill", &name, "Eve"]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "Eve");
}

// contract: 3.5
#[test]
fn a_ref_of_an_earlier_document_is_stale_by_navigation() {
    let (stage, visit) = Stage::open("form.html");
    let reference = stage.reference("button", "Save");
    let revision = stage.revision();
    stage.go(&visit, "form.html");
    for stale in [reference.clone(), format!("r{revision}:{reference}")] {
        let answer = stage.ask(&["click", &stale]);
        let error = answer.fails("stale_reference");
        assert_eq!(error["reason"], "navigated", "{}", answer.run);
        assert_eq!(error["recovery"]["staleRef"], stale, "{}", answer.run);
    }
    assert!(visit.clicks().is_empty());
}

// contract: 3.5, 7.1 report: 38
#[test]
fn a_ref_of_one_page_means_nothing_on_another() {
    let (stage, visit) = Stage::open("popups.html");
    let result = stage.ok(&["click", "name=Window open"]);
    let popup = result["evidence"]["popups"][0]["targetId"].as_str().expect("a popup").to_owned();
    stage.ok(&["wait", "text=Sign in", "--target-id", &popup]);
    let reference = stage.reference("button", "Short lived");
    let before = visit.events().len();
    let answer = stage.ask(&["click", &reference, "--target-id", &popup]);
    assert!(matches!(answer.kind(), Some("stale_reference" | "target_not_found")), "{}", answer.run);
    assert_eq!(answer.error()["dispatched"], "no", "{}", answer.run);
    assert_eq!(visit.events().len(), before);
    stage.ask(&["evaluate", "window.close()", "--target-id", &popup]);
}

// contract: 3.5
#[test]
fn a_ref_that_never_was_is_refused() {
    let (stage, visit) = Stage::open("form.html");
    let answer = stage.ask(&["click", "e99999"]);
    assert!(matches!(answer.kind(), Some("stale_reference" | "target_not_found")), "{}", answer.run);
    stage.ask(&["click", "f9e1"]).error();
    assert!(visit.events().is_empty());
}
