//! `batch`: steps one after the other, each with its whole answer; the first that does not complete ends it.

use glass_tests::mcp::Mcp;
use glass_tests::{Answer, Stage};
use serde_json::{Value, json};

const PAGE: &str = r#"<!doctype html><title>Steps</title><script src="ledger.js"></script>
<label>Name <input id="name"></label> <button id="save" onclick="done.textContent = 'saved ' + document.getElementById('name').value">Save</button>
<button id="confirm">Confirm</button> <button id="makes" onclick="more.innerHTML = '<button id=made>Made</button>'">Make</button>
<button id="later" onclick="setTimeout(() => { done.textContent = 'changed by itself' }, 150)">Later</button>
<button id="restless" onclick="change()">Restless</button> <button id="spin" onclick="for (const end = Date.now() + 1500; Date.now() < end; );">Spin</button> <p id="done"></p><div id="more"></div>
<script>let stop = false; const { port1, port2 } = new MessageChannel();
function change() { if (stop) return; done.textContent = 'still ' + performance.now(); port2.postMessage(0); }
port1.onmessage = change;</script>"#;

/// Runs these steps, written to a file.
#[track_caller]
fn run(stage: &Stage, steps: &str, arguments: &[&str]) -> Answer {
    let path = stage.path("cwd/steps");
    std::fs::write(&path, steps).expect("write the steps");
    stage.give(&path);
    let path = path.to_str().expect("a path in UTF-8");
    stage.ask(&[&["batch", path], arguments].concat())
}

fn revision_of(stage: &Stage) -> String {
    stage.revision().to_string()
}

// contract: 6, 12.6
#[test]
fn steps_run_in_their_order_and_each_answers_as_it_does_alone() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let lines = "# two fields of one form\nfill label=Name \"Ann O'Hara\"\nclick Save --expect 'text-contains=saved Ann'\nget-text\n";
    let done = run(&stage, lines, &["--observe", "summary"]).result().clone();
    let steps = done["steps"].as_array().expect("steps");
    assert_eq!(steps.iter().map(|step| &step["operation"]).collect::<Vec<_>>(), ["fill", "click", "getText"]);
    assert_eq!(steps[0]["result"]["evidence"]["valueMatches"], true, "{done}");
    assert!(steps[1]["result"]["expected"].is_object(), "{done}");
    assert!(
        steps[2]["result"]["text"].as_str().is_some_and(|text| text.contains("saved Ann O'Hara")),
        "{done}"
    );
    assert_eq!((&done["outcome"], &done["notRun"]), (&"completed".into(), &json!([])));
    assert!(
        done["observation"]["outline"].as_str().is_some_and(|text| text.contains("Ann O'Hara")),
        "{done}"
    );
    let list = r#"{"steps": [{"operation": "click", "target": "Make"}, {"action": "click", "target": "css=#made"}]}"#;
    assert_eq!(run(&stage, list, &[]).result()["steps"][1]["outcome"], "completed");
    assert_eq!(visit.clicks(), ["save", "makes", "made"]);
    let printed = stage
        .glassctl_reading(["batch", "-"], b"hover Save\nclick Nothing --timeout-ms 200\nclick Confirm\n");
    assert_eq!(printed.code, Some(3), "{printed}");
    for part in
        ["1 of 3 steps completed", "1 hover: hovered", "2 click: rejected · target_not_found", "not run: 3"]
    {
        assert!(printed.stdout.contains(part), "{part}: {printed}");
    }
}

// contract: 6, 2.1 report: 4, 82
#[test]
fn the_first_step_that_does_not_complete_ends_it_and_nothing_after_it_is_done() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let stopped = |steps: &str| run(&stage, steps, &[]);
    let answer = stopped("click Save\nclick Missing --timeout-ms 200\nclick Confirm");
    let (error, result) = (answer.fails("target_not_found"), &answer.json["result"]);
    assert_eq!((answer.run.code, &error["details"]["step"]), (Some(3), &2.into()), "{}", answer.run);
    assert_eq!(
        (&error["outcome"], &error["retry"]),
        (&"failed".into(), &"after_observe".into()),
        "something was done"
    );
    assert_eq!(result["steps"][0]["result"]["action"], "click", "{result}");
    assert_eq!(
        (&result["steps"][1]["error"]["outcome"], &result["notRun"]),
        (&"rejected".into(), &json!([3])),
        "{result}"
    );
    let answer = stopped("observe\nclick Missing --timeout-ms 200");
    assert_eq!(answer.fails("target_not_found")["outcome"], "rejected", "nothing was done");
    let answer = stopped("verify visible=Missing\nclick Confirm");
    assert_eq!(
        (answer.run.code, answer.fails("verification_failed")["outcome"].as_str()),
        (Some(4), Some("completed"))
    );
    let answer = stopped("click Save --expect text-contains=Never --expect-timeout-ms 200\nclick Confirm");
    answer.fails("verification_failed");
    let answer = stopped("click Save\nclick Spin --timeout-ms 600\nclick Confirm");
    assert_eq!(answer.fails("unknown_outcome")["details"]["step"], 2, "{}", answer.run);
    assert_eq!(answer.json["result"]["steps"][0]["outcome"], "completed", "what was done before is told");
    assert!(!visit.clicks().contains(&"confirm".to_owned()), "{:?}", visit.clicks());
}

