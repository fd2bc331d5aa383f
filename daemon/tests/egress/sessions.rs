//! Sessions come, go, are limited, and never outlive glassd.

use std::os::fd::AsFd;

use glass_daemon::egress::{Command, Event, MAX_CONNECTIONS};
use glass_policy::egress::Rules;
use glass_sandbox::fdpass;

use crate::world::{Server, World, within};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn connections_over_the_limit_are_told_so_and_room_comes_back() {
    let world = World::start().await;
    let mut browsers = Vec::new();
    for _ in 0..300 {
        browsers.push(world.browser().await);
    }
    let mut turned_away = browsers.split_off(MAX_CONNECTIONS);
    assert_eq!(turned_away.len(), 44);
    for browser in &mut turned_away {
        let answer = browser.head().await;
        assert!(
            answer.starts_with("HTTP/1.1 503 ") && answer.contains("x-glass-egress: overload"),
            "{answer}"
        );
    }
    assert_eq!(world.event().await, Event::Overload { session: "s1".into(), limit: MAX_CONNECTIONS });
    assert_eq!(world.counters().await.connections, MAX_CONNECTIONS as u64);

    drop(browsers);
    drop(turned_away);
    world.counters_until("room", |counters| counters.connections == 0).await;
    let (mut browser, server) = (world.browser().await, Server::start().await);
    let (head, _) = tokio::join!(browser.get(&server, "/"), server.answer_once(OK));
    assert!(head.contains("200 OK"), "{head}");
}

#[tokio::test]
async fn a_new_endpoint_takes_over_with_new_rules_and_the_old_counters() {
    let (mut world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let (_, _) = tokio::join!(browser.get(&server, "/"), server.answer_once(OK));
    world.reopen(Rules::default()).await;
    browser.end().await.unwrap();
    let mut browser = world.browser().await;
    let answer = browser.get(&server, "/").await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    let counters = world.counters().await;
    assert_eq!((counters.requests, counters.denied), (2, 1));
}

#[tokio::test]
async fn closing_a_session_ends_its_connections_at_once() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let address = server.address;
    browser.send(format!("GET http://{address}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    let mut wire = server.accept().await;
    wire.head().await;
    world.command(&Command::Close { id: "s1".into() }).await;
    browser.end().await.unwrap();
    wire.end().await.unwrap();
    assert_eq!(world.counters().await.id, "", "it is no longer counted");
}

#[tokio::test]
async fn the_end_of_the_control_socket_is_the_end_of_all() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let (_, mut wire) = tokio::join!(
        async {
            let address = server.address;
            browser.send(format!("CONNECT {address} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
            browser.head().await
        },
        server.accept()
    );
    let World { control, service, .. } = world;
    drop(control);
    within("the service to end", service).await.unwrap().unwrap();
    let _ = browser.end().await;
    let _ = wire.end().await;
}

#[tokio::test]
async fn commands_that_make_no_sense_are_answered_and_change_nothing() {
    let world = World::start().await;
    let (stray, _other) = fdpass::pair().unwrap();
    let session = r#"{"type":"session","id":"s2","rules":{"allowAll":true}}"#;
    let unknown_rule = r#"{"type":"session","id":"s2","rules":{"allowAll":true,"denyAll":true}}"#;
    let nameless = r#"{"type":"session","id":"","rules":{}}"#;
    let stray = [stray.as_fd()];
    for (command, descriptors) in [
        ("nonsense", &stray[..0]),
        (r#"{"type":"dance"}"#, &stray[..0]),
        (session, &stray[..0]),
        (unknown_rule, &stray[..]),
        (nameless, &stray[..]),
        (r#"{"type":"counters"}"#, &stray[..]),
    ] {
        world.control.send(command.as_bytes(), descriptors).await.unwrap();
        let event = world.event().await;
        assert!(matches!(event, Event::Invalid { .. }), "{command}: {event:?}");
    }
    assert_eq!(world.counters().await.id, "s1");
}

#[tokio::test]
async fn a_forwarder_that_passes_no_connection_harms_only_itself() {
    let (world, server) = (World::start().await, Server::start().await);
    world.pass_file().await;
    let mut browser = world.browser().await;
    let (head, _) = tokio::join!(browser.get(&server, "/"), server.answer_once(OK));
    assert!(head.contains("200 OK"), "{head}");
}
