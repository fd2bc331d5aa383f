//! `observe` and `expect`: what the page shows after a mutation, and whether it is as it should be, in the same answer
//! (contract 2.5).

use std::fmt::Write as _;

use glass_tests::mcp::Mcp;
use glass_tests::{Stage, rows};
use serde_json::{Value, json};

const PAGE: &str = r#"<!doctype html><title>After</title><script src="ledger.js"></script><h1>Words that stay</h1>
<button id="go" onclick="later.disabled = false; news.setAttribute('role', 'alert'); news.textContent = 'All is well';
more.innerHTML = '<button>New one</button>'">Go</button>
<button id="later" disabled>Later</button> <button>Untouched</button> <label>Name <input id="name"></label>
<iframe srcdoc="<button id=in onclick='this.textContent = this.textContent + 1'>Inner</button>"></iframe>
<p id="news"></p><div id="more"></div>
<button id="slow" onclick="setTimeout(() => { document.title = 'Saved' }, 300)">Slow</button>
<button onclick="alert('stop')">Ask</button> <a href="form.html">Leave</a> <button onclick="window.close()">Close</button>
<button onclick="for (;;) {}">Spin</button>"#;

fn outline(result: &Value) -> &str {
    result["observation"]["outline"].as_str().unwrap_or_else(|| panic!("no outline: {result}"))
}

// contract: 2.5
#[test]
fn a_summary_has_what_is_new_or_changed_and_nothing_else() {
    let stage = Stage::take();
    let _visit = stage.show(PAGE);
    let result = stage.ok(&["click", "Go", "--observe", "summary"]);
    let seen = &result["observation"];
    for (role, name) in [("button", "Later"), ("button", "New one")] {
        assert_eq!(rows(seen, role, name).len(), 1, "{result}");
    }
    assert!(outline(&result).contains("All is well"), "what speaks up is told: {result}");
    for name in ["Untouched", "Words", "\"Go\""] {
        assert!(!outline(&result).contains(name), "{name}: {result}");
    }
    assert_eq!(seen["page"]["revision"], result["revision"], "{result}");
    let new = rows(seen, "button", "New one")[0]["ref"].as_str().expect("a ref");
    stage.ok(&["hover", new]);
    let result = stage.ok(&["fill", "label=Name", "Ann", "--observe", "summary"]);
    assert_eq!(rows(&result["observation"], "textbox", "Name")[0]["value"], "Ann", "{result}");
    let result = stage.ok(&["click", "Inner", "--observe", "summary"]);
    assert_eq!(rows(&result["observation"], "button", "Inner1").len(), 1, "in frames too: {result}");
    let result = stage.ok(&["evaluate", "1", "--observe", "summary"]);
    assert!(result["observation"]["nodes"].as_array().is_some_and(Vec::is_empty), "{result}");
    let run = stage.glassctl(["click", "Inner1", "--observe", "summary"]).success();
    assert!(run.stdout.lines().nth(2).is_some_and(|row| row.contains("\"Inner11\"")), "{run}");
    // It is no observation of its own: numbers count on in the one that was asked for.
    let observed = stage.ok(&["observe"]);
    let second = observed["nodes"][1]["ref"].as_str().expect("a second row");
    stage.ok(&["hover", "Untouched", "--observe", "summary"]);
    assert_eq!(stage.ok(&["find", "ordinal=2"])["matches"][0]["ref"], second);
}