// contract: 6, 10.1
#[test]
fn every_step_is_judged_before_the_first_is_run() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let many = "click Save\n".repeat(33);
    for (steps, kind) in [
        ("click Save\nfly away", "invalid_argument"),
        ("click Save\nnavigate file:///etc/passwd", "denied"),
        ("click Save\nclick a=b", "invalid_argument"),
        (
            r#"[{"operation": "click", "target": "Save"}, {"operation": "batch", "steps": []}]"#,
            "invalid_argument",
        ),
        (
            r#"[{"operation": "click", "target": "Save"}, {"operation": "find", "target": "a", "observe": "full"}]"#,
            "invalid_argument",
        ),
        (&many, "invalid_argument"),
        ("", "invalid_argument"),
    ] {
        run(&stage, steps, &[]).fails(kind);
    }
    let denied = run(&stage, "click Save\nevaluate 1", &["--policy-deny", "evaluate"]);
    assert_eq!(denied.fails("denied")["details"]["step"], 2, "{}", denied.run);
    let wrong = run(&stage, "click Save", &["--mode", "chain"]);
    wrong.fails("invalid_argument");
    let atomic = run(&stage, "click Save\nclick Missing --timeout-ms 300", &["--atomic"]);
    assert_eq!(
        (&atomic.fails("target_not_found")["details"]["step"], &atomic.error()["outcome"]),
        (&2.into(), &"rejected".into())
    );
    assert_eq!(visit.clicks(), Vec::<String>::new());
    run(&stage, "click Save\nclick Confirm", &["--atomic"]).result();
    assert_eq!(visit.clicks(), ["save", "confirm"]);
}

// contract: 6, 3.6 report: 102
#[test]
fn a_chain_hands_its_own_revisions_on_and_a_change_by_others_stops_it() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let three = "fill label=Name Ann\nclick Save\nclick Make";
    let chain = |steps: &str| {
        let revision = revision_of(&stage);
        run(&stage, steps, &["--mode", "chain", "--expected-revision", &revision])
    };
    chain(three).result();
    // What a step waits for is no change by others.
    let awaited = r#"[{"operation":"click","target":"Later","expect":{"textContains":"changed by itself"}},
        {"operation":"wait","condition":"text=changed"},{"operation":"click","target":"Make"}]"#;
    chain(awaited).result();
    let answer = chain("click Restless\nclick Confirm");
    assert_eq!(answer.fails("stale_revision")["details"]["step"], 2, "{}", answer.run);
    assert!(!visit.clicks().contains(&"confirm".to_owned()));
    stage.eval("stop = true");
    let revision = revision_of(&stage);
    let fixed = run(
        &stage,
        "hover Save\nclick Make\nclick Save",
        &["--mode", "fixed", "--expected-revision", &revision],
    );
    assert_eq!(fixed.fails("stale_revision")["details"]["step"], 3, "{}", fixed.run);
}

// contract: 6, 9.5, 1.1
#[test]
fn a_batch_can_begin_a_session_and_is_a_tool() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    let server = Mcp::greeted(&stage, &[], "2025-11-25");
    let steps = json!([
        { "operation": "navigate", "url": visit.url("page.html") },
        { "operation": "fill", "target": "label=Name", "text": "Ann" },
        { "operation": "click", "selector": "#save" },
        { "operation": "evaluate", "expression": "document.getElementById('done').textContent" },
    ]);
    let done = server.call("batch", &json!({ "steps": steps })).good();
    assert!(
        done.text(0).contains("4 of 4 steps completed") && done.text(0).contains("saved Ann"),
        "{}",
        done.json
    );
    let steps = json!([{ "operation": "click", "target": "Save" }, { "operation": "click", "target": "Missing", "timeoutMs": 200 }]);
    let failed = server.call("batch", &json!({ "steps": steps }));
    let error = failed.fails("target_not_found");
    assert_eq!((&error["outcome"], &error["details"]["step"]), (&json!("failed"), &json!(2)), "{error}");
    assert!(failed.text(1).contains("1 click: clicked"), "{}", failed.json);
    let long = json!([
        { "operation": "hover", "target": "Save" },
        { "operation": "evaluate", "expression": "new Promise((done) => setTimeout(done, 1300))" },
    ]);
    let params =
        json!({ "name": "batch", "arguments": { "steps": long }, "_meta": { "progressToken": "p" } });
    let id = server.request("tools/call", &params);
    server.result(id).good();
    let told = server.message();
    let message = told["params"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("step 2 of 2, evaluate"), "{told}");
    let slow = json!({ "steps": [{ "operation": "wait", "condition": "text=Never", "timeoutMs": 400 }], "budgetMs": 100 });
    server.call("batch", &slow).fails("timeout");
    let late = json!({ "steps": [
        { "operation": "evaluate", "expression": "new Promise((done) => setTimeout(done, 300))" },
        { "operation": "click", "target": "Confirm" },
    ], "budgetMs": 100 });
    let late: Value = server.call("batch", &late).fails("timeout");
    assert_eq!((&late["details"]["step"], &late["reason"]), (&json!(2), &json!("budget")), "{late}");
    assert!(!visit.clicks().contains(&"confirm".to_owned()));
}

