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

const MADE: &str = "<!doctype html><title>Made</title><script src=ledger.js></script><style>x-switch,x-later{display:inline-block;width:60px;height:20px;background:silver}</style>
<x-switch id=own></x-switch><x-later id=later></x-later><div role=switch id=bare tabindex=0 aria-label=Bare onclick=\"this.toggleAttribute('aria-checked')||0;if(this.hasAttribute('aria-checked'))this.ariaChecked='true'\">bare</div>
<div role=checkbox aria-checked=mixed id=mixed tabindex=0 aria-label=Mixed onclick=\"this.ariaChecked=this.ariaChecked!=='true'\">mixed</div>
<button id=bold aria-pressed=false onclick=\"this.ariaPressed=this.ariaPressed!=='true'\">Bold</button>
<input type=checkbox id=clear style='opacity:0;position:absolute'><label for=clear id=clear-skin>Clear</label><input type=checkbox id=unseen style=visibility:hidden><label for=unseen id=unseen-skin>Unseen</label><div id=host></div><script>
host.attachShadow({mode:'closed'}).innerHTML='<label><input type=checkbox hidden><i>In shadow</i></label>';
const made=(name,label,wait)=>customElements.define(name,class extends HTMLElement{constructor(){super();const i=this.i=this.attachInternals();i.role='switch';i.ariaLabel=label;i.ariaChecked='false';
 this.onclick=()=>setTimeout(()=>{i.ariaChecked=String(i.ariaChecked!=='true')},wait)}});made('x-switch','Own',0);made('x-later','Later',250)</script>";

// contract: 5.3, 3.2 report: 230, 12
#[test]
fn states_that_are_the_elements_own_come_late_or_are_a_buttons_are_turned_once_and_back() {
    let stage = Stage::take();
    let visit = stage.show(MADE);
    let pressed = ["own", "later", "bare", "mixed", "bold", "clear-skin", "unseen-skin", "host"];
    for (name, count) in
        ["Own", "Later", "Bare", "Mixed", "Bold", "Clear", "Unseen", "In shadow"].iter().zip(1..)
    {
        let checked = stage.ok(&["check", &format!("name={name}")]);
        assert_eq!(checked["evidence"]["valueMatches"], true, "{name}: {checked}");
        assert_eq!(stage.ok(&["check", &format!("name={name}")])["evidence"]["already"], true, "{name}");
        assert_eq!(visit.received("mousedown").len(), count, "{name} was pressed once");
    }
    assert_eq!(visit.received("mousedown").last().map(String::as_str), Some(pressed[7]));
    assert_eq!(
        stage.eval("[own.i.ariaChecked, later.i.ariaChecked, bold.ariaPressed, unseen.checked].join()"),
        "true,true,true,true"
    );
    for name in ["Own", "Later", "Bold", "Unseen"] {
        stage.ok(&["uncheck", &format!("name={name}")]);
        stage.ok(&["verify", &format!(r#"{{"not":{{"checked":"name={name}"}}}}"#)]);
    }
    assert_eq!(
        stage.eval("[own.i.ariaChecked, later.i.ariaChecked, bold.ariaPressed, unseen.checked].join()"),
        "false,false,false,false"
    );
}
