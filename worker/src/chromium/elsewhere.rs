//! The way to somebody else's browser (contract 1.2): from its DevTools endpoint to a live CDP connection.
//!
//! The cage has no network, so the way leads through the forwarder to `glass-egress`, which lets an attached session reach
//! this one endpoint and nothing else. Owns the discovery by `/json/version`, the WebSocket and its bridge to [`Client`],
//! each with bounds. Starts and ends no process.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use glass_proto::attach::Endpoint;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Utf8Bytes};

use super::browser::Browser;
use super::version::Version;
use crate::cdp::{CdpError, Client, Event, Gone, Limits, types::browser::GetVersion};

/// Most bytes of an answer to `/json/version`; a browser's has some 500.
const ANSWER: usize = 64 * 1024;
/// Most bytes of one message: what Chromium itself sends at most. What is above the client's own limit is dropped there.
const MESSAGE: usize = 256 << 20;
/// What lies between the socket and the client at most, each way.
const BETWEEN: usize = 256 * 1024;
/// How long the browser may take to hear that we leave.
const FAREWELL: Duration = Duration::from_millis(250);

/// Where the browser is.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// Its endpoint.
    pub endpoint: Endpoint,
    /// Port of the forwarder on 127.0.0.1.
    pub proxy_port: u16,
    /// How long all of it may take.
    pub deadline: Duration,
}

/// Why there is no connection to somebody else's browser. Holds nothing that the other side said.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// Nobody listens.
    #[error("nothing can be reached at {0}")]
    Unreachable(Endpoint),
    /// Who listens is no browser that can be debugged.
    #[error("what listens at {0} is not the DevTools endpoint of a browser")]
    NoDevTools(Endpoint),
    /// The browser lets nobody in, or not this way.
    #[error("the browser at {endpoint} refused the connection with HTTP status {status}")]
    Refused {
        /// Where.
        endpoint: Endpoint,
        /// The status of its answer.
        status: u16,
    },
    /// It did not answer in time.
    #[error("the browser at {endpoint} did not answer within {} s", limit.as_secs())]
    Silent {
        /// Where.
        endpoint: Endpoint,
        /// The deadline.
        limit: Duration,
    },
    /// It answered and was not understood.
    #[error("the first answer of the browser at {0} is of no use")]
    Answer(Endpoint),
}

impl AttachError {
    /// The name of the error.
    pub fn step(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "attach_unreachable",
            Self::NoDevTools(_) => "attach_no_devtools",
            Self::Refused { .. } => "attach_refused",
            Self::Silent { .. } => "attach_silent",
            Self::Answer(_) => "attach_answer",
        }
    }

    /// What the user can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => {
                "start the browser with --remote-debugging-port=PORT and a --user-data-dir of its own, and give that port"
            }
            Self::NoDevTools(_) => {
                "give the port of --remote-debugging-port; a browser that was opened for debugging on its page \
                 chrome://inspect has only ws://HOST:PORT/devtools/browser/ID, as its file DevToolsActivePort says"
            }
            Self::Refused { .. } => {
                "the id in the path may be of a browser that has ended: give http://HOST:PORT, which finds the present one; \
                 or the browser lets no client in"
            }
            Self::Silent { .. } => "look whether the browser asks a person for permission, or hangs",
            Self::Answer(_) => "use a current Chromium, Chrome or Edge",
        }
    }
}

