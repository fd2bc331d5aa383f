//! `doubleClick`: two presses on one element, or an honest failure.

use glass_tests::Stage;

// contract: 5.2, 5.3
#[test]
fn the_page_sees_two_trusted_clicks_and_one_double_click() {
    let (stage, visit) = Stage::open("form.html");
    let result = stage.ok(&["double-click", "role=button;name=Save"]);
    assert_eq!(visit.clicks(), ["save", "save"]);
    assert_eq!(visit.received("dblclick"), ["save"]);
    assert!(visit.events().iter().all(|event| event.trusted));
    assert_eq!(result["evidence"]["hitTarget"]["ref"], result["target"]["ref"], "{result}");
}

// contract: 5.3
#[test]
fn a_word_is_selected_as_for_a_person() {
    let stage = Stage::take();
    let _visit = stage.show("<!doctype html><title>W</title><p tabindex=0 aria-label=Words>alpha</p>");
    stage.ok(&["double-click", "text=alpha"]);
    assert_eq!(stage.eval("String(getSelection())"), "alpha");
}

// contract: 5.1, 2.1
#[test]
fn a_second_press_that_would_hit_something_else_is_stopped_and_told() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>S</title><script src="ledger.js"></script>
        <button id="one" style="position:absolute;left:20px;top:20px;width:120px;height:40px"
          onclick="this.style.left='400px';two.style.display='block'">One</button>
        <button id="two" style="position:absolute;left:20px;top:20px;width:120px;height:40px;display:none"
          onclick="wrong=1">Two</button>"#,
    );
    let error = stage.fails("not_actionable", &["double-click", "One"]);
    assert_eq!(error["outcome"], "failed", "{error}");
    assert_eq!(error["dispatched"], "yes", "{error}");
    assert_eq!(error["candidates"][0]["label"], "Two", "{error}");
    assert_eq!(visit.clicks(), ["one"], "the other button saw nothing");
    assert_eq!(stage.eval("window.wrong"), serde_json::Value::Null);
}
