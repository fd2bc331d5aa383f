//! Fuzz targets: whatever the browser of a session says to its proxy is answered or refused, and leads nowhere that the
//! rules do not allow; whatever comes over the control socket is a command or is refused.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use glass_policy::egress::Rules;
use glass_sandbox::fdpass;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::meter::Meter;
use super::proxy;
use super::session::{Events, Session};
use super::wire::{Command, Event};

const WORDS: &[&str] = &[
    "CONNECT ",
    "GET ",
    "http://",
    "127.0.0.1:1",
    "[::1]:443",
    "a.example:443",
    " HTTP/1.1\r\n",
    "Host: ",
    "\r\n",
    "\r\n\r\n",
    "Content-Length: ",
    "Transfer-Encoding: chunked\r\n",
    "Connection: upgrade, x\r\n",
    "Upgrade: websocket\r\n",
    "user@",
];

/// The rules allow nothing, so every request must be answered by the proxy itself.
#[test]
fn fuzz_heads_of_requests() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    glass_fuzz::run("egress_head", WORDS, |input| runtime.block_on(exchange(input)));
}

async fn exchange(input: &[u8]) -> String {
    let (queue, mut told) = tokio::sync::mpsc::channel(64);
    let (_worker, endpoint) = fdpass::nonblocking_pair().expect("a pair of sockets");
    let meter = Arc::new(Meter::default());
    let session = Session::new(
        "s".into(),
        tokio::sync::watch::channel(Arc::new(Rules::default())).1,
        None,
        endpoint,
        Arc::clone(&meter),
        Events::new(queue),
    );
    let session = Arc::new(session.expect("a session"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("it has an address");
    let (browser, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
    let (mut browser, (stream, _)) = (browser.expect("a connection"), accepted.expect("a connection"));
    let talk = async {
        let (mut from, mut to) = browser.split();
        let mut answer = Vec::new();
        let (written, _) = tokio::join!(
            async {
                // A proxy that has had enough closes before it has read everything.
                let _ = to.write_all(input).await;
                to.shutdown().await
            },
            from.read_to_end(&mut answer)
        );
        let _ = written;
        answer
    };
    let both = async { tokio::join!(proxy::serve(stream, session), talk).1 };
    let answer = timeout(Duration::from_secs(20), both)
        .await
        .expect("the exchange ends when the browser has said all");
    assert_eq!(meter.connections.load(Relaxed), 0, "a connection was made that no rule allows");
    while let Ok(event) = told.try_recv() {
        assert!(matches!(event, Event::Denied { .. } | Event::Failed { .. }), "{event:?}");
    }
    let status = String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap_or("none").to_owned();
    assert_ne!(status, "200", "an answer of a server that was never reached");
    status
}

#[test]
fn fuzz_commands() {
    let words = ["\"type\":\"session\"", "\"type\":\"close\"", "\"rules\":{", "\"allowAll\":true", "\"id\":"];
    glass_fuzz::run("egress_command", &words, |input| match serde_json::from_slice::<Command>(input) {
        Ok(command) => {
            let again = serde_json::to_vec(&command).expect("a command can be written");
            assert_eq!(
                serde_json::from_slice::<Command>(&again).expect("what is written can be read"),
                command
            );
            format!("{command:?}").chars().take_while(|letter| letter.is_alphabetic()).collect()
        }
        Err(error) => format!("{:?}", error.classify()),
    });
}
