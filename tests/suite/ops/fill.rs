//! `fill`: the field holds exactly the text, or the answer says that it does not.

use glass_tests::Stage;

// contract: 5.6 report: 21
#[test]
fn any_text_arrives_exactly_in_a_multi_line_field() {
    let (stage, visit) = Stage::open("form.html");
    for text in [
        "a.'#é😀漢字\nb",
        "",
        " spaced  out ",
        "tab\tand \u{200d}joiner",
        "line\n\nline\n",
        "مرحبا",
        "\"q\" \\n {x}",
    ] {
        let result = stage.ok(&["fill", "label=Notes", "--", text]);
        assert_eq!(stage.eval("notes.value"), text);
        assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
        assert!(!text.is_empty() || stage.eval("notes.value") == "");
    }
    assert!(visit.events().iter().all(|event| event.trusted), "{:?}", visit.events());
}

// contract: 5.6
#[test]
fn the_whole_content_is_replaced() {
    let (stage, visit) = Stage::open("form.html");
    stage.ok(&["fill", "label=Name", "Bob"]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "Bob");
    assert!(visit.received("input").contains(&"name".to_owned()));
    stage.ok(&["fill", "label=Name", ""]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "");
}

// report: 21
#[test]
fn a_line_break_never_vanishes_silently_in_a_single_line_field() {
    let (stage, _visit) = Stage::open("form.html");
    let answer = stage.ask(&["fill", "label=Name", "a\nb"]);
    match answer.kind() {
        Some(kind) => assert!(matches!(kind, "verification_failed" | "invalid_argument"), "{}", answer.run),
        None => panic!("the field cannot hold a line break: {}", answer.run),
    }
}

// contract: 12.3, 12.6 report: 23
#[test]
fn what_looks_like_an_option_is_text_after_a_double_dash_and_an_option_before() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["fill", "label=Name", "--", "--clear"]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "--clear");
    assert_eq!(stage.glassctl(["fill", "label=Name", "--clear"]).code, Some(2));
    assert_eq!(stage.eval("document.getElementById('name').value"), "--clear");
    stage.ok(&["fill", "--timeout-ms", "4000", "label=Name", "one"]);
    stage.ok(&["fill", "label=Name", "two", "--timeout-ms", "4000"]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "two");
    stage.ok(&["fill", "label=Name", "@handle"]);
    assert_eq!(stage.eval("document.getElementById('name').value"), "@handle");
}

// contract: 12.3
#[test]
fn text_comes_from_standard_input_or_a_file_too() {
    let (stage, _visit) = Stage::open("form.html");
    stage.glassctl_reading(["fill", "label=Notes", "-"], "from a pipe é\n".as_bytes()).success();
    assert_eq!(stage.eval("notes.value"), "from a pipe é\n");
    std::fs::write(stage.path("cwd/text"), "from a file").expect("write a file");
    stage.ok(&["fill", "label=Notes", "--file", "text"]);
    assert_eq!(stage.eval("notes.value"), "from a file");
    let bad = stage.glassctl_reading(["fill", "label=Notes", "-"], b"\xff\xfe");
    assert_eq!(bad.code, Some(2), "{bad}");
    assert_eq!(stage.glassctl(["fill", "label=Notes", "--file", "nothing"]).code, Some(2));
    assert_eq!(stage.eval("notes.value"), "from a file");
}

// contract: 5.6 report: 16
#[test]
fn a_value_that_the_page_takes_back_is_an_error() {
    let (stage, _visit) = Stage::open("reverts.html");
    let answer = stage.ask(&["fill", "label=Emptied", "hello"]);
    let error = answer.fails("verification_failed");
    assert_eq!(answer.run.code, Some(4));
    assert_eq!(error["outcome"], "failed", "the value is as before: {error}");
    assert!(!answer.run.stdout.contains("hello"), "typed text is in no error: {}", answer.run);
    let error = stage.fails("verification_failed", &["fill", "label=Upper", "hello"]);
    assert_eq!(error["outcome"], "completed", "the value is a third one: {error}");
    let error = stage.fails("verification_failed", &["fill", "label=Short", "longer than five"]);
    assert!(error.to_string().contains("truncated"), "{error}");
    stage.ok(&["fill", "label=Controlled", "kept"]);
    assert_eq!(stage.eval("controlled.value + '|' + window.state"), "kept|kept");
}

