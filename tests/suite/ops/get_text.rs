//! `getText`: what can be read on the page, and not more.

use glass_tests::Stage;

// contract: 3.8
#[test]
fn it_is_the_visible_text_of_the_page_or_of_one_element() {
    let (stage, _visit) = Stage::open("sections.html");
    let all = stage.ok(&["get-text"]);
    let text = all["text"].as_str().expect("text");
    for seen in ["First words", "Second words", "Last words"] {
        assert!(text.contains(seen), "{text}");
    }
    for unseen in ["not shown", "in_script", "in_style", "in_template"] {
        assert!(!text.contains(unseen), "{text}");
    }
    assert_eq!(all["leftOut"], 0);
    let one = stage.ok(&["get-text", "css=#two"]);
    let text = one["text"].as_str().expect("text");
    assert!(text.contains("Second words") && !text.contains("First words"), "{text}");
}

// contract: 3.8
#[test]
fn it_is_bounded_and_says_what_is_left_out() {
    let stage = Stage::take();
    let _visit = stage.show(&format!("<!doctype html><title>Much</title><p>{}</p>", "é ".repeat(100_000)));
    let read = stage.ok(&["get-text"]);
    let (text, left) = (read["text"].as_str().expect("text"), read["leftOut"].as_u64().expect("a number"));
    assert!(text.len() <= 64 * 1024, "{}", text.len());
    assert!(left > 200_000, "{left}");
    assert_eq!(read["textBytes"].as_u64(), Some(text.len() as u64 + left));
    assert!(stage.glassctl(["get-text"]).success().stdout.contains("left out"));
}

// contract: 4.2
#[test]
fn an_element_that_is_not_there_or_not_unique_is_an_error() {
    let (stage, _visit) = Stage::open("twins.html");
    stage.fails("target_not_found", &["get-text", "css=#nothing"]);
    let error = stage.fails("ambiguous_target", &["get-text", "role=button;name=Delete"]);
    assert_eq!(error["candidates"].as_array().map(Vec::len), Some(3), "{error}");
}