/// Connects to the browser and waits until it answers. `on_event` is as in [`Client::start`].
///
/// # Errors
/// See [`AttachError`]; nothing is left of a failed attempt.
pub async fn attach<F>(elsewhere: &Elsewhere, limits: Limits, on_event: F) -> Result<Browser, AttachError>
where
    F: FnMut(Event) + Send + 'static,
{
    let endpoint = &elsewhere.endpoint;
    let whole = async {
        let path = match endpoint.path() {
            Some(path) => path.to_owned(),
            None => discover(elsewhere).await?,
        };
        let socket = open(elsewhere, &path).await?;
        let client = bridge(socket, limits, on_event);
        let answer = client.send(None, GetVersion {}).await.map_err(|error| match error {
            CdpError::Closed(_) => AttachError::NoDevTools(endpoint.clone()),
            _ => AttachError::Answer(endpoint.clone()),
        })?;
        let version = Version::parse(&answer.product).ok_or_else(|| AttachError::Answer(endpoint.clone()))?;
        tracing::debug!(%version, %endpoint, "the other browser answers");
        Ok(Browser::elsewhere(client, version, answer.user_agent))
    };
    let silent = AttachError::Silent { endpoint: endpoint.clone(), limit: elsewhere.deadline };
    tokio::time::timeout(elsewhere.deadline, whole).await.unwrap_or(Err(silent))
}

/// A connection to the endpoint, by way of the proxy.
async fn tunnel(elsewhere: &Elsewhere) -> Result<Upgraded, AttachError> {
    let endpoint = &elsewhere.endpoint;
    let unreachable = || AttachError::Unreachable(endpoint.clone());
    let stream = TcpStream::connect(("127.0.0.1", elsewhere.proxy_port)).await.map_err(|_| unreachable())?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|_| unreachable())?;
    // Ends with the connection.
    tokio::spawn(connection.with_upgrades());
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.method_mut() = Method::CONNECT;
    *request.uri_mut() = endpoint.authority().parse().map_err(|_| unreachable())?;
    request.headers_mut().insert(HOST, host(endpoint)?);
    let answer = sender.send_request(request).await.map_err(|_| unreachable())?;
    if answer.status() != StatusCode::OK {
        return Err(unreachable());
    }
    hyper::upgrade::on(answer).await.map_err(|_| unreachable())
}

fn host(endpoint: &Endpoint) -> Result<HeaderValue, AttachError> {
    HeaderValue::from_str(&endpoint.authority()).map_err(|_| AttachError::Unreachable(endpoint.clone()))
}

/// The path of the browser's socket, which it names itself.
async fn discover(elsewhere: &Elsewhere) -> Result<String, AttachError> {
    let endpoint = &elsewhere.endpoint;
    let none = || AttachError::NoDevTools(endpoint.clone());
    let stream = tunnel(elsewhere).await?;
    let (mut sender, connection) = http1::handshake(stream).await.map_err(|_| none())?;
    // Ends with the connection.
    tokio::spawn(connection);
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.uri_mut() = hyper::Uri::from_static("/json/version");
    request.headers_mut().insert(HOST, host(endpoint)?);
    let answer = sender.send_request(request).await.map_err(|_| none())?;
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => {
            return Err(AttachError::Refused {
                endpoint: endpoint.clone(),
                status: answer.status().as_u16(),
            });
        }
        _ => return Err(none()),
    }
    let body = Limited::new(answer.into_body(), ANSWER).collect().await.map_err(|_| none())?;
    named_path(&body.to_bytes()).ok_or_else(none)
}

/// The path in an answer to `/json/version`.
fn named_path(answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "webSocketDebuggerUrl")]
        socket: String,
    }
    let answer: Answer = serde_json::from_slice(answer).ok()?;
    Endpoint::path_of(&answer.socket).ok()
}

type Socket = WebSocketStream<TokioIo<Upgraded>>;

async fn open(elsewhere: &Elsewhere, path: &str) -> Result<Socket, AttachError> {
    let endpoint = &elsewhere.endpoint;
    let stream = TokioIo::new(tunnel(elsewhere).await?);
    let url = format!("ws://{}{path}", endpoint.authority());
    // No Origin, as no web page is: browsers refuse those that they were not told of (--remote-allow-origins).
    let request = url.into_client_request().map_err(|_| AttachError::NoDevTools(endpoint.clone()))?;
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE)).max_frame_size(Some(MESSAGE));
    let opened = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await;
    opened.map(|(socket, _)| socket).map_err(|error| match error {
        SocketError::Http(answer) => {
            AttachError::Refused { endpoint: endpoint.clone(), status: answer.status().as_u16() }
        }
        _ => AttachError::NoDevTools(endpoint.clone()),
    })
}

