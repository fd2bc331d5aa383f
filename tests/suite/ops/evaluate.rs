//! `evaluate`: the value that the script yields, or a typed error; never longer than its deadline.

use std::time::Duration;

use glass_tests::Stage;
use serde_json::json;

// contract: 5.3
#[test]
fn values_arrive_as_they_are() {
    let (stage, _visit) = Stage::open("form.html");
    for (script, value) in [
        ("1 + 1", json!(2)),
        ("'té'", json!("té")),
        ("[1, [true, null], {a: 'b'}]", json!([1, [true, null], {"a": "b"}])),
        ("null", json!(null)),
        ("({a: 1})", json!({"a": 1})),
        ("{a: 1}", json!({"a": 1})),
        ("Promise.resolve(5)", json!(5)),
        ("await Promise.resolve(6)", json!(6)),
        ("const x = await Promise.resolve(3); return x * 2", json!(6)),
        ("document.querySelectorAll('label').length > 5", json!(true)),
        ("1.5e300", json!(1.5e300)),
    ] {
        assert_eq!(stage.eval(script), value, "{script}");
    }
}

// contract: 2.6
#[test]
fn what_throws_or_is_no_json_is_a_typed_error_without_the_pages_words() {
    let (stage, _visit) = Stage::open("form.html");
    for script in [
        "throw new Error('sesame')",
        "nosuchname_sesame",
        "Promise.reject(new Error('sesame'))",
        "(() => { const a = {}; a.a = a; return a })()",
        "10n",
        "return return sesame",
    ] {
        let answer = stage.ask(&["evaluate", "--", script]);
        answer.fails("evaluation_failed");
        assert_eq!(answer.run.code, Some(1));
        assert!(!answer.run.stdout.contains("sesame"), "{}", answer.run);
    }
}

// contract: 5.3
#[test]
fn a_value_over_its_bound_is_refused_and_the_session_lives() {
    let (stage, _visit) = Stage::open("form.html");
    stage.fails("result_too_large", &["evaluate", "'x'.repeat(1024 * 1024 + 10)"]);
    assert_eq!(stage.eval("'x'.repeat(1000000).length"), 1_000_000);
    assert_eq!(stage.eval("'x'.repeat(1000000)").as_str().map(str::len), Some(1_000_000));
}

// contract: 2.7 report: 61
#[test]
fn a_promise_that_never_settles_ends_at_the_deadline() {
    let (stage, _visit) = Stage::open("form.html");
    let answer = stage.ask(&["evaluate", "new Promise(() => {})", "--timeout-ms", "1000"]);
    let error = answer.fails("unknown_outcome");
    assert_eq!(error["reason"], "timeout", "{error}");
    assert!(answer.run.took < Duration::from_secs(5), "{}", answer.run);
    assert_eq!(stage.eval("document.title"), "A form");
}

// contract: 2.7 report: 61
#[test]
fn a_script_that_spins_is_ended_at_the_deadline_and_the_page_lives() {
    let (stage, visit) = Stage::open("form.html");
    let answer = stage.ask(&["evaluate", "while (true) {}", "--timeout-ms", "1000"]);
    answer.fails("unknown_outcome");
    assert!(answer.run.took < Duration::from_secs(6), "{}", answer.run);
    assert_eq!(stage.eval("document.title"), "A form");
    stage.ok(&["click", "role=button;name=Save"]);
    assert_eq!(visit.clicks(), ["save"]);
}

// contract: 12.3
#[test]
fn the_script_comes_from_standard_input_or_a_file_too() {
    let (stage, _visit) = Stage::open("form.html");
    let run = stage.glassctl_reading(["evaluate", "-"], b"document.title").success();
    assert_eq!(run.stdout, "A form\n");
    std::fs::write(stage.path("cwd/script.js"), "const n = 20;\nreturn n + 2;\n").expect("write a file");
    assert_eq!(stage.ok(&["evaluate", "--file", "script.js"])["value"], 22);
    assert_eq!(stage.glassctl(["evaluate"]).code, Some(2));
    assert_eq!(stage.glassctl(["evaluate", "  "]).code, Some(2));
}

// contract: 2.4
#[test]
fn what_a_script_changed_moves_the_revision() {
    let (stage, _visit) = Stage::open("form.html");
    let result = stage.ok(&["evaluate", "save.textContent = 'Store'; 1"]);
    assert!(result["revision"].as_u64() > result["previousRevision"].as_u64(), "{result}");
    let result = stage.ok(&["evaluate", "1"]);
    assert_eq!(result["revision"], result["previousRevision"]);
}

// contract: 3.3
#[test]
fn it_runs_in_the_pages_own_world_and_leaves_nothing_there() {
    let (stage, _visit) = Stage::open("form.html");
    let before = stage.eval("Object.getOwnPropertyNames(window).length");
    assert_eq!(stage.eval("(window.submitted = 7, submitted)"), 7);
    assert_eq!(stage.eval("(delete window.submitted, Object.getOwnPropertyNames(window).length)"), before);
    assert_eq!(stage.eval("typeof glass"), "undefined");
}

