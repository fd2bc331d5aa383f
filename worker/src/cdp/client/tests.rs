use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::*;
use crate::cdp::types::NoParams;

/// The browser's side of a connection, driven by the test.
struct Browser {
    commands: DuplexStream,
    replies: DuplexStream,
}

impl Browser {
    fn start(on_event: impl FnMut(Event) + Send + 'static) -> (Client, Self) {
        let limits = Limits { message: 4096, outbox: 4096, reason_grace: Duration::from_millis(50) };
        let (write, commands) = tokio::io::duplex(256);
        let (replies, read) = tokio::io::duplex(256);
        (Client::start(read, write, limits, on_event), Self { commands, replies })
    }

    async fn next_command(&mut self) -> serde_json::Value {
        let mut bytes = Vec::new();
        loop {
            match self.commands.read_u8().await.expect("a command") {
                0 => return serde_json::from_slice(&bytes).expect("JSON"),
                byte => bytes.push(byte),
            }
        }
    }

    async fn say(&mut self, message: &str) {
        self.replies.write_all(message.as_bytes()).await.expect("the client reads");
        self.replies.write_all(b"\0").await.expect("the client reads");
    }
}

fn number(client: &Client, session: Option<&str>) -> Pending<u64> {
    client.start_call(session, "Test.number", NoParams {})
}