// contract: 2.5
#[test]
fn everything_is_shown_within_its_bound_when_asked_for_and_nothing_when_not() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let result = stage.ok(&["hover", "Go", "--observe", "full"]);
    assert!(outline(&result).contains("Untouched") && outline(&result).contains("Inner"), "{result}");
    for how in ["full", "summary"] {
        let many = "(() => { more.innerHTML = '<button>One of very many buttons</button>'.repeat(300); })()";
        let result = stage.ok(&["evaluate", many, "--observe", how, "--observe-max-bytes", "600"]);
        assert!(outline(&result).len() <= 600, "{how}: {result}");
        assert!(outline(&result).contains("left out"), "{how}: {result}");
        assert!(!result["observation"]["incomplete"].as_array().expect("a list").is_empty(), "{result}");
    }
    for arguments in [&["click", "Go"][..], &["click", "Go", "--observe", "none"]] {
        assert!(stage.ok(arguments).get("observation").is_none());
    }
    let before = visit.events().len();
    for wrong in [
        &["find", "Go", "--observe", "full"][..],
        &["list-downloads", "--observe", "summary"],
        &["click", "Go", "--observe-max-bytes", "600"],
        &["click", "Go", "--observe", "full", "--observe-max-bytes", "511"],
    ] {
        stage.ask(wrong).fails("invalid_argument");
    }
    assert_eq!(visit.events().len(), before, "what is refused does nothing");
}

// contract: 2.5, 5.4, 5.5
#[test]
fn a_page_that_went_or_cannot_answer_is_told_and_the_outcome_stays() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let result = stage.ok(&["click", "Ask", "--observe", "summary"]);
    assert_eq!(result["observation"]["dialog"]["pageMessage"], "stop", "{result}");
    let result = stage.ok(&["accept-dialog", "--observe", "summary"]);
    assert!(result["observation"]["page"]["revision"].is_u64(), "{result}");
    let result = stage.ok(&["click", "Leave", "--observe", "summary"]);
    assert_eq!(result["observation"]["page"]["title"], "A form", "{result}");
    assert_eq!(rows(&result["observation"], "button", "Save").len(), 1, "all of it is new: {result}");
    let made = stage.ok(&["create-target", &visit.url("page.html"), "--observe", "full"]);
    assert!(outline(&made).contains("Untouched"), "{made}");
    let target = made["targetId"].as_str().expect("a target");
    let opened = format!("window.open('{}', 'other'); 1", visit.url("page.html"));
    let opened = stage.ok(&["evaluate", &opened, "--target-id", target]);
    let popup = opened["evidence"]["popups"][0]["targetId"].as_str().expect("a popup");
    let result = stage.ok(&["click", "Close", "--target-id", popup, "--observe", "summary"]);
    assert_eq!(
        (&result["unobserved"], &result["evidence"]["targetClosed"]),
        (&"page_closed".into(), &true.into())
    );
    let spun =
        stage.ask(&["click", "Spin", "--target-id", target, "--observe", "full", "--timeout-ms", "700"]);
    assert!(spun.run.took.as_secs() < 10, "{}", spun.run);
}

// contract: 2.5, 9.5
#[test]
fn a_tool_tells_what_changed_in_few_words() {
    let stage = Stage::take();
    let mut page = PAGE.to_owned();
    for number in 0..150 {
        let _ = write!(
            page,
            "<p>Some words <a href='#{number}'>Link {number}</a> <input aria-label='Field {number}'></p>"
        );
    }
    let visit = stage.show(&page);
    let server = Mcp::greeted(&stage, &[], "2025-11-25");
    let opened = server.call("navigate", &json!({ "url": visit.url("page.html") })).good();
    assert!(
        opened.text(0).contains("\"Untouched\"") && opened.json.to_string().len() < 3000,
        "{}",
        opened.json
    );
    let clicked = server.call("click", &json!({ "target": "Go" })).good();
    let size = clicked.json.to_string().len();
    assert!(size <= 2560, "{size} bytes: {}", clicked.json);
    assert!(
        clicked.text(0).contains("New one") && !clicked.text(0).contains("Untouched"),
        "{}",
        clicked.json
    );
    let facts = &clicked.json["structuredContent"];
    assert!(outline(facts).contains("New one") && facts["currentRevision"].is_u64(), "{facts}");
    let expect = json!({ "target": "Go", "expect": { "textContains": "Sorry", "timeoutMs": 200 } });
    let error = server.call("click", &expect).fails("verification_failed");
    assert_eq!(
        (&error["outcome"], &error["details"]["result"]["action"]),
        (&json!("completed"), &json!("click"))
    );
    let silent = server.call("click", &json!({ "target": "Go", "observe": "none" })).good();
    assert!(silent.json["structuredContent"].get("observation").is_none(), "{}", silent.json);
}

