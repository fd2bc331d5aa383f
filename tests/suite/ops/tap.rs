//! `tap`: touch on exactly one element.

use glass_tests::Stage;

// contract: 5.3, 5.2
#[test]
fn the_page_gets_a_touch_and_its_click() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>Tap</title><script src="ledger.js"></script><button id="b">Touch me</button><button id="c">Not me</button>
        <script>kinds = []; b.addEventListener('pointerdown', (e) => kinds.push(e.pointerType, e.isTrusted))</script>"#,
    );
    let result = stage.ok(&["tap", "Touch me"]);
    assert_eq!(stage.eval("kinds"), serde_json::json!(["touch", true]), "{result}");
    assert_eq!(visit.clicks(), ["b"]);
    assert_eq!(result["evidence"]["hitTarget"]["ref"], result["target"]["ref"], "{result}");
}

// contract: 5.1
#[test]
fn what_is_covered_is_not_touched() {
    let (stage, visit) = Stage::open("covered.html");
    let error = stage.fails("not_actionable", &["tap", "css=#buy", "--timeout-ms", "1500"]);
    assert_eq!(error["reason"], "hit_test_blocked", "{error}");
    assert!(visit.events().is_empty());
}
