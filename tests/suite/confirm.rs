//! Confirmations: a call that a person has to agree to, and every way by which the one who makes it might agree itself
//! (contract 10.4).

use std::fs;

use glass_tests::mcp::Mcp;
use glass_tests::site::site;
use glass_tests::terminal::Terminal;
use glass_tests::{Answer, World};
use serde_json::{Value, json};

fn with_policy(world: &World, text: &str) {
    let directory = world.path("config/glass");
    fs::create_dir_all(&directory).expect("the configuration directory");
    fs::write(directory.join("policy.toml"), text).expect("write the policy");
}

#[track_caller]
fn asked_id(error: &Value) -> String {
    assert_eq!(error["kind"], "confirmation_required", "{error:#}");
    error["details"]["confirmationId"].as_str().expect("it has an id").to_owned()
}

#[track_caller]
fn denied(answer: &Answer, reason: &str) {
    let error = answer.fails("denied");
    assert_eq!(error["reason"], reason, "{error:#}");
}

// contract: 10.4, 10.6
#[test]
fn a_call_waits_for_a_person_at_another_terminal_and_runs_once() {
    let world = World::new();
    with_policy(&world, "confirm = [\"evaluate\"]\n");
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let (agent, person) = (Terminal::new(), Terminal::new());
    let call = ["evaluate", "'CANARY' + 1"];
    let refused = agent.glassctl(&world, &call, "");
    let error = refused.error();
    let id = asked_id(error);
    for (key, value) in [("operation", "evaluate"), ("ruleId", "daemon/confirm/evaluate")] {
        assert_eq!(error["details"][key], value, "{error:#}");
    }
    assert!(error["details"]["expires"].is_string() && error["details"]["summary"].is_string(), "{error:#}");
    assert_eq!((&error["outcome"], &error["retry"]), (&json!("rejected"), &json!("safe")), "{error:#}");
    assert!(error["remedy"].as_str().is_some_and(|text| text.contains(&id)), "{error:#}");
    assert!(!error.to_string().contains("CANARY"), "{error:#}");
    assert_eq!(asked_id(agent.glassctl(&world, &call, "").error()), id, "the same call waits once");
    let listed = world.ok(&["confirm"]);
    assert_eq!(listed["confirmations"][0]["confirmationId"], id.as_str(), "{listed:#}");
    // Without a terminal, and below the program that asked, nobody agrees to anything.
    denied(&world.ask(&["confirm", &id]), "no_terminal");
    let own = asked_id(&world.fails("confirmation_required", &["evaluate", "2"]));
    denied(&person.glassctl(&world, &["confirm", &own], "y\n"), "same_host");
    let granted = person.glassctl(&world, &["confirm", &id], "y\n");
    let granted_result = granted.result();
    assert_eq!(
        (&granted_result["granted"], &granted_result["protection"]),
        (&json!(true), &json!("terminal")),
        "{granted_result:#}"
    );
    assert!(granted_result["note"].is_string(), "what it is not good for is said");
    assert!(granted.run.stderr.contains("CANARY"), "a person sees what they agree to: {}", granted.run);
    asked_id(agent.glassctl(&world, &["evaluate", "'CANARY' + 2"], "").error());
    assert_eq!(agent.glassctl(&world, &call, "").result()["value"], "CANARY1");
    let next = asked_id(agent.glassctl(&world, &call, "").error());
    assert_ne!(next, id, "it is used up");
    let no = person.glassctl(&world, &["confirm", &next], "n\n");
    assert_eq!(no.result()["granted"], false);
    denied(&agent.glassctl(&world, &call, ""), "confirmation_denied");
    world.fails("target_not_found", &["deny", &next]);
    // A batch is judged as a whole, and nothing of it runs.
    let steps = r#"[{"operation":"back"},{"operation":"evaluate","expression":"1"}]"#;
    fs::write(world.path("cwd/steps.json"), steps).expect("write the steps");
    asked_id(&world.fails("confirmation_required", &["batch", "steps.json"]));
    // All of it is written down, and none of the text.
    let log = world.ok(&["audit"]);
    let events: Vec<&str> = log["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .filter_map(|entry| entry["event"].as_str())
        .collect();
    for event in ["confirmationAsked", "confirmationRefused", "confirmationGranted", "confirmationDenied"] {
        assert!(events.contains(&event), "{event}: {events:?}");
    }
    let used =
        log["entries"].as_array().expect("entries").iter().find(|entry| entry["decision"] == "confirmed");
    assert_eq!(used.expect("the call that was agreed to")["confirmationId"], id.as_str());
    assert!(!log.to_string().contains("CANARY"));
}

// contract: 10.4
#[test]
fn a_client_cannot_agree_to_its_own_call_by_any_path() {
    let world = World::new();
    let visit = site().visit();
    let flags = ["--tools", "all", "--policy-confirm", "evaluate", "--policy-confirm-once", "screenshot"];
    let server = Mcp::greeted(&world, &flags, "2025-11-25");
    let listed = server.ask("tools/list", &json!({})).to_string();
    assert!(
        listed.contains("\"evaluate\"") && listed.contains("\"screenshot\""),
        "what may be asked for is listed"
    );
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
    let call = json!({ "expression": "document.title" });
    let error = server.call("evaluate", &call).fails("confirmation_required");
    let id = asked_id(&error);
    let remedy = error["remedy"].as_str().unwrap_or_default();
    assert!(
        remedy.contains(&format!("glassctl confirm {id}")),
        "what a person does is said as they do it: {remedy}"
    );
    // Tool calls, arguments, resources, prompts, notifications.
    for tool in ["confirm", "glassctl", "confirmations", "deny"] {
        let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": { "id": id } }));
        assert!(answer.get("error").is_some(), "{answer}");
    }
    for extra in ["confirm", "confirmationId", "confirmed", "policy", "policyAllow"] {
        let mut more = call.clone();
        more[extra] = json!(id);
        server.call("evaluate", &more).fails("invalid_argument");
    }
    for uri in [format!("glass://confirmation/{id}"), format!("glass://session/confirm/{id}")] {
        let answer = server.ask("resources/read", &json!({ "uri": uri }));
        assert!(answer.get("error").is_some(), "{answer}");
    }
    for name in ["confirm", "confirmation"] {
        let answer = server.ask("prompts/get", &json!({ "name": name, "arguments": { "id": id } }));
        assert!(answer.get("error").is_some(), "{answer}");
    }
    let meta = json!({ "name": "evaluate", "arguments": call, "_meta": { "glass/confirm": id, "glass/confirmationId": id } });
    let answer = server.ask("tools/call", &meta);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    // Other processes with the same socket: without a terminal, with words in the environment, with a terminal that the
    // client's own host made.
    denied(&world.ask(&["confirm", &id]), "no_terminal");
    let mut command = world.command("glassctl");
    command.args(["--json", "confirm", &id]).env("GLASS_CONFIRM", "yes").env("GLASS_CONFIRM_ID", &id);
    let run = glass_tests::Running::start(command, Some(&b"y\n"[..])).finish();
    denied(&Answer::read("confirm", run), "no_terminal");
    denied(&Terminal::new().glassctl(&world, &["confirm", &id], "y\n"), "same_host");
    // Another client's option does not lift what this one's asks for, and another client does not see its session.
    server.call("evaluate", &call).fails("confirmation_required");
    // What was agreed to beforehand is for one operation.
    let picture = json!({ "format": "jpeg" });
    server.call("screenshot", &picture).good();
    server.call("screenshot", &picture).fails("confirmation_required");
}

// contract: 10.4
#[test]
fn a_person_elsewhere_agrees_to_what_an_agent_asks_for() {
    let world = World::new();
    let visit = site().visit();
    let (desk, person) = (Terminal::new(), Terminal::new());
    let server = desk.host(&world, &["--policy-confirm", "upload", "--tools", "all"]);
    server.greet("2025-11-25");
    visit.serve(
        "files.html",
        "<!doctype html><title>Files</title><label for=one>One</label><input type=file id=one>",
    );
    server.ok("navigate", &json!({ "url": visit.url("files.html") }));
    fs::write(world.path("cwd/photo.txt"), "one").expect("write a file");
    let call = json!({ "target": "label=One", "files": ["photo.txt"] });
    let id = asked_id(&server.call("upload", &call).fails("confirmation_required"));
    assert_eq!(person.glassctl(&world, &["confirm", &id], "y\n").result()["granted"], true);
    // The same file is put in again; another one is another call.
    fs::write(world.path("cwd/photo.txt"), "two").expect("write a file");
    asked_id(&server.call("upload", &call).fails("confirmation_required"));
    fs::write(world.path("cwd/photo.txt"), "one").expect("write a file");
    server.call("upload", &call).good();
    asked_id(&server.call("upload", &call).fails("confirmation_required"));
}

// contract: 10.4
#[test]
fn a_secret_is_asked_for_and_three_wrong_ones_lock_the_call() {
    let world = World::new();
    let hash = world.glassctl_reading(["--json", "config", "secret"], b"correct horse\n").success();
    let hash: Value = serde_json::from_str(&hash.stdout).expect("JSON");
    let hash = hash["result"]["hash"].as_str().expect("a hash").to_owned();
    let world = world.with_config(&format!("[confirm]\nsecret = \"{hash}\"\n"));
    assert!(!world.ok(&["config", "show"]).to_string().contains(&hash), "the hash is nobody's business");
    let (agent, person) = (Terminal::new(), Terminal::new());
    let call = |expression: &str| {
        let answer = agent.glassctl(&world, &["evaluate", expression, "--policy-confirm", "evaluate"], "");
        asked_id(answer.error())
    };
    let id = call("1");
    let wrong = person.glassctl(&world, &["confirm", &id], "y\nwrong horse\nwrong cow\nwrong sheep\n");
    denied(&wrong, "locked");
    assert!(!wrong.run.stderr.contains("horse"), "what is typed is not shown: {}", wrong.run);
    let locked = agent.glassctl(&world, &["evaluate", "1", "--policy-confirm", "evaluate"], "");
    denied(&locked, "confirmation_locked");
    let id = call("2");
    let granted = person.glassctl(&world, &["confirm", &id], "y\nwrong horse\ncorrect horse\n");
    assert_eq!(granted.result()["protection"], "secret", "{}", granted.run);
    world.glassctl_reading(["config", "secret"], b"short\n").exits(2);
}

// contract: 10.4
#[test]
fn an_approver_decides_and_nobody_else_does() {
    let script =
        "read -r asked; case $asked in *document.title*) exit 0;; *hang*) exec sleep 600;; esac; exit 1";
    let world = World::new()
        .with_config(&format!("[confirm]\napprover = [\"/bin/sh\", \"-c\", {}]\n", json!(script)));
    let visit = site().visit();
    let server = Mcp::greeted(&world, &["--policy-confirm", "evaluate"], "2025-11-25");
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
    let call = json!({ "expression": "document.title" });
    let id = asked_id(&server.call("evaluate", &call).fails("confirmation_required"));
    // It needs no terminal to ask what the approver says.
    let said = world.ask(&["confirm", &id]);
    assert_eq!((&said.result()["granted"], &said.result()["protection"]), (&json!(true), &json!("approver")));
    server.call("evaluate", &call).good();
    let other = json!({ "expression": "document.cookie" });
    let id = asked_id(&server.call("evaluate", &other).fails("confirmation_required"));
    glass_tests::holds("the approver has said no", glass_tests::GONE, || {
        world.ask(&["confirm", &id]).json["result"]["granted"] != true
            && server.call("evaluate", &other).json.to_string().contains("confirmation_denied")
    });
    // One that is still thinking holds nothing up, and ends with the daemon.
    server.call("evaluate", &json!({ "expression": "'hang'" })).fails("confirmation_required");
}
