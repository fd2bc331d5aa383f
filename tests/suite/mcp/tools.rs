//! The tools against a real browser.

use std::time::Duration;

use glass_tests::World;
use glass_tests::mcp::Mcp;
use glass_tests::site::site;
use serde_json::{Value, json};

use super::world;

// contract: 9.5, 9.6, 2.4
#[test]
fn a_page_is_opened_read_and_acted_on_with_what_the_answers_say() {
    let world = world();
    let server = world.server();
    let visit = site().visit();
    let opened = server.call("navigate", &json!({ "url": visit.url("form.html") })).good();
    assert!(opened.text(0).contains("A form"), "{}", opened.json);
    assert_eq!(opened.json["structuredContent"]["status"], "completed");
    assert_eq!(opened.json["structuredContent"]["session"]["started"], "new");
    let observed = server.ok("observe", &json!({}));
    let mark = observed.lines().nth(1).unwrap();
    assert!(mark.starts_with("<page-") && observed.ends_with(&mark.replace('<', "</")), "{observed}");
    let error = server.call("click", &json!({ "selector": "no-such-thing" })).fails("target_not_found");
    assert_eq!((&error["outcome"], &error["dispatched"]), (&json!("rejected"), &json!("no")));
    let stale = json!({ "target": "css=body", "expectedRevision": "9999", "includeTrace": true });
    let stale = server.call("click", &stale);
    assert_eq!(stale.fails("stale_revision")["failureKind"], "stale_revision");
    let trace: Value = serde_json::from_str(&stale.text(1)).unwrap();
    assert!(trace["trace"]["pageTargets"].is_array() && trace["trace"]["executionId"].is_string(), "{trace}");
    let value = server.ok("evaluate", &json!({ "expression": "6 * 7" }));
    assert_eq!(value.lines().nth(2), Some("42"), "{value}");
    let shot = server.call("screenshot", &json!({})).good();
    assert_eq!(shot.json["content"][0]["type"], "image");
    assert!(shot.json.get("structuredContent").is_none());
    let listed = server.ask("resources/list", &json!({}));
    let uris: Vec<_> =
        listed["result"]["resources"].as_array().unwrap().iter().map(|one| &one["uri"]).collect();
    assert_eq!(uris.len(), 2, "{listed}");
    for uri in uris {
        let read = server.ask("resources/read", &json!({ "uri": uri }));
        assert_eq!(&read["result"]["contents"][0]["uri"], uri, "{read}");
    }
    let seen = server.call("observe", &json!({ "includeScreenshot": true, "includeDom": true })).good();
    assert!(seen.text(0).contains("<html") && seen.json["content"][1]["type"] == "image", "{}", seen.json);
}

// contract: 5.3, 6, 9.5, 9.7
#[test]
fn files_of_scripts_and_of_steps_are_linked_and_can_be_read() {
    let world = world();
    let server = world.server();
    server.call("navigate", &json!({ "url": site().visit().url("form.html") })).good();
    let script = json!({ "expression": "glassArtifact('a.csv', 'x,y', 'text/csv'); return 7" });
    let kept = server.call("evaluate", &script).good();
    let link = &kept.json["content"][1];
    assert_eq!(
        (&link["type"], &link["mimeType"]),
        (&json!("resource_link"), &json!("text/csv")),
        "{}",
        kept.json
    );
    assert!(kept.text(0).contains("kept \"a.csv\" · text/csv · 3 bytes"), "{}", kept.text(0));
    let read = server.ask("resources/read", &json!({ "uri": link["uri"] }));
    assert_eq!(read["result"]["contents"][0]["blob"], "eCx5", "{read}");
    let steps =
        json!({ "steps": [{ "operation": "screenshot" }, { "operation": "exportPage", "format": "html" }] });
    let done = server.call("batch", &steps).good();
    let kinds: Vec<_> =
        done.json["content"].as_array().unwrap().iter().map(|content| content["type"].clone()).collect();
    assert_eq!(kinds, ["text", "image", "resource_link", "resource_link"], "{kinds:?}");
    assert_eq!(done.json["content"][3]["mimeType"], "text/html");
}

