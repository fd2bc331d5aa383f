//! contract: 10.3, 10.8 — another proxy behind this one: rules by name, credentials for it alone, no page of its own.

use glass_daemon::egress::{Event, Upstream};
use glass_policy::egress::{HostLayer, Rules, Source};
use glass_policy::host::Host;

use crate::world::{Server, World, closed_port};

const WHO: &str = "Proxy-Authorization: Basic YW5uOnZlcnktc2VjcmV0";

fn upstream(address: std::net::SocketAddr) -> Option<Upstream> {
    let host = Host::Address(address.ip());
    Some(Upstream::new(&host, address.port()).with_credentials("ann:very-secret"))
}

fn rules(allow: &[&str], public_only: bool) -> Rules {
    let allow = allow.iter().map(|rule| rule.parse().unwrap()).collect();
    let (subresource, deny) = (Vec::new(), Vec::new());
    Rules::of([HostLayer { source: Source::Client, any: false, allow, subresource, deny, public_only }])
}

#[tokio::test]
async fn tunnels_and_requests_go_through_it_by_name_with_its_credentials() {
    let proxy = Server::start().await;
    let world = World::behind(rules(&["a.invalid"], false), upstream(proxy.address)).await;
    let mut browser = world.browser().await;
    browser.send("CONNECT a.invalid:443 HTTP/1.1\r\nHost: a.invalid:443\r\n\r\n").await;
    let mut wire = proxy.accept().await;
    let asked = wire.head().await;
    assert!(asked.starts_with("CONNECT a.invalid:443 HTTP/1.1\r\n") && asked.contains(WHO), "{asked}");
    // What follows the head is the server's already.
    wire.send("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nhello").await;
    assert!(browser.head().await.starts_with("HTTP/1.1 200 "));
    assert_eq!(browser.bytes(5).await, "hello");
    browser.send("world").await;
    assert_eq!(wire.bytes(5).await, "world");

    let mut browser = world.browser().await;
    browser
        .send("GET http://a.invalid/x?y HTTP/1.1\r\nHost: a.invalid\r\nProxy-Authorization: Basic b3duCg==\r\n\r\n")
        .await;
    let mut wire = proxy.accept().await;
    let asked = wire.head().await;
    assert!(asked.starts_with("GET http://a.invalid/x?y HTTP/1.1\r\n"), "{asked}");
    assert_eq!(asked.to_lowercase().matches("proxy-authorization: ").count(), 1, "{asked}");
    assert!(asked.contains("Basic YW5uOnZlcnktc2VjcmV0"), "{asked}");
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    assert!(browser.head().await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn what_it_refuses_is_a_failure_and_no_page() {
    let proxy = Server::start().await;
    let world = World::behind(Rules::allow_all(), upstream(proxy.address)).await;
    let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n";
    for request in ["CONNECT a.invalid:443 HTTP/1.1\r\n\r\n", "GET http://a.invalid/ HTTP/1.1\r\n\r\n"] {
        let mut browser = world.browser().await;
        browser.send(request).await;
        proxy.answer_once(refusal).await;
        let head = browser.head().await;
        assert!(head.starts_with("HTTP/1.1 502 ") && head.contains("x-glass-egress: upstream"), "{head}");
        assert_eq!(world.note()["error"], "upstream");
    }
    let world = World::behind(Rules::allow_all(), upstream(closed_port().await)).await;
    let mut browser = world.browser().await;
    browser.send("CONNECT a.invalid:443 HTTP/1.1\r\n\r\n").await;
    assert!(browser.head().await.contains("x-glass-egress: upstream"));
}

#[tokio::test]
async fn rules_hold_before_it_and_this_machine_is_never_asked_of_it() {
    let (proxy, server) = (Server::start().await, Server::start().await);
    let here = server.address.to_string();
    let world = World::behind(rules(&["a.invalid", &here], false), upstream(proxy.address)).await;
    let mut browser = world.browser().await;
    browser.send("CONNECT b.invalid:443 HTTP/1.1\r\n\r\n").await;
    assert!(browser.head().await.starts_with("HTTP/1.1 403 "));
    let Event::Denied { rule, .. } = world.event().await else { panic!("no denial") };
    assert_eq!(rule, "client/default");
    let mut browser = world.browser().await;
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let (head, asked) = tokio::join!(browser.get(&server, "/"), server.answer_once(answer));
    assert!(head.starts_with("HTTP/1.1 200 ") && !asked.to_lowercase().contains("proxy-"), "{head}{asked}");
    // Where addresses must be public, somebody must have said that this proxy is trusted to see to it.
    for (allow, rule) in [(vec!["a.invalid"], "client/upstream_proxy"), (vec!["b.invalid"], "client/default")]
    {
        let world = World::behind(rules(&allow, true), upstream(proxy.address)).await;
        let mut browser = world.browser().await;
        browser.send("CONNECT a.invalid:443 HTTP/1.1\r\n\r\n").await;
        assert!(browser.head().await.starts_with("HTTP/1.1 403 "));
        assert_eq!(world.note()["rule"], rule);
    }
    assert!(proxy.is_untouched().await);
    let named = format!("127.0.0.1:{}", proxy.address.port());
    let world = World::behind(rules(&["a.invalid", &named], true), upstream(proxy.address)).await;
    let mut browser = world.browser().await;
    browser.send("CONNECT a.invalid:443 HTTP/1.1\r\n\r\n").await;
    proxy.answer_once("HTTP/1.1 200 OK\r\n\r\n").await;
    assert!(browser.head().await.starts_with("HTTP/1.1 200 "));
}
