//! `clickAt`: a press at a point, and what received it.

use glass_tests::Stage;

const PAGE: &str = r#"<!doctype html><title>At</title><script src="ledger.js"></script><body style="margin:0">
<canvas id="c" width="300" height="200" onclick="at=[event.offsetX,event.offsetY]" ondblclick="twice=1"></canvas>
<button id="b" style="position:absolute;left:400px;top:20px;width:100px;height:40px">There</button>"#;

// contract: 5.3, 2.4
#[test]
fn the_point_is_pressed_and_what_received_it_is_told() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    stage.ok(&["click-at", "120", "48"]);
    assert_eq!(stage.eval("at"), serde_json::json!([120, 48]));
    let result = stage.ok(&["click-at", "450", "40", "--modifiers", "Alt"]);
    assert_eq!(result["evidence"]["hitTarget"]["label"], "There", "{result}");
    assert_eq!(visit.clicks(), ["c", "b"]);
    assert_eq!(visit.events().last().map(|event| event.held.clone()).as_deref(), Some("Alt"));
    stage.ok(&["click-at", "10", "10", "--count", "2"]);
    assert_eq!(stage.eval("twice"), 1);
}

// contract: 5.3
#[test]
fn a_point_outside_the_view_is_refused() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    for point in [["-1", "5"], ["5", "100000"]] {
        let error = stage.fails("invalid_argument", &["click-at", point[0], point[1]]);
        assert_eq!(error["dispatched"], "no", "{error}");
    }
    assert_eq!(stage.glassctl(["click-at", "5", "5", "--count", "3"]).code, Some(2));
    assert!(visit.events().is_empty());
}