// contract: 5.6
#[test]
fn editable_regions_take_text() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["fill", "role=textbox;name=Rich", "new words"]);
    assert_eq!(stage.eval("rich.innerText.trim()"), "new words");
}

// contract: 5.6
#[test]
fn spaces_that_an_editable_region_would_lose_are_kept_as_typing_keeps_them() {
    let stage = Stage::take();
    stage.show(
        "<!doctype html><title>Spaces</title><div id=plain contenteditable role=textbox aria-label=Plain></div>
         <div id=pre contenteditable style='white-space: pre-wrap' role=textbox aria-label=Pre></div>",
    );
    for (name, id) in [("Plain", "plain"), ("Pre", "pre")] {
        let result = stage.ok(&["fill", &format!("name={name}"), "  two  here \n  and   three"]);
        assert_eq!(result["evidence"]["valueMatches"], true, "{result}");
        let shown = stage.eval(&format!("{id}.innerText.replaceAll('\\u00a0', ' ')"));
        assert_eq!(shown, "  two  here \n  and   three", "{name}");
    }
}

// contract: 5.2
#[test]
fn controls_without_trusted_text_input_are_set_and_it_is_said() {
    let (stage, visit) = Stage::open("form.html");
    for (label, id, value) in
        [("Day", "day", "2026-03-04"), ("Colour", "colour", "#aabbcc"), ("Level", "level", "7")]
    {
        let result = stage.ok(&["fill", &format!("label={label}"), value]);
        assert_eq!(stage.eval(&format!("document.getElementById('{id}').value")), value);
        assert_eq!(result["evidence"]["nativeSetter"], true, "{result}");
        assert!(visit.events().iter().any(|event| event.id == id && event.kind == "change"), "{label}");
    }
    stage.fails("verification_failed", &["fill", "label=Level", "99"]);
}

// contract: 5.1
#[test]
fn what_cannot_be_edited_is_refused() {
    let (stage, visit) = Stage::open("form.html");
    for locator in ["label=Fixed", "role=button;name=Save", "role=heading"] {
        let error = stage.fails("not_actionable", &["fill", locator, "x", "--timeout-ms", "700"]);
        assert_eq!(error["reason"], "not_editable", "{locator}: {error}");
        assert_eq!(error["outcome"], "rejected", "{error}");
    }
    assert!(visit.received("input").is_empty());
    assert_eq!(stage.eval("fixed.value"), "as it is");
}

// contract: 2.4, 3.1
#[test]
fn a_password_is_compared_and_never_shown() {
    let (stage, _visit) = Stage::open("form.html");
    let answer = stage.ask(&["fill", "label=Password", "correct-horse"]);
    assert_eq!(answer.result()["evidence"]["valueMatches"], true);
    assert!(!answer.run.stdout.contains("correct-horse"), "{}", answer.run);
    assert_eq!(stage.eval("password.value"), "correct-horse");
}

// contract: 5.6
#[test]
fn a_long_text_arrives_whole() {
    let (stage, _visit) = Stage::open("form.html");
    let long = "word é ".repeat(30_000);
    stage.glassctl_reading(["fill", "label=Notes", "-", "--timeout-ms", "60000"], long.as_bytes()).success();
    assert_eq!(stage.eval("notes.value.length").as_u64(), Some(30_000 * 7));
    let over = "x".repeat(1024 * 1024 + 1);
    assert_eq!(stage.glassctl_reading(["fill", "label=Notes", "-"], over.as_bytes()).code, Some(2));
}

