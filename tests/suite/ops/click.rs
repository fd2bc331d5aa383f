//! `click`: trusted input on exactly the element that was meant, and evidence that was measured.

use glass_tests::{Stage, eventually};
use std::time::Duration;

// contract: 5.2
#[test]
fn the_page_sees_one_trusted_click_and_its_parts_in_order() {
    let (stage, visit) = Stage::open("form.html");
    let result = stage.ok(&["click", "role=button;name=Save"]);
    let kinds: Vec<_> = visit.events().into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]);
    assert!(visit.events().iter().all(|event| event.trusted && event.id == "save"), "{:?}", visit.events());
    assert_eq!(result["action"], "click");
    assert!(result["target"]["label"].as_str().is_some_and(|label| label.contains("Save")), "{result}");
    assert_eq!(result["evidence"]["hitTarget"]["role"], "button", "{result}");
    assert_eq!(result["evidence"]["hitTarget"]["ref"], result["target"]["ref"], "{result}");
}

// contract: 5.3
#[test]
fn button_and_modifiers_reach_the_page_and_are_released() {
    let (stage, visit) = Stage::open("form.html");
    stage.ok(&["click", "role=button;name=Save", "--button", "right"]);
    assert_eq!(visit.saw("contextmenu").id, "save");
    stage.ok(&["click", "role=button;name=Save", "--modifiers", "Control,Shift"]);
    let click = visit.events().into_iter().find(|event| event.kind == "click").expect("a click");
    assert_eq!(click.held, "Control+Shift");
    stage.ok(&["click", "role=button;name=Save"]);
    assert_eq!(visit.events().last().map(|event| event.held.clone()), Some(String::new()));
}

// contract: 2.4, 5.4 report: 111
#[test]
fn a_link_to_another_page_has_its_navigation_in_the_evidence() {
    let (stage, visit) = Stage::open("sections.html");
    let evidence = stage.ok(&["click", "role=link;name=Leave"])["evidence"].clone();
    assert_eq!(evidence["documentChanged"], true, "{evidence}");
    assert_eq!(evidence["urlChanged"], true, "{evidence}");
    assert_eq!(evidence["titleChanged"], true, "{evidence}");
    assert_eq!(evidence["pageUrl"], visit.url("form.html"), "{evidence}");
    assert_eq!(evidence["navigation"]["status"], 200, "{evidence}");
    assert_eq!(stage.eval("document.title"), "A form", "the click waited for the commit");
}

// contract: 5.4 report: 45
#[test]
fn changes_within_the_document_are_told_as_such() {
    let (stage, visit) = Stage::open("sections.html");
    let evidence = stage.ok(&["click", "role=link;name=Push"])["evidence"].clone();
    assert_eq!(
        (evidence["urlChanged"].as_bool(), evidence["documentChanged"].as_bool()),
        (Some(true), Some(false))
    );
    assert_eq!(evidence["pageUrl"], visit.url("pushed"));
    let evidence = stage.ok(&["click", "role=link;name=Jump"])["evidence"].clone();
    assert_eq!(evidence["documentChanged"], false, "{evidence}");
    assert_eq!(visit.count("sections.html"), 1);
}

// contract: 2.4 report: 111
#[test]
fn a_click_without_effect_says_that_nothing_changed() {
    let (stage, _visit) = Stage::open("form.html");
    // The first click moves the focus, the second changes nothing at all.
    stage.ok(&["click", "role=button;name=Save"]);
    let result = stage.ok(&["click", "role=button;name=Save"]);
    assert_eq!(result["previousRevision"], result["revision"], "{result}");
    assert_eq!(result["evidence"]["urlChanged"], false, "{result}");
    assert_eq!(result["evidence"]["documentChanged"], false, "{result}");
    for none in ["dialog", "popups", "downloads", "navigation"] {
        assert!(result["evidence"].get(none).is_none(), "{none}: {result}");
    }
}

// contract: 2.4 report: 111
#[test]
fn what_a_click_changed_is_counted() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><title>C</title><button id=b onclick=\"this.textContent='Done';document.body.append(document.createElement('hr'),Object.assign(document.createElement('button'),{textContent:'New'}))\">Do</button>",
    );
    let result = stage.ok(&["click", "Do"]);
    assert!(result["revision"].as_u64() > result["previousRevision"].as_u64(), "{result}");
    let diff = &result["evidence"]["semanticDiff"];
    assert!(diff["added"].as_u64() >= Some(1), "{result}");
    assert!(diff["changed"].as_u64() >= Some(1), "{result}");
}

