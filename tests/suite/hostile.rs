//! Pages that break the tools which read them: rewritten, with replaced built-ins, with clobbered names, under a strict
//! policy. Nothing of Glass shows on them.

use std::time::Duration;

use glass_tests::{Stage, rows};
use serde_json::json;

// contract: 3.3 report: 105
#[test]
fn observing_leaves_the_page_as_it_was() {
    let (stage, visit) = Stage::open("watched.html");
    stage.eval("window.start(); 1");
    for operation in [
        &["observe"][..],
        &["observe", "--interactive"],
        &["get-text"],
        &["find", "css=*", "--all", "--limit", "100"],
        &["find", "role=button;name=Below"],
        &["wait", "visible=role=button;name=Below"],
        &["screenshot"],
    ] {
        stage.ok(operation);
    }
    assert_eq!(stage.eval("window.seen()"), json!([]), "what the page noticed");
    assert_eq!(stage.eval("!!document.getElementById('canvas').getContext('2d')"), true);
    assert!(visit.events().is_empty());
}

// contract: 3.3 report: 105
#[test]
fn a_picture_of_what_is_in_view_is_not_noticed_by_the_page() {
    let (stage, _visit) = Stage::open("watched.html");
    stage.eval("window.start(); 1");
    stage.ok(&["screenshot"]);
    stage.ok(&["screenshot", "--target", "name=Plain"]);
    assert_eq!(stage.eval("window.seen()"), json!([]), "what the page noticed");
}

// contract: 3.3 report: 105
#[test]
fn a_click_adds_nothing_but_its_input() {
    let (stage, _visit) = Stage::open("watched.html");
    stage.eval("window.start(); 1");
    stage.ok(&["click", "name=Plain"]);
    assert_eq!(stage.eval("window.seen()"), json!([]), "what the page noticed beside the click");
    assert_eq!(stage.eval("document.documentElement.outerHTML.includes('glass')"), false);
    assert_eq!(stage.eval("Object.getOwnPropertyNames(window).some((name) => /glass/i.test(name))"), false);
}

// contract: 5.3 report: 258
#[test]
fn a_page_that_rewrites_itself_is_seen_anew() {
    let (stage, _visit) = Stage::open("rewrites.html");
    let old = stage.reference("button", "Rewrite");
    let answer = stage.ask(&["click", &old]);
    answer.result();
    assert!(answer.run.took < Duration::from_secs(4), "{}", answer.run);
    let error = stage.fails("stale_reference", &["click", &old]);
    assert!(matches!(error["reason"].as_str(), Some("detached" | "replaced" | "navigated")), "{error}");
    let observed = stage.ok(&["observe"]);
    assert_eq!(rows(&observed, "button", "Written").len(), 1, "{observed}");
    stage.ok(&["click", "name=Written"]);
    assert_eq!(stage.eval("window.written"), 1);
    let result = stage.ok(&["click", "name=Ask"]);
    assert_eq!(result["evidence"]["dialog"]["type"], "confirm", "{result}");
    stage.ok(&["dismiss-dialog"]);
}

// contract: 5.3 report: 258
#[test]
fn a_page_that_is_written_in_pieces_and_never_closed_works() {
    let (stage, _visit) = Stage::open("rewrites.html");
    let answer = stage.ask(&["click", "name=In pieces"]);
    answer.result();
    assert!(answer.run.took < Duration::from_secs(4), "{}", answer.run);
    stage.ok(&["wait", "visible=role=button;name=Piece 3"]);
    stage.ok(&["click", "name=Piece 3"]);
    assert_eq!(stage.eval("window.piece"), 3);
    assert_ne!(stage.eval("document.readyState"), "complete");
}

// contract: 3.1 report: 258
#[test]
fn observing_while_a_page_rewrites_itself_never_breaks() {
    let (stage, _visit) = Stage::open("rewrites.html");
    stage.eval("rewriteForEver(); 1");
    for _ in 0..40 {
        let answer = stage.ask(&["observe"]);
        assert!(answer.kind().is_none(), "{}", answer.run);
    }
    stage.eval("parent.stopRewriting?.(); window.stop; 1");
}

// contract: 3.5 report: 258
#[test]
fn a_frame_that_its_parent_rewrites_is_seen_anew() {
    let stage = Stage::take();
    let _visit = stage.show("<!doctype html><title>Parent</title><iframe id=f title=Child srcdoc='<button>Old one</button>'></iframe>");
    stage.ok(&["wait", "visible=role=button;name=Old one"]);
    let old = stage.reference("button", "Old one");
    stage.eval(
        "const d = document.getElementById('f').contentDocument; d.open(); d.write('<button onclick=\"parent.pressed = 1\">New one</button>'); d.close()",
    );
    let error = stage.fails("stale_reference", &["click", &old]);
    assert_eq!(error["dispatched"], "no", "{error}");
    stage.ok(&["wait", "visible=role=button;name=New one"]);
    stage.ok(&["click", "role=button;name=New one"]);
    assert_eq!(stage.eval("window.pressed"), 1);
}