// contract: 5.2, 5.6
#[test]
fn every_kind_of_native_control_is_set_and_keeps_what_it_had_when_it_refuses() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>N</title><script src="ledger.js"></script>
        <label>Time <input id="time" type="time"></label><label>Month <input id="month" type="month"></label>
        <label>Week <input id="week" type="week"></label><label>When <input id="when" type="datetime-local" value="2026-01-02T03:04"></label>
        <label>Count <input id="count" type="number"></label>"#,
    );
    for (label, id, value) in [
        ("Time", "time", "14:05"),
        ("Month", "month", "2026-11"),
        ("Week", "week", "2026-W48"),
        ("When", "when", "2026-11-30T14:05"),
    ] {
        let result = stage.ok(&["fill", &format!("label={label}"), value]);
        assert_eq!(stage.eval(&format!("document.getElementById('{id}').value")), value);
        assert_eq!(result["evidence"]["nativeSetter"], true, "{result}");
    }
    let events = visit.events().len();
    let error = stage.fails("verification_failed", &["fill", "label=When", "tomorrow"]);
    assert_eq!(
        (error["outcome"].as_str(), error["reason"].as_str()),
        (Some("failed"), Some("refused")),
        "{error}"
    );
    assert_eq!(
        stage.eval("document.getElementById('when').value"),
        "2026-11-30T14:05",
        "it keeps what it had"
    );
    assert_eq!(visit.events().len(), events, "and the page saw nothing");
    stage.ok(&["fill", "label=Count", "1e3"]);
    assert_eq!(stage.eval("count.value"), "1e3");
    stage.fails("verification_failed", &["fill", "label=Count", "3,5x"]);
}

// contract: 5.6 report: 18
#[test]
fn an_editor_with_a_model_of_its_own_holds_the_text_with_its_line_breaks() {
    let stage = Stage::take();
    let _visit = stage.show(
        r#"<!doctype html><title>Model</title><div id="e" contenteditable role="textbox" aria-label="Editor" aria-multiline="true"></div>
        <script>
          let model = '', ours = false;
          const draw = () => { ours = true; e.replaceChildren(...model.split('\n').flatMap((line, at) => at ? [document.createElement('br'), line] : [line])); if (model.endsWith('\n') || !model) e.append(document.createElement('br'));
            getSelection().selectAllChildren(e); getSelection().collapseToEnd(); queueMicrotask(() => { ours = false }) };
          e.addEventListener('beforeinput', (event) => { event.preventDefault(); if (!event.isTrusted) return;
            const all = String(getSelection()).length > 0 || event.inputType.startsWith('delete'); if (all) model = '';
            if (event.inputType === 'insertText') model += event.data; else if (/insert(Paragraph|LineBreak)/.test(event.inputType)) model += '\n'; draw() });
          new MutationObserver(() => { if (!ours) draw() }).observe(e, { childList: true, characterData: true, subtree: true });
        </script>"#,
    );
    let result = stage.ok(&["fill", "role=textbox;name=Editor", "first line\nsecond 😀\nthird"]);
    assert_eq!(stage.eval("model"), "first line\nsecond 😀\nthird", "{result}");
    stage.ok(&["fill", "role=textbox;name=Editor", "again"]);
    assert_eq!(stage.eval("model"), "again");
}

// contract: 5.6 report: 19
#[test]
fn a_text_field_that_is_a_combo_box_takes_text() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>Combo</title><script src="ledger.js"></script>
        <input id="city" role="combobox" aria-label="City" aria-controls="l" aria-expanded="false"><ul id="l" role="listbox" aria-label="Cities" hidden></ul>
        <script>city.oninput = () => { l.hidden = false; city.ariaExpanded = 'true';
          l.innerHTML = ['Berlin', 'Bern'].filter((n) => n.toLowerCase().startsWith(city.value)).map((n) => `<li role=option tabindex=-1>${n}</li>`).join('');
          for (const o of l.children) o.onclick = () => { city.value = o.textContent; l.hidden = true } }</script>"#,
    );
    stage.ok(&["fill", "role=combobox;name=City", "berl"]);
    assert_eq!(stage.eval("city.value"), "berl");
    stage.ok(&["click", "role=option;name=Berlin"]);
    assert_eq!(stage.eval("city.value"), "Berlin");
    assert!(visit.received("input").contains(&"city".to_owned()));
}