/// Leads the messages of the socket to a client, which knows them as a pipe has them: each ended by a NUL byte.
fn bridge<F>(socket: Socket, limits: Limits, on_event: F) -> Client
where
    F: FnMut(Event) + Send + 'static,
{
    let (commands, their_commands) = tokio::io::duplex(BETWEEN);
    let (their_answers, answers) = tokio::io::duplex(BETWEEN);
    let client = Client::start(answers, commands, limits, on_event);
    let closer = client.closer();
    tokio::spawn(async move {
        let why = carry(socket, their_commands, their_answers).await;
        tracing::info!(why, "the connection to the other browser ended");
        closer.fail(Gone::because(why));
    });
    client
}

/// Carries messages both ways until one side ends; says which.
async fn carry(socket: Socket, commands: DuplexStream, mut answers: DuplexStream) -> &'static str {
    let (mut to_browser, mut from_browser) = socket.split();
    let out = async {
        let mut commands = BufReader::new(commands);
        loop {
            let mut command = Vec::new();
            match commands.read_until(0, &mut command).await {
                Ok(read) if read > 0 && command.pop() == Some(0) => {}
                // The last client is dropped, or was told that the browser is gone.
                _ => break,
            }
            let Ok(text) = Utf8Bytes::try_from(Bytes::from(command)) else { continue };
            if to_browser.send(Message::Text(text)).await.is_err() {
                return "it reads no more commands";
            }
        }
        // It is told that this was meant; a browser that does not hear sees the end of the connection.
        let _ = tokio::time::timeout(FAREWELL, to_browser.close()).await;
        "it was left"
    };
    let back = async {
        while let Some(message) = from_browser.next().await {
            let message = match message {
                Ok(Message::Text(text)) => Bytes::from(text),
                Ok(Message::Binary(bytes)) => bytes,
                Ok(Message::Close(_)) => break,
                Ok(_) => continue,
                Err(error) => {
                    tracing::debug!(%error, "the other browser's socket failed");
                    return "the connection to it broke";
                }
            };
            if answers.write_all(&message).await.is_err() || answers.write_all(&[0]).await.is_err() {
                return "it was left";
            }
        }
        "it closed the connection"
    };
    tokio::select! {
        why = out => why,
        why = back => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_of_a_browser_is_taken_from_an_endpoints_own_words() {
        let good = br#"{"Browser":"Chrome/156","webSocketDebuggerUrl":"ws://other:1/devtools/browser/a-1"}"#;
        assert_eq!(named_path(good).as_deref(), Some("/devtools/browser/a-1"));
        for bad in [
            &b""[..],
            b"<html>",
            br#"{"webSocketDebuggerUrl":1}"#,
            br#"{"webSocketDebuggerUrl":"ws://h/devtools/page/1"}"#,
            br#"{"webSocketDebuggerUrl":"ws://h/devtools/browser/a b"}"#,
        ] {
            assert_eq!(named_path(bad), None);
        }
    }

    #[test]
    fn fuzz_endpoint_answers() {
        let words = [
            "{\"webSocketDebuggerUrl\":\"",
            "ws://",
            "wss://",
            "/devtools/browser/",
            "\\r\\n",
            "%0d",
            "..",
            "\"}",
        ];
        glass_fuzz::run("endpoint_answer", &words, |answer| match named_path(answer) {
            Some(path) => {
                assert!(path.starts_with("/devtools/browser/"));
                assert!(
                    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte)),
                    "{path:?}"
                );
                "a path".to_owned()
            }
            None => "none".to_owned(),
        });
    }
}
