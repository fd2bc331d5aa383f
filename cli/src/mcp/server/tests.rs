//! The whole connection in this process: bytes through the guard and rmcp to a handler with faults, and back.

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::sync::mpsc::{Receiver, channel};

use rmcp::service::serve_directly;

use super::super::connection::CancelReply;
use super::super::frame::Limits;
use super::super::guard::Guard;
use super::*;

/// A handler that does what Glass's must never do.
#[derive(Debug)]
struct Faulty;

impl ServerHandler for Faulty {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "panics" => panic!("what a page said"),
            "panicsLater" => {
                tokio::task::yield_now().await;
                panic!("what a page said");
            }
            "large" => Ok(CallToolResult::success(vec![ContentBlock::text("x".repeat(33 << 20))]).into()),
            _ => Ok(CallToolResult::success(vec![ContentBlock::text("served")]).into()),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        panic!("what a page said")
    }
}

fn lines(output: PipeReader) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    lines
}

fn ask(input: &mut PipeWriter, id: u32, method: &str, params: &Value) {
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap();
}

// contract: 9.2, 9.3
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_an_error_of_its_request_and_the_connection_lives_on() {
    let (read, mut input) = pipe().unwrap();
    let (output, write) = pipe().unwrap();
    let (guard, _shared) = Guard::start(read, write, Limits::default(), CancelReply::Auto, || false).unwrap();
    let running = serve_directly::<RoleServer, _, _, _, _>(Isolated(Arc::new(Faulty)), guard, None);
    let lines = lines(output);
    let answer = || lines.recv_timeout(Duration::from_secs(30)).expect("an answer");
    let call =
        |input: &mut PipeWriter, id, name: &str| ask(input, id, "tools/call", &json!({ "name": name }));
    ask(&mut input, 1, "initialize", &json!({ "protocolVersion": "2025-11-25" }));
    assert!(answer().contains("\"result\""));
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
    // More of them than are served at once: a panic gives its place back.
    for id in 10..30 {
        call(&mut input, id, if id % 2 == 0 { "panics" } else { "panicsLater" });
        let text = answer();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&json["error"]["code"], &json["id"]), (&json!(-32603), &json!(id)), "{text}");
        assert!(!text.contains("page"), "{text}");
    }
    ask(&mut input, 30, "tools/list", &json!({}));
    assert!(answer().contains("-32603"));
    // An answer over its bound is replaced by a small error.
    call(&mut input, 31, "large");
    let text = answer();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&json["error"]["code"], &json["error"]["data"]["kind"]),
        (&json!(-32001), &json!("result_too_large"))
    );
    assert!(text.len() < 200, "{} bytes", text.len());
    call(&mut input, 32, "works");
    assert!(answer().contains("served"));
    drop(input);
    tokio::time::timeout(Duration::from_secs(10), running.waiting())
        .await
        .expect("it ends with its input")
        .unwrap();
}
