//! A hostile client of `glass --mcp`: what it can say with tool calls alone, and with bytes that are none.

use std::fs;
use std::os::unix::fs::symlink;

use glass_tests::mcp::Mcp;
use glass_tests::site::site;
use glass_tests::{GONE, World};
use serde_json::{Value, json};

use super::{Forbidden, LIMIT, only_the_site};

// contract: 9.5, 10.1, 10.2, 10.4, 10.5
#[test]
fn tool_calls_give_it_no_right_that_its_start_did_not() {
    let world = World::new();
    only_the_site(&world);
    let forbidden = Forbidden::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    fs::write(world.path("home/secret"), "the user's own").expect("a file");
    symlink(world.path("home/secret"), world.path("cwd/link")).expect("a link");
    symlink("/proc/self", world.path("cwd/self")).expect("a link");
    fs::hard_link(world.path("home/secret"), world.path("cwd/own")).expect("a second name");
    let server = Mcp::greeted(&world, &["--tools", "all", "--policy-deny", "evaluate"], "2025-11-25");
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
    let refused = |tool: &str, arguments: Value| {
        let id = server.begin(tool, &arguments);
        let answer = server.answer(id);
        let failed = answer.get("error").is_some() || answer["result"]["isError"] == true;
        assert!(failed, "{tool} {arguments}: {answer}");
        answer
    };
    // Authority is no argument.
    for more in [
        json!({ "policy": "development" }),
        json!({ "policyAllow": ["evaluate"] }),
        json!({ "_meta": { "glass/policy-allow": "evaluate" } }),
        json!({ "session": "default" }),
        json!({ "session": "../default" }),
        json!({ "clientId": "0" }),
    ] {
        let mut arguments = json!({ "expression": "1" });
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        refused("evaluate", arguments);
    }
    refused("batch", json!({ "steps": [{ "operation": "evaluate", "params": { "expression": "1" } }] }));
    refused("wait", json!({ "condition": "js=true" }));
    for tool in ["confirm", "deny", "policy", "secretExport", "daemonStop", "closeSession/../x", "", "\u{0}"]
    {
        refused(tool, json!({}));
    }
    // Neither are places.
    for url in [
        &format!("http://127.0.0.1:{}/", forbidden.port())[..],
        "file:///etc/passwd",
        "view-source:file:///etc/passwd",
        "chrome://settings",
        "javascript:fetch('/')",
        "http://u:p@127.0.0.1/",
        "http://",
        &format!("http://127.0.0.1:{}/{}", site().port(), "x".repeat(3_000_000)),
    ] {
        refused("navigate", json!({ "url": url }));
    }
    // Nor are files beyond the root.
    let input = json!("css=input");
    for path in [
        "../home/secret",
        "/etc/passwd",
        "link",
        "self/environ",
        "self/fd/0",
        "/proc/self/mem",
        "/dev/zero",
        ".",
        "own/../../home/secret",
        "x\u{0}y",
        "",
    ] {
        refused("upload", json!({ "target": input, "files": [path] }));
    }
    for path in ["..", "/tmp", "self/cwd", "link", "/proc/self/cwd"] {
        refused("download", json!({ "destination": path, "timeoutMs": 500 }));
    }
    for (tool, arguments) in [
        ("click", json!({ "target": "css=".to_owned() + &"(".repeat(100_000) })),
        ("click", json!({ "target": { "nested": { "in": [[[[]]]] } } })),
        ("observe", json!({ "depth": -1 })),
        ("wait", json!({ "condition": "text=x", "timeoutMs": 1e300 })),
        ("key", json!({ "keys": ["Control+".repeat(10_000)] })),
    ] {
        refused(tool, arguments);
    }
    server.ok("observe", &json!({}));
    drop(server);
    forbidden.assert_untouched();
    world.ok(&["click", "name=Save"]);
}

// contract: 9.3, 9.5
#[test]
fn bytes_that_are_no_messages_end_its_own_server_at_most() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let daemon = world.daemon();
    let nested = format!("{}1{}\n", "[".repeat(200_000), "]".repeat(200_000));
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{{\"name\":\"observe\",\"arguments\":{}1{}}}}}\n",
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"method\":\"ping\"}}\n", "i".repeat(5_000_000));
    for bytes in [
        &b"\xff\xfe\x00\x00\n"[..],
        &[0; 300_000],
        nested.as_bytes(),
        deep.as_bytes(),
        long.as_bytes(),
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":[]}\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"[{},{},{},7,null]\n",
    ] {
        let server = Mcp::greeted(&world, &[], "2025-11-25");
        server.write(bytes);
        server.close();
        server.ended(LIMIT);
    }
    assert_eq!(world.daemon(), daemon);
    world.ok(&["click", "name=Save"]);
    assert_eq!(visit.clicks(), ["save"]);
    glass_tests::holds("no session of theirs is left", GONE, || world.session_directories().len() == 1);
}
