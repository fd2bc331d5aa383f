//! `key`: named keys and chords, pressed by trusted input and always released.

use glass_tests::Stage;

// contract: 5.3 report: 22
#[test]
fn enter_submits_a_form_once() {
    let (stage, visit) = Stage::open("form.html");
    stage.ok(&["click", "label=Name"]);
    let result = stage.ok(&["key", "Enter"]);
    assert_eq!(stage.eval("window.submitted"), 1);
    assert_eq!(visit.received("submit").len(), 1);
    assert!(result["revision"].as_u64() > result["previousRevision"].as_u64(), "{result}");
}

// contract: 5.3 report: 22
#[test]
fn chords_do_what_they_do_for_a_person() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["fill", "label=Notes", "one two\nthree"]);
    stage.ok(&["click", "label=Notes"]);
    stage.ok(&["key", "Control+a"]);
    assert_eq!(stage.eval("notes.selectionEnd - notes.selectionStart"), 13);
    stage.ok(&["key", "x"]);
    assert_eq!(stage.eval("notes.value"), "x");
    stage.ok(&["key", "y", "Shift+Home", "Delete", "Z", "Space", "."]);
    assert_eq!(stage.eval("notes.value"), "Z .");
    stage.ok(&["key", "Home", "Shift+End"]);
    assert_eq!(stage.eval("notes.selectionEnd - notes.selectionStart"), 3);
    stage.ok(&["key", "Tab"]);
    assert_ne!(stage.eval("document.activeElement.id"), "notes");
}

// contract: 5.7, 2.6 report: 22
#[test]
fn an_unknown_key_presses_nothing_and_leaves_no_modifier_down() {
    let (stage, visit) = Stage::open("form.html");
    stage.ok(&["click", "label=Notes"]);
    let before = visit.events().len();
    let run = stage.glassctl(["key", "Shift+Entr"]).exits(2);
    assert!(run.stderr.contains("Enter"), "the nearest name is told: {run}");
    assert_eq!(stage.glassctl(["key", "a", "Hyper+b"]).code, Some(2));
    assert_eq!(visit.events().len(), before);
    stage.ok(&["key", "x"]);
    assert_eq!(stage.eval("notes.value"), "x");
}

// contract: 5.2
#[test]
fn keys_are_trusted_and_have_their_names() {
    let (stage, visit) = Stage::open("form.html");
    stage.ok(&["click", "label=Notes"]);
    stage.ok(&["key", "ArrowDown", "F2", "é", "+"]);
    let keys: Vec<_> = visit.events().into_iter().filter(|event| event.kind == "keydown").collect();
    assert!(keys.iter().all(|event| event.trusted && event.id == "notes"), "{keys:?}");
    // A character that a keyboard has behind Shift may come with it.
    let names: Vec<_> = keys.iter().map(|event| event.key.as_str()).filter(|key| *key != "Shift").collect();
    assert_eq!(names, ["ArrowDown", "F2", "é", "+"]);
    assert_eq!(stage.eval("notes.value"), "é+");
}
