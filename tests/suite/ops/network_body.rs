//! `networkBody`: what the page got, from what the browser keeps; nothing is asked for again.

use std::fs;

use glass_tests::Stage;

// contract: 7.5 report: 59
#[test]
fn a_body_is_shown_in_parts_or_written_whole_and_nothing_is_fetched_for_it() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Bodies</title>");
    let words = "é€😀x".repeat(20_000);
    visit.serve_with("words.txt", &words, &[("Content-Type", "text/plain; charset=utf-8")]);
    visit.serve_with("image.bin", "\u{1}\u{2}bin", &[("Content-Type", "application/octet-stream")]);
    stage.ok(&[
        "evaluate",
        "Promise.all(['words.txt', 'image.bin'].map(u => fetch(u).then(r => r.arrayBuffer()))).then(() => 1)",
    ]);
    let request = |name: &str| -> String {
        let told = stage.ok(&["diagnostics", "--kind", "request"]);
        let entries = told["entries"].as_array().expect("entries").clone();
        let found = entries
            .into_iter()
            .rev()
            .find(|entry| entry["pageUrl"].as_str().is_some_and(|url| url.ends_with(name)));
        found.unwrap_or_else(|| panic!("{told:#}"))["request"]["requestId"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let id = request("words.txt");
    let asked = visit.count("words.txt");
    let first = stage.ok(&["network-body", &id]);
    assert_eq!(first["bytes"].as_u64(), Some(words.len() as u64));
    let mut read = String::new();
    let mut told = first;
    loop {
        read.push_str(told["pageBody"].as_str().expect("text"));
        if told["leftOut"] == 0 {
            break;
        }
        let next = read.len().to_string();
        told = stage.ok(&["network-body", &id, "--offset", &next, "--max-bytes", "100001"]);
    }
    assert!(read == words, "{} of {} bytes", read.len(), words.len());
    stage.ok(&["network-body", &id, "-o", "words.txt"]);
    assert!(fs::read_to_string(stage.path("cwd/words.txt")).expect("the file") == words);
    assert_eq!(visit.count("words.txt"), asked, "nothing is fetched");
    let binary = stage.ok(&["network-body", &request("image.bin")]);
    let shown = (binary["base64"] == true, binary["pageBody"].as_str().expect("a body"));
    assert!([(true, "AQJiaW4="), (false, "\u{1}\u{2}bin")].contains(&shown), "{binary:#}");
    let error = stage.fails("target_not_found", &["network-body", "none"]);
    assert_eq!(error["reason"], "no_request");
    stage.fails("invalid_argument", &["network-body", &id, "--max-bytes", "0"]);
    stage.show("<!doctype html><title>Another</title>");
    let error = stage.fails("target_not_found", &["network-body", &id]);
    assert_eq!(error["reason"], "body_not_kept", "what is no longer kept is said");
}
