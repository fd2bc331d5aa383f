//! What is sent, and what is refused without asking the daemon.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use crate::fake::{Fake, accepted, completed};
use crate::{ask, glassctl, json, text};

fn evaluated() -> Fake {
    Fake::start(|_| vec![accepted(), completed(value(json!(null)))])
}

fn value(value: serde_json::Value) -> serde_json::Value {
    json!({"value": value, "targetId": "T", "previousRevision": 1, "revision": 1, "evidence": {}})
}

// contract: 12.6
#[test]
fn parameters_options_and_session_reach_the_daemon() {
    let fake = evaluated();
    ask(&fake, &["evaluate", "1 + 1", "--session", "shop", "--timeout-ms", "250", "--target-id", "T"]);
    fake.log(|log| {
        let request = &log.executed[0];
        assert_eq!((request.session.as_str(), request.operation.as_str()), ("shop", "evaluate"));
        let hello = request.hello.as_ref().unwrap();
        assert_eq!(hello.client_kind, "glassctl");
        let options: serde_json::Value = serde_json::from_slice(&request.options_json).unwrap();
        assert_eq!(options, json!({"timeoutMs": 250, "targetId": "T"}));
    });
    assert_eq!(fake.params(), json!({"expression": "1 + 1"}));
}

// contract: 1.1
#[test]
fn the_session_comes_from_option_variable_or_default() {
    let fake = evaluated();
    let home = fake.socket().parent().unwrap().to_owned();
    let run = |arguments: &[&str], variable: &str| {
        let mut command = glassctl(&home);
        command.env("GLASS_SESSION", variable).arg("--socket").arg(fake.socket());
        let output = command.arg("evaluate").arg("1").args(arguments).output().unwrap();
        let session = fake.log(|log| log.executed.last().map(|request| request.session.clone()));
        (output.status.code(), session.unwrap_or_default())
    };
    assert_eq!(run(&[], ""), (Some(0), "default".into()));
    assert_eq!(run(&[], "from-env"), (Some(0), "from-env".into()));
    assert_eq!(run(&["--session", "option"], "from-env"), (Some(0), "option".into()));
    assert_eq!(run(&["--session", "new"], ""), (Some(0), "new".into()));
    assert_eq!(run(&[], "Not A Name").0, Some(2));
    // The directory's name, with a hash of its path.
    let (_, auto) = run(&["--session", "auto"], "");
    let base = home.file_name().unwrap().to_str().unwrap().to_lowercase();
    let base = base.trim_start_matches('.');
    assert!(auto.starts_with(base) && auto.len() == base.len() + 11, "{auto} of {base}");
}

// contract: 12.3, report 23
#[test]
fn text_comes_exactly_from_arguments_standard_input_and_files() {
    let fake = Fake::start(|_| {
        let result =
            json!({"action": "fill", "targetId": "T", "previousRevision": 1, "revision": 2, "evidence": {}});
        vec![accepted(), completed(result)]
    });
    let home = fake.socket().parent().unwrap().to_owned();
    std::fs::write(home.join("text"), "a\r\nü\n").unwrap();
    let filled = |arguments: &[&str], input: &str| {
        let mut command = glassctl(&home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.arg("--socket").arg(fake.socket()).arg("fill").args(arguments).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        fake.params()["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(filled(&["e1", "@ann"], ""), "@ann");
    assert_eq!(filled(&["e1", ""], ""), "");
    assert_eq!(filled(&["e1", "--", "--clear"], ""), "--clear");
    assert_eq!(filled(&["e1", "-"], "two\nlines\n"), "two\nlines\n");
    assert_eq!(filled(&["e1", "--file", "text"], ""), "a\r\nü\n");
    assert_eq!(filled(&["--file", "text", "e1"], ""), "a\r\nü\n");
}

// report 81
#[test]
fn a_wrong_call_is_exit_2_and_asks_nobody() {
    let fake = evaluated();
    for arguments in [
        &["clik", "e1"][..],
        &["clik", "--help"],
        &["help", "clik"],
        &["click"],
        &["click", "e1", "e2"],
        &["click", "e1", "--now"],
        &["click", "a=b"],
        &["navigate"],
        &["navigate", "http://x/", "y"],
        &["observe", "--depth", "0"],
        &["observe", "--guard-scope", "page"],
        &["evaluate", " "],
        &["evaluate", "--file", "/no/such/file"],
        &["evaluate", "1", "--file", "x"],
        &["screenshot", "--quality", "5"],
        &["screenshot", "-o", "x.jpg"],
        &["wait", "something"],
        &["key", "Contrl+a"],
        &["session", "lst"],
        &["session", "show", "a b"],
        &["session", "show", "new"],
        &["daemon"],
        &["daemon", "stop", "now"],
        &["--session"],
        &[],
    ] {
        let output = ask(&fake, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
        let said = text(&output.stderr);
        assert!(said.starts_with("error: invalid_argument: ") && said.contains("\nhint: "), "{said}");

        let output = ask(&fake, &[arguments, &["--json"]].concat());
        if arguments == ["--session"] {
            // Here --json was the option's value as far as anybody can tell; the error is in both forms.
            continue;
        }
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let json = json(&output);
        assert_eq!(json["ok"], false);
        assert_eq!(json["error"]["kind"], "invalid_argument");
        assert_eq!(json["error"]["retry"], "never");
    }
    fake.log(|log| assert!(log.executed.is_empty()));
}

#[test]
fn help_and_version_go_to_standard_output() {
    let fake = evaluated();
    for (arguments, shows) in [
        (&["--help"][..], "navigate"),
        (&["help"], "list-targets"),
        (&["click", "--help"], "--button"),
        (&["help", "click"], "--expected-revision"),
        (&["--version"], "glassctl 0."),
        (&["session", "--help"], "close"),
    ] {
        let output = ask(&fake, arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(text(&output.stdout).contains(shows), "{arguments:?}");
    }
    // camelCase names are commands too.
    assert_eq!(ask(&fake, &["getText", "--help"]).status.code(), Some(0));
}
