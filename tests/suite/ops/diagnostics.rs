//! `diagnostics`: console, errors and requests of a page, kept from its start, without secrets, and without the page
//! noticing.

use std::time::Duration;

use glass_tests::Stage;
use serde_json::{Value, json};

/// Says something of each kind as soon as it is there.
const TALKS: &str = "<!doctype html><title>Talks</title><script>\
    console.log('hello', 7, {a: {b: 1}, list: [1, 'x']});\
    console.error('bad at https://user:pw@x.test/p?token=geheim#f');\
    console.debug('%cstyled %s', 'color: red', 'word');\
    setTimeout(() => { throw new Error('boom') });\
    new Worker(URL.createObjectURL(new Blob(['console.warn(\"from a worker\")'])));\
    const loop = {}; loop.loop = loop; console.info(loop);\
    </script><img src='missing.png?key=geheim&x=1'>";

fn entries(answer: &Value) -> Vec<Value> {
    answer["entries"].as_array().expect("entries").clone()
}

fn cursor(stage: &Stage) -> String {
    // Whichever test of the session is the first, there is a page that can be asked about.
    stage.ok(&["navigate", "about:blank"]);
    stage.ok(&["diagnostics"])["next"].to_string()
}

fn texts(answer: &Value) -> Vec<String> {
    entries(answer).iter().map(|entry| entry["pageText"].as_str().unwrap_or("-").to_owned()).collect()
}

// contract: 7.5 report: 59
#[test]
fn what_a_page_says_and_asks_for_from_its_start_is_told_without_secrets() {
    let stage = Stage::take();
    let from = cursor(&stage);
    let visit = stage.show(TALKS);
    let ask = |arguments: &[&str]| {
        let arguments: Vec<_> = ["diagnostics", "--after", &from].iter().chain(arguments).copied().collect();
        stage.ok(&arguments)
    };
    let errors = ask(&["--kind", "error", "--duration-ms", "20000"]);
    let boom = entries(&errors)
        .into_iter()
        .find(|entry| entry["pageText"].as_str().is_some_and(|text| text.contains("boom")));
    let boom = boom.unwrap_or_else(|| panic!("{errors:#}"));
    assert!(boom["level"] == "error" && boom["line"] == 1, "{boom:#}");
    let worker = loop {
        let told = ask(&["--kind", "console", "--level", "warning", "--duration-ms", "20000"]);
        if let Some(found) = entries(&told).into_iter().find(|entry| entry["pageText"] == "from a worker") {
            break found;
        }
    };
    assert_eq!(worker["worker"], true);
    let console = ask(&["--kind", "console"]);
    let by_page =
        entries(&console).into_iter().filter(|entry| entry["worker"].is_null() && entry["browser"].is_null());
    let said: Vec<_> = by_page.map(|entry| entry["pageText"].clone()).collect();
    assert_eq!(
        said,
        ["hello 7 {a: {…}, list: Array(2)}", "bad at https://x.test/p?token=…", "styled word", "{loop: {…}}"]
    );
    let bad = ask(&["--kind", "console", "--level", "error"]);
    assert_eq!(texts(&bad), ["bad at https://x.test/p?token=…"]);
    let requests = ask(&["--kind", "request", "--failed-only"]);
    let missing = &entries(&requests)[0];
    assert_eq!(missing["request"]["status"], 404, "{requests:#}");
    assert_eq!(missing["request"]["resource"], "image");
    assert!(missing["pageUrl"].as_str().expect("a url").ends_with("missing.png?key=…&x=…"), "{missing}");
    let all = ask(&[]);
    let first = entries(&all)
        .into_iter()
        .find(|entry| entry["kind"] == "request" && entry["pageUrl"] == visit.url("page.html"));
    assert_eq!(first.expect("the page itself")["request"]["resource"], "document");
    assert!(!all.to_string().contains("geheim"), "{all:#}");
    let hidden = ask(&["--kind", "console", "--values", "false"]);
    assert!(entries(&hidden).iter().any(|entry| entry["values"] == 3), "{hidden:#}");
    assert!(!hidden.to_string().contains("hello"), "{hidden:#}");
}

