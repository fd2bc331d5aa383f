//! `type`: text at the caret, exactly, into the field that was meant and nowhere else.

use glass_tests::Stage;

const TEXT: &str = "a.'#é😀漢字\nb";

// contract: 5.3, 5.6
#[test]
fn text_goes_in_at_the_caret_and_is_read_back() {
    let (stage, visit) = Stage::open("form.html");
    stage.ok(&["click", "label=Name"]);
    stage.ok(&["key", "Home", "ArrowRight"]);
    let result = stage.ok(&["type", "xyz"]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "Axyznn");
    assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
    assert_eq!(result["evidence"]["focused"], true, "{result}");
    // A field that had no focus gets the text at its end.
    stage.ok(&["click", "role=button;name=Save"]);
    stage.ok(&["type", "!", "--target", "label=Name"]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "Axyznn!");
    assert!(visit.events().iter().all(|event| event.trusted));
}

// contract: 5.6 report: 21
#[test]
fn both_modes_put_any_text_into_a_multi_line_field_exactly() {
    let (stage, visit) = Stage::open("form.html");
    for mode in ["insert", "keys"] {
        stage.ok(&["clear", "label=Notes"]);
        let result = stage.ok(&["type", TEXT, "--target", "label=Notes", "--mode", mode]);
        assert_eq!(stage.eval("notes.value"), TEXT, "{mode}");
        assert_eq!(result["evidence"]["valueMatches"], true, "{mode}: {result}");
    }
    let keys: Vec<_> = visit.events().into_iter().filter(|event| event.kind == "keydown").collect();
    assert!(keys.iter().any(|event| event.key == "'"), "keys mode presses keys: {keys:?}");
}

// contract: 5.6
#[test]
fn a_line_break_is_enter_in_keys_mode_and_refused_in_a_single_line_otherwise() {
    let (stage, visit) = Stage::open("form.html");
    let error = stage.fails("invalid_argument", &["type", "a\nb", "--target", "label=Name"]);
    assert_eq!(error["outcome"], "failed", "{error}");
    assert_eq!(stage.eval("document.getElementById('name').value"), "Ann");
    stage.ok(&["type", "a\n", "--target", "label=Name", "--mode", "keys"]);
    assert_eq!(visit.received("submit").len(), 1, "Enter submits, once");
}

// contract: 5.6
#[test]
fn editors_frames_and_shadow_roots_take_text() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["type", " and new", "--target", "role=textbox;name=Rich"]);
    assert_eq!(stage.eval("rich.innerText.trim()"), "old and new");
    let visit = stage.site().visit();
    visit.serve(
        "inside.html",
        "<!doctype html><title>In</title><script src=\"ledger.js\"></script><label>Card <input id=card></label>",
    );
    visit.serve(
        "outside.html",
        r#"<!doctype html><title>Out</title><x-field></x-field><iframe src="http://b.localhost:{{port}}/{{visit}}/inside.html"></iframe>
        <script>customElements.define('x-field', class extends HTMLElement { constructor() { super();
          this.attachShadow({mode: 'open'}).innerHTML = '<label>Street <input></label>' } })</script>"#,
    );
    stage.go(&visit, "outside.html");
    stage.ok(&["wait", "visible=label=Card"]);
    for (mode, text) in [("insert", "4111"), ("keys", "22")] {
        let result = stage.ok(&["type", text, "--target", "label=Card", "--mode", mode]);
        assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
        stage.ok(&["type", text, "--target", "label=Street", "--mode", mode]);
    }
    assert_eq!(
        stage.eval("document.querySelector('x-field').shadowRoot.querySelector('input').value"),
        "411122"
    );
    // The focus is in the shadow root; what is typed without a target goes there.
    stage.ok(&["type", "!"]);
    assert_eq!(
        stage.eval("document.querySelector('x-field').shadowRoot.querySelector('input').value"),
        "411122!"
    );
    stage.ok(&["click", "label=Card"]);
    stage.ok(&["type", "0"]);
    assert_eq!(visit.events().last().map(|event| event.value.clone()).as_deref(), Some("4111220"));
}

// contract: 5.6, 2.1 report: 224
#[test]
fn typing_stops_when_the_focus_is_stolen_and_nothing_goes_astray() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>Theft</title><script src="ledger.js"></script>
        <label>Name <input id="nam"></label><label>Value <input id="val" type="password"></label>
        <script>val.addEventListener('input', () => { if (val.value.length === 8) nam.focus() })</script>"#,
    );
    let secret = "correct-horse-battery-staple-0123456789";
    let answer = stage.ask(&["type", secret, "--target", "label=Value", "--mode", "keys"]);
    let error = answer.fails("verification_failed");
    assert_eq!(error["reason"], "focus_lost", "{error}");
    assert!(!answer.run.stdout.contains("horse"), "{}", answer.run);
    assert_eq!(stage.eval("[nam.value, val.value.length]"), serde_json::json!(["", 8]));
    assert!(visit.received("keydown").iter().all(|id| id == "val"));
}