// contract: 7.1, 2.4 report: 38, 111
#[test]
fn a_new_page_is_named_and_not_switched_to() {
    let (stage, visit) = Stage::open("popups.html");
    for name in ["Blank target", "No opener", "Window open"] {
        let result = stage.ok(&["click", &format!("name={name}")]);
        let popups = result["evidence"]["popups"].as_array().cloned().unwrap_or_default();
        assert_eq!(popups.len(), 1, "{name}: {result}");
        let id = popups[0]["targetId"].as_str().expect("an id");
        let rows = stage.ok(&["list-targets"])["targets"].clone();
        let rows = rows.as_array().expect("rows");
        let popup = rows.iter().find(|row| row["id"] == id).expect("the new page is listed");
        assert_eq!(popup["selected"], false, "{rows:?}");
        assert_eq!(stage.eval("document.title"), "Popups", "{name}: no silent switch");
        let other = stage.ok(&["evaluate", "document.title", "--target-id", id]);
        assert_eq!(other["value"], "A form", "{name}");
        stage.ask(&["evaluate", "window.close()", "--target-id", id]);
    }
    drop(visit);
}

// report: 38
#[test]
fn a_popup_that_closes_itself_breaks_nothing() {
    let (stage, _visit) = Stage::open("popups.html");
    let result = stage.ok(&["click", "name=Short lived"]);
    assert!(result["evidence"]["popups"].is_array() || result["evidence"].get("popups").is_none());
    eventually("only this page is left", Duration::from_secs(10), || {
        let rows = stage.ok(&["list-targets"])["targets"].as_array().cloned().unwrap_or_default();
        (rows.iter().filter(|row| row["opener"].is_string()).count() == 0).then_some(())
    });
    assert_eq!(stage.eval("document.title"), "Popups");
}

// contract: 2.4
#[test]
fn a_download_is_in_the_evidence_and_keeps_the_page() {
    let (stage, visit) = Stage::open("popups.html");
    let result = stage.ok(&["click", "name=Download"]);
    let downloads = result["evidence"]["downloads"].as_array().cloned().unwrap_or_default();
    assert_eq!(downloads.len(), 1, "{result}");
    assert_eq!(downloads[0]["pageFileName"], "report.bin");
    assert_eq!(stage.eval("location.href"), visit.url("popups.html"));
}

// contract: 4.2
#[test]
fn more_than_one_match_is_refused_with_the_candidates() {
    let (stage, visit) = Stage::open("twins.html");
    let error = stage.fails("ambiguous_target", &["click", "role=button;name=Delete"]);
    let candidates = error["candidates"].as_array().expect("candidates");
    assert_eq!(candidates.len(), 3, "{error}");
    assert!(candidates.iter().all(|one| one["role"] == "button" && one["label"] == "Delete"), "{error}");
    assert_eq!((error["outcome"].as_str(), error["dispatched"].as_str()), (Some("rejected"), Some("no")));
    assert!(visit.events().is_empty());
    stage.ok(&["click", candidates[2]["ref"].as_str().expect("a ref")]);
    assert_eq!(visit.clicks(), ["delete-3"]);
}

// contract: 4.2, 2.6
#[test]
fn no_match_is_told_with_what_was_near() {
    let (stage, visit) = Stage::open("form.html");
    let answer = stage.ask(&["click", "role=button;name=Savee", "--timeout-ms", "800"]);
    let error = answer.fails("target_not_found");
    assert_eq!(error["outcome"], "rejected");
    assert!(!error["message"].to_string().contains("Savee"), "no locator as given in a message: {error}");
    assert!(visit.events().is_empty());
    assert_eq!(answer.run.code, Some(3));
}

// contract: 5.3
#[test]
fn a_click_that_closes_its_own_window_is_completed_with_that_evidence() {
    let (stage, _visit) = Stage::open("popups.html");
    let result = stage.ok(&["click", "name=Window open"]);
    let id = result["evidence"]["popups"][0]["targetId"].as_str().expect("a popup").to_owned();
    stage.ok(&["wait", "title=A form", "--target-id", &id]);
    stage.ok(&[
        "evaluate",
        "document.body.innerHTML='<button onclick=window.close()>Close me</button>'",
        "--target-id",
        &id,
    ]);
    let result = stage.ok(&["click", "name=Close me", "--target-id", &id]);
    assert_eq!(result["evidence"]["targetClosed"], true, "{result}");
}