// contract: 5.6 report: 222
#[test]
fn a_mask_that_looks_at_single_keys_gets_keys_and_says_what_it_made_of_them() {
    let stage = Stage::take();
    let _visit = stage.show(
        r#"<!doctype html><title>Mask</title><label>Phone <input id="p"></label>
        <script>
          let digits = '';
          p.addEventListener('beforeinput', (event) => { event.preventDefault();
            if (event.inputType.startsWith('delete')) digits = ''; else if (/^\d$/.test(event.data ?? '')) digits = (digits + event.data).slice(0, 10);
            p.value = digits ? '+7 (' + digits.slice(0, 3) + ') ' + digits.slice(3, 6) + '-' + digits.slice(6) : '' });
        </script>"#,
    );
    let error = stage.fails("verification_failed", &["fill", "label=Phone", "9123456789"]);
    assert_eq!(stage.eval("p.value"), "+7 (912) 345-6789", "as a person typing gets it");
    assert_eq!(
        (error["outcome"].as_str(), error["reason"].as_str()),
        (Some("completed"), Some("reformatted")),
        "{error}"
    );
    let error = stage.fails("verification_failed", &["fill", "label=Phone", "letters"]);
    assert_ne!(error["reason"], "reformatted", "{error}");
}

// contract: 5.6 report: 228
#[test]
fn the_ref_of_a_paragraph_in_an_editor_fills_the_editor() {
    let stage = Stage::take();
    let _visit = stage.show(
        r#"<!doctype html><title>P</title><div id="e" contenteditable role="textbox" aria-label="Text"><p>first</p><p>second</p></div>
        <div role="button" tabindex="0" aria-label="Frame"><div id="t" contenteditable role="textbox" aria-label="Inner"></div></div>"#,
    );
    stage.ok(&["fill", "css=#e p:first-child", "new"]);
    assert_eq!(stage.eval("e.innerText.trim()"), "new");
    stage.ok(&["fill", "role=textbox;name=Inner", "inside"]);
    assert_eq!(stage.eval("t.innerText.trim()"), "inside");
}

// contract: 5.6, 3.2 report: 228
#[test]
fn documents_that_are_editors_as_a_whole_are_listed_and_filled_in_their_frames() {
    let stage = Stage::take();
    stage.show(
        "<!doctype html><title>Editors</title><iframe id=one title=One srcdoc='<body contenteditable><p>old</p></body>'></iframe>
         <iframe id=two title=Two srcdoc='<p>old</p>'></iframe><div role=textbox aria-label=Plain contenteditable=plaintext-only>old</div>
         <div role=textbox aria-label=Holder contenteditable>a<span contenteditable=false id=island>island</span></div>
         <input aria-label=Field><script>two.onload=()=>{two.contentDocument.designMode='on'}</script>",
    );
    for frame in ["One", "Two"] {
        let within = format!("title={frame}");
        stage.ok(&["wait", "visible=role=textbox", "--frame", &within]);
        let filled = stage.ok(&["fill", "role=textbox", "new\nlines", "--frame", &within]);
        assert_eq!(filled["evidence"]["valueMatches"], true, "{frame}: {filled}");
        stage.ok(&["type", " and more", "--target", "css=body", "--frame", &within]);
    }
    let text = "['one', 'two'].map(id => document.getElementById(id).contentDocument.body.innerText.replace(/\\n+/g, '/').replace(/\\u00a0/g, ' ')).join()";
    assert_eq!(stage.eval(text), "new/lines and more,new/lines and more");
    stage.ok(&["fill", "name=Plain", "plain"]);
    stage.fails("not_actionable", &["fill", "css=#island", "x", "--timeout-ms", "600"]);
    // The focus is where it was put last.
    stage.ok(&["fill", "label=Field", "here"]);
    assert_eq!(stage.eval("document.activeElement.value"), "here");
}