#[tokio::test]
async fn replies_find_their_calls_in_any_order() {
    let (client, mut browser) = Browser::start(|_| {});
    let (first, second) = (number(&client, None), number(&client, Some("S")));
    let (one, two) = (browser.next_command().await, browser.next_command().await);
    assert_eq!(one, serde_json::json!({"id": 1, "method": "Test.number", "params": {}}));
    assert_eq!(two["sessionId"], "S");
    browser.say(r#"{"id":2,"result":22,"sessionId":"S"}"#).await;
    browser.say(r#"{"id":1,"result":11}"#).await;
    assert_eq!((first.await.expect("a number"), second.await.expect("a number")), (11, 22));
}

#[tokio::test]
async fn an_event_is_handled_before_the_reply_that_follows_it() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let (client, mut browser) = Browser::start(move |event| log.lock().expect("a log").push(event.method));
    let call = number(&client, None);
    browser.say(r#"{"method":"A.first","params":{}}"#).await;
    browser.say(r#"{"method":"A.second","params":{}}"#).await;
    browser.say(r#"{"id":1,"result":1}"#).await;
    call.await.expect("a number");
    assert_eq!(*seen.lock().expect("a log"), ["A.first", "A.second"]);
}

#[tokio::test]
async fn a_refusal_keeps_the_browsers_words_out_of_its_text() {
    let (client, mut browser) = Browser::start(|_| {});
    let call = number(&client, None);
    browser
        .say(r#"{"id":1,"error":{"code":-32000,"message":"Cannot find context with specified id"}}"#)
        .await;
    let error = call.await.expect_err("a refusal");
    assert!(error.context_destroyed());
    assert_eq!(error.to_string(), "the browser refused Test.number (code -32000)");
}

#[tokio::test]
async fn a_reply_above_the_limit_fails_its_call_and_the_connection_lives() {
    let (client, mut browser) = Browser::start(|_| {});
    let (big, small) = (number(&client, None), number(&client, None));
    let reply = format!(r#"{{"id":1,"result":"{}"}}"#, "x".repeat(10_000));
    browser.say(&reply).await;
    browser.say(r#"{"id":2,"result":2}"#).await;
    let expected = reply.len() as u64;
    assert!(matches!(big.await, Err(CdpError::TooLarge { bytes, .. }) if bytes == expected));
    assert_eq!(small.await.expect("a number"), 2);
}

#[tokio::test]
async fn unreadable_messages_fail_at_most_their_own_call() {
    let (client, mut browser) = Browser::start(|_| {});
    let (broken, wrong, good) = (number(&client, None), number(&client, None), number(&client, None));
    browser.say(r#"{"id":1,"result":{"#).await;
    browser.say("nonsense").await;
    browser.say(r#"{"id":99,"result":1}"#).await;
    browser.say(r#"{"id":2,"result":"not a number"}"#).await;
    browser.say(r#"{"id":3,"result":3}"#).await;
    assert!(matches!(broken.await, Err(CdpError::Decode { .. })));
    assert!(matches!(wrong.await, Err(CdpError::Decode { .. })));
    assert_eq!(good.await.expect("a number"), 3);
}

#[tokio::test]
async fn the_end_of_the_pipe_fails_every_call() {
    let (client, browser) = Browser::start(|_| {});
    let (first, second) = (number(&client, None), number(&client, Some("S")));
    drop(browser);
    for call in [first, second] {
        let error = call.await.expect_err("the browser is gone");
        assert_eq!(error.to_string(), "the browser is gone: it closed its pipe");
    }
    assert!(number(&client, None).await.expect_err("still gone").is_closed());
    assert_eq!(client.closed().await.reason.as_ref(), "it closed its pipe");
}

#[tokio::test]
async fn the_supervisors_reason_wins_over_the_end_of_the_pipe() {
    let (client, browser) = Browser::start(|_| {});
    let call = number(&client, None);
    drop(browser);
    tokio::task::yield_now().await;
    client.fail(Gone::because("killed by signal SIGKILL"));
    client.fail(Gone::because("a later reason"));
    let error = call.await.expect_err("the browser is gone");
    assert_eq!(error.to_string(), "the browser is gone: killed by signal SIGKILL");
}

#[tokio::test]
async fn calls_of_a_session_that_ended_fail_and_others_go_on() {
    let (client, mut browser) = Browser::start(|_| {});
    let (detached, crashed, other) =
        (number(&client, Some("A")), number(&client, Some("B")), number(&client, None));
    browser.say(r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"A"}}"#).await;
    browser.say(r#"{"method":"Inspector.targetCrashed","params":{},"sessionId":"B"}"#).await;
    browser.say(r#"{"id":3,"result":3}"#).await;
    assert!(matches!(detached.await, Err(CdpError::Detached { .. })));
    assert!(matches!(crashed.await, Err(CdpError::Crashed { .. })));
    assert_eq!(other.await.expect("a number"), 3);
}

#[tokio::test]
async fn a_call_that_was_given_up_leaves_nothing_behind() {
    let (client, mut browser) = Browser::start(|_| {});
    drop(number(&client, None));
    let call = number(&client, None);
    browser.say(r#"{"id":1,"result":1}"#).await;
    browser.say(r#"{"id":2,"result":2}"#).await;
    assert_eq!(call.await.expect("a number"), 2);
    assert!(client.waiters.take(1).is_none());
}

#[tokio::test]
async fn a_browser_that_reads_nothing_blocks_no_caller() {
    let (client, mut browser) = Browser::start(|_| {});
    let text = "x".repeat(1000);
    let calls: Vec<PendingRaw> = (0..8).map(|_| client.start_raw(None, "Test.text", &text)).collect();
    let refused = calls.into_iter().next_back().expect("a call").await.expect_err("the queue is full");
    assert!(matches!(refused, CdpError::Backlog { bytes } if bytes > 2000));
    for id in 1..=3 {
        assert_eq!(browser.next_command().await["id"], id);
    }
    let call = number(&client, None);
    browser.say(r#"{"id":4,"result":4}"#).await;
    assert_eq!(call.await.expect("a number"), 4);
}

#[tokio::test]
async fn dropping_the_last_client_closes_the_command_pipe() {
    let (client, mut browser) = Browser::start(|_| {});
    let call = number(&client, None);
    drop(client);
    assert_eq!(browser.next_command().await["id"], 1, "what was queued still goes out");
    assert!(browser.commands.read_u8().await.is_err());
    drop(browser);
    assert!(call.await.expect_err("the browser is gone").is_closed());
}
