//! `submit`: the page saw one submit event, or the answer says why it did not.

use glass_tests::Stage;

// contract: 5.3, 2.4
#[test]
fn a_form_is_submitted_once_by_its_button() {
    let (stage, visit) = Stage::open("form.html");
    let result = stage.ok(&["submit", "label=Name"]);
    assert_eq!(result["evidence"]["submitted"], true, "{result}");
    assert_eq!(stage.eval("submitted"), 1);
    assert_eq!(visit.clicks(), ["send"], "by a press of the button that submits");
}

// contract: 5.3
#[test]
fn a_form_without_a_button_is_submitted_by_enter() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>E</title><script src="ledger.js"></script>
        <form id="f" aria-label="Search" onsubmit="event.preventDefault(); sent = (window.sent ?? 0) + 1"><label>Words <input id="q"></label></form>"#,
    );
    let result = stage.ok(&["submit", "role=form;name=Search"]);
    assert_eq!(result["evidence"]["submitted"], true, "{result}");
    assert_eq!(stage.eval("sent"), 1);
    assert_eq!(visit.received("submit").len(), 1);
}

// contract: 2.1, 5.3
#[test]
fn a_field_that_does_not_fit_is_named_and_the_form_is_not_submitted() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>I</title><script src="ledger.js"></script>
        <form id="f" aria-label="Order"><label>Street <input id="street" required></label><button id="go">Go</button></form><p>no form</p>"#,
    );
    let error = stage.fails("verification_failed", &["submit", "role=form;name=Order"]);
    assert_eq!(
        (error["outcome"].as_str(), error["reason"].as_str()),
        (Some("failed"), Some("invalid_field")),
        "{error}"
    );
    assert_eq!(error["candidates"][0]["label"], "Street", "{error}");
    assert!(visit.received("submit").is_empty());
    let error = stage.fails("not_actionable", &["submit", "text=no form"]);
    assert_eq!(error["dispatched"], "no", "{error}");
}

// contract: 5.4
#[test]
fn a_form_that_leads_to_another_page_has_that_in_its_evidence() {
    let stage = Stage::take();
    let visit = stage.site().visit();
    visit.serve("from.html", "<!doctype html><title>From</title><form action=to.html><label>A <input name=a></label><button>Go</button></form>");
    visit.serve("to.html", "<!doctype html><title>To</title>there");
    stage.go(&visit, "from.html");
    let result = stage.ok(&["submit", "label=A"]);
    assert_eq!(result["evidence"]["documentChanged"], true, "{result}");
    assert_eq!(stage.eval("document.title"), "To");
}