// contract: 2.5, 8.2
#[test]
fn what_is_expected_is_waited_for_and_what_does_not_come_is_an_error_that_keeps_the_result() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let result =
        stage.ok(&["click", "Slow", "--expect", "title-contains=Saved", "--expect", "visible=Later"]);
    assert!(result["expected"]["waitedMs"].as_u64().is_some_and(|ms| ms > 0), "{result}");
    let dialog = r#"{"dialogOpen": true}"#;
    assert!(stage.ok(&["click", "Ask", "--expect", dialog])["expected"].is_object());
    stage.ok(&["accept-dialog", "--expect", "dialog-open=false"]);
    let clicks = || visit.events().iter().filter(|event| event.kind == "click" && event.id == "go").count();
    let answer = stage.ask(&[
        "click",
        "Go",
        "--expect",
        "text-contains=Sorry",
        "--expect-timeout-ms",
        "400",
        "--observe",
        "summary",
    ]);
    let error = answer.fails("verification_failed");
    assert_eq!((answer.run.code, clicks()), (Some(4), 1), "{}", answer.run);
    assert_eq!((&error["outcome"], &error["dispatched"]), (&"completed".into(), &"yes".into()));
    let result = &error["details"]["result"];
    assert_eq!(
        (&result["action"], &result["evidence"]["semanticDiff"]["added"]),
        (&"click".into(), &2.into()),
        "{error}"
    );
    assert!(outline(result).contains("All is well"), "{error}");
    assert_eq!(error["details"]["seen"][0]["holds"], false, "{error}");
    // What cannot be asked is no success either, and no other outcome.
    let error =
        stage.fails("verification_failed", &["click", "Untouched", "--expect", "visible=r1:e99999"]).clone();
    assert_eq!(
        (&error["outcome"], &error["reason"]),
        (&"completed".into(), &"target_not_found".into()),
        "{error}"
    );
    let before = visit.events().len();
    for wrong in [
        &["observe", "--expect", "dialog-open"][..],
        &["click", "Go", "--expect", "fly=1"],
        &["click", "Go", "--expect-timeout-ms", "5"],
        &["click", "Go", "--expect", r#"{"visible": "Go", "hidden": "Go"}"#],
    ] {
        stage.ask(wrong).fails("invalid_argument");
    }
    assert_eq!(visit.events().len(), before, "what is refused does nothing");
    stage.ok(&["click", "Leave", "--expect", "url-matches=**/form.html", "--expect", "visible=Save"]);
    let opened = format!("window.open('{}'); 1", visit.url("page.html"));
    let opened = stage.ok(&["evaluate", &opened, "--expect", "popup-opened"]);
    let popup = opened["evidence"]["popups"][0]["targetId"].as_str().expect("a popup");
    stage.ok(&["click", "Close", "--target-id", popup, "--expect", "target-count=1"]);
}

const GOES: &str = r##"<!doctype html><title>Goes</title><script src="ledger.js"></script>
<a id="late" href="#" onclick="event.preventDefault(); setTimeout(() => { location.href = 'form.html' }, 300)">Late</a>
<button onclick="setTimeout(() => history.pushState(null, '', '?within'), 200)">Within</button>
<button onclick="setTimeout(() => location.reload(), 200)">Again</button>
<button onclick="if (confirm('Leave?')) setTimeout(() => { location.href = 'form.html' }, 200)">Asks</button>
<button id="stays">Stays</button> <input aria-label="Field" onkeydown="if (event.key === 'Enter') location.hash = 'x'">"##;

