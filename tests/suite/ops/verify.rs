//! `verify`: what holds is exit 0, what does not is exit 4 with what was seen.

use std::time::Duration;

use glass_tests::Stage;

const LIMIT: Duration = Duration::from_secs(20);

fn checked(stage: &Stage) -> String {
    stage.eval("document.getElementById('terms').click(); 1");
    stage.ok(&["list-targets"])["targets"][0]["id"].as_str().expect("a target").to_owned()
}

// contract: 8.2
#[test]
fn every_predicate_holds_when_it_is_so_and_fails_when_it_is_not() {
    let (stage, visit) = Stage::open("form.html");
    let target = checked(&stage);
    let revision = stage.revision().to_string();
    let url = visit.url("form.html");
    for (holds, fails) in [
        (&["--url-equals", &url][..], &["--url-equals", "http://nowhere/"][..]),
        (&["--url-matches", "**/form.html"], &["--url-matches", "*/form.html"]),
        (&["--title-contains", "A form"], &["--title-contains", "B form"]),
        (&["--visible", "Save"], &["--visible", "Nothing"]),
        (&["--hidden", "Nothing"], &["--hidden", "Save"]),
        (&["--text-contains", "Sign in"], &["--text-contains", "Sign out"]),
        (&["--value-equals", "label=Name", "Ann"], &["--value-equals", "label=Name", "Bob"]),
        (&["--value-equals", "label=Country", "Norway"], &["--value-equals", "label=Country", "Land 1"]),
        (&["--checked", "role=checkbox"], &["--checked", "Save"]),
        (&["--count", "css=#form;1"], &["--count", "css=#form;2"]),
        (&["--dialog-open", "false"], &["--dialog-open"]),
        (&["--target-count", "1"], &["--target-count", "7"]),
        (&["--target-exists", &target], &["--target-exists", "NOBODY"]),
        (&["--frame-exists", "main"], &["--frame-exists", "f999"]),
        (&["--revision-equals", &revision], &["--revision-equals", "999999"]),
        (&["--popup-opened", "false"], &["--popup-opened"]),
    ] {
        stage.ok(&[&["verify"], holds].concat());
        let answer = stage.ask(&[&["verify"], fails].concat());
        let error = answer.fails("verification_failed");
        assert_eq!(
            (answer.run.code, &error["outcome"], &error["dispatched"]),
            (Some(4), &"completed".into(), &"no".into())
        );
        assert_eq!(error["details"]["seen"][0]["holds"], false, "{error}");
    }
    assert!(visit.events().iter().all(|event| event.id == "terms"), "nothing was touched");
}

// contract: 8.2
#[test]
fn predicates_are_put_together_and_the_part_that_failed_is_named() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["verify", "--visible", "Save", "--title-contains", "form"]);
    stage.ok(&["verify", r#"{"any": [{"visible": "Nothing"}, {"not": {"textContains": "Sign out"}}]}"#]);
    let error = stage.fails(
        "verification_failed",
        &["verify", r#"{"all": [{"visible": "Save"}, {"not": {"visible": "Send"}}]}"#],
    );
    assert_eq!(error["details"]["seen"].as_array().map(Vec::len), Some(1), "{error}");
    let text = stage.glassctl(["verify", "--visible", "Nothing", "--title-contains", "form"]).exits(4).stderr;
    assert!(text.contains("all[2].visible does not hold"), "{text}");
    for wrong in [
        "{}",
        "[]",
        r#"{"fly": 1}"#,
        r#"{"all": []}"#,
        r#"{"not": {"not": {"not": {"not": {"dialogOpen": true}}}}}"#,
    ] {
        assert_eq!(stage.glassctl(["verify", wrong]).code, Some(2), "{wrong}");
    }
    assert_eq!(stage.glassctl(["verify"]).code, Some(2));
}

// contract: 8.2
#[test]
fn what_cannot_be_said_is_not_true_by_being_negated() {
    let (stage, _visit) = Stage::open("twins.html");
    // Two elements fit: neither "it is visible" nor "it is not" is a truth about one.
    for predicate in [
        r#"{"visible": "role=button;name=Delete"}"#,
        r#"{"not": {"visible": "role=button;name=Delete"}}"#,
        r#"{"not": {"checked": "Nothing"}}"#,
        r#"{"not": {"valueEquals": {"target": "Nothing", "value": "x"}}}"#,
    ] {
        let error = stage.fails("verification_failed", &["verify", predicate]);
        assert!(error["details"]["seen"][0]["holds"].is_null(), "{predicate}: {error}");
    }
}

// contract: 8.2, 1.7
#[test]
fn with_a_time_it_waits_and_without_one_it_looks_once() {
    let (stage, _visit) = Stage::open("form.html");
    let waiting = stage.begin(&[
        "verify",
        "--text-contains",
        "later",
        "--value-equals",
        "label=Name",
        "Eve",
        "--timeout-ms",
        "15000",
    ]);
    stage.eval("setTimeout(() => { out.textContent = 'later' }, 200); setTimeout(() => { document.getElementById('name').value = 'Eve' }, 400); 1");
    let answer = waiting.answer_within(LIMIT);
    assert!(answer.result()["waitedMs"].as_u64() >= Some(200), "{}", answer.run);
    let answer = stage.ask(&["verify", "--text-contains", "never"]);
    answer.fails("verification_failed");
    assert!(answer.run.took < Duration::from_secs(4), "{}", answer.run);
    let answer = stage.ask(&["verify", "--text-contains", "never", "--timeout-ms", "600"]);
    answer.fails("verification_failed");
    assert!(answer.run.took >= Duration::from_millis(500), "{}", answer.run);
}

// contract: 8.2, 5.5
#[test]
fn an_open_dialog_can_be_verified_and_hides_what_the_page_shows() {
    let (stage, _visit) = Stage::open("dialogs.html");
    stage.eval("setTimeout(() => alert('Hi'), 0); 1");
    stage.ok(&["wait", "dialog"]);
    stage.ok(&["verify", "--dialog-open"]);
    let error = stage.fails("verification_failed", &["verify", "--visible", "Plain"]);
    assert_eq!(error["details"]["seen"][0]["seen"]["blocked"], "dialog", "{error}");
    stage.ok(&["verify", r#"{"any": [{"visible": "Plain"}, {"dialogOpen": true}]}"#]);
    stage.ok(&["dismiss-dialog"]);
    stage.ok(&["verify", "--visible", "Plain"]);
}

// contract: 8.2, 3.1
#[test]
fn a_password_is_compared_and_never_told() {
    let stage = Stage::take();
    stage.show("<title>P</title><input type=password aria-label=Secret value=hunter2>");
    stage.ok(&["verify", "--value-equals", "label=Secret", "hunter2"]);
    let error = stage.fails("verification_failed", &["verify", "--value-equals", "label=Secret", "other"]);
    assert!(!error.to_string().contains("hunter2"), "{error}");
}