// contract: 5.3 report: 221
#[test]
fn keys_without_a_target_follow_the_focus_over_boxes_of_one_digit() {
    let stage = Stage::take();
    let _visit = stage.show(
        r#"<!doctype html><title>Code</title><div id="boxes"></div>
        <script>
          for (let n = 0; n < 6; n++) { const box = document.createElement('input'); box.maxLength = 1; box.ariaLabel = 'Digit ' + (n + 1);
            box.oninput = () => { box.nextSibling?.focus(); sent = [...boxes.children].map((b) => b.value).join('') }; boxes.append(box) }
        </script>"#,
    );
    stage.ok(&["click", "name=Digit 1"]);
    stage.ok(&["type", "123456", "--mode", "keys"]);
    assert_eq!(stage.eval("sent"), "123456");
    let error = stage.fails("verification_failed", &["fill", "name=Digit 2", "987"]);
    assert_eq!(error["reason"], "truncated", "{error}");
}

// contract: 2.7, 5.3
#[test]
fn what_cannot_be_typed_is_refused_before_anything_is_sent() {
    let (stage, visit) = Stage::open("form.html");
    let error = stage.fails("not_actionable", &["type", "x"]);
    assert_eq!(error["dispatched"], "no", "nothing has the focus: {error}");
    let long = "y".repeat(500);
    let error =
        stage.fails("invalid_argument", &["type", &long, "--target", "label=Notes", "--mode", "keys"]);
    assert_eq!(error["dispatched"], "no", "500 keys need more than the deadline: {error}");
    let error =
        stage.fails("not_actionable", &["type", "x", "--target", "label=Fixed", "--timeout-ms", "500"]);
    assert_eq!(error["reason"], "not_editable", "{error}");
    for wrong in [
        &["type", ""][..],
        &["type", "x", "--delay-ms", "101", "--mode", "keys"],
        &["type", "x", "--delay-ms", "5"],
        &["type", &"z".repeat(501), "--mode", "keys"],
    ] {
        assert_eq!(stage.glassctl(wrong.iter().copied()).code, Some(2), "{wrong:?}");
    }
    assert!(visit.events().is_empty(), "{:?}", visit.events());
    stage.ok(&[
        "type",
        &long,
        "--target",
        "label=Notes",
        "--mode",
        "keys",
        "--delay-ms",
        "0",
        "--timeout-ms",
        "60000",
    ]);
    assert_eq!(stage.eval("notes.value.length"), 500);
}

const COMPOSED: &str = "<!doctype html><meta charset=utf-8><title>Compose</title><script src=ledger.js></script>
 <div id=editor contenteditable role=textbox aria-label=Editor></div><textarea id=chat aria-label=Chat></textarea><script>
 let composing=false; window.seen=[]; window.sent=[]; const editor=document.getElementById('editor'), chat=document.getElementById('chat');
 for (const type of ['compositionstart','compositionupdate','compositionend','keydown']) editor.addEventListener(type,event=>{
   if (type==='compositionstart') composing=true; if (type==='compositionend') composing=false;
   seen.push(type==='keydown'?event.keyCode+'/'+event.isComposing:type)});
 editor.addEventListener('beforeinput',event=>{if(!composing&&/[\\u3000-\\u9fff]/.test(event.data||''))event.preventDefault()});
 chat.onkeydown=event=>{if(event.key==='Enter'&&!event.isComposing&&event.keyCode!==229){event.preventDefault();sent.push(chat.value);chat.value=''}}</script>";

// contract: 5.6, 5.3 report: 226
#[test]
fn composed_text_comes_with_composition_events_once_and_enter_sends_it_once() {
    let stage = Stage::take();
    stage.show(COMPOSED);
    // An editor that takes such letters from an input method only.
    let error = stage.fails("verification_failed", &["type", "変換", "--target", "name=Editor"]);
    assert_eq!(error["outcome"], "failed", "{error}");
    let typed = stage.ok(&["type", "変換 e\u{301} 😀", "--mode", "compose", "--target", "name=Editor"]);
    assert_eq!(typed["evidence"]["valueMatches"], true, "{typed}");
    assert_eq!(stage.eval("editor.textContent.replace(/\\u00a0/g, ' ')"), "変換 e\u{301} 😀");
    let seen = stage.eval("seen.join()");
    let seen = seen.as_str().unwrap_or_default();
    assert!(seen.contains("compositionstart") && seen.contains("229/"), "{seen}");
    assert_eq!(seen.matches("compositionstart").count(), 3, "one a word: {seen}");
    assert_eq!(seen.matches("compositionend").count(), 3, "{seen}");
    // The Enter after it is no confirmation of it.
    stage.ok(&["type", "変換\n二", "--mode", "compose", "--target", "name=Chat"]);
    assert_eq!(stage.eval("chat.value"), "変換\n二");
    stage.ok(&["key", "Enter"]);
    assert_eq!(stage.eval("sent"), serde_json::json!(["変換\n二"]));
    // Into an input, at the caret, without a target.
    stage.eval("document.body.insertAdjacentHTML('beforeend', '<input id=plain aria-label=Plain value=ab>'); const p = document.getElementById('plain'); p.focus(); p.setSelectionRange(1, 1); 1");
    stage.ok(&["type", "ほげ", "--mode", "compose"]);
    assert_eq!(stage.eval("document.getElementById('plain').value"), "aほげb");
    assert_eq!(stage.glassctl(["type", "x", "--mode", "compose", "--delay-ms", "5"]).code, Some(2));
}
