//! The wire: framings, bounds, lifecycle, revisions (contract 9.2 to 9.4). No browser is needed for any of it.

use std::time::{Duration, Instant};

use glass_tests::World;
use glass_tests::mcp::Mcp;
use serde_json::{Value, json};

const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

fn stateless(version: &str) -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    } })
}

// contract: 9.2, 1.3 report: 269
#[test]
fn the_handshake_and_the_list_need_no_daemon_and_are_fast() {
    let world = World::new();
    let mut fastest = Duration::MAX;
    for revision in REVISIONS {
        let begun = Instant::now();
        let server = Mcp::start(&world, &[]);
        let info = server.greet(revision);
        assert_eq!(info["serverInfo"]["name"], "glass");
        assert!(info["instructions"].as_str().is_some_and(|text| text.len() < 2500));
        let list = server.ask("tools/list", &json!({}));
        let names: Vec<_> =
            list["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert!(names.contains(&&json!("navigate")), "{list}");
        assert!(list["result"].get("resultType").is_none(), "{list}");
        fastest = fastest.min(begun.elapsed());
        server.close();
        assert_eq!(server.ended(Duration::from_secs(10)).code(), Some(0));
    }
    // 50 ms, with the slack that a loaded machine gets.
    assert!(fastest < Duration::from_millis(250), "{fastest:?}");
    assert!(!world.path("run/glass/glassd.sock").exists(), "nothing started a daemon");
}

// contract: 9.2
#[test]
fn the_stateless_revision_is_served_without_a_handshake() {
    let world = World::new();
    let server = Mcp::start(&world, &[]);
    let found = server.ask("server/discover", &stateless("2026-07-28"));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2024-11-05")), "{found}");
    assert!(found["result"]["instructions"].is_string());
    let list = server.ask("tools/list", &stateless("2026-07-28"));
    assert_eq!(list["result"]["resultType"], "complete", "{list}");
    assert!(list["result"]["ttlMs"].is_number() && list["result"]["cacheScope"].is_string(), "{list}");
    let unknown = server.ask("tools/list", &stateless("1999-01-01"));
    assert_eq!(unknown["error"]["code"], -32022, "{unknown}");
    let mut bare = stateless("2026-07-28");
    bare["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(server.ask("tools/list", &bare)["error"]["code"], -32602);
    assert_eq!(server.ask("tools/list", &json!({}))["error"]["code"], -32600);
}

// contract: 9.2
#[test]
fn every_row_of_the_probe_is_answered() {
    let world = World::new();
    let server = Mcp::start(&world, &[]);
    let code = |message: &str| {
        server.write(message.as_bytes());
        let answer = server.message();
        (
            answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{message}: {answer}")),
            answer["id"].clone(),
        )
    };
    // A first message that is a notification ends nothing.
    server.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n");
    assert_eq!(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n"), (-32002, json!(1)));
    assert_eq!(
        code("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{}}\n"),
        (-32602, json!(2))
    );
    // A revision that nobody speaks is refused with those that are spoken, and may be tried again.
    let unknown = server.ask("initialize", &json!({ "protocolVersion": "1999-01-01" }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert_eq!(unknown["error"]["data"], json!({ "supported": REVISIONS, "requested": "1999-01-01" }));
    assert_eq!(code("{nonsense\n"), (-32700, Value::Null));
    assert_eq!(code("\"text\"\n"), (-32600, Value::Null));
    assert_eq!(code("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n"), (-32600, Value::Null));
    assert_eq!(code("[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}]\n"), (-32600, Value::Null));
    server.write(b"\xff\xfe{}\n");
    assert_eq!(server.message()["error"]["code"], -32700);
    // Between the two steps of the handshake nothing is served but a ping; after it, it is not made again.
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    assert!(server.ask("initialize", &hello)["result"].is_object());
    assert_eq!(server.ask("tools/list", &json!({}))["error"]["code"], -32002);
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(server.ask("initialize", &hello)["error"]["code"], -32600);
    let call = |id: i64, params: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n")
    };
    assert_eq!(code(&call(4, "{\"name\":5}")), (-32602, json!(4)));
    assert_eq!(
        code("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\"}\n"),
        (-32602, json!(8)),
        "without parameters"
    );
    assert_eq!(code(&call(5, "{\"name\":\"noSuchTool\"}")), (-32602, json!(5)));
    assert_eq!(code("{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"no/such\"}\n"), (-32601, json!(6)));
    // Half a surrogate pair is named with the request's id.
    assert_eq!(code(&call(7, "{\"name\":\"\\ud800\"}")), (-32600, json!(7)));
    // Arguments that do not fit are a tool's error, which a model can see.
    server.call("observe", &json!({ "maxBytes": "many" })).fails("invalid_argument");
}

// contract: 9.3
#[test]
fn both_framings_work_and_what_is_too_large_is_refused_and_skipped() {
    let world = World::new();
    let server = Mcp::greeted(&world, &[], "2025-11-25");
    let ping = |id: i64, size: usize| {
        let pad = "x".repeat(size);
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\",\"params\":{{\"pad\":\"{pad}\"}}}}\n")
    };
    for (id, size) in [(101, 9 * 1024), (102, 1024 * 1024), (103, 3 * 1024 * 1024)] {
        server.write(ping(id, size).as_bytes());
        assert_eq!(server.message()["id"], id);
    }
    for size in [5 * 1024 * 1024, 64 * 1024 * 1024] {
        server.write(ping(104, size).as_bytes());
        let refused = server.message();
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &Value::Null));
        server.write(ping(105, 1).as_bytes());
        assert_eq!(server.message()["id"], 105, "the next frame is read");
    }
    // The other framing: in pieces of any size, and skipped as well where the body is too large.
    let body = ping(106, 1);
    for byte in format!("Content-Length: {}\r\n\r\n{body}", body.len()).bytes() {
        server.write(&[byte]);
    }
    let framed = server.message();
    assert_eq!((&framed["id"], &framed["framing"]), (&json!(106), &json!("header")), "{framed}");
    let body = ping(107, 5 * 1024 * 1024);
    server.write(format!("content-length: {}\r\nContent-Type: x\r\n\r\n{body}", body.len()).as_bytes());
    let refused = server.message();
    assert_eq!((&refused["error"]["code"], &refused["framing"]), (&json!(-32600), &json!("header")));
    server.write(ping(108, 1).as_bytes());
    let line = server.message();
    assert!(line["id"] == 108 && line.get("framing").is_none(), "{line}");
    let narrow = Mcp::greeted(&world, &["--mcp-line-limit", "8K"], "2025-11-25");
    narrow.write(ping(1, 9 * 1024).as_bytes());
    assert_eq!(narrow.message()["error"]["code"], -32600);
    narrow.write(ping(2, 7 * 1024).as_bytes());
    assert_eq!(narrow.message()["id"], 2);
}

// contract: 9.3
#[test]
fn a_header_that_cannot_be_read_is_answered_and_ends_the_server() {
    let world = World::new();
    let server = Mcp::greeted(&world, &[], "2025-11-25");
    server.write(b"Content-Length: 0x10\r\n\r\n");
    let refused = server.message();
    assert_eq!((&refused["framing"], &refused["error"]["code"]), (&json!("header"), &json!(-32600)));
    assert_eq!(server.ended(Duration::from_secs(10)).code(), Some(0));
}

// contract: 9.9 report: 266
#[test]
fn an_input_that_ended_ends_the_server_at_once_without_a_daemon() {
    let world = World::new();
    for begin in [0, 1, 2] {
        let server = Mcp::start(&world, &[]);
        if begin > 0 {
            server.greet("2025-11-25");
        }
        if begin > 1 {
            server.write(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/l");
        }
        server.close();
        let begun = Instant::now();
        assert_eq!(server.ended(Duration::from_secs(10)).code(), Some(0));
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        assert_eq!(server.errors(), "");
    }
}

// contract: 10.1
#[test]
fn an_option_that_cannot_be_honoured_is_refused_and_never_ignored() {
    let world = World::new();
    let server = Mcp::start(&world, &["--profile", "p"]);
    assert_eq!(server.ended(Duration::from_secs(10)).code(), Some(1));
    assert!(server.errors().contains("--profile"));
}
