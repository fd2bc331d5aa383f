//! `CONNECT` and changes of protocol: bytes pass unread, ends and breaks are passed on as what they are.

use crate::world::{Server, Wire, World};

async fn tunnel(world: &World, server: &Server) -> (Wire, Wire) {
    let mut browser = world.browser().await;
    let address = server.address;
    browser.send(format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\n")).await;
    let answer = browser.head().await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let lower = answer.to_lowercase();
    assert!(!lower.contains("content-length") && !lower.contains("transfer-encoding"), "{answer}");
    (browser, server.accept().await)
}

#[tokio::test]
async fn a_tunnel_carries_both_ways() {
    let (world, server) = (World::start().await, Server::start().await);
    let (mut browser, mut wire) = tunnel(&world, &server).await;
    browser.send("GET / is just bytes").await;
    assert_eq!(wire.bytes(19).await, "GET / is just bytes");
    wire.send("so is this").await;
    assert_eq!(browser.bytes(10).await, "so is this");
    let counters = world.counters().await;
    assert_eq!((counters.requests, counters.bytes_up, counters.bytes_down), (1, 19, 10));
}

#[tokio::test]
async fn bytes_sent_along_with_the_request_are_not_lost() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser.send(format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\nearly")).await;
    let mut wire = server.accept().await;
    assert_eq!(wire.bytes(5).await, "early");
}

#[tokio::test]
async fn a_half_close_passes_and_the_other_half_goes_on() {
    let (world, server) = (World::start().await, Server::start().await);
    let (mut browser, mut wire) = tunnel(&world, &server).await;
    browser.send("question").await;
    browser.finish_sending().await;
    assert_eq!(wire.rest().await, "question");
    wire.send("answer").await;
    assert_eq!(browser.bytes(6).await, "answer");
    drop(wire);
    assert_eq!(browser.rest().await, "");
    world.counters_until("the tunnel to end", |counters| counters.connections == 0).await;
}

#[tokio::test]
async fn a_reset_passes_as_a_reset() {
    let (world, server) = (World::start().await, Server::start().await);
    let (mut browser, wire) = tunnel(&world, &server).await;
    wire.stream.set_zero_linger().unwrap();
    drop(wire);
    let error = browser.end().await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn much_data_passes_whole() {
    let (world, server) = (World::start().await, Server::start().await);
    let (mut browser, mut wire) = tunnel(&world, &server).await;
    let data = "0123456789abcdef".repeat(256 * 1024);
    let sender = async {
        wire.send(&data).await;
        drop(wire);
    };
    let (received, ()) = tokio::join!(browser.rest(), sender);
    assert!(received == data, "{} of {} bytes", received.len(), data.len());
}

#[tokio::test]
async fn an_upgrade_over_plain_http_becomes_a_tunnel() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser
        .send(format!(
            "GET http://{address}/chat HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Key: abc\r\n\r\n"
        ))
        .await;
    let mut wire = server.accept().await;
    let request = wire.head().await.to_lowercase();
    assert!(
        request.contains("connection: upgrade\r\n") && request.contains("upgrade: websocket\r\n"),
        "{request}"
    );
    wire.send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Accept: xyz\r\n\r\nfirst",
    )
    .await;
    let answer = browser.head().await;
    assert!(
        answer.starts_with("HTTP/1.1 101 ") && answer.to_lowercase().contains("upgrade: websocket"),
        "{answer}"
    );
    assert_eq!(browser.bytes(5).await, "first");
    browser.send("frame").await;
    assert_eq!(wire.bytes(5).await, "frame");
    wire.send("reply").await;
    assert_eq!(browser.bytes(5).await, "reply");
}

#[tokio::test]
async fn an_upgrade_that_the_server_declines_is_an_ordinary_answer() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser
        .send(format!(
            "GET http://{address}/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        ))
        .await;
    server.answer_once("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno").await;
    assert!(browser.head().await.starts_with("HTTP/1.1 426 "));
    assert_eq!(browser.bytes(2).await, "no");
}