// contract: 5.3 report: 32
#[test]
fn a_script_is_given_an_element_of_any_frame_and_runs_there() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    stage.ok(&["navigate", &visit.url_at("a.localhost", "cross.html")]);
    stage.ok(&["wait", "visible=role=button;name=Deep cross button"]);
    let deep = stage.reference("button", "Deep cross button");
    for (script, want) in [
        ("button => button.id + ' ' + location.hostname", "deep-cross-button c.localhost"),
        ("element.id", "deep-cross-button"),
        ("const id = element.id; return id + args[0]", "deep-cross-button7"),
        ("async (button, n, o) => button.id + n + o.p", "deep-cross-button7true"),
    ] {
        let arguments = ["evaluate", "--target", &deep, "--arg", "7", "--arg", "{\"p\":true}", "--", script];
        assert_eq!(stage.ok(&arguments)["value"], want, "{script}");
    }
    let got =
        stage.ok(&["evaluate", "--arg", "2", "--arg", "3", "--", "(a, b) => a * b + location.hostname"]);
    assert_eq!(got["value"], "6a.localhost");
    stage.fails("target_not_found", &["evaluate", "--target", "name=Nothing here", "--", "1"]);
    stage.fails("evaluation_failed", &["evaluate", "--target", &deep, "--", "element.("]);
    assert_eq!(stage.glassctl(["evaluate", "--arg", "no json", "--", "1"]).code, Some(2));
}

// contract: 5.3, 3.3, 10.5
#[test]
fn what_a_script_keeps_is_a_file_and_the_page_sees_nothing_of_it() {
    let stage = Stage::take();
    stage.show(
        "<!doctype html><title>Keeps</title><p id=words>words</p><script>window.onunhandledrejection = () => { lost = 1 }</script>",
    );
    let into = stage.path("cwd/kept");
    std::fs::create_dir_all(&into).expect("make it");
    stage.give(&into);
    let script = "glassArtifact('../a.txt', 'té', 'text/plain'); glassArtifact('a.txt', new Uint8Array([0, 255, 10]).subarray(1));
        glassArtifact('blob', new Blob(['x'.repeat(300000)], { type: 'text/csv' })); glassArtifact('', '');
        return { seen: typeof window.glassArtifact }";
    let result = stage.ok(&["evaluate", script, "--artifacts", "kept"]);
    assert_eq!(result["value"], json!({ "seen": "undefined" }), "{result}");
    let kept = result["artifacts"].as_array().expect("artifacts").clone();
    let file = |at: usize| std::fs::read(kept[at]["path"].as_str().expect("a path")).expect("a file");
    assert_eq!((file(0), file(1)), ("té".into(), vec![255, 10]), "{result}");
    assert_eq!(
        (file(2).len(), &kept[2]["mediaType"], file(3).len()),
        (300_000, &json!("text/csv"), 0),
        "{result}"
    );
    let names: Vec<_> =
        kept.iter().map(|file| file["path"].as_str().and_then(|path| path.rsplit('/').next())).collect();
    assert!(names[..2].contains(&Some("a.txt")) && names[..2].contains(&Some("a (1).txt")), "{names:?}");
    assert!(!stage.path("cwd/a.txt").exists(), "outside of the directory");
    // With an element, with arguments, and as one expression.
    let with = [
        "evaluate",
        "(el, n) => { glassArtifact('w', el.textContent + n); return n }",
        "--target",
        "css=#words",
    ];
    let result = stage.ok(&[&with[..], &["--arg", "3", "--artifacts", "kept"]].concat());
    assert_eq!((&result["value"], &result["artifacts"][0]["bytes"]), (&json!(3), &json!(6)), "{result}");
    let result = stage.ok(&["evaluate", "glassArtifact('e', 'x')", "--artifacts", "kept"]);
    assert_eq!((&result["value"], &result["artifacts"][0]["bytes"]), (&json!(null), &json!(1)), "{result}");
    // Nowhere to put it, too much, or nothing that is a file.
    stage.fails("invalid_argument", &["evaluate", "glassArtifact('e', 'x')"]);
    stage.fails("denied", &["evaluate", "glassArtifact('e', 'x')", "--artifacts", ".."]);
    for script in [
        "for (let n = 0; n < 33; n += 1) glassArtifact('n', '')",
        "glassArtifact('n', new Uint8Array(21 << 20))",
        "glassArtifact('n', new Blob([new Uint8Array(21 << 20)]))",
        "glassArtifact('n', 5)",
        "glassArtifact('n', 'x'); throw new Error('sesame')",
    ] {
        stage.fails("evaluation_failed", &["evaluate", script, "--artifacts", "kept"]);
    }
    assert_eq!(std::fs::read_dir(&into).expect("it is there").count(), 6);
    assert_eq!(
        stage.eval("[typeof window['glass' + 'Artifact'], typeof lost].join()"),
        "undefined,undefined"
    );
}
