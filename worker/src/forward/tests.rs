use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::failure::MAX_FAILURES;
use super::*;

/// A proxy's end of a session's endpoint.
struct Proxy(UnixDatagram);

impl Proxy {
    fn pair() -> (Self, OwnedFd) {
        let (ours, workers) = fdpass::nonblocking_pair().unwrap();
        (Self(UnixDatagram::from_std(StdUnixDatagram::from(ours)).unwrap()), workers)
    }

    async fn accept(&self) -> TcpStream {
        let mut note = [0; 64];
        let receive = || fdpass::recv(self.0.as_fd(), &mut note);
        let (length, mut fds) = self.0.async_io(Interest::READABLE, receive).await.unwrap();
        assert_eq!((&note[..length], fds.len()), (&b"c"[..], 1));
        TcpStream::from_std(std::net::TcpStream::from(fds.remove(0))).unwrap()
    }

    fn say(&self, text: &str) {
        fdpass::send(self.0.as_fd(), text.as_bytes(), &[]).unwrap();
    }
}

fn start(endpoint: OwnedFd) -> (Forwarder, SocketAddr) {
    let listener = StdTcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (Forwarder::start(listener, endpoint, Peers::Own).unwrap(), address)
}

async fn answers_through(proxy: &Proxy, mut browser: TcpStream) {
    let mut passed = proxy.accept().await;
    passed.write_all(b"hello").await.unwrap();
    let mut answer = [0; 5];
    browser.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"hello");
}

#[tokio::test]
async fn a_connection_arrives_at_the_proxy_whole() {
    let (proxy, endpoint) = Proxy::pair();
    let (_forwarder, address) = start(endpoint);
    for _ in 0..3 {
        answers_through(&proxy, TcpStream::connect(address).await.unwrap()).await;
    }
}

#[tokio::test]
async fn a_replaced_endpoint_gets_the_connections_even_while_the_old_one_lives() {
    let (old, endpoint) = Proxy::pair();
    let (forwarder, address) = start(endpoint);
    answers_through(&old, TcpStream::connect(address).await.unwrap()).await;
    let (new, endpoint) = Proxy::pair();
    forwarder.replace(endpoint).unwrap();
    answers_through(&new, TcpStream::connect(address).await.unwrap()).await;
}

#[tokio::test]
async fn connections_made_without_a_proxy_wait_for_the_next_one() {
    let (old, endpoint) = Proxy::pair();
    let (forwarder, address) = start(endpoint);
    drop(old);
    let waiting = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
    let (new, endpoint) = Proxy::pair();
    forwarder.replace(endpoint).unwrap();
    // The two may be passed in either order, so both are answered before either is read.
    for _ in 0..waiting.len() {
        new.accept().await.write_all(b"hello").await.unwrap();
    }
    for mut browser in waiting {
        let mut answer = Vec::new();
        browser.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"hello");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_no_proxy_takes_is_closed_after_two_seconds() {
    let (old, endpoint) = Proxy::pair();
    let (_forwarder, address) = start(endpoint);
    drop(old);
    let mut browser = TcpStream::connect(address).await.unwrap();
    let before = tokio::time::Instant::now();
    assert_eq!(browser.read(&mut [0; 1]).await.unwrap(), 0);
    assert!(before.elapsed() >= DELIVERY_LIMIT, "{:?}", before.elapsed());
}

#[tokio::test]
async fn failures_are_there_as_soon_as_they_were_sent() {
    let (proxy, endpoint) = Proxy::pair();
    let (forwarder, _) = start(endpoint);
    let before = Instant::now();
    proxy.say(r#"{"type":"failed","host":"::1","port":9,"error":"refused"}"#);
    proxy.say(r#"{"type":"failed","host":"a.example","port":80,"error":"unresolved"}"#);
    proxy.say(
        r#"{"type":"failed","host":"a.example","port":80,"error":"denied","rule":"default","reason":"why"}"#,
    );
    // No await since the messages were sent: nothing but the call itself can have read them.
    let denied = forwarder.last_failure("A.example.", 80, before).unwrap();
    assert_eq!((denied.error, denied.rule.as_deref()), (FailureKind::Denied, Some("default")));
    assert_eq!(denied.reason.as_deref(), Some("why"));
    let refused = forwarder.last_failure("[::1]", 9, before).unwrap();
    assert_eq!(refused.net_error(), "net::ERR_CONNECTION_REFUSED");
    assert_eq!(forwarder.last_failure("a.example", 443, before), None);
    assert_eq!(forwarder.last_failure("a.example", 80, Instant::now()), None);
}

#[tokio::test]
async fn the_newest_failures_are_kept_and_strange_messages_harm_nothing() {
    let (proxy, endpoint) = Proxy::pair();
    let (forwarder, address) = start(endpoint);
    let before = Instant::now();
    proxy.say("not json");
    proxy.say(r#"{"type":"weather","sky":"blue"}"#);
    proxy.say(&"x".repeat(MAX_MESSAGE_BYTES + 1));
    proxy.say(r#"{"type":"failed","host":"a","port":1,"error":"cosmic"}"#);
    assert_eq!(forwarder.last_failure("a", 1, before).unwrap().error, FailureKind::Unknown);
    for port in 2..=MAX_FAILURES as u16 + 1 {
        proxy.say(&format!(r#"{{"type":"failed","host":"a","port":{port},"error":"timeout"}}"#));
        assert!(forwarder.last_failure("a", port, before).is_some());
    }
    assert_eq!(forwarder.last_failure("a", 1, before), None);
    answers_through(&proxy, TcpStream::connect(address).await.unwrap()).await;
}

#[test]
fn only_the_names_of_a_refusal_hide_another() {
    assert!(hides_failure("net::ERR_TUNNEL_CONNECTION_FAILED"));
    assert!(hides_failure("net::ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION"));
    assert!(hides_failure("net::ERR_BLOCKED_BY_CLIENT"));
    assert!(!hides_failure("net::ERR_CONNECTION_REFUSED"));
}

#[test]
fn fuzz_notes_of_the_proxy() {
    glass_fuzz::run(
        "proxy_note",
        &["\"type\":\"failed\"", "\"host\":", "\"port\":", "\"error\":\"name\""],
        |input| {
            let mut failures = super::failure::Failures::new();
            for line in input.split(|byte| *byte == b'\n') {
                failures.note(line);
            }
            let known = failures.newest("example.com", 443, Instant::now() - Duration::from_secs(60));
            format!("{:?}", known.map(|failure| failure.error))
        },
    );
}