// contract: 5.2, 5.3 report: 259
#[test]
fn replaced_built_ins_change_nothing() {
    let (stage, visit) = Stage::open("replaced.html");
    let observed = stage.ok(&["observe"]);
    assert_eq!(rows(&observed, "button", "Press").len(), 1, "{observed}");
    stage.ok(&["click", "name=Press"]);
    stage.ok(&["fill", "label=Field", "typed é"]);
    stage.ok(&["click", "name=Far"]);
    stage.ok(&["key", "Tab"]);
    stage.ok(&["wait", "text=Some words"]);
    assert!(stage.ok(&["get-text"])["text"].as_str().is_some_and(|text| text.contains("Some words")));
    stage.ok(&["screenshot"]);
    assert_eq!(visit.clicks(), ["press", "far"]);
    assert_eq!(stage.eval("original.value()"), "typed é");
}

// contract: 5.3 report: 259
#[test]
fn evaluate_carries_what_the_pages_code_yields_and_nothing_of_its_json() {
    let (stage, _visit) = Stage::open("replaced.html");
    for (script, value) in [
        ("[1, 2, 3]", json!([1, 2, 3])),
        ("({a: [true]})", json!({"a": [true]})),
        ("'text'", json!("text")),
        ("1 + 1", json!(2)),
    ] {
        let answer = stage.ask(&["evaluate", "--", script]);
        match answer.kind() {
            // A typed error is honest; a wrong value is not.
            Some(kind) => assert_eq!(kind, "evaluation_failed", "{}", answer.run),
            None => assert_eq!(answer.result()["value"], value, "{script}: {}", answer.run),
        }
    }
    let (stage, _visit) = Stage::open("form.html");
    for script in [
        "NaN",
        "1/0",
        "new Map([[1, 2]])",
        "new Date(0)",
        "undefined",
        "Symbol('x')",
        "() => 1",
        "document.body",
    ] {
        let answer = stage.ask(&["evaluate", "--", script]);
        if let Some(kind) = answer.kind() {
            assert_eq!(kind, "evaluation_failed", "{script}: {}", answer.run);
        }
    }
}

// contract: 3.2 report: 105, DESIGN 6
#[test]
fn form_controls_named_like_members_of_nodes_clobber_nothing() {
    let (stage, visit) = Stage::open("clobbered.html");
    let observed = stage.ok(&["observe"]);
    assert_eq!(rows(&observed, "button", "Go on").len(), 1, "{observed}");
    stage.ok(&["click", "name=Go on"]);
    stage.ok(&["fill", "label=Real field", "kept"]);
    assert_eq!(visit.clicks(), ["go"]);
    assert_eq!(stage.eval("document.getElementById('real').value"), "kept");
    let scoped = stage.ok(&["observe", "--scope", "css=#trap"]);
    assert_eq!(rows(&scoped, "button", "Go on").len(), 1, "{scoped}");
}

// report: 260
#[test]
fn a_strict_content_policy_stops_nothing_and_learns_nothing() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    let policy = format!(
        "require-trusted-types-for 'script'; trusted-types 'none'; script-src 'self'; connect-src 'none'; report-uri {}",
        visit.url("report")
    );
    visit.serve_with(
        "strict.html",
        "<!doctype html><title>Strict</title><button id=b>Press</button><label>Field <input id=f></label><p>Strict words",
        &[("Content-Security-Policy", &policy)],
    );
    stage.go(&visit, "strict.html");
    for operation in [
        &["observe"][..],
        &["click", "name=Press"],
        &["fill", "label=Field", "x"],
        &["key", "y"],
        &["wait", "text=Strict words"],
        &["get-text"],
        &["screenshot"],
        &["evaluate", "await Promise.resolve(document.title)"],
        &["evaluate", "const x = 1; return x + 1"],
    ] {
        stage.ok(operation);
    }
    assert_eq!(stage.eval("f.value"), "xy");
    assert_eq!(visit.count("report"), 0, "{:?}", visit.requests());
}

// report: 260
#[test]
fn a_sandboxed_page_without_scripts_can_be_read_and_clicked() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    visit.serve_with(
        "boxed.html",
        "<!doctype html><title>Boxed</title><details id=d><summary>More</summary><p>Inside words</p></details>",
        &[("Content-Security-Policy", "sandbox")],
    );
    stage.go(&visit, "boxed.html");
    stage.ok(&["click", "text=More"]);
    stage.ok(&["wait", "text=Inside words"]);
}
