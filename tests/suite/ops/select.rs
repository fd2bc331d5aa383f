//! `select`: the wanted options are chosen, by trusted input, with one change; or nothing is.

use glass_tests::Stage;

const LISTS: &str = r#"<!doctype html><title>Lists</title><script src="ledger.js"></script>
<label>Country <select id="country"><option value="">-</option><option value="no">Norway</option><option value="se" disabled>Sweden</option>
  <optgroup label="South"><option value="it">Italy</option><option value="es">Spain</option></optgroup><option value="fr">France</option></select></label>
<label>Stays <select id="stays" onchange="this.value='a'"><option value="a">A</option><option value="b">B</option></select></label>
<label>Tags <select id="tags" multiple size="5"><option>red</option><option>green</option><option selected>blue</option><option>grey</option></select></label>
<label>Rows <select id="rows" size="3"><option>one</option><option>two</option><option>three</option></select></label>
<label>Twins <select id="twins"><option>x</option><option>y</option><option>y</option></select></label>
<button id="button">No list</button>"#;

// contract: 5.3 report: 14
#[test]
fn a_native_list_is_chosen_from_by_value_label_and_index_with_one_change_each() {
    let stage = Stage::take();
    let visit = stage.show(LISTS);
    for (how, what, value) in [
        ("--value", "fr", "fr"),
        ("--label", "Norway", "no"),
        ("--index", "4", "es"),
        ("--label", "Italy", "it"),
    ] {
        let seen = visit.events().len();
        let arguments = if how == "--value" {
            vec!["select", "label=Country", what]
        } else {
            vec!["select", "label=Country", how, what]
        };
        let result = stage.ok(&arguments);
        assert_eq!(stage.eval("country.value"), value, "{how}: {result}");
        assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
        let events = visit.events().split_off(seen);
        for kind in ["input", "change"] {
            let of: Vec<_> = events.iter().filter(|event| event.kind == kind).collect();
            assert_eq!(of.len(), 1, "{how} {kind}: {events:?}");
            assert!(of[0].trusted && of[0].id == "country" && of[0].value == value, "{events:?}");
        }
    }
    let seen = visit.events().len();
    let result = stage.ok(&["select", "label=Country", "it"]);
    assert_eq!(result["evidence"]["already"], true, "{result}");
    assert_eq!(visit.events().len(), seen);
    // The list is closed again: keys go to the page.
    stage.ok(&["click", "role=button;name=No list"]);
    assert_eq!(visit.clicks().last().map(String::as_str), Some("button"));
}

// contract: 5.3 report: 14
#[test]
fn when_nothing_fits_the_options_are_told_and_nothing_is_chosen() {
    let stage = Stage::take();
    let visit = stage.show(LISTS);
    let error = stage.fails("target_not_found", &["select", "label=Country", "--label", "Norwegia"]);
    let options = error["details"]["pageOptions"].as_array().expect("the options");
    assert!(options.iter().any(|option| option == "Norway"), "{error}");
    let error = stage.fails("ambiguous_target", &["select", "label=Twins", "--label", "y"]);
    assert_eq!(error["dispatched"], "no", "{error}");
    let error = stage.fails("not_actionable", &["select", "label=Country", "se"]);
    assert_eq!(error["reason"], "disabled", "{error}");
    stage.fails("not_actionable", &["select", "role=button;name=No list", "--label", "x"]);
    assert_eq!(stage.glassctl(["select", "label=Country"]).code, Some(2));
    assert_eq!(stage.glassctl(["select", "label=Country", "no", "--index", "1"]).code, Some(2));
    assert!(visit.events().is_empty(), "{:?}", visit.events());
}

// contract: 2.1 report: 16
#[test]
fn a_choice_that_the_page_takes_back_is_an_error() {
    let stage = Stage::take();
    let _visit = stage.show(LISTS);
    let error = stage.fails("verification_failed", &["select", "label=Stays", "b"]);
    assert_eq!(error["outcome"], "failed", "the list is as before: {error}");
}

// contract: 5.3
#[test]
fn lists_whose_options_lie_in_the_page_take_one_or_several() {
    let stage = Stage::take();
    let visit = stage.show(LISTS);
    stage.ok(&["select", "css=#tags", "--values", "red", "grey"]);
    assert_eq!(
        stage.eval("[...tags.selectedOptions].map((o) => o.value)"),
        serde_json::json!(["red", "grey"])
    );
    stage.ok(&["select", "css=#rows", "--label", "three"]);
    assert_eq!(stage.eval("rows.value"), "three");
    stage.ok(&["select", "css=#rows", "one"]);
    assert_eq!(stage.eval("rows.value"), "one");
    let error = stage.fails("invalid_argument", &["select", "css=#rows", "--values", "one", "two"]);
    assert_eq!(error["dispatched"], "no", "{error}");
    assert!(visit.events().iter().all(|event| event.trusted));
}