// contract: 9.1, 1.1
#[test]
fn each_server_has_a_session_of_its_own_that_ends_with_it() {
    let world = world();
    let url = site().visit().url("form.html");
    let (one, two) = (world.server(), world.server());
    let name = |server: &Mcp| {
        let opened = server.call("navigate", &json!({ "url": url })).good();
        opened.json["structuredContent"]["session"]["name"].as_str().unwrap().to_owned()
    };
    let (first, second) = (name(&one), name(&two));
    assert_ne!(first, second);
    let sessions = || world.0.ok(&["session", "list"]).to_string();
    assert!(sessions().contains(&first) && sessions().contains(&second));
    one.close();
    assert_eq!(one.ended(Duration::from_secs(10)).code(), Some(0));
    assert!(!sessions().contains(&first) && sessions().contains(&second));
    // However it ends.
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(two.pid()), nix::sys::signal::Signal::SIGKILL).unwrap();
    glass_tests::holds("its session is gone", Duration::from_secs(10), || !sessions().contains(&second));
}

// contract: 1.1, 9.5
#[test]
fn a_named_session_is_shared_and_stays_and_others_are_denied() {
    let world = world();
    let url = site().visit().url("form.html");
    let server = Mcp::greeted(&world.0, &["--session", "shared"], "2025-11-25");
    server.call("observe", &json!({ "session": "other" })).fails("denied");
    server.ok("navigate", &json!({ "url": url, "session": "shared" }));
    server.close();
    server.ended(Duration::from_secs(10));
    assert_eq!(world.0.eval_in("shared", "document.title"), "A form");
    let any = Mcp::greeted(&world.0, &["--sessions", "any"], "2025-11-25");
    any.ok("observe", &json!({ "session": "shared" }));
    // With a prefix every session has it, this server's own too: none of them ends with it.
    let prefixed = Mcp::greeted(&world.0, &["--prefix", "team-"], "2025-11-25");
    for (arguments, session) in [
        (json!({ "url": url }), "team-default"),
        (json!({ "url": url, "session": "a" }), "team-a"),
        (json!({ "url": url, "session": "team-a" }), "team-a"),
        (json!({ "url": url, "session": "shared" }), "team-shared"),
    ] {
        let opened = prefixed.call("navigate", &arguments).good();
        assert_eq!(opened.json["structuredContent"]["session"]["name"], session, "{arguments}");
    }
    let listed = prefixed.call("listSessions", &json!({})).good();
    let rows = listed.json["structuredContent"]["sessions"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| (row["name"].as_str().unwrap(), row["own"] == true)).collect();
    assert_eq!(names, [("team-a", false), ("team-default", true), ("team-shared", false)]);
    prefixed.call("closeSession", &json!({ "session": "team-a" })).good();
    prefixed.close();
    prefixed.ended(Duration::from_secs(10));
    assert_eq!(world.0.eval_in("team-default", "document.title"), "A form");
    for name in ["shared", "team-default", "team-shared"] {
        world.0.glassctl(["session", "close", name]).success();
    }
}

// contract: 1.4
#[test]
fn a_session_that_only_programs_used_closes_sooner_and_begins_anew() {
    let world = World::new().with_config("[sessions]\nidle_timeout_programs = \"1s\"\n");
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let server = Mcp::greeted(&world, &[], "2025-11-25");
    let shared = Mcp::greeted(&world, &["--session", "default"], "2025-11-25");
    shared.ok("observe", &json!({}));
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
    let sessions = || world.ok(&["session", "list"]).to_string();
    glass_tests::holds("the session of the program is closed", Duration::from_secs(20), || {
        !sessions().contains("mcp-")
    });
    server.call("observe", &json!({})).fails("target_not_found");
    let opened = server.call("navigate", &json!({ "url": visit.url("form.html") })).good();
    assert_eq!(opened.json["structuredContent"]["session"]["started"], "new");
    // Somebody at a shell used this one.
    shared.ok("observe", &json!({}));
}

