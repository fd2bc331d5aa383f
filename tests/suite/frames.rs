//! Frames: seen with refs of their own, and clicked where they really are.

use std::time::Duration;

use glass_tests::site::Event;
use glass_tests::{Stage, holds, rows};

/// A frame that does not answer is waited for a second by each look.
const LIMIT: Duration = Duration::from_secs(20);

// contract: 3.2, 4.2
#[test]
fn frames_of_the_same_site_are_in_the_outline_at_any_depth() {
    let (stage, visit) = Stage::open("frames.html");
    stage.ok(&["wait", "visible=role=button;name=Deep button"]);
    let observed = stage.ok(&["observe"]);
    for name in ["Outer", "Inner button", "In srcdoc", "Deep button", "Scaled button"] {
        let found = rows(&observed, "button", name);
        assert_eq!(found.len(), 1, "{name} in\n{}", observed["outline"].as_str().unwrap_or(""));
        let reference = found[0]["ref"].as_str().expect("a ref");
        assert_eq!(reference.starts_with('f'), name != "Outer", "{name} [{reference}]");
    }
    for (name, id) in [
        ("Inner button", "inner-button"),
        ("In srcdoc", "in-srcdoc"),
        ("Deep button", "deep-button"),
        ("Scaled button", "scaled-button"),
    ] {
        let result = stage.ok(&["click", &format!("role=button;name={name}")]);
        assert_eq!(visit.clicks().last().map(String::as_str), Some(id), "{result}");
        assert_eq!(result["evidence"]["hitTarget"]["ref"], result["target"]["ref"], "{result}");
    }
}

// contract: 5.1 report: 26
#[test]
fn a_button_below_the_fold_of_a_scaled_frame_is_hit() {
    let (stage, visit) = Stage::open("frames.html");
    stage.ok(&["wait", "visible=role=button;name=Below button"]);
    stage.ok(&["click", "role=button;name=Below button"]);
    assert_eq!(visit.clicks(), ["below-button"]);
}

// contract: 5.3
#[test]
fn fields_in_frames_are_filled_by_ref_and_by_label() {
    let (stage, visit) = Stage::open("frames.html");
    stage.ok(&["wait", "visible=label=Inner field"]);
    stage.ok(&["fill", "label=Inner field", "typed in the frame"]);
    let reference = stage.reference("textbox", "Inner field");
    stage.ok(&["fill", &reference, "by ref"]);
    assert_eq!(
        stage.eval("document.getElementById('same').contentDocument.getElementById('inner-field').value"),
        "by ref"
    );
    assert!(
        visit
            .events()
            .iter()
            .filter(|event| event.kind == "input")
            .all(|event| event.trusted && event.id == "inner-field")
    );
}

// contract: 5.1
#[test]
fn an_overlay_of_the_parent_blocks_an_element_in_a_frame() {
    let (stage, visit) = Stage::open("frames.html");
    stage.ok(&["wait", "visible=role=button;name=Inner button"]);
    stage.eval("document.body.insertAdjacentHTML('beforeend', '<div id=over style=\"position:fixed;inset:0\">over</div>'); 1");
    let error = stage.fails("not_actionable", &["click", "name=Inner button", "--timeout-ms", "800"]);
    assert_eq!(error["reason"], "hit_test_blocked", "{error}");
    assert!(visit.events().is_empty());
}

// contract: 3.5
#[test]
fn refs_of_a_frame_die_with_its_document_and_not_with_another_frames() {
    let (stage, visit) = Stage::open("frames.html");
    stage.ok(&["wait", "visible=role=button;name=Scaled button"]);
    let inner = stage.reference("button", "Inner button");
    let scaled = stage.reference("button", "Scaled button");
    stage.eval("document.getElementById('same').src = 'inner.html?again'; 1");
    stage.ok(&["wait", "visible=role=button;name=Inner button"]);
    glass_tests::holds("the frame's new document", std::time::Duration::from_secs(10), || {
        visit.count("inner.html") == 2
    });
    glass_tests::eventually("its refs are stale", std::time::Duration::from_secs(10), || {
        let answer = stage.ask(&["click", &inner, "--timeout-ms", "500"]);
        (answer.kind() == Some("stale_reference")).then_some(())
    });
    stage.ok(&["click", &scaled]);
    assert_eq!(visit.clicks().last().map(String::as_str), Some("scaled-button"));
}