// report: 14
#[test]
fn an_option_of_a_closed_list_is_refused_at_once_with_what_to_use() {
    let stage = Stage::take();
    let visit = stage.show(LISTS);
    let options = stage.ok(&["find", "css=#country option[value=no]"]);
    if let Some(option) = options["matches"][0]["ref"].as_str() {
        let error = stage.fails("not_actionable", &["click", option]);
        assert!(error["remedy"].as_str().is_some_and(|remedy| remedy.contains("select")), "{error}");
    }
    assert!(visit.events().is_empty());
}

// report: 214
#[test]
fn a_styled_select_is_chosen_from_closed_and_open() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>Styled</title><script src="ledger.js"></script>
        <style>select, ::picker(select) { appearance: base-select }</style>
        <label>Pet <select id="pet"><button><selectedcontent></selectedcontent></button>
          <option value="cat"><span>Cat</span></option><option value="dog"><span>Dog</span></option><option value="cow" disabled>Cow</option></select></label>"#,
    );
    stage.ok(&["select", "label=Pet", "--label", "Dog"]);
    assert_eq!(stage.eval("pet.value"), "dog");
    assert_eq!(visit.received("change").len(), 1);
    stage.ok(&["select", "label=Pet", "cat"]);
    assert_eq!(stage.eval("pet.value"), "cat");
}

// contract: 5.3
#[test]
fn lists_that_a_page_made_are_chosen_from_by_label_and_checked() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>Made</title><script src="ledger.js"></script>
        <div id="box" role="combobox" tabindex="0" aria-label="Fruit" aria-expanded="false" aria-controls="list"
          onclick="open_()">None</div>
        <div id="list" role="listbox" aria-label="Fruits" hidden></div>
        <div id="flat" role="listbox" aria-label="Sizes"><div role="option" aria-selected="false" id="s" onclick="pick(this)">Small</div>
          <div role="option" aria-selected="false" id="l" onclick="pick(this)">Large</div><div role="option" aria-selected="false" id="x">Broken</div></div>
        <script>
          function open_() { setTimeout(() => { list.hidden = false; box.ariaExpanded = 'true';
            list.innerHTML = ['Apple', 'Pear'].map((n) => `<div role=option aria-selected=false onclick="take('${n}')">${n}</div>`).join('') }, 120) }
          function take(name) { box.textContent = name; list.hidden = true; box.ariaExpanded = 'false' }
          function pick(one) { for (const o of flat.children) o.ariaSelected = String(o === one) }
        </script>"#,
    );
    let result = stage.ok(&["select", "role=combobox;name=Fruit", "--label", "Pear"]);
    assert_eq!(stage.eval("box.textContent"), "Pear", "{result}");
    assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
    stage.ok(&["select", "role=listbox;name=Sizes", "--label", "Large"]);
    assert_eq!(stage.eval("l.ariaSelected"), "true");
    let error =
        stage.fails("verification_failed", &["select", "role=listbox;name=Sizes", "--label", "Broken"]);
    assert_eq!(error["outcome"], "failed", "{error}");
    let error = stage.fails("target_not_found", &["select", "role=listbox;name=Sizes", "--label", "Huge"]);
    assert!(error["details"]["pageOptions"].as_array().is_some_and(|all| all.len() == 3), "{error}");
    assert!(visit.events().iter().all(|event| event.trusted));
}

// contract: 2.1, 5.3
#[test]
fn an_option_that_is_off_in_a_list_that_was_opened_is_a_failure_and_not_unknown() {
    let stage = Stage::take();
    stage.show(
        "<!doctype html><title>Off</title><div id=c role=combobox tabindex=0 aria-label=Fruit aria-controls=l aria-expanded=false>Choose</div>
         <ul id=l role=listbox hidden><li role=option>Pear</li><li role=option aria-disabled=true>Plum</li></ul><script>
         c.onclick=()=>{l.hidden=!l.hidden;c.ariaExpanded=String(!l.hidden)};l.onclick=event=>{c.textContent=event.target.textContent;l.hidden=true}</script>",
    );
    let error =
        stage.fails("not_actionable", &["select", "name=Fruit", "--label", "Plum", "--timeout-ms", "2000"]);
    assert_eq!((&error["reason"], &error["outcome"]), (&"disabled".into(), &"failed".into()), "{error}");
    assert_eq!(stage.eval("c.textContent"), "Choose");
    stage.ok(&["select", "name=Fruit", "--label", "Pear"]);
}