// contract: 6, 7.3, 7.4, 10.5
#[test]
fn steps_move_files_as_their_commands_do_and_where_each_says() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    visit.serve(
        "page.html",
        "<!doctype html><title>Files</title><label>Mine <input id=mine type=file multiple></label>
         <a download=notes.txt href='data:text/plain,words'>Get</a>",
    );
    let own = ["--session", "moves"];
    stage.ok(&[&["navigate", &visit.url("page.html")], &own[..]].concat());
    let run = |steps: &str, arguments: &[&str]| run(&stage, steps, &[&own[..], arguments].concat());
    let downloads = || {
        let listed = stage.ok(&[&["list-downloads"][..], &own].concat());
        listed["downloads"].as_array().map_or(0, Vec::len)
    };
    for (name, text) in [("one.txt", "one"), ("two.txt", "second")] {
        std::fs::write(stage.path(&format!("cwd/{name}")), text).expect("write it");
        stage.give(&stage.path(&format!("cwd/{name}")));
    }
    let into = stage.path("cwd/into");
    std::fs::create_dir_all(&into).expect("make it");
    stage.give(&into);
    let steps = "upload label=Mine one.txt two.txt\nscreenshot -o into/a.png\nclick Get\ndownload into\n\
        export-page --format html -o into/page.html\nevaluate \"glassArtifact('made.csv', 'a,b'); return 7\" --artifacts into\n\
        observe --include-screenshot\nstorage-state save into/state.json\nscreenshot --format jpeg";
    let done = run(steps, &[]).result().clone();
    let held = stage.eval_in("moves", "[...mine.files].map((f) => f.name + f.size).join()");
    assert_eq!(held, "one.txt3,two.txt6", "{done}");
    let steps = done["steps"].as_array().expect("steps");
    let path =
        |at: usize, of: &str| steps[at]["result"].pointer(of).and_then(Value::as_str).map(str::to_owned);
    let text = |at: usize, of: &str| {
        let path = path(at, of).unwrap_or_else(|| panic!("{of} of step {}: {done:#}", at + 1));
        String::from_utf8_lossy(&std::fs::read(stage.path("cwd").join(path)).expect("a file")).into_owned()
    };
    assert!(text(1, "/path").contains("PNG") && path(1, "/path").as_deref() == Some("into/a.png"));
    assert_eq!((text(3, "/path").as_str(), &steps[3]["result"]["bytes"]), ("words", &json!(5)));
    assert!(text(4, "/path").contains("<title>Files"));
    assert_eq!((text(5, "/artifacts/0/path").as_str(), &steps[5]["result"]["value"]), ("a,b", &json!(7)));
    assert!(text(6, "/screenshot/path").contains("PNG"));
    assert!(text(7, "/path").contains("cookies"));
    assert!(path(8, "/path").is_some_and(|path| path.ends_with(".jpeg")));
    // What could not be kept, or may not be read, is told before anything is done.
    let before = downloads();
    for (steps, kind) in [
        ("click Get\nupload label=Mine ../outside.txt", "denied"),
        ("click Get\nupload label=Mine none.txt", "invalid_argument"),
        ("click Get\ndownload nowhere", "invalid_argument"),
        ("click Get\nscreenshot -o nowhere/a.png", "invalid_argument"),
        ("click Get\nevaluate \"glassArtifact('a', 'b')\"", "invalid_argument"),
        (r#"[{"operation": "click", "target": "Get", "output": "a.png"}]"#, "invalid_argument"),
    ] {
        run(steps, &[]).fails(kind);
    }
    let denied = run("click Get\nupload label=Mine one.txt", &["--policy-deny", "upload"]);
    assert_eq!(denied.fails("denied")["details"]["step"], 2, "{}", denied.run);
    assert_eq!((before, downloads()), (1, 1));
    let atomic =
        run(r#"[{"operation": "upload", "target": "label=Mine", "files": ["one.txt"]}]"#, &["--atomic"]);
    assert_eq!(atomic.result()["steps"][0]["result"]["held"][0]["size"], 3);
    stage.ok(&["session", "close", "moves"]);
}
