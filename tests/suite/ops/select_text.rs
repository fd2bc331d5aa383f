//! `selectText`: exactly the part that was meant, in fields, editors and plain text.

use glass_tests::Stage;

const PAGE: &str = r#"<!doctype html><title>T</title><script src="ledger.js"></script>
<label>Notes <textarea id="notes">one two one 😀 end</textarea></label>
<div id="rich" contenteditable role="textbox" aria-label="Rich">alpha <b>beta</b> gamma</div>
<p id="p" tabindex="0" role="note" aria-label="Plain">plain <i>words</i> here</p>
<label>Mail <input id="mail" type="email" value="a@b.c"></label>"#;

// contract: 5.3
#[test]
fn offsets_count_utf_16_and_texts_are_found() {
    let stage = Stage::take();
    let _visit = stage.show(PAGE);
    let result = stage.ok(&["select-text", "label=Notes", "--start", "12", "--end", "14"]);
    assert_eq!(stage.eval("notes.value.slice(notes.selectionStart, notes.selectionEnd)"), "😀");
    assert_eq!(result["evidence"]["selectedLength"], 2, "{result}");
    stage.ok(&["select-text", "label=Notes", "--text", "one", "--occurrence", "2"]);
    assert_eq!(stage.eval("[notes.selectionStart, notes.selectionEnd]"), serde_json::json!([8, 11]));
    stage.ok(&["type", "2"]);
    assert_eq!(stage.eval("notes.value"), "one two 2 😀 end");
    stage.ok(&["select-text", "role=textbox;name=Rich", "--text", "ha bet"]);
    assert_eq!(stage.eval("String(getSelection())"), "ha bet", "over elements");
    stage.ok(&["select-text", "role=note", "--text", "words"]);
    assert_eq!(stage.eval("String(getSelection())"), "words");
    stage.ok(&["select-text", "label=Mail"]);
    stage.ok(&["key", "x"]);
    assert_eq!(stage.eval("mail.value"), "x", "all of it");
}

// contract: 4.2, 5.3
#[test]
fn what_is_not_there_or_there_twice_is_refused() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let error = stage.fails("ambiguous_target", &["select-text", "label=Notes", "--text", "one"]);
    assert_eq!(error["details"]["total"], 2, "{error}");
    stage.fails("target_not_found", &["select-text", "label=Notes", "--text", "three"]);
    stage.fails("target_not_found", &["select-text", "label=Notes", "--text", "one", "--occurrence", "3"]);
    stage.fails("invalid_argument", &["select-text", "label=Notes", "--start", "5", "--end", "99"]);
    stage.fails("not_actionable", &["select-text", "label=Mail", "--start", "1", "--end", "2"]);
    assert_eq!(stage.glassctl(["select-text", "label=Notes", "--text", "a", "--start", "1"]).code, Some(2));
    assert_eq!(stage.eval("document.activeElement === document.body"), true, "nothing was touched");
    assert!(visit.events().is_empty());
}