// contract: 2.4, 5.3
#[test]
fn lists_that_show_what_is_chosen_elsewhere_late_or_not_at_all_are_told_as_they_are() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>Shown</title><script src=ledger.js></script><style>.mirror{height:0;width:0;overflow:hidden}</style>
         <div><div id=chosen>None</div><div><input id=near role=combobox aria-label=Near aria-controls=near-l aria-expanded=false></div></div>
         <div id=near-l role=listbox hidden><div role=option>Red</div><div role=option>Blue</div></div>
         <div><input id=blank role=combobox aria-label=Blank aria-controls=blank-l aria-expanded=false></div><div id=blank-l role=listbox hidden><div role=option>Red</div></div>
         <div><button id=opener aria-haspopup=listbox aria-label=Person aria-expanded=false>Ann</button></div><div id=opener-l role=listbox hidden><div role=option>Cleo</div></div>
         <div><input id=mirrored role=combobox aria-label=Land readonly aria-controls=mirror aria-expanded=false><i id=land></i></div>
         <div id=popup hidden><div id=mirror role=listbox class=mirror><div role=option aria-label='Land 0'>0</div></div><p>Land 0</p><p>Land 1</p><p>Land 10</p></div><script>
         const pop=(box,list,take,wait)=>{box.onclick=()=>{list.hidden=false;box.ariaExpanded='true'};list.onclick=event=>{list.hidden=true;box.ariaExpanded='false';const text=event.target.textContent;setTimeout(()=>take(text),wait)}};
         const at=(id)=>document.getElementById(id);
         pop(at('near'),at('near-l'),text=>{at('chosen').textContent=text},0);pop(at('blank'),at('blank-l'),text=>{at('blank').title=text},0);
         pop(at('opener'),at('opener-l'),text=>{at('opener').textContent=text},200);pop(at('mirrored'),at('popup'),text=>{at('land').textContent=text},0)</script>",
    );
    for (locator, label, shown) in [
        ("name=Near", "Blue", "at('chosen').textContent"),
        ("role=button;name=Person", "Cleo", "at('opener').textContent"),
        ("name=Land", "Land 1", "at('land').textContent"),
    ] {
        let result = stage.ok(&["select", locator, "--label", label]);
        assert_eq!(result["evidence"]["valueMatches"], true, "{locator}: {result}");
        assert_eq!(stage.eval(shown), label);
    }
    let result = stage.ok(&["select", "name=Blank", "--label", "Red"]);
    assert_eq!(result["evidence"].get("valueMatches"), None, "nobody can see what it holds: {result}");
    assert!(visit.events().iter().all(|event| event.trusted));
}

// contract: 2.4
#[test]
fn what_a_combo_box_showed_before_the_press_is_no_proof_of_it() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>Deaf</title><script src=ledger.js></script>
         <div><p>Red</p><input id=near role=combobox aria-label=Near aria-controls=l1></div><ul id=l1 role=listbox><li role=option>Red</li></ul>
         <div><button id=within role=combobox aria-label=Within aria-controls=l2>Pineapple</button></div><ul id=l2 role=listbox><li role=option>apple</li></ul>
         <div><input id=lit role=combobox aria-label=Lit aria-controls=l3></div><ul id=l3 role=listbox><li role=option aria-selected=false id=hot>Hot</li></ul>
         <div><button id=deaf role=combobox aria-label=Deaf aria-controls=l4>Choose</button></div><ul id=l4 role=listbox><li role=option>Any</li></ul>
         <script>hot.onmouseenter=()=>{hot.ariaSelected='true'}</script>",
    );
    // None of them chooses anything.
    for (name, label) in [("Near", "Red"), ("Within", "apple"), ("Lit", "Hot")] {
        let result = stage.ok(&["select", &format!("role=combobox;name={name}"), "--label", label]);
        assert_eq!(result["evidence"].get("valueMatches"), None, "{name}: {result}");
    }
    let error = stage.fails("verification_failed", &["select", "role=combobox;name=Deaf", "--label", "Any"]);
    assert_eq!(error["outcome"], "failed", "{error}");
    assert!(visit.events().iter().all(|event| event.trusted));
}