// contract: 2.2, 9.4, 9.5
#[test]
fn the_outcome_of_a_call_can_be_read_later_by_its_execution_id() {
    let world = world();
    let server = Mcp::greeted(&world.0, &["--tools", "session"], "2025-11-25");
    let visit = site().visit();
    server.ok("navigate", &json!({ "url": visit.url("spin.html") }));
    let click = server.begin("click", &json!({ "target": "Block", "timeoutMs": 60_000 }));
    visit.asked_for("slow/click");
    let health = server.call("health", &json!({})).good();
    let running = health.json["structuredContent"]["running"].as_array().unwrap().clone();
    let running = running.iter().find(|row| row["operation"] == "click").expect("the click runs");
    let id = running["executionId"].as_str().unwrap();
    let asked = json!({ "executionId": id });
    let status =
        |server: &Mcp| server.call("executionStatus", &asked).good().json["structuredContent"].clone();
    let seen = status(&server);
    assert_eq!((&seen["state"], &seen["operation"]), (&json!("running"), &json!("click")), "{seen}");
    assert!(seen["dispatched"] == "yes" && seen.get("outcome").is_none(), "{seen}");
    // Another server may read it, and may not end it; under a policy of private sessions it may not even read it.
    let other = world.server();
    assert_eq!(status(&other)["state"], "running");
    other.call("cancelExecution", &asked).fails("denied");
    let untrusted = Mcp::greeted(&world.0, &["--policy", "untrusted-mcp"], "2025-11-25");
    untrusted.call("executionStatus", &asked).fails("denied");
    server.call("cancelExecution", &asked).good();
    let error = server.result(click).fails("unknown_outcome");
    assert_eq!((&error["reason"], &error["executionId"]), (&json!("cancelled"), &json!(id)), "{error}");
    visit.release("click");
    let seen = status(&server);
    assert_eq!((&seen["state"], &seen["outcome"]), (&json!("ended"), &json!("unknown")), "{seen}");
    assert_eq!(seen["error"]["kind"], "unknown_outcome", "{seen}");
    let over = server.call("cancelExecution", &asked).fails("target_not_found");
    assert_eq!(over["reason"], "execution_ended");
    // The shell knows it too, and ends as it did.
    let shown = world.0.ok(&["execution", "show", id]);
    assert_eq!(shown["execution"]["outcome"], "unknown", "{shown}");
    assert_eq!(world.0.fails("unknown_outcome", &["execution", "wait", id])["reason"], "cancelled");
    assert_eq!(world.0.fails("target_not_found", &["execution", "cancel", id])["reason"], "execution_ended");
    let never = "01M8RNXETTY3VRCC7C3MGMCP3M";
    assert_eq!(
        world.0.fails("target_not_found", &["execution", "show", never])["reason"],
        "no_such_execution"
    );
    server.call("executionStatus", &json!({ "executionId": never })).fails("target_not_found");
    server.call("executionStatus", &json!({ "executionId": "x" })).fails("invalid_argument");
    // One that completed, from waiting for it to its end.
    let opened = server.call("navigate", &json!({ "url": visit.url("form.html") })).good();
    let id = opened.json["structuredContent"]["executionId"].as_str().unwrap().to_owned();
    let waited = world.0.ok(&["execution", "wait", &id]);
    assert_eq!(waited["execution"]["outcome"], "completed", "{waited}");
}

// contract: 9.5, 2.5
#[test]
fn answers_are_small_on_large_pages_and_leave_nothing_out_of_reach() {
    let world = world();
    let server = world.server();
    let visit = site().visit();
    let row = |i: usize| {
        format!(
            "<li><h3>Item {i}</h3><p>Description of item {i}, in stock. <a href=/small?i={i}>Details {i}</a></p>\
             <label>Quantity <input type=number name=q{i} value=1></label><button>Buy {i}</button>\
             <span class=tag><em>Tag {}</em></span></li>",
            i % 7
        )
    };
    let page = |rows: usize| {
        let rows: String = (0..rows).map(row).collect();
        format!(
            "<!doctype html><title>Catalogue</title><h1>Catalogue</h1>\
             <button onclick='count.textContent++'>Add</button><output id=count aria-label=Count>0</output>\
             <ul>{rows}</ul>"
        )
    };
    visit.serve("medium.html", &page(100));
    visit.serve("large.html", &page(2000));
    server.ok("navigate", &json!({ "url": visit.url("medium.html") }));
    let clicked = server.call("click", &json!({ "target": "Add" })).good();
    assert!(clicked.json.to_string().len() <= 2560, "{} bytes", clicked.json.to_string().len());
    assert!(clicked.text(0).contains("Count"), "{}", clicked.text(0));
    server.ok("navigate", &json!({ "url": visit.url("large.html"), "timeoutMs": 60_000 }));
    let observed = server.call("observe", &json!({ "timeoutMs": 60_000 })).good();
    assert!(observed.text(0).len() <= 24 * 1024, "{} bytes", observed.text(0).len());
    let last = server.ok("find", &json!({ "target": "role=button;name=Buy 1999", "timeoutMs": 60_000 }));
    assert!(last.contains("Buy 1999") && last.contains("[e"), "{last}");
}

