use serde_json::json;

use super::*;

/// What a frame came to: how many requests are to be served, and what was answered.
fn say(connection: &mut Connection, message: &Value) -> (usize, Vec<Value>) {
    let received = connection.receive(Framing::Line, message.to_string().as_bytes());
    let answers = received.answers.iter().map(|out| serde_json::from_slice(&out.text).unwrap());
    (received.serve.len(), answers.collect())
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call(id: i64, tool: &str) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": {} }))
}

fn stateless(id: i64, method: &str, version: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(id, method, json!({ "_meta": meta }))
}

fn code(connection: &mut Connection, message: &Value) -> i64 {
    let (served, answers) = say(connection, message);
    assert_eq!((served, answers.len()), (0, 1), "{message} was served or met with silence");
    answers[0]["error"]["code"].as_i64().unwrap()
}

fn served(connection: &mut Connection, message: &Value) {
    let (served, answers) = say(connection, message);
    assert_eq!((served, answers), (1, vec![]), "{message}");
}

fn answer(connection: &mut Connection, id: i64) -> Option<Value> {
    let id = RequestId::Number(id);
    let out = connection.answered(&id, message::answer(&id, &json!({})), false)?;
    Some(serde_json::from_slice(&out.text).unwrap())
}

fn ready(version: &str, reply: CancelReply) -> Connection {
    let mut connection = Connection::new(reply);
    served(&mut connection, &request(0, "initialize", json!({ "protocolVersion": version })));
    answer(&mut connection, 0).unwrap();
    say(&mut connection, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    connection
}

// contract: 9.2
#[test]
fn nothing_is_served_before_the_handshake_is_done() {
    let mut connection = Connection::new(CancelReply::Auto);
    assert_eq!(code(&mut connection, &request(1, "tools/list", json!({}))), -32002);
    served(&mut connection, &request(2, "initialize", json!({ "protocolVersion": "2024-11-05" })));
    answer(&mut connection, 2).unwrap();
    assert_eq!(code(&mut connection, &request(3, "tools/list", json!({}))), -32002);
    let (_, pong) = say(&mut connection, &request(4, "ping", json!({})));
    assert_eq!(pong[0]["result"], json!({}));
    say(&mut connection, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    served(&mut connection, &request(5, "tools/list", json!({})));
    assert_eq!(
        code(&mut connection, &request(6, "initialize", json!({ "protocolVersion": "2024-11-05" }))),
        -32600
    );
}

// contract: 9.2
#[test]
fn an_unknown_revision_is_refused_with_those_that_are_spoken_and_may_be_tried_again() {
    let mut connection = Connection::new(CancelReply::Auto);
    for params in [json!({}), json!({ "protocolVersion": "1999-01-01" }), json!({ "protocolVersion": 5 })] {
        let (served, answers) = say(&mut connection, &request(1, "initialize", params));
        assert_eq!(served, 0);
        assert_eq!(answers[0]["error"]["code"], -32602);
        assert_eq!(answers[0]["error"]["data"]["supported"], json!(HANDSHAKE));
    }
    for version in HANDSHAKE {
        ready(version, CancelReply::Auto);
    }
    assert_eq!(code(&mut connection, &stateless(1, "tools/list", "1999-01-01")), -32022);
}

// contract: 9.2
#[test]
fn a_connection_belongs_to_the_era_of_its_first_request() {
    let mut connection = Connection::new(CancelReply::Auto);
    served(&mut connection, &stateless(1, "server/discover", STATELESS));
    served(&mut connection, &stateless(2, "tools/list", STATELESS));
    assert_eq!(code(&mut connection, &request(3, "tools/list", json!({}))), -32600);
    assert_eq!(
        code(&mut connection, &request(4, "initialize", json!({ "protocolVersion": "2024-11-05" }))),
        -32600
    );
    let mut connection = ready("2025-11-25", CancelReply::Auto);
    assert_eq!(code(&mut connection, &stateless(1, "tools/list", STATELESS)), -32600);
    served(&mut connection, &stateless(2, "server/discover", STATELESS));
}

// contract: 9.3
#[test]
fn eight_are_served_at_once_and_one_more_for_control_tools() {
    let mut connection = ready("2025-11-25", CancelReply::Auto);
    for id in 1..=8 {
        served(&mut connection, &call(id, "wait"));
    }
    assert_eq!(code(&mut connection, &call(9, "wait")), -32000);
    served(&mut connection, &call(10, "dismissDialog"));
    assert_eq!(code(&mut connection, &call(11, "dismissDialog")), -32000);
    answer(&mut connection, 10).unwrap();
    served(&mut connection, &call(12, "acceptDialog"));
    answer(&mut connection, 1).unwrap();
    served(&mut connection, &call(13, "wait"));
    let mut connection = Connection::new(CancelReply::Auto);
    for id in 1..=8 {
        served(&mut connection, &stateless(id, "tools/list", STATELESS));
    }
    assert_eq!(code(&mut connection, &stateless(9, "tools/list", STATELESS)), -32603);
}

// contract: 9.2 report: 267
#[test]
fn a_duplicate_id_is_refused_without_harm_to_the_first() {
    let mut connection = ready("2025-11-25", CancelReply::Auto);
    served(&mut connection, &call(1, "wait"));
    assert_eq!(code(&mut connection, &call(1, "wait")), -32600);
    assert!(answer(&mut connection, 1).is_some());
    served(&mut connection, &call(1, "wait"));
}

// contract: 9.4 report: 267
#[test]
fn cancelled_requests_are_answered_by_one_rule() {
    let cancel = |id: i64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    for (version, reply, answered) in [
        ("2024-11-05", CancelReply::Auto, true),
        ("2025-11-25", CancelReply::Auto, false),
        ("2025-11-25", CancelReply::Always, true),
        ("2024-11-05", CancelReply::Never, false),
    ] {
        let mut connection = ready(version, reply);
        served(&mut connection, &call(1, "wait"));
        let token = connection.token(&RequestId::Number(1));
        for id in [1, 1, 77] {
            assert_eq!(say(&mut connection, &cancel(id)), (0, vec![]));
        }
        assert!(token.is_cancelled());
        assert!(connection.wants_news(&RequestId::Number(1)).is_none());
        let id = RequestId::Number(1);
        let out = connection.answered(&id, cancelled(&id, Some("01J"), "unknown"), true);
        let out = out.map(|out| serde_json::from_slice::<Value>(&out.text).unwrap());
        assert_eq!(out.is_some(), answered, "{version} {reply:?}");
        if let Some(out) = out {
            assert_eq!(out["error"]["code"], -32800);
            assert_eq!(out["error"]["data"], json!({ "dispatched": "unknown", "executionId": "01J" }));
        }
        // It ended before the news of its cancelling came.
        served(&mut connection, &call(2, "wait"));
        say(&mut connection, &cancel(2));
        let out = answer(&mut connection, 2);
        assert_eq!(out.is_some_and(|out| out["error"]["code"] == -32800), answered);
        assert!(answer(&mut connection, 2).is_none(), "an answer is given once");
    }
    let mut connection = Connection::new(CancelReply::Always);
    served(&mut connection, &stateless(1, "tools/list", STATELESS));
    say(&mut connection, &cancel(1));
    assert!(answer(&mut connection, 1).is_none());
}

// contract: 9.2 report: 267
#[test]
fn notifications_and_answers_are_never_answered() {
    let mut connection = ready("2025-11-25", CancelReply::Always);
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/unknown", "params": {} }),
        json!({ "jsonrpc": "2.0", "method": "tools/call", "params": {} }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 4, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 4, "error": { "code": 1, "message": "x" } }),
    ] {
        assert_eq!(say(&mut connection, &message), (0, vec![]), "{message}");
    }
}

