//! `keyUp`: lets go of what is down, and of nothing else.

use glass_tests::Stage;

// contract: 5.3, 5.7
#[test]
fn a_key_that_is_not_down_is_refused() {
    let (stage, visit) = Stage::open("form.html");
    let error = stage.fails("invalid_argument", &["key-up", "Shift"]);
    assert_eq!(error["dispatched"], "no", "{error}");
    stage.ok(&["key-down", "Control"]);
    stage.ok(&["key-up", "Control"]);
    stage.fails("invalid_argument", &["key-up", "Control"]);
    stage.ok(&["click", "role=button;name=Save"]);
    assert!(visit.events().iter().all(|event| event.kind == "keydown" || event.held.is_empty()));
}