// contract: 3.8, 9.5 report: 56
#[test]
fn a_picture_is_as_large_as_a_model_takes_it_unless_asked() {
    let world = world();
    let server = world.server();
    let visit = site().visit();
    visit.serve("tall.html", "<!doctype html><title>Tall</title><body style='margin:0;height:20000px;background:linear-gradient(red,blue)'>");
    server.ok("navigate", &json!({ "url": visit.url("tall.html") }));
    let side = |arguments: Value| -> u64 {
        let shot = server.call("screenshot", &arguments).good();
        let encoded = shot.json["content"][0]["data"].as_str().unwrap().len();
        assert!(encoded < 1_400_000, "{encoded} bytes");
        let text = shot.text(1);
        let numbers = text.split(" · ").find(|part| part.contains(" × ")).unwrap();
        let sizes = numbers.split(' ').filter_map(|word| word.parse::<u64>().ok());
        assert!(text.contains("· s"), "its id: {text}");
        sizes.max().unwrap()
    };
    assert!(side(json!({ "fullPage": true })) <= 1568);
    assert_eq!(side(json!({})), 1280);
    assert_eq!(side(json!({ "fullPage": true, "maxSide": 3000 })), 3000);
}

// contract: 9.7 report: 270
#[test]
fn a_long_call_is_told_of_and_never_after_its_answer() {
    let world = world();
    let server = world.server();
    server.ok("navigate", &json!({ "url": site().visit().url("form.html") }));
    let arguments = json!({ "condition": "text=never there", "timeoutMs": 2500 });
    let params = json!({ "name": "wait", "arguments": arguments, "_meta": { "progressToken": "p" } });
    let id = server.request("tools/call", &params);
    let mut last = 0.0;
    loop {
        let message = server.message();
        if message["id"] == id {
            break;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "p");
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "{message}");
        last = progress;
    }
    assert!(last >= 1.0);
    server.ok("evaluate", &json!({ "expression": "1" }));
    assert!(server.message_within(Duration::ZERO).is_none());
}

// contract: 9.4, 2.8 report: 64, 267
#[test]
fn a_cancelled_call_is_answered_by_the_rule_and_the_session_lives() {
    let world = world();
    for (revision, answered) in [("2024-11-05", true), ("2025-11-25", false)] {
        let server = Mcp::greeted(&world.0, &[], revision);
        let visit = site().visit();
        server.ok("navigate", &json!({ "url": visit.url("spin.html") }));
        let wait = server.begin("wait", &json!({ "condition": "text=never there", "timeoutMs": 60_000 }));
        let id = server.begin("click", &json!({ "target": "Block", "timeoutMs": 60_000 }));
        visit.asked_for("slow/click");
        for id in [wait, id, 999] {
            let params = json!({ "requestId": id, "reason": "hunter2" });
            server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
        }
        if answered {
            let answer = server.answer(id);
            assert_eq!(answer["error"]["code"], -32800, "{answer}");
            assert_eq!(answer["error"]["data"]["dispatched"], "yes", "{answer}");
            assert!(
                answer["error"]["data"]["executionId"].is_string() && !answer.to_string().contains("hunter2")
            );
            assert_eq!(server.answer(wait)["error"]["code"], -32800);
        }
        visit.release("click");
        server.ok("navigate", &json!({ "url": visit.url("form.html") }));
        assert!(server.message_within(Duration::ZERO).is_none(), "nothing more is said of the cancelled");
    }
}

// contract: 9.3
#[test]
fn eight_wait_at_once_a_ninth_is_refused_and_a_control_tool_is_served() {
    let world = world();
    let server = world.server();
    server.ok("navigate", &json!({ "url": site().visit().url("dialogs.html") }));
    let wait = json!({ "condition": "text=never there", "timeoutMs": 60_000 });
    let ids: Vec<_> = (0..8).map(|_| server.begin("wait", &wait)).collect();
    let ninth = server.begin("wait", &wait);
    assert_eq!(server.answer(ninth)["error"]["code"], -32000);
    // An id that is open is refused, and the request that has it goes on.
    let params = json!({ "name": "wait", "arguments": wait });
    server.send(&json!({ "jsonrpc": "2.0", "id": ids[0], "method": "tools/call", "params": params }));
    assert_eq!(server.answer(ids[0])["error"]["code"], -32600);
    let control = server.call("dismissDialog", &json!({}));
    assert_eq!(control.json["isError"], true, "no dialog is open");
    for id in ids {
        let params = json!({ "requestId": id });
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }
    glass_tests::holds("there is room again", Duration::from_secs(20), || {
        let id = server.begin("evaluate", &json!({ "expression": "1" }));
        server.answer(id).get("result").is_some()
    });
}