// contract: 5.3
#[test]
fn a_navigation_that_is_expected_is_waited_for_and_told_apart_from_the_outcome() {
    let stage = Stage::take();
    let visit = stage.show(GOES);
    let arrived = |result: &Value| result["evidence"]["navigation"].clone();
    let within = stage.ok(&["click", "Within", "--expect-navigation=**/page.html?within"]);
    let seen = arrived(&within);
    assert_eq!((&seen["matched"], &seen["sameDocument"]), (&true.into(), &true.into()), "{within}");
    assert_eq!(within["evidence"]["urlChanged"], true, "measured after it came: {within}");
    let seen = arrived(&stage.ok(&["click", "Again", "--expect-navigation", "--navigation-until", "load"]));
    assert_eq!(
        (&seen["matched"], &seen["loaded"], &seen["status"]),
        (&true.into(), &true.into(), &200.into())
    );
    stage.ok(&["click", "Field"]);
    assert_eq!(arrived(&stage.ok(&["key", "Enter", "--expect-navigation"]))["matched"], true);
    let answer = stage.ask(&["click", "Stays", "--expect-navigation", "--navigation-timeout-ms", "300"]);
    assert_eq!(arrived(answer.result())["matched"], false, "{}", answer.run);
    assert_eq!(visit.events().iter().filter(|event| event.kind == "click" && event.id == "stays").count(), 1);
    let elsewhere =
        stage.ok(&["click", "Within", "--expect-navigation=**/form.html", "--navigation-timeout-ms", "400"]);
    assert_eq!(arrived(&elsewhere)["matched"], false, "{elsewhere}");
    let asked = stage.ok(&["click", "Asks", "--expect-navigation"]);
    assert!(arrived(&asked)["matched"] == false && asked["evidence"]["dialog"].is_object(), "{asked}");
    let answered = stage.ok(&["accept-dialog", "--expect-navigation=**/form.html"]);
    assert_eq!(answered["navigation"]["matched"], true, "{answered}");
    stage.go(&visit, "page.html");
    let server = Mcp::greeted(&stage, &["--session", "default"], "2025-11-25");
    let late = json!({ "target": "Late", "expectNavigation": { "url": "**/form.html" } });
    let late = server.call("click", &late).good();
    assert_eq!(arrived(&late.json["structuredContent"])["matched"], true, "{}", late.json);
    assert!(late.text(0).contains("\"Save\""), "what the new page shows is told: {}", late.json);
    for wrong in
        [&["fill", "Name", "x", "--expect-navigation"][..], &["click", "Save", "--navigation-until", "load"]]
    {
        stage.ask(wrong).fails("invalid_argument");
    }
}

// contract: 2.6
#[test]
fn a_failure_tells_what_was_going_on_when_asked_and_only_then() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let wrong = ["click", "Nothing of that name", "--timeout-ms", "200"];
    assert!(stage.ask(&wrong).json.get("trace").is_none());
    let answer = stage.ask(&[&wrong[..], &["--trace-on-error"]].concat());
    answer.fails("target_not_found");
    let trace = &answer.json["trace"];
    assert_eq!(
        (&trace["kind"], &trace["phase"]),
        (&"target_not_found".into(), &"target_resolution".into()),
        "{trace}"
    );
    assert!(trace["times"]["acceptedMs"].as_u64() <= trace["times"]["endedMs"].as_u64(), "{trace}");
    for part in ["pageTargets", "pageFrames", "pageEvents"] {
        assert!(trace[part].as_array().is_some_and(|rows| !rows.is_empty()), "{part}: {trace}");
    }
    assert!(
        trace.to_string().len() <= 8192 && !trace.to_string().contains("Nothing of that name"),
        "{trace}"
    );
    stage.ask(&["status", "--trace-on-error"]).fails("invalid_argument");
    let said = stage.glassctl([&wrong[..], &["--trace-on-error"]].concat());
    assert!(said.stderr.contains("\"pageTargets\"") && said.stdout.is_empty(), "{said}");
    assert!(visit.clicks().is_empty());
}