// contract: 7.5
#[test]
fn a_cursor_gives_what_is_new_a_wait_ends_with_it_and_a_flood_is_bounded_with_its_gap() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["evaluate", "console.log('old')"]);
    let old = stage.ok(&["diagnostics", "--kind", "console"]);
    let cursor = old["next"].as_u64().expect("a cursor").to_string();
    assert!(entries(&stage.ok(&["diagnostics", "--after", &cursor])).is_empty());
    let waiting =
        stage.begin(&["diagnostics", "--after", &cursor, "--kind", "console", "--duration-ms", "30000"]);
    stage.ok(&["evaluate", "console.log('new')"]);
    let answer = waiting.answer_within(Duration::from_secs(20));
    assert_eq!(texts(answer.result()), ["new"]);
    assert_eq!(answer.result()["dropped"], 0);
    let cursor = answer.result()["next"].to_string();
    stage.ok(&["evaluate", "for (let i = 0; i < 2000; i++) console.log('flood ' + i); console.log('end')"]);
    let told = stage.ok(&["diagnostics", "--after", &cursor, "--limit", "500"]);
    assert_eq!((entries(&told).len(), told["dropped"].as_u64()), (500, Some(1501)));
    assert_eq!(texts(&told).last().map(String::as_str), Some("end"));
    stage.ok(&["evaluate", "for (let i = 0; i < 2000; i++) console.log('same')"]);
    let told = stage.ok(&["diagnostics", "--limit", "1"]);
    assert_eq!(entries(&told)[0]["times"], 2000, "{told:#}");
}

// contract: 7.5 1.7
#[test]
fn bounds_are_checked_and_it_answers_while_the_page_spins() {
    let (stage, _visit) = Stage::open("spin.html");
    stage.fails("invalid_argument", &["diagnostics", "--limit", "0"]);
    stage.fails("invalid_argument", &["diagnostics", "--limit", "501"]);
    stage.fails("invalid_argument", &["diagnostics", "--duration-ms", "30001"]);
    let spinning = stage.begin(&["click", "name=Spin", "--timeout-ms", "1500"]);
    assert!(stage.ask(&["diagnostics"]).run.took < Duration::from_secs(3));
    spinning.answer_within(Duration::from_secs(20));
}

// contract: 3.3 7.5
#[test]
fn a_page_does_not_notice_that_its_console_is_read() {
    let stage = Stage::take();
    let from = cursor(&stage);
    // What is trapped here, a browser that nobody drives leaves alone as well.
    stage.show(
        "<!doctype html><title>Traps</title><script>\
         window.seen = [];\
         const trap = (name) => ({ get() { seen.push(name); return '' } });\
         const error = new Error('e');\
         Object.defineProperty(error, 'stack', trap('stack'));\
         const object = Object.defineProperties({}, { id: trap('id'), toString: trap('toString'), name: trap('name') });\
         const element = document.createElement('div'); Object.defineProperty(element, 'id', trap('element'));\
         const traps = new Proxy({}, { ownKeys() { seen.push('ownKeys'); return [] },\
             getPrototypeOf() { seen.push('prototype'); return null }, has() { seen.push('has') } });\
         for (const one of [error, object, element, Object.create(traps), [error, traps], { traps }]) {\
             console.log(one); console.debug('%o', one); console.groupEnd(one); console.table(one); console.dir(one);\
         }\
         </script>",
    );
    let told = stage.ok(&["diagnostics", "--kind", "console", "--after", &from]);
    assert!(entries(&told).len() > 10, "{told:#}");
    assert_eq!(stage.eval("window.seen"), json!([]), "what the page noticed");
}
