//! Host rules at the proxy: by name, by address, by transport, and when they change.

use glass_daemon::egress::{Command, Event};
use glass_policy::egress::{HostLayer, Rules, Source};
use glass_policy::host::HostRule;

use crate::world::{Server, World};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn rules(allow: &[String], deny: &[String], public_only: bool) -> Rules {
    let read =
        |texts: &[String]| -> Vec<HostRule> { texts.iter().map(|text| text.parse().unwrap()).collect() };
    let (allow, deny) = (read(allow), read(deny));
    let any = allow.is_empty();
    Rules::of([HostLayer { source: Source::Client, any, allow, subresource: Vec::new(), deny, public_only }])
}

// contract: 10.3
#[tokio::test]
async fn hosts_that_no_rule_lists_are_never_connected_to() {
    let (listed, other) = (Server::start().await, Server::start().await);
    let world = World::with(rules(&[listed.address.to_string()], &[], true)).await;
    let mut browser = world.browser().await;
    let (head, _) = tokio::join!(browser.get(&listed, "/"), listed.answer_once(OK));
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let mut browser = world.browser().await;
    let head = browser.get(&other, "/").await;
    assert!(head.starts_with("HTTP/1.1 403 ") && head.contains("x-glass-egress: denied"), "{head}");
    assert_eq!(world.note()["rule"], "client/default");
    let Event::Denied { host, rule, .. } = world.event().await else { panic!("no denial") };
    assert_eq!((&*host, &*rule), ("127.0.0.1", "client/default"));
    // Every spelling of the address is the address.
    for spelling in ["2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]"] {
        let mut browser = world.browser().await;
        let place = format!("{spelling}:{}", other.address.port());
        browser.send(format!("CONNECT {place} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(browser.head().await.starts_with("HTTP/1.1 403 "), "{spelling}");
    }
    assert!(other.is_untouched().await);
}

// contract: 10.3
#[tokio::test]
async fn a_name_that_turns_to_a_private_address_is_refused() {
    let server = Server::start().await;
    // Every host is allowed by its name.
    let world = World::with(rules(&[], &[], true)).await;
    let mut browser = world.browser().await;
    let place = format!("rebound.localhost:{}", server.address.port());
    browser.send(format!("GET http://{place}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    assert!(browser.head().await.starts_with("HTTP/1.1 403 "));
    assert_eq!(world.note()["rule"], "client/non_public_addresses");
    let world = World::with(rules(&[], &["127.0.0.0/8".to_owned()], false)).await;
    let mut browser = world.browser().await;
    browser.send(format!("GET http://{place}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    // By [::1] nobody answers, and by 127.0.0.1 it is denied.
    let head = browser.head().await;
    assert!(head.starts_with("HTTP/1.1 403 ") || head.starts_with("HTTP/1.1 502 "), "{head}");
    assert!(server.is_untouched().await);
}

// contract: 10.3
#[tokio::test]
async fn a_rule_for_tls_lets_nothing_else_through_its_tunnel() {
    let server = Server::start().await;
    let address = server.address;
    let world = World::with(rules(&[format!("https://{address}")], &[], false)).await;
    let mut browser = world.browser().await;
    assert!(browser.get(&server, "/").await.starts_with("HTTP/1.1 403 "), "without TLS");
    for (first, passes) in [("\u{16}\u{3}\u{1}hello", true), ("GET / HTTP/1.1\r\n\r\n", false)] {
        let mut browser = world.browser().await;
        browser.send(format!("CONNECT {address} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(browser.head().await.starts_with("HTTP/1.1 200 "));
        let mut wire = server.accept().await;
        browser.send(first).await;
        if passes {
            assert_eq!(wire.bytes(first.len()).await, first);
        } else {
            assert!(browser.end().await.is_err(), "it is broken off");
            assert_eq!(wire.rest().await, "", "nothing of it was sent");
        }
    }
}

// contract: 10.3
#[tokio::test]
async fn other_rules_end_what_the_old_ones_allowed() {
    let (world, server) = (World::start().await, Server::start().await);
    let mut browser = world.browser().await;
    let (_, _) = tokio::join!(browser.get(&server, "/"), server.answer_once(OK));
    let rules = rules(&[], &[server.address.to_string()], false);
    world.command(&Command::Rules { id: "s1".into(), rules }).await;
    browser.end().await.unwrap();
    let mut browser = world.browser().await;
    let head = browser.get(&server, "/").await;
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
    assert_eq!(world.note()["rule"], format!("client/deny_hosts/{}", server.address));
}
