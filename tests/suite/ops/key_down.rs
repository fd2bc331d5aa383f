//! `keyDown`: a key stays down for what follows, until it is let go.

use glass_tests::Stage;

// contract: 5.3, 5.7
#[test]
fn a_modifier_stays_down_for_clicks_and_keys_until_it_is_let_go() {
    let (stage, visit) = Stage::open("form.html");
    let result = stage.ok(&["key-down", "Shift"]);
    assert_eq!(result["evidence"]["heldKeys"], serde_json::json!(["Shift"]), "{result}");
    stage.ok(&["click", "role=button;name=Save"]);
    assert_eq!(visit.events().last().map(|event| event.held.clone()).as_deref(), Some("Shift"));
    stage.ok(&["click", "label=Notes"]);
    stage.ok(&["key", "a", "1"]);
    assert_eq!(stage.eval("notes.value"), "A!", "keys type what stands above");
    let result = stage.ok(&["key-up", "Shift"]);
    assert!(result["evidence"].get("heldKeys").is_none(), "{result}");
    stage.ok(&["key", "b"]);
    assert_eq!(stage.eval("notes.value"), "A!b");
    stage.ok(&["click", "role=button;name=Save"]);
    assert_eq!(visit.events().last().map(|event| event.held.clone()).as_deref(), Some(""));
}

// contract: 5.3
#[test]
fn a_character_key_types_and_repeats() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["click", "label=Notes"]);
    stage.ok(&["key-down", "x"]);
    stage.ok(&["key-down", "x"]);
    stage.ok(&["key-up", "x"]);
    assert_eq!(stage.eval("notes.value"), "xx");
    assert_eq!(stage.glassctl(["key-down", "Shift+x"]).code, Some(2), "one key without modifiers");
}
