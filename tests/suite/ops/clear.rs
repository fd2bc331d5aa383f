//! `clear`: the field is empty afterwards, or the answer says that it is not.

use glass_tests::Stage;

// contract: 5.3, 5.6
#[test]
fn fields_and_editors_are_emptied_by_trusted_input() {
    let (stage, visit) = Stage::open("form.html");
    let result = stage.ok(&["clear", "label=Name"]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "");
    assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
    stage.ok(&["clear", "role=textbox;name=Rich"]);
    assert_eq!(stage.eval("rich.innerText.trim()"), "");
    stage.ok(&["fill", "label=Day", "2026-03-04"]);
    stage.ok(&["clear", "label=Day"]);
    assert_eq!(stage.eval("day.value"), "");
    assert!(visit.events().iter().filter(|event| event.id != "day").all(|event| event.trusted));
}

// contract: 5.6 report: 16
#[test]
fn a_field_that_does_not_stay_empty_is_an_error() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><title>K</title><label>Kept <input id=k value=old oninput=\"this.value='old'\"></label>",
    );
    let error = stage.fails("verification_failed", &["clear", "label=Kept"]);
    assert_eq!(
        (error["outcome"].as_str(), error["reason"].as_str()),
        (Some("failed"), Some("reverted")),
        "{error}"
    );
    let (stage, _visit) = Stage::open("form.html");
    let error = stage.fails("verification_failed", &["clear", "label=Level"]);
    assert_eq!(error["reason"], "refused", "a slider always has a value: {error}");
    assert_eq!(stage.eval("level.value"), "3");
}

// contract: 5.6 report: 18
#[test]
fn an_editor_that_learns_of_its_selection_later_is_emptied() {
    let stage = Stage::take();
    stage.show(
        r#"<!doctype html><title>Late</title><div id="e" contenteditable role="textbox" aria-label="Editor">old words</div>
        <script>let all = false, model = e.textContent;
          document.addEventListener('selectionchange', () => { all = String(getSelection()) === model });
          e.addEventListener('keydown', (event) => { if (event.key !== 'Delete') return; event.preventDefault(); if (all) model = ''; e.textContent = model })</script>"#,
    );
    stage.ok(&["clear", "role=textbox;name=Editor"]);
    assert_eq!(stage.eval("model + e.textContent"), "");
}
