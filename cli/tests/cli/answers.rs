//! Answers and errors as they are printed, and the exit codes that go with them.

use std::fs::File;
use std::process::Stdio;

use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::wire::client as pb;
use glass_proto::{ErrorKind, OpError, Phase};
use pb::execute_event::Kind;
use serde_json::json;

use crate::fake::{Fake, Step, accepted, completed, error, execution};
use crate::{ask, glassctl, json, text};

fn evaluated(value: serde_json::Value) -> Step {
    completed(json!({"value": value, "targetId": "T", "previousRevision": 1, "revision": 1, "evidence": {}}))
}

// contract: 12.7
#[test]
fn an_answer_in_both_forms() {
    let fake = Fake::start(|_| vec![accepted(), evaluated(json!("a\nb"))]);
    let output = ask(&fake, &["evaluate", "x"]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "a\nb\n"));
    let answer = json(&ask(&fake, &["--json", "evaluate", "x"]));
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["session"], json!({"name": "default", "started": "running"}));
    assert_eq!(answer["executionId"], execution().to_string());
    assert_eq!(answer["outcome"], "completed");
    assert_eq!(answer["result"]["value"], "a\nb");
}

// contract: 12.3
#[test]
fn nothing_that_a_page_says_acts_on_the_terminal() {
    let fake = Fake::start(|_| vec![accepted(), evaluated(json!("\u{1b}[31m\u{9b}2J\u{202e}x\u{7f}"))]);
    for arguments in [&["evaluate", "x"][..], &["evaluate", "x", "--json"]] {
        let output = text(&ask(&fake, arguments).stdout);
        assert!(!output.trim_end().chars().any(glass_proto::escape::is_hidden), "{output:?}");
    }
    let answer = json(&ask(&fake, &["evaluate", "x", "--json"]));
    assert_eq!(answer["result"]["value"], "\u{1b}[31m\u{9b}2J\u{202e}x\u{7f}");
}

// contract: 2.6
#[test]
fn every_kind_of_error_has_its_exit_code_and_shape() {
    let fake = Fake::start(|request| {
        let kind = ErrorKind::ALL.iter().find(|kind| kind.name().replace('_', "-") == request.session);
        let answer = OpError::rejected(*kind.unwrap(), Phase::Preflight, "what happened", "what next")
            .of(&execution());
        vec![accepted(), error(&answer)]
    });
    for kind in ErrorKind::ALL {
        let session = kind.name().replace('_', "-");
        let output = ask(&fake, &["click", "e1", "--session", &session]);
        assert_eq!(output.status.code(), Some(kind.exit_code().into()), "{session}");
        assert!(output.stdout.is_empty());
        let want = format!("error: {}: what happened\nhint: what next\n", kind.name());
        assert_eq!(text(&output.stderr), want);
        let output = ask(&fake, &["click", "e1", "--json", "--session", &session]);
        assert_eq!(output.status.code(), Some(kind.exit_code().into()), "{session}");
        let answer = json(&output);
        assert_eq!(answer["error"]["kind"], kind.name());
        assert_eq!(answer["executionId"], execution().to_string());
        assert_eq!(answer["session"]["name"], "default");
    }
}

#[test]
fn an_unknown_outcome_is_told_with_its_execution() {
    let fake = Fake::start(|_| {
        vec![accepted(), error(&OpError::unknown("worker_lost", "the worker died", "look first"))]
    });
    let output = ask(&fake, &["click", "e1"]);
    assert_eq!(output.status.code(), Some(7));
    let said = text(&output.stderr);
    assert!(said.contains(&format!("outcome: unknown (execution {})", execution())), "{said}");
}

// contract: 2.1
#[test]
fn a_connection_that_breaks_makes_a_click_unknown_and_a_reading_repeatable() {
    let fake = Fake::start(|_| vec![accepted(), Step::Break]);
    let output = ask(&fake, &["click", "e1", "--json"]);
    assert_eq!(output.status.code(), Some(7));
    let answer = json(&output);
    assert_eq!(answer["error"]["reason"], "daemon_lost");
    assert_eq!(answer["outcome"], "unknown");
    assert_eq!(answer["executionId"], execution().to_string());
    let output = ask(&fake, &["observe", "--json"]);
    assert_eq!(output.status.code(), Some(10));
    let answer = json(&output);
    assert_eq!((&answer["error"]["kind"], &answer["error"]["retry"]), (&json!("transport"), &json!("safe")));
}

// contract: 12.1
#[test]
fn another_protocol_version_is_told() {
    let fake = Fake::start(|_| Vec::new());
    let output = ask(&fake, &["click", "e1"]);
    assert_eq!(output.status.code(), Some(10));
    let said = text(&output.stderr);
    assert!(said.contains("version_mismatch") && said.contains("speaks 2.0"), "{said}");
}

