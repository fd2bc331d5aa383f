//! The demo's site: two pages on a loopback port, served by this process while the demo runs.
//!
//! Knows as much HTTP as a browser needs to show them, bounded in size and time, and nothing more.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

const LOGIN: &str = include_str!("pages/login.html");
const TASKS: &str = include_str!("pages/tasks.html");

/// Largest request, in bytes.
const MAX_REQUEST: usize = 64 * 1024;
/// Longest time for one request.
const LIMIT: Duration = Duration::from_secs(10);

/// The site, listening.
#[derive(Debug)]
pub(super) struct Site {
    listener: TcpListener,
    address: SocketAddr,
}

impl Site {
    /// Takes a free port of 127.0.0.1.
    pub(super) async fn open() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The URL of a page of it.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Serves until it is dropped.
    pub(super) async fn serve(&self) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        connections.spawn(timeout(LIMIT, answer(stream)));
                    }
                }
                Some(_) = connections.join_next() => {}
            }
        }
    }
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let Some(request) = read(&mut stream).await? else { return Ok(()) };
    stream.write_all(respond(&request).as_bytes()).await?;
    stream.shutdown().await
}

/// Head and body of one request; `None` where the other side left or sent too much.
async fn read(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            if bytes.len() >= end + 4 + body_length(&head) {
                return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
        if bytes.len() > MAX_REQUEST || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
}

fn body_length(head: &str) -> usize {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0)
}

fn respond(request: &str) -> String {
    let mut words = request.split(' ');
    let method = words.next().unwrap_or("");
    let path = words.next().unwrap_or("");
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
    let signed_in = head.contains("demo=signed-in");
    match (method, path) {
        ("GET", "/") => page("200 OK", LOGIN),
        ("POST", "/login") if field(body, "name") && field(body, "password") => {
            redirect("/tasks", "Set-Cookie: demo=signed-in; HttpOnly; SameSite=Lax\r\n")
        }
        ("POST", "/login") => redirect("/", ""),
        ("GET", "/tasks") if signed_in => page("200 OK", TASKS),
        ("GET", "/tasks") => redirect("/", ""),
        ("GET", "/favicon.ico") => message("204 No Content", "", ""),
        _ => page("404 Not Found", "<!doctype html><title>Not here</title><h1>Not here</h1>"),
    }
}

/// Whether a form's field has a value.
fn field(body: &str, name: &str) -> bool {
    body.split('&')
        .filter_map(|pair| pair.split_once('='))
        .any(|(key, value)| key == name && !value.is_empty())
}

fn page(status: &str, body: &str) -> String {
    message(status, "Content-Type: text/html; charset=utf-8\r\n", body)
}

fn redirect(to: &str, headers: &str) -> String {
    message("303 See Other", &format!("Location: {to}\r\n{headers}"), "")
}

fn message(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &str) -> String {
        respond(request).lines().next().unwrap().to_owned()
    }

    #[test]
    fn tasks_are_for_those_who_signed_in() {
        assert!(respond("GET /tasks HTTP/1.1\r\nHost: x\r\n\r\n").contains("Location: /\r\n"));
        let answer = respond("POST /login HTTP/1.1\r\n\r\nname=Ann&password=x");
        assert!(answer.contains("Location: /tasks\r\n") && answer.contains("Set-Cookie"));
        assert!(respond("POST /login HTTP/1.1\r\n\r\nname=&password=x").contains("Location: /\r\n"));
        assert_eq!(status("GET /tasks HTTP/1.1\r\nCookie: demo=signed-in\r\n\r\n"), "HTTP/1.1 200 OK");
        assert_eq!(status("GET /missing HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
        assert_eq!(status(""), "HTTP/1.1 404 Not Found");
    }

    #[test]
    fn lengths_are_read_from_any_head() {
        assert_eq!(body_length("POST / HTTP/1.1\r\ncontent-length: 12"), 12);
        assert_eq!(body_length("POST / HTTP/1.1\r\nContent-Length: nonsense"), 0);
    }
}
