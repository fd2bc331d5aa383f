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