#[test]
fn an_answer_of_another_shape_is_an_error_and_no_panic() {
    let fake = Fake::start(|_| vec![accepted(), completed(json!({"surprise": true}))]);
    let output = ask(&fake, &["click", "e1"]);
    assert_eq!(output.status.code(), Some(10));
    assert!(text(&output.stderr).contains("cannot be read"), "{}", text(&output.stderr));
}

fn picture() -> Fake {
    Fake::start(|_| {
        let piece = |data: &[u8], last| {
            let artifact = pb::Artifact {
                name: "screenshot.png".into(),
                media_type: "image/png".into(),
                data: data.to_vec(),
                last,
            };
            Step::Send(Kind::Artifact(artifact))
        };
        let page = json!({"url": "http://x/", "title": "X", "targetId": "T", "readyState": "complete", "revision": 1});
        let result = json!({
            "format": "png", "width": 2, "height": 1, "bytes": 8, "page": page,
            "screenshotId": "s1", "scale": 1.0, "origin": [0.0, 0.0], "pointer": "unknown",
        });
        vec![accepted(), piece(b"\x89PNG", false), piece(b"rest", true), completed(result)]
    })
}

// contract: 12.6
#[test]
fn pictures_get_the_next_free_name_and_replace_only_what_is_named() {
    let fake = picture();
    let home = fake.socket().parent().unwrap().to_owned();
    std::fs::write(home.join("screenshot-1.png"), "mine").unwrap();
    let output = ask(&fake, &["screenshot"]);
    assert!(text(&output.stdout).starts_with("screenshot-2.png · 2 × 1 png"), "{}", text(&output.stdout));
    assert_eq!(std::fs::read(home.join("screenshot-1.png")).unwrap(), b"mine");
    assert_eq!(std::fs::read(home.join("screenshot-2.png")).unwrap(), b"\x89PNGrest");
    let answer = json(&ask(&fake, &["screenshot", "--json", "-o", "screenshot-1.png"]));
    assert_eq!(answer["result"]["path"], "screenshot-1.png");
    assert_eq!(answer["result"]["width"], 2);
    assert_eq!(std::fs::read(home.join("screenshot-1.png")).unwrap(), b"\x89PNGrest");
    let left: Vec<_> = std::fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "two pictures and the socket: {left:?}");
}

// report 84
#[test]
fn a_reader_that_went_away_is_no_panic() {
    let fake = Fake::start(|_| vec![accepted(), Step::Gate, evaluated(json!("x"))]);
    let home = fake.socket().parent().unwrap().to_owned();
    let mut command = glassctl(&home);
    command.arg("--socket").arg(fake.socket()).args(["evaluate", "x"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    fake.open_gate();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(141), ""));
}

#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    let fake = Fake::start(|_| vec![accepted(), evaluated(json!("x"))]);
    let home = fake.socket().parent().unwrap().to_owned();
    let mut command = glassctl(&home);
    command.arg("--socket").arg(fake.socket()).args(["evaluate", "x"]);
    let output = command.stdout(File::options().write(true).open("/dev/full").unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(10));
    assert!(text(&output.stderr).contains("cannot be written"));
}

#[test]
fn colours_are_for_terminals_only() {
    let fake = Fake::start(|_| {
        let answer = OpError::failed(ErrorKind::NavigationFailed, Phase::BrowserEffect, "m", "r");
        vec![accepted(), error(&answer.ended(Outcome::Failed, Dispatched::Yes))]
    });
    assert!(!text(&ask(&fake, &["navigate", "x.test"]).stderr).contains('\u{1b}'));
}

#[test]
fn sessions_are_listed_shown_and_closed() {
    let fake = Fake::start(|_| Vec::new());
    let listed = ask(&fake, &["session", "list"]);
    assert!(text(&listed.stdout).contains("default  ephemeral  ready"), "{}", text(&listed.stdout));
    let answer = json(&ask(&fake, &["session", "list", "--json"]));
    assert_eq!(answer["result"]["sessions"][0]["state"], "ready");
    let missing = ask(&fake, &["session", "show", "nobody"]);
    assert_eq!(missing.status.code(), Some(3));
    assert_eq!(ask(&fake, &["session", "close", "a"]).status.code(), Some(0));
    assert_eq!(ask(&fake, &["session", "close", "--session", "b"]).status.code(), Some(0));
    assert_eq!(ask(&fake, &["session", "close", "--all"]).status.code(), Some(0));
    let closed = fake.log(|log| log.closed.clone());
    assert_eq!(closed, [("a".into(), false), ("b".into(), false), (String::new(), true)]);
    let answer = json(&ask(&fake, &["status", "--json"]));
    assert_eq!(answer["result"]["pid"], std::process::id());
}