// contract: 2.3
#[test]
fn a_key_that_no_receipt_is_kept_for_is_refused_and_nothing_is_done() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let answer = stage.ask(&["click", "Go", "--idempotency-key", "k1"]);
    assert_eq!(
        (answer.run.code, answer.fails("unsupported")["outcome"].as_str()),
        (Some(1), Some("rejected"))
    );
    let server = Mcp::greeted(&stage, &["--session", "default"], "2025-11-25");
    let call = |tool: &str, arguments: Value, meta: Value| {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        server.result(server.request("tools/call", &params))
    };
    for key in ["glass/idempotency-key", "dev.r5d/idempotency-key"] {
        for value in [json!("k1"), json!(5)] {
            call("click", json!({ "target": "Go" }), json!({ key: value })).fails("unsupported");
        }
        call("listSessions", json!({}), json!({ key: "k1" })).fails("unsupported");
    }
    call("click", json!({ "target": "Untouched" }), json!({ "glass/idempotency-key": null })).good();
    assert!(!visit.clicks().contains(&"go".to_owned()), "{:?}", visit.clicks());
}

const MOVES: &str = r#"<!doctype html><title>Moves</title><script src="ledger.js"></script>
<script>const moves = []; addEventListener('mousemove', (event) => { if (event.isTrusted) moves.push([event.clientX, event.clientY]) });</script>
<button id="far" style="position:absolute;left:700px;top:400px">Far</button>
<button id="shy" style="position:absolute;left:60px;top:300px" onmouseover="this.remove()">Shy</button>
<label style="position:absolute;left:500px;top:60px"><input type="checkbox" id="tick">Tick</label>
<input id="field" aria-label="Field" style="position:absolute;left:60px;top:500px">"#;

// contract: 5.2, 5.7
#[test]
fn a_hand_moves_along_a_curve_and_lets_go_of_what_it_held() {
    let stage = Stage::take();
    let visit = stage.show(MOVES);
    let moves = || stage.eval("moves.splice(0).map(([x, y]) => [x, y])");
    let clicks =
        |id: &str| visit.events().iter().filter(|event| event.kind == "click" && event.id == id).count();
    stage.ok(&["click", "Far"]);
    let fast: Vec<[f64; 2]> = serde_json::from_str(&moves().to_string()).expect("points");
    assert!(fast.len() <= 2, "{fast:?}");
    stage.ok(&["click", "Tick", "--interaction", "human"]);
    let way: Vec<[f64; 2]> = serde_json::from_str(&moves().to_string()).expect("points");
    let (first, last) = (way[0], way[way.len() - 1]);
    let off = |[x, y]: &[f64; 2]| {
        let (dx, dy) = (last[0] - first[0], last[1] - first[1]);
        ((x - first[0]) * dy - (y - first[1]) * dx).abs() / dx.hypot(dy)
    };
    assert!(way.len() >= 8, "a way has points: {way:?}");
    assert!(way.iter().map(off).fold(0.0, f64::max) > 0.5, "and bends: {way:?}");
    assert_eq!((clicks("far"), clicks("tick")), (1, 1));
    assert_eq!(stage.ok(&["check", "Tick", "--interaction", "human"])["evidence"]["already"], true);
    let answer = stage.ask(&[
        "click",
        "Shy",
        "--interaction",
        "human",
        "--modifiers",
        "Shift",
        "--timeout-ms",
        "1500",
    ]);
    assert_eq!((answer.error()["outcome"].as_str(), clicks("shy")), (Some("failed"), 0), "{}", answer.run);
    stage.ok(&["click", "Field"]);
    stage.ok(&["key", "a"]);
    let key = visit.events().into_iter().rfind(|event| event.kind == "keydown").expect("a key");
    assert_eq!((key.key.as_str(), key.held.as_str()), ("a", ""), "nothing is held any more");
    stage.ask(&["fill", "Field", "x", "--interaction", "human"]).fails("invalid_argument");
    let server = Mcp::greeted(&stage, &["--session", "default", "--interaction", "human"], "2025-11-25");
    moves();
    server.ok("hover", &json!({ "target": "Far" }));
    server.ok("fill", &json!({ "target": "Field", "text": "x" }));
    assert!(moves().as_array().expect("points").len() >= 8);
}
