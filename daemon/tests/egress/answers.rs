//! Requests for `http://` addresses that reach their server.

use glass_daemon::egress::SessionCounters;

use crate::world::{Server, World};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn a_request_reaches_the_server_as_a_request_to_a_server() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser
        .send(format!(
            "GET http://{address}/a?b=c HTTP/1.1\r\nHost: other.example\r\nProxy-Connection: keep-alive\r\n\
             Proxy-Authorization: Basic eA==\r\nUser-Agent: Test/1\r\nX-Mixed-Case: 1\r\n\r\n"
        ))
        .await;
    let mut wire = server.accept().await;
    let request = wire.head().await;
    assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("Host: {address}\r\n")), "{request}");
    assert!(
        request.contains("User-Agent: Test/1\r\n") && request.contains("X-Mixed-Case: 1\r\n"),
        "{request}"
    );
    assert!(!request.to_lowercase().contains("proxy-"), "{request}");

    wire.send(
        "HTTP/1.1 404 Nothing Here\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Glass-Egress: denied\r\n\
         Keep-Alive: timeout=5\r\nContent-Length: 4\r\n\r\ngone",
    )
    .await;
    let answer = browser.head().await;
    assert!(answer.starts_with("HTTP/1.1 404 Nothing Here\r\n"), "{answer}");
    assert!(answer.contains("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n"), "{answer}");
    let lower = answer.to_lowercase();
    assert!(
        !lower.contains("x-glass-egress") && !lower.contains("keep-alive") && !lower.contains("date"),
        "{answer}"
    );
    assert_eq!(browser.bytes(4).await, "gone");
}

#[tokio::test]
async fn a_body_is_passed_on_with_its_length_or_in_chunks() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser
        .send(format!("POST http://{address}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"))
        .await;
    let mut wire = server.accept().await;
    assert!(wire.head().await.to_lowercase().contains("content-length: 5\r\n"));
    assert_eq!(wire.bytes(5).await, "hello");
    wire.send(OK).await;
    browser.head().await;
    assert_eq!(browser.bytes(2).await, "ok");

    browser
        .send(format!("PUT http://{address}/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"))
        .await;
    browser.send("3\r\nabc\r\n").await;
    let mut wire = server.accept().await;
    assert!(wire.head().await.to_lowercase().contains("transfer-encoding: chunked\r\n"));
    assert_eq!(wire.bytes(8).await, "3\r\nabc\r\n");
    browser.send("0\r\n\r\n").await;
    assert_eq!(wire.bytes(5).await, "0\r\n\r\n");
    wire.send(OK).await;
    browser.head().await;
}

