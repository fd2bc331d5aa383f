//! As much of HTTP/1.1 as a fixture needs: one request a connection, bodies by `Content-Length`.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Request {
    /// GET, POST, …
    pub method: String,
    /// Path below the visit, without the query.
    pub path: String,
    /// What stands after `?`.
    pub query: String,
    /// The Host header.
    pub host: String,
    /// Port of the other end of the connection.
    pub peer: u16,
    /// All headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter of the query, percent-decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).map(decoded)
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let pair: Option<String> = (byte == b'%').then(|| rest.by_ref().take(2).map(char::from).collect());
        let value = pair.and_then(|pair| u8::from_str_radix(&pair, 16).ok());
        bytes.push(value.unwrap_or(byte));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads one request. `None` when the connection ends before there is one.
pub(super) fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let mut request = Request {
        method,
        path,
        query,
        host: String::new(),
        peer: stream.peer_addr()?.port(),
        headers,
        body: Vec::new(),
    };
    request.host = request.header("host").unwrap_or_default().to_owned();
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.body = body;
    Ok(Some(request))
}

/// A whole response.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::of(200, "text/html; charset=utf-8", body)
    }

    pub(super) fn of(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), media_type.to_owned())];
        Self { status, headers, body: body.into() }
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        if name.eq_ignore_ascii_case("content-type") {
            self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        }
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        self.head(stream, Some(self.body.len()))?;
        stream.write_all(&self.body)
    }

    /// The head alone, announcing a body of `length` bytes.
    pub(super) fn head(&self, stream: &mut TcpStream, length: Option<usize>) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Fixture\r\nConnection: close\r\n", self.status);
        if !self.headers.iter().any(|(name, _)| name == "Cache-Control") {
            head += "Cache-Control: no-store\r\n";
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(length) = length.filter(|_| self.status != 204) {
            head += &format!("Content-Length: {length}\r\n");
        }
        stream.write_all((head + "\r\n").as_bytes())
    }
}
