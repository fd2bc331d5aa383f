//! `clipboard`: what a page copies is read, what is written is pasted, and sessions have one each.

use glass_tests::Stage;

const PAGE: &str = "<!doctype html><title>Clipboard</title><script src=ledger.js></script>
<button id=copy onclick=\"navigator.clipboard.writeText('from the page \u{e9}').then(() => document.title = 'Copied', e => document.title = e.name)\">Copy</button>
<button id=rich onclick=\"navigator.clipboard.write([new ClipboardItem({'text/html': new Blob(['<b>bold</b>'], {type: 'text/html'})})]).then(() => document.title = 'Rich', e => document.title = e.name)\">Rich</button>
<p id=words>Selected words</p><textarea aria-label=Note></textarea>
<script>document.addEventListener('paste', e => window.pasted = e.clipboardData.types.join() + ' ' + e.isTrusted)</script>";

// contract: 7.8, 1.6
// report: 231
#[test]
fn pages_copy_to_it_and_keys_paste_from_it() {
    let stage = Stage::take();
    let _visit = stage.show(PAGE);
    stage.ok(&["clipboard", "write", ""]);
    let empty = stage.ok(&["clipboard", "read"]);
    assert_eq!((&empty["characters"], empty.get("pageText")), (&0.into(), None), "{empty}");
    stage.ok(&["click", "name=Copy"]);
    stage.ok(&["wait", "title=Copied"]);
    let read = stage.ok(&["clipboard", "read"]);
    assert_eq!(
        (&read["pageText"], &read["types"]),
        (&"from the page \u{e9}".into(), &serde_json::json!(["text/plain"]))
    );
    stage.ok(&["click", "label=Note"]);
    stage.ok(&["key", "Control+v"]);
    assert_eq!(
        stage.eval("[document.querySelector('textarea').value, pasted].join('|')"),
        "from the page \u{e9}|text/plain true"
    );

    // A selection that keys copy, and a text of ours that keys paste, with its line break.
    stage.eval("getSelection().selectAllChildren(document.getElementById('words')); document.activeElement.blur(); 1");
    stage.ok(&["key", "Control+c"]);
    assert_eq!(stage.ok(&["clipboard", "read"])["pageText"], "Selected words");
    let text = "two\nlines \u{1f600} \"quoted\" ${x}";
    let input = ["--json", "clipboard", "write", "-"];
    stage.glassctl_reading(input, text.as_bytes()).success();
    stage.ok(&["fill", "label=Note", ""]);
    stage.ok(&["key", "Control+v"]);
    assert_eq!(stage.eval("document.querySelector('textarea').value"), text);

    stage.ok(&["click", "name=Rich"]);
    stage.ok(&["wait", "title=Rich"]);
    let rich = stage.ok(&["clipboard", "read"]);
    assert_eq!((&rich["types"], rich.get("pageText")), (&serde_json::json!(["text/html"]), None), "{rich}");
    assert_eq!(stage.ok(&["list-targets"])["targets"].as_array().map(Vec::len), Some(1), "no page is left");

    // A page behind another one copies as well.
    let made = stage.ok(&["create-target", "about:blank"]);
    stage.ok(&["clipboard", "write", "before"]);
    stage.ok(&["click", "name=Copy"]);
    stage.ok(&["wait", "title=Copied"]);
    assert_eq!(stage.ok(&["clipboard", "read"])["pageText"], "from the page \u{e9}");
    stage.ok(&["close-target", made["targetId"].as_str().expect("a target")]);
}

// contract: 7.8, 1.6, 1.4
#[test]
fn it_is_bounded_no_page_may_read_it_unasked_and_it_begins_no_session() {
    let stage = Stage::take();
    let _visit = stage.show(PAGE);
    let most = "\u{e9}".repeat(100_000);
    stage.glassctl_reading(["--json", "clipboard", "write", "-"], most.as_bytes()).success();
    let read = stage.ok(&["clipboard", "read"]);
    assert_eq!((read["pageText"].as_str(), &read["characters"]), (Some(most.as_str()), &100_000.into()));
    let more = format!("{most}x");
    stage.glassctl_reading(["--json", "clipboard", "write", "-"], more.as_bytes()).exits(2);
    assert_eq!(stage.ok(&["clipboard", "read"])["characters"], 100_000);
    assert_eq!(
        stage.eval("navigator.clipboard.readText().then(() => 'read', e => e.name)"),
        "NotAllowedError"
    );
    let error = stage.fails("target_not_found", &["clipboard", "read", "--session", "other"]);
    assert_eq!(error["reason"], "session_new", "{error}");
    for usage in [&["read", "x"][..], &["write"]] {
        stage.fails("invalid_argument", &[&["clipboard"], usage].concat());
    }
}