#[tokio::test]
async fn answers_without_a_body_end_at_once_and_leave_the_connection_usable() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser.send(format!("HEAD http://{address}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    let mut wire = server.accept().await;
    wire.head().await;
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await;
    assert!(browser.head().await.to_lowercase().contains("content-length: 1000\r\n"));
    for status in ["204 No Content", "304 Not Modified"] {
        browser.send(format!("GET http://{address}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        wire.head().await;
        wire.send(format!("HTTP/1.1 {status}\r\nETag: \"1\"\r\n\r\n")).await;
        let head = browser.head().await;
        assert!(head.contains(status) && !head.to_lowercase().contains("transfer-encoding"), "{head}");
    }
    browser.send(format!("GET http://{address}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    wire.head().await;
    wire.send(OK).await;
    browser.head().await;
    assert_eq!(browser.bytes(2).await, "ok");
}

#[tokio::test]
async fn a_server_that_sends_one_byte_at_a_time_is_seen_byte_by_byte() {
    let (world, server) = (World::start().await, Server::start().await);
    for head in ["Transfer-Encoding: chunked", "Content-Length: 3", "Connection: close"] {
        let mut browser = world.browser().await;
        let address = server.address;
        browser.send(format!("GET http://{address}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        let mut wire = server.accept().await;
        wire.head().await;
        wire.send(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n")).await;
        let in_chunks = browser.head().await.to_lowercase().contains("chunked");
        for byte in ["a", "b", "c"] {
            let chunk = format!("1\r\n{byte}\r\n");
            wire.send(if head.contains("chunked") { &chunk } else { byte }).await;
            // The next byte is not sent before this one has arrived.
            let wanted = if in_chunks { &chunk } else { byte };
            assert_eq!(&browser.bytes(wanted.len()).await, wanted, "{head}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_ends_with_its_connection_arrives_whole() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let (head, _) = tokio::join!(
        browser.get(&server, "/"),
        server.answer_once("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold but whole")
    );
    assert!(head.to_lowercase().contains("transfer-encoding: chunked\r\n"), "{head}");
    assert_eq!(browser.bytes(23).await, "D\r\nold but whole\r\n0\r\n\r\n");
}

#[tokio::test]
async fn a_truncated_answer_stays_truncated() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let (head, _) = tokio::join!(
        browser.get(&server, "/"),
        server.answer_once("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
    );
    assert!(head.to_lowercase().contains("content-length: 100\r\n"), "{head}");
    assert_eq!(browser.rest().await, "only this");

    let mut browser = world.browser().await;
    let (_, _) = tokio::join!(
        browser.get(&server, "/"),
        server.answer_once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nonly\r\n")
    );
    assert_eq!(browser.rest().await, "4\r\nonly\r\n", "no last chunk, so no end");
}

#[tokio::test]
async fn trailers_and_odd_fields_do_no_harm() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let (head, _) = tokio::join!(
        browser.get(&server, "/"),
        server.answer_once(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nSpaced : 1\r\nFolded: a\r\n b\r\n\r\n\
             2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n"
        )
    );
    assert!(head.contains("200 OK"), "{head}");
    assert!(browser.bytes(10).await.starts_with("2\r\nok\r\n0\r\n"));
}

#[tokio::test]
async fn requests_that_change_nothing_share_a_connection_and_others_never_do() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    let (_, mut wire) = tokio::join!(
        async {
            browser.get(&server, "/1").await;
            browser.bytes(2).await
        },
        async {
            let mut wire = server.accept().await;
            wire.head().await;
            wire.send(OK).await;
            wire
        }
    );
    browser.send(format!("GET http://{address}/2 HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    assert!(wire.head().await.starts_with("GET /2 "));
    wire.send(OK).await;
    browser.head().await;
    browser.bytes(2).await;
    browser.send(format!("POST http://{address}/3 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")).await;
    let mut fresh = server.accept().await;
    assert!(fresh.head().await.starts_with("POST /3 "));
    fresh.send(OK).await;
    browser.head().await;
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closed_is_closed_and_not_used() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let (_, mut wire) = tokio::join!(browser.get(&server, "/1"), async {
        let mut wire = server.accept().await;
        wire.head().await;
        wire.send(OK).await;
        wire
    });
    browser.bytes(2).await;
    wire.finish_sending().await;
    assert_eq!(wire.rest().await, "", "the proxy answers the server's close with its own");
    let (head, _) = tokio::join!(browser.get(&server, "/2"), server.answer_once(OK));
    assert!(head.contains("200 OK"), "{head}");
}

#[tokio::test]
async fn a_kept_connection_that_dies_under_a_get_is_replaced() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    let (_, mut wire) = tokio::join!(browser.get(&server, "/1"), async {
        let mut wire = server.accept().await;
        wire.head().await;
        wire.send(OK).await;
        wire
    });
    browser.bytes(2).await;
    browser.send(format!("GET http://{address}/2 HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    wire.head().await;
    drop(wire);
    assert!(server.answer_once(OK).await.starts_with("GET /2 "));
    assert!(browser.head().await.contains("200 OK"));
}

#[tokio::test]
async fn a_browser_that_leaves_takes_the_servers_connection_along() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser.send(format!("GET http://{address}/slow HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    let mut wire = server.accept().await;
    wire.head().await;
    drop(browser);
    wire.end().await.unwrap();
    world.counters_until("the connection to be gone", |counters| counters.connections == 0).await;
}

#[tokio::test]
async fn traffic_is_counted() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let (_, request) = tokio::join!(browser.get(&server, "/"), server.answer_once(OK));
    browser.bytes(2).await;
    let counters = world.counters().await;
    assert_eq!(
        counters,
        SessionCounters {
            id: "s1".into(),
            bytes_up: request.len() as u64,
            bytes_down: OK.len() as u64,
            requests: 1,
            connections: 1,
            denied: 0,
            failed: 0,
        }
    );
}

#[tokio::test]
async fn names_below_localhost_are_loopback() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let port = server.address.port();
    for host in ["localhost", "LOCALHOST.", "shop.localhost"] {
        browser
            .send(format!("POST http://{host}:{port}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"))
            .await;
        let request = server.answer_once(OK).await;
        assert!(request.contains(&format!("{host}:{port}\r\n")), "{request}");
        browser.head().await;
        browser.bytes(2).await;
    }
}
