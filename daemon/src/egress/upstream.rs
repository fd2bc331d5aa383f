//! Another proxy behind this one, which the configuration names (contract 10.3).
//!
//! Owns how a tunnel through it is asked for, and the credentials, which go to it alone. What may go through it is decided
//! before, by name: only the upstream proxy learns the address. What is meant for this machine never goes there.

use std::fmt;
use std::io;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use glass_policy::host::Host;
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::dial::Destination;
use super::failure::{Failure, FailureKind};

/// How long it may take to open a tunnel: it resolves and connects meanwhile.
const TUNNEL_LIMIT: Duration = Duration::from_secs(30);
/// The longest head of its answer, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// The upstream proxy of all sessions.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Upstream {
    host: String,
    port: u16,
    /// The value of `Proxy-Authorization`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authorization: Option<String>,
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.authorization.is_some();
        f.debug_struct("Upstream")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("credentials", &known)
            .finish()
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Upstream {
    /// The proxy at `host`:`port`.
    pub fn new(host: &Host, port: u16) -> Self {
        Self { host: host.to_string(), port, authorization: None }
    }

    /// With credentials: `user:password`.
    #[must_use]
    pub fn with_credentials(mut self, credentials: &str) -> Self {
        self.authorization = Some(format!("Basic {}", BASE64_STANDARD.encode(credentials)));
        self
    }

    /// Where it is.
    ///
    /// # Errors
    /// Its host is none.
    pub fn place(&self) -> io::Result<(Host, u16)> {
        Ok((Host::parse(&self.host).map_err(io::Error::other)?, self.port))
    }

    /// The field that says who asks; `None` where nobody needs to.
    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        // Base64 is a value in any case.
        let mut value = HeaderValue::from_str(self.authorization.as_deref()?).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Asks for a tunnel to `destination` on a connection to the proxy. Afterwards the connection is one to the server.
    pub(super) async fn open_tunnel(
        &self,
        stream: &mut TcpStream,
        destination: &Destination,
    ) -> Result<(), Failure> {
        let Destination { host, port } = destination;
        let who = self.authorization.as_deref().map(|value| format!("Proxy-Authorization: {value}\r\n"));
        let who = who.unwrap_or_default();
        let head = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{who}\r\n");
        let opened = timeout(TUNNEL_LIMIT, async {
            stream.write_all(head.as_bytes()).await?;
            status(&read_head(stream).await?)
        });
        match opened.await {
            Ok(Ok(200..=299)) => Ok(()),
            Ok(_) => Err(Failure::Of(FailureKind::Upstream)),
            Err(_) => Err(Failure::Of(FailureKind::Timeout)),
        }
    }
}

/// Reads up to the empty line and nothing after it, which is the server's.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_HEAD_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}

fn status(head: &[u8]) -> io::Result<u16> {
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = std::str::from_utf8(line).map_err(|_| wrong())?;
    let rest = line.strip_prefix("HTTP/1.").ok_or_else(wrong)?;
    rest.split(' ').nth(1).and_then(|number| number.parse().ok()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_sent_and_never_shown() {
        let upstream =
            Upstream::new(&Host::parse("proxy.test").unwrap(), 3128).with_credentials("ann:very-secret");
        assert!(!format!("{upstream:?} {upstream}").contains("Basic"));
        let value = upstream.authorization().unwrap();
        assert_eq!((value.as_bytes(), value.is_sensitive()), (&b"Basic YW5uOnZlcnktc2VjcmV0"[..], true));
        assert_eq!(Upstream::new(&Host::parse("[::1]").unwrap(), 1).to_string(), "[::1]:1");
    }

    #[test]
    fn an_answer_is_read_by_its_status() {
        assert_eq!(status(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap(), 200);
        assert_eq!(status(b"HTTP/1.0 407\r\n\r\n").unwrap(), 407);
        for wrong in [&b"HTTP/2 200\r\n\r\n"[..], b"\r\n\r\n", b"HTTP/1.1 x\r\n\r\n", b"\xff\r\n\r\n"] {
            assert!(status(wrong).is_err());
        }
    }

    #[test]
    fn fuzz_answers_of_an_upstream_proxy() {
        let words = ["HTTP/1.1 ", "200", " ", "\r\n", "407 Proxy"];
        glass_fuzz::run("upstream", &words, |input| match status(input) {
            Ok(number) => format!("{}", number / 100),
            Err(error) => format!("{:?}", error.kind()),
        });
    }
}
