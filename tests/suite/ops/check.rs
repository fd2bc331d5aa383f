//! `check`: at most one press, and a state that was read back.

use glass_tests::Stage;

const BOXES: &str = r#"<!doctype html><title>Boxes</title><script src="ledger.js"></script>
<label><input id="plain" type="checkbox"> Plain</label>
<label><input id="mixed" type="checkbox"> Mixed</label>
<label><input id="stuck" type="checkbox" onclick="event.preventDefault()"> Stuck</label>
<fieldset><label id="a"><input type="radio" name="plan" id="plan-a" style="display:none" checked><span>Plan A</span></label>
<label id="b"><input type="radio" name="plan" id="plan-b" style="display:none"><span>Plan B</span></label></fieldset>
<div style="position:relative"><input id="material" type="checkbox" style="position:absolute;left:-9999px"><label for="material" id="skin">
  <span style="display:inline-block;width:20px;height:20px;border:1px solid"></span>Material</label></div>
<div id="switch" role="switch" tabindex="0" aria-checked="false" aria-label="Dark mode"
  onclick="this.ariaChecked = this.ariaChecked !== 'true'">Dark mode</div>
<button id="button">No box</button>
<script>mixed.indeterminate = true</script>"#;

// contract: 5.3
#[test]
fn a_box_is_ticked_by_one_trusted_press_and_not_at_all_when_it_is_ticked() {
    let stage = Stage::take();
    let visit = stage.show(BOXES);
    let result = stage.ok(&["check", "label=Plain"]);
    assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
    assert_eq!((stage.eval("plain.checked"), visit.received("change").len()), (true.into(), 1));
    let events = visit.events().len();
    let result = stage.ok(&["check", "label=Plain"]);
    assert_eq!(result["evidence"]["already"], true, "{result}");
    assert_eq!(visit.events().len(), events, "nothing was sent");
    stage.ok(&["check", "label=Mixed"]);
    assert_eq!(stage.eval("[mixed.checked, mixed.indeterminate]"), serde_json::json!([true, false]));
    assert!(visit.events().iter().all(|event| event.trusted));
}

// contract: 5.3, 4.2 report: 12
#[test]
fn a_hidden_native_control_is_pressed_by_its_visible_label() {
    let stage = Stage::take();
    let visit = stage.show(BOXES);
    stage.ok(&["check", "role=radio;name=Plan B"]);
    assert_eq!(stage.eval("document.getElementById('plan-b').checked"), true);
    stage.ok(&["check", "role=checkbox;name=Material"]);
    assert_eq!(stage.eval("material.checked"), true);
    assert_eq!(visit.received("change").len(), 2, "each toggled once");
}

// contract: 5.3 report: 230
#[test]
fn a_switch_that_the_page_made_is_toggled_once() {
    let stage = Stage::take();
    let visit = stage.show(BOXES);
    stage.ok(&["check", "role=switch;name=Dark mode"]);
    assert_eq!(stage.eval("document.getElementById('switch').ariaChecked"), "true");
    assert_eq!(visit.clicks(), ["switch"]);
}

// contract: 2.1, 5.3 report: 16
#[test]
fn a_box_that_the_page_keeps_as_it_was_is_an_error() {
    let stage = Stage::take();
    let visit = stage.show(BOXES);
    let error = stage.fails("verification_failed", &["check", "label=Stuck"]);
    assert_eq!(error["outcome"], "failed", "{error}");
    assert_eq!(visit.clicks(), ["stuck"], "pressed once and not again");
}

// contract: 5.3
#[test]
fn what_has_no_state_is_refused_and_not_pressed() {
    let stage = Stage::take();
    let visit = stage.show(BOXES);
    let error = stage.fails("not_actionable", &["check", "role=button;name=No box"]);
    assert_eq!(error["dispatched"], "no", "{error}");
    assert!(visit.events().is_empty());
}