// contract: 2.6, 12.6
#[test]
fn every_malformed_locator_is_a_wrong_call_with_a_hint() {
    let (stage, visit) = Stage::open("form.html");
    for locator in [
        "",
        "a=b",
        "role=",
        "role=button;name",
        "role=button;checked=maybe",
        "ref=x",
        "css=",
        "name=\"a",
        "Save >> ",
        "css=[",
    ] {
        let error = stage.fails("invalid_argument", &["click", locator]);
        assert_eq!(error["dispatched"], "no", "{locator}");
    }
    assert!(visit.events().is_empty());
}

// contract: 2.4
#[test]
fn a_person_reads_one_or_two_lines() {
    let (stage, _visit) = Stage::open("form.html");
    let run = stage.glassctl(["click", "role=button;name=Save"]).success();
    assert!(run.stdout.starts_with("clicked button \"Save\" [e"), "{run}");
    assert!(run.stdout.lines().count() <= 2, "{run}");
    let run = stage.glassctl(["click", "role=button;name=Nothing", "--timeout-ms", "500"]).exits(3);
    assert!(
        run.stdout.is_empty() && run.stderr.contains("target_not_found") && run.stderr.contains("hint"),
        "{run}"
    );
}

// contract: 5.3
#[test]
fn a_position_counts_from_the_elements_top_left_and_is_brought_into_view() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>P</title><script src="ledger.js"></script>
        <style>body{margin:0}#c{display:block;position:absolute;left:30px;top:50px;width:300px;height:4000px;border:0;padding:0}</style>
        <button id="c" aria-label="Tall" onclick="at=[event.offsetX,event.offsetY]">Tall</button>"#,
    );
    stage.ok(&["click", "Tall", "--position", "20,10"]);
    assert_eq!(stage.eval("at"), serde_json::json!([20, 10]));
    stage.ok(&["click", "Tall", "--position", "250,3500"]);
    assert_eq!(stage.eval("at"), serde_json::json!([250, 3500]));
    let error = stage.fails("invalid_argument", &["click", "Tall", "--position", "301,5"]);
    assert_eq!(error["dispatched"], "no", "{error}");
    assert_eq!(stage.glassctl(["click", "Tall", "--position", "5"]).code, Some(2));
    assert_eq!(visit.clicks().len(), 2);
}

// contract: 5.3, 7.1
#[test]
fn the_middle_button_opens_a_link_beside_and_keeps_the_page() {
    let (stage, _visit) = Stage::open("sections.html");
    let result = stage.ok(&["click", "role=link;name=Leave", "--button", "middle"]);
    assert_eq!(result["evidence"]["documentChanged"], false, "{result}");
    assert_eq!(result["evidence"]["popups"].as_array().map(Vec::len), Some(1), "{result}");
}

// contract: 5.3 report: 211
#[test]
fn a_list_that_ignores_the_pointer_while_it_scrolls_gets_the_right_row() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>L</title><script src="ledger.js"></script>
        <style>#s{height:200px;width:300px;overflow:auto;position:relative}#s.busy button{pointer-events:none}
        #s button{position:absolute;left:0;height:30px;width:250px}</style>
        <div id="s"><div id="h" style="height:15000px"></div></div>
        <script>
          const draw = () => { const first = Math.floor(s.scrollTop / 30);
            for (const old of s.querySelectorAll('button')) { const n = +old.id.slice(1); if (n < first - 2 || n > first + 9) old.remove() }
            for (let n = Math.max(0, first - 2); n < Math.min(500, first + 9); n++) if (!document.getElementById('r' + n)) {
              const row = document.createElement('button'); row.id = 'r' + n; row.textContent = 'Row ' + n; row.style.top = n * 30 + 'px'; s.append(row) } };
          let timer; s.addEventListener('scroll', () => { draw(); s.classList.add('busy'); clearTimeout(timer); timer = setTimeout(() => s.classList.remove('busy'), 150) });
          draw();
        </script>"#,
    );
    for row in [101, 30, 400, 7] {
        stage.eval(&format!("s.scrollTop = {} * 30 - 40; 1", row));
        stage.ok(&["wait", &format!("visible=name=Row {row}")]);
        stage.ok(&["click", &format!("name=Row {row}")]);
    }
    assert_eq!(visit.clicks(), ["r101", "r30", "r400", "r7"]);
    assert!(visit.events().iter().all(|event| event.id.starts_with('r')), "{:?}", visit.events());
}

