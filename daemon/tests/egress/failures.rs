//! Requests that reach no server: each kind is told apart, to the browser, to the worker and to glassd.

use glass_daemon::egress::{Event, FailureKind};
use glass_policy::egress::Rules;

use crate::world::{Server, Wire, World, closed_port};

fn is_no_page(answer: &str) -> bool {
    let locations: Vec<_> =
        answer.lines().filter(|line| line.to_lowercase().starts_with("location:")).collect();
    locations.len() == 2 && locations[0] != locations[1]
}

fn kind(answer: &str) -> &str {
    let field = answer.lines().find_map(|line| line.strip_prefix("x-glass-egress: "));
    field.unwrap_or_else(|| panic!("not the proxy's own answer: {answer}"))
}

async fn request(browser: &mut Wire, authority: &str) -> String {
    browser.send(format!("GET http://{authority}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    browser.head().await
}

#[tokio::test]
async fn a_closed_port_is_refused_and_all_are_told() {
    let world = World::start().await;
    let mut browser = world.browser().await;
    let address = closed_port().await;
    let answer = request(&mut browser, &address.to_string()).await;
    // The answer has arrived, so the worker's message must be there without any waiting.
    let note = world.note();
    assert!(answer.starts_with("HTTP/1.1 502 ") && is_no_page(&answer), "{answer}");
    assert_eq!(kind(&answer), "refused");
    let port = address.port();
    assert_eq!(
        note,
        serde_json::json!({"type": "failed", "host": "127.0.0.1", "port": port, "error": "refused"})
    );
    let event = world.event().await;
    let error = FailureKind::Refused;
    assert_eq!(event, Event::Failed { session: "s1".into(), host: "127.0.0.1".into(), port, error });
    assert_eq!(world.counters().await.failed, 1);
}

#[tokio::test]
async fn a_tunnel_to_a_closed_port_is_refused_and_all_are_told() {
    let world = World::start().await;
    let mut browser = world.browser().await;
    let port = closed_port().await.port();
    browser.send(format!("CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")).await;
    let answer = browser.head().await;
    assert_eq!(world.note()["host"], "localhost");
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert_eq!(kind(&answer), "refused");
    assert!(!is_no_page(&answer));
}

#[tokio::test]
async fn a_name_without_an_address_is_unresolved() {
    let world = World::start().await;
    let mut browser = world.browser().await;
    assert_eq!(kind(&request(&mut browser, "glass-test.invalid").await), "unresolved");
    assert_eq!(world.note()["port"], 80);
    // The connection is still good for the next request.
    let server = Server::start().await;
    let (head, _) = tokio::join!(
        async {
            browser.bytes("glass-egress: unresolved\n".len()).await;
            browser.get(&server, "/").await
        },
        server.answer_once("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    );
    assert!(head.contains("200 OK"), "{head}");
}

#[tokio::test]
async fn a_server_that_says_nothing_or_nonsense_is_told_apart() {
    let (world, server) = (World::start().await, Server::start().await);
    for (text, wanted) in
        [("", "empty"), ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "malformed"), ("HTTP/1.1 20x\r\n\r\n", "malformed")]
    {
        let mut browser = world.browser().await;
        let (answer, _) = tokio::join!(browser.get(&server, "/"), server.answer_once(text));
        assert_eq!(kind(&answer), wanted, "{text:?}");
        assert_eq!(world.note()["error"], wanted);
    }
    let mut browser = world.browser().await;
    let (answer, ()) = tokio::join!(browser.get(&server, "/"), async {
        let mut wire = server.accept().await;
        wire.head().await;
        wire.stream.set_zero_linger().unwrap();
    });
    assert_eq!(kind(&answer), "reset");
}

#[tokio::test]
async fn a_post_is_never_sent_twice() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser
        .send(format!("POST http://{address}/pay HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1"))
        .await;
    let mut wire = server.accept().await;
    wire.head().await;
    wire.bytes(1).await;
    drop(wire);
    let answer = browser.head().await;
    // Told in an answer: a connection closed without one would make the browser repeat the request.
    assert!(answer.starts_with("HTTP/1.1 502 ") && is_no_page(&answer), "{answer}");
    assert!(server.is_untouched().await);
}

#[tokio::test]
async fn what_no_rule_allows_is_denied_and_the_server_never_hears_of_it() {
    let (world, server) = (World::with(Rules::default()).await, Server::start().await);
    let (address, port) = (server.address, server.address.port());
    let mut browser = world.browser().await;
    let answer = browser.get(&server, "/").await;
    assert!(answer.starts_with("HTTP/1.1 403 ") && is_no_page(&answer), "{answer}");
    assert_eq!(kind(&answer), "denied");
    let note = world.note();
    assert_eq!((note["error"].as_str(), note["rule"].as_str()), (Some("denied"), Some("default")));
    let Event::Denied { session, host, port: denied_port, rule, reason } = world.event().await else {
        panic!("no denial")
    };
    assert_eq!(
        (session.as_str(), host.as_str(), denied_port, rule.as_str()),
        ("s1", "127.0.0.1", port, "default")
    );
    assert!(reason.contains("127.0.0.1"), "{reason}");

    let mut browser = world.browser().await;
    browser.send(format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\n")).await;
    let answer = browser.head().await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    let counters = world.counters().await;
    assert_eq!((counters.denied, counters.bytes_up), (2, 0));
    assert!(server.is_untouched().await);
}

#[tokio::test]
async fn what_is_no_request_to_a_proxy_is_said_to_be_none() {
    let world = World::start().await;
    for line in [
        "GET / HTTP/1.1",
        "GET https://example.com/ HTTP/1.1",
        "GET ftp://example.com/ HTTP/1.1",
        "GET http://user:secret@127.0.0.1:1/ HTTP/1.1",
        "GET http://127.0.0.1:0/ HTTP/1.1",
        "CONNECT example.com HTTP/1.1",
        "CONNECT example.com:0 HTTP/1.1",
        "OPTIONS * HTTP/1.1",
    ] {
        let mut browser = world.browser().await;
        browser.send(format!("{line}\r\nHost: x\r\n\r\n")).await;
        let answer = browser.head().await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{line}: {answer}");
    }
    let mut browser = world.browser().await;
    browser.send("\u{0}\u{1}\r\n\r\n").await;
    assert!(browser.head().await.starts_with("HTTP/1.1 400 "));
}

#[tokio::test]
async fn a_head_without_measure_is_refused() {
    let world = World::start().await;
    let mut browser = world.browser().await;
    browser.send("GET http://127.0.0.1:1/ HTTP/1.1\r\nX-Long: ").await;
    browser.send("x".repeat(70_000)).await;
    browser.send("\r\n\r\n").await;
    let answer = browser.head().await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}
