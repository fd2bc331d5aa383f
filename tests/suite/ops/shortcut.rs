//! `shortcut`: one chord with a modifier, released again.

use glass_tests::Stage;

// contract: 5.3, 5.7
#[test]
fn a_chord_does_what_it_does_for_a_person_and_is_released() {
    let (stage, visit) = Stage::open("form.html");
    stage.ok(&["fill", "label=Notes", "one two"]);
    let result = stage.ok(&["shortcut", "ControlOrMeta+a"]);
    assert_eq!(result["action"], "shortcut");
    assert_eq!(stage.eval("notes.selectionEnd - notes.selectionStart"), 7);
    stage.ok(&["key", "z"]);
    assert_eq!(stage.eval("notes.value"), "z");
    assert!(visit.events().iter().all(|event| event.trusted));
    assert_eq!(stage.glassctl(["shortcut", "a"]).code, Some(2), "a shortcut has a modifier");
}