// contract: 5.1, 2.4 report: 212
#[test]
fn a_layer_that_the_press_itself_opens_does_not_make_it_press_again() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>O</title><script src="ledger.js"></script>
        <div id="box" role="combobox" tabindex="0" aria-label="Fruit" style="width:200px;height:30px;border:1px solid">Fruit</div>
        <script>
          box.onmousedown = () => { const layer = document.createElement('div'); layer.id = 'layer';
            layer.style.cssText = 'position:fixed;inset:0;background:#0002';
            layer.innerHTML = '<div role=listbox aria-label=Fruits><div role=option tabindex=-1 id=apple style="margin:80px;height:30px">Apple</div><div role=option tabindex=-1 id=pear style="margin:80px;height:30px">Pear</div></div>';
            layer.onmousedown = (event) => { chosen = event.target.id; layer.remove() };
            document.body.append(layer) };
        </script>"#,
    );
    let result = stage.ok(&["click", "role=combobox;name=Fruit"]);
    assert_eq!(result["evidence"]["hitTarget"]["role"], "combobox", "{result}");
    assert_eq!(visit.received("mousedown"), ["box"]);
    let result = stage.ok(&["click", "role=option;name=Pear"]);
    assert_eq!(stage.eval("chosen"), "pear");
    assert_eq!(result["evidence"]["pressedOnly"], true, "the layer went before there was a click: {result}");
}

// contract: 2.1 report: 225
#[test]
fn an_option_that_is_drawn_anew_between_press_and_release_is_no_success() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>R</title><script src="ledger.js"></script><div id="list" role="listbox" aria-label="Cities"></div>
        <script>const draw = () => { list.innerHTML = '<div role=option tabindex=-1 class=o style="height:30px">Berlin</div>';
          list.firstChild.onmousedown = draw; list.firstChild.onclick = () => { chosen = 1 } }; draw()</script>"#,
    );
    let error = stage.fails("not_actionable", &["click", "role=option;name=Berlin"]);
    assert_eq!(
        (error["outcome"].as_str(), error["reason"].as_str()),
        (Some("failed"), Some("geometry_changed"))
    );
    assert_eq!(stage.eval("window.chosen"), serde_json::Value::Null);
    assert_eq!(visit.received("mousedown").len(), 1);
}

// contract: 2.1, 2.4
#[test]
fn a_menu_that_opens_at_the_press_and_takes_the_rest_of_it_was_opened() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>Menu</title><script src="ledger.js"></script><button id="more" aria-haspopup="menu" aria-expanded="false">More</button>
        <button id="dead">Dead</button><input id="day" aria-label="Day" readonly><div role="menu" id="menu" hidden style="pointer-events:auto"><div role="menuitem" tabindex="-1">Archive</div></div>
        <script>const off = () => { document.body.style.pointerEvents = 'none' };
          more.onpointerdown = () => { off(); menu.hidden = false; more.ariaExpanded = 'true' }; dead.onpointerdown = off; day.onfocus = off;
          menu.onclick = (event) => { done = event.target.textContent; menu.hidden = true; document.body.style.pointerEvents = '' }</script>"#,
    );
    let result = stage.ok(&["click", "role=button;name=More"]);
    assert_eq!(result["evidence"]["pressedOnly"], true, "{result}");
    assert_eq!(visit.received("mousedown"), ["more"], "pressed once");
    stage.ok(&["click", "role=menuitem;name=Archive"]);
    assert_eq!(stage.eval("done"), "Archive");
    let result = stage.ok(&["click", "label=Day"]);
    assert_eq!(result["evidence"]["pressedOnly"], true, "the field has the focus: {result}");
    stage.eval("document.body.style.pointerEvents = ''");
    let error = stage.fails("not_actionable", &["click", "role=button;name=Dead"]);
    assert_eq!(error["outcome"], "failed", "what shows no answer had none: {error}");
}