// contract: 3.2, 4.2, 5.1 report: 26
#[test]
fn cross_site_frames_are_seen_filled_and_clicked_at_two_depths() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    stage.ok(&["navigate", &visit.url_at("a.localhost", "cross.html")]);
    stage.ok(&["wait", "visible=role=button;name=Deep cross button"]);
    let observed = stage.ok(&["observe"]);
    for name in ["Cross button", "Deep cross button"] {
        assert_eq!(
            rows(&observed, "button", name).len(),
            1,
            "{name} in\n{}",
            observed["outline"].as_str().unwrap_or("")
        );
    }
    stage.ok(&["click", "name=Cross button"]);
    stage.ok(&["click", "name=Deep cross button"]);
    stage.ok(&["fill", "label=Cross field", "typed"]);
    assert_eq!(visit.clicks(), ["cross-button", "deep-cross-button"]);
    let typed = |event: &Event| event.id == "cross-field" && event.trusted && event.value == "typed";
    assert!(visit.events().iter().any(typed), "{:?}", visit.events());
}

// contract: 5.1 report: 26, 202
#[test]
fn a_turned_and_scaled_cross_site_frame_is_hit_where_it_is() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    stage.ok(&["navigate", &visit.url_at("a.localhost", "cross-turned.html")]);
    stage.ok(&["wait", "visible=role=button;name=Cross button"]);
    stage.ok(&["click", "name=Cross button"]);
    assert_eq!(visit.clicks(), ["cross-button"]);
    assert!(visit.events().iter().all(|event| event.id == "cross-button"), "{:?}", visit.events());
}

// contract: 2.7, 1.7
#[test]
fn a_frame_that_does_not_answer_is_listed_as_such_and_the_rest_is_read() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    visit.serve("hung.html", "<!doctype html><title>Hung</title><button>Beside</button><iframe title=Spinner src='http://b.localhost:{{port}}/{{visit}}/spins.html'></iframe>");
    visit.serve(
        "spins.html",
        "<!doctype html><title>S</title><p>x<script>setTimeout(() => { for (;;); }, 300)</script>",
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "hung.html")]);
    visit.asked_for("spins.html");
    let answer = stage.ask(&["observe"]);
    assert_eq!(rows(answer.result(), "button", "Beside").len(), 1, "{}", answer.run);
    let answer = stage.ask(&["click", "name=Beside"]);
    answer.result();
}

// contract: 2.1, 4.2, 8.1, 8.2
#[test]
fn what_could_not_be_read_is_neither_there_nor_gone() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    visit.serve("hung.html", "<!doctype html><title>Hung</title><main aria-label=All><button>Beside</button><iframe title=Calm srcdoc='<p>calm'></iframe><iframe title=Spinner src='http://b.localhost:{{port}}/{{visit}}/spins.html'></iframe></main>");
    visit.serve(
        "spins.html",
        "<!doctype html><title>S</title><section aria-label=Box><button>Deep</button></section><script>setTimeout(() => { for (;;); }, 300)</script>",
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "hung.html")]);
    visit.asked_for("spins.html");
    holds("the frame spins", LIMIT, || stage.ok(&["find", "name=Nowhere"])["framesUnread"] == 1);
    // Each is open, and so is its opposite.
    for part in [
        r#"{"visible": "name=Deep"}"#,
        r#"{"hidden": "name=Deep"}"#,
        r#"{"hidden": "name=Box >> name=Deep"}"#,
        r#"{"hidden": "name=All >> name=Deep"}"#,
        r#"{"checked": "name=Deep"}"#,
        r#"{"textContains": "Deep"}"#,
        r#"{"count": {"target": "name=Deep", "equals": 0}}"#,
    ] {
        for asked in [part.to_owned(), format!(r#"{{"not": {part}}}"#)] {
            let error = stage.fails("verification_failed", &["verify", &asked]);
            assert_eq!(error["details"]["seen"][0].get("holds"), None, "{asked}: {error}");
        }
    }
    for wait in ["detached=name=Deep", "hidden=name=Box >> name=Deep", "gone-text=Deep"] {
        stage.fails("timeout", &["wait", wait, "--timeout-ms", "1500"]);
    }
    let text = stage.ok(&["get-text"]);
    assert_eq!((&text["framesUnread"], &text["leftOut"]), (&1.into(), &0.into()), "{text}");
    let text = stage.ok(&["get-text", "--scope", "title=Calm"]);
    assert_eq!((&text["text"], text.get("framesUnread")), (&"calm".into(), None), "{text}");
    let error = stage.fails("target_not_found", &["click", "name=Deep", "--timeout-ms", "3000"]);
    assert_eq!(error["reason"], "frame_unavailable", "{error}");
    // What lies elsewhere was read.
    for asked in [
        r#"{"visible": "name=Beside"}"#,
        r#"{"not": {"hidden": "name=Beside"}}"#,
        r#"{"not": {"count": {"target": "name=Beside", "equals": 0}}}"#,
    ] {
        stage.ok(&["verify", asked]);
    }
    stage.ok(&["verify", "--frame", "title=Calm", r#"{"hidden": "name=Deep"}"#]);
    stage.ok(&["verify", "--scope", "title=Calm", r#"{"hidden": "name=Deep"}"#]);
}
