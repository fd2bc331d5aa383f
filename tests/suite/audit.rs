//! The audit log: what is written down, what never is, what a crash leaves, and what a changed line looks like
//! (contract 10.7).

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use glass_tests::site::site;
use glass_tests::{GONE, World, holds, process};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn files(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(world.path("state/glass/audit")).expect("the audit log's directory");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn log(world: &World) -> PathBuf {
    let files = files(world);
    files
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .expect("a file of the log")
}

#[track_caller]
fn entries(world: &World) -> Vec<Value> {
    world.ok(&["audit", "-n", "10000"])["entries"].as_array().expect("entries").clone()
}

// contract: 10.7
#[test]
fn who_asked_for_what_and_how_it_ended_is_written_down_and_no_text() {
    let world = World::new();
    let visit = site().visit();
    let url = visit.url("form.html?token=CANARY-query");
    let navigated = world.ask(&["navigate", &url]);
    navigated.result();
    world.ok(&["fill", "label=Name", "CANARY-typed"]);
    world.fails("target_not_found", &["click", "css=.CANARY-selector", "--timeout-ms", "300"]);
    world.fails("denied", &["evaluate", "'CANARY-source'", "--policy-deny", "evaluate"]);
    world.fails("target_not_found", &["observe", "--session", "nobody"]);
    world.ok(&["session", "close"]);
    world.ok(&["daemon", "stop"]);
    // Nothing runs: the files are read.
    let all = entries(&world);
    let of = |event: &str, operation: &str| {
        let found = all.iter().find(|entry| entry["event"] == event && entry["operation"] == operation);
        found.unwrap_or_else(|| panic!("no {event} of {operation} in {all:#?}")).clone()
    };
    let begun = of("begun", "navigate");
    let execution = navigated.json["executionId"].clone();
    assert_eq!((&begun["executionId"], &begun["session"]), (&execution, &json!("default")));
    assert_eq!((&begun["decision"], &begun["host"]), (&json!("allow"), &json!("127.0.0.1")), "{begun:#}");
    assert_eq!(begun["client"]["uid"], world.uid());
    assert!(
        begun["client"]["executable"].as_str().is_some_and(|path| path.ends_with("/glassctl")),
        "{begun:#}"
    );
    assert!(begun["capabilities"].as_array().is_some_and(|all| all.contains(&json!("navigate"))));
    let ended = of("ended", "navigate");
    assert_eq!((&ended["executionId"], &ended["outcome"]), (&execution, &json!("completed")));
    assert!(ended["ms"].is_u64());
    let typed = &of("begun", "fill")["arguments"]["text"];
    assert_eq!(typed["bytes"], 12, "{typed}");
    let refused = of("refused", "evaluate");
    assert_eq!((&refused["decision"], &refused["kind"]), (&json!("deny"), &json!("denied")), "{refused:#}");
    assert_eq!(refused["rule"], "client/deny/evaluate");
    assert_eq!(of("ended", "observe")["kind"], "target_not_found");
    let events: Vec<_> = all.iter().filter_map(|entry| entry["event"].as_str()).collect();
    assert_eq!((events.first(), events.last()), (Some(&"started"), Some(&"stopped")));
    assert!(events.contains(&"sessionClosed") && events.contains(&"stopAsked"), "{events:?}");
    for path in files(&world) {
        let text = fs::read_to_string(&path).expect("a file of the log");
        assert!(!text.contains("CANARY"), "{}", path.display());
        assert_eq!(path.metadata().expect("its mode").permissions().mode() & 0o777, 0o600);
    }
    // Filters.
    let others = world.ok(&["audit", "--session", "nobody"]);
    let others = others["entries"].as_array().expect("entries");
    assert!(!others.is_empty() && others.iter().all(|entry| entry["session"] == "nobody"));
    assert_eq!(world.ok(&["audit", "--since", "1h", "-n", "2"])["entries"].as_array().map(Vec::len), Some(2));
    assert_eq!(world.ok(&["audit", "--since", "2999-01-01T00:00:00Z"])["entries"], json!([]));
    world.fails("invalid_argument", &["audit", "--since", "yesterday"]);
    // What was changed is found.
    let verified = world.ok(&["audit", "verify"]);
    let last = verified["last"]["hash"].as_str().expect("the last hash").to_owned();
    world.ok(&["audit", "verify", "--holds", &last]);
    world.fails("verification_failed", &["audit", "verify", "--holds", &"0".repeat(64)]);
    let path = log(&world);
    let whole = fs::read_to_string(&path).expect("the log");
    let lines: Vec<&str> = whole.lines().collect();
    let name = path.file_name().and_then(|name| name.to_str()).expect("its name");
    let judged = |text: String| {
        fs::write(&path, text).expect("change the log");
        let error = world.fails("verification_failed", &["audit", "verify"]);
        assert_eq!(error["details"]["problems"][0]["file"], name, "{error:#}");
        let line = error["details"]["problems"][0]["line"].as_u64();
        assert!(error["message"].as_str().is_some_and(|text| text.contains(name)), "{error:#}");
        line
    };
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    let without = |at: usize| joined(&[&lines[..at], &lines[at + 1..]].concat());
    assert!(judged(whole.replacen("completed", "failed", 1)).is_some());
    assert_eq!(judged(without(2)), Some(3));
    let mut swapped = lines.clone();
    swapped.swap(1, 2);
    assert_eq!(judged(joined(&swapped)), Some(2));
    assert_eq!(judged(joined(&lines[..lines.len() - 1])), Some(lines.len() as u64 - 1));
    assert!(
        world.glassctl(["audit"]).success().stdout.contains("glassctl audit verify"),
        "a list says so too"
    );
    fs::write(&path, &whole).expect("put it back");
    world.ok(&["audit", "verify"]);
}

// contract: 10.7, 12.2
#[test]
fn a_killed_daemon_loses_at_most_its_last_second_and_the_chain_goes_on() {
    let world = World::new();
    world.ok(&["daemon", "start"]);
    let asked: Vec<String> = (0..20)
        .map(|_| {
            let answer = world.ask(&["observe"]);
            answer.fails("target_not_found");
            answer.json["error"]["executionId"].as_str().expect("an execution").to_owned()
        })
        .collect();
    let daemon = process::read(world.daemon()).expect("the daemon runs");
    daemon.signal(Signal::SIGKILL);
    holds("the daemon is gone", GONE, || !daemon.alive());
    let ended: Vec<_> = entries(&world).into_iter().filter(|entry| entry["event"] == "ended").collect();
    for execution in &asked {
        assert!(ended.iter().any(|entry| entry["executionId"] == execution.as_str()), "{execution}");
    }
    // As a write that the end has cut in two.
    let mut file = fs::File::options().append(true).open(log(&world)).expect("the log");
    file.write_all(b"{\"seq\":4711,\"prev\":\"00").expect("half a line");
    let unfinished = world.ok(&["audit", "verify"]);
    assert_eq!(unfinished["unfinishedBytes"], 22, "{unfinished:#}");
    world.ok(&["daemon", "start"]);
    holds("the log goes on", GONE, || {
        let all = entries(&world);
        let recovered = all.iter().find(|entry| entry["event"] == "recovered");
        recovered.is_some_and(|entry| entry["details"]["unfinishedBytes"] == 22)
            && all.iter().filter(|entry| entry["event"] == "started").count() == 2
    });
    world.ok(&["audit", "verify"]);
}

#[test]
fn without_a_log_nothing_is_verified_and_one_can_be_switched_off() {
    let world = World::new().with_config("[audit]\nenabled = false\n");
    let error = world.fails("target_not_found", &["audit", "verify"]);
    assert_eq!(error["reason"], "no_audit_log", "{error:#}");
    world.fails("target_not_found", &["observe"]);
    world.fails("target_not_found", &["audit"]);
}