// contract: 9.2
#[test]
fn parameters_that_do_not_fit_a_known_method_are_told_as_such() {
    let mut connection = ready("2025-11-25", CancelReply::Auto);
    for params in [json!({}), json!({ "name": 5 }), json!({ "name": "x", "arguments": 5 })] {
        assert_eq!(code(&mut connection, &request(1, "tools/call", params)), -32602);
    }
    // An unknown method is for rmcp to refuse.
    served(&mut connection, &request(2, "no/such", json!({})));
}

// contract: 9.2
#[test]
fn batches_are_taken_in_one_revision_alone_and_answered_as_one() {
    let batch = json!([call(1, "wait"), { "jsonrpc": "2.0", "method": "notifications/x" }, request(2, "ping", json!({})), 7]);
    let mut connection = ready("2025-11-25", CancelReply::Auto);
    assert_eq!(code(&mut connection, &batch), -32600);
    let mut connection = ready("2025-03-26", CancelReply::Auto);
    assert_eq!(code(&mut connection, &json!([])), -32600);
    served(&mut connection, &batch);
    let whole = answer(&mut connection, 1).unwrap();
    let ids: Vec<_> = whole.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [json!(2), Value::Null, json!(1)]);
    let (served, answers) = say(&mut connection, &json!([request(3, "ping", json!({}))]));
    assert_eq!((served, answers[0][0]["id"].clone()), (0, json!(3)));
    let (_, answers) = say(&mut connection, &json!([{ "jsonrpc": "2.0", "method": "notifications/x" }]));
    assert_eq!(answers, Vec::<Value>::new());
}

// contract: 9.2
#[test]
fn fuzz_mcp_messages() {
    let words = [
        "\"jsonrpc\":\"2.0\"",
        "\"id\":",
        "\"method\":",
        "\"params\":",
        "tools/call",
        "initialize",
        "null",
        "1e400",
        "\\ud800",
        "io.modelcontextprotocol/protocolVersion",
        "2026-07-28",
    ];
    glass_fuzz::run("mcp_messages", &words, |input| {
        let mut words = String::new();
        for mut connection in [
            Connection::new(CancelReply::Auto),
            ready("2025-03-26", CancelReply::Auto),
            ready("2025-11-25", CancelReply::Auto),
        ] {
            let received = connection.receive(Framing::Line, input);
            // Whatever has an id is served or answered, and what is answered is JSON.
            for out in &received.answers {
                let answer: Value = serde_json::from_slice(&out.text).expect("an answer is JSON");
                let first = answer.get(0).unwrap_or(&answer);
                assert_eq!(first["jsonrpc"], "2.0");
                words.push_str(&first["error"]["code"].to_string());
            }
            if let Ok(Value::Object(object)) = serde_json::from_slice::<Value>(input)
                && object.contains_key("id")
                && object.contains_key("method")
            {
                assert_eq!(received.serve.len() + received.answers.len(), 1, "it was met with silence");
            }
            words.push_str(&format!(" {} ", received.serve.len()));
        }
        words
    });
}
