//! What the site answers at which path.
//!
//! | path | answer |
//! |---|---|
//! | `NAME.html` | a page that the test serves, else a file of `tests/site/` |
//! | `ledger`, `ledger.js` | takes events; the script that sends them |
//! | `slow/NAME` | waits until the test releases NAME |
//! | `hang`, `head-only`, `drip` | nothing; a head and nothing; a byte a second |
//! | `status/N`, `empty/N` | that status with and without a body |
//! | `redirect?to=URL`, `loop` | 302 |
//! | `truncated` | less than announced |
//! | `post` | 200 for a POST |
//! | `attachment` | a download |
//! | `basic/…`, `digest/…` | 401 to all but `ann` with `very-secret` |
//! | `image.svg`, `frame-text` | small things to load |

use std::io::{self, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use super::authentication;
use super::http::{Request, Response};
use super::pages;
use super::server::Site;

pub(super) fn answer(site: &Site, visit: &str, request: &Request, stream: &mut TcpStream) -> io::Result<()> {
    let path = request.path.as_str();
    let own = site.lock().pages.get(&(visit.to_owned(), path.to_owned())).cloned();
    if let Some(own) = own {
        return own.write(stream);
    }
    if let Some(page) = pages::find(path) {
        return Response::html(site.fill(visit, page)).write(stream);
    }
    if let Some(name) = path.strip_prefix("slow/") {
        return slow(site, visit, name, request, stream);
    }
    match path {
        "ledger" => ledger(site, visit, request, stream),
        "hang" => {
            until_closed(stream, |_| Ok(()));
            Ok(())
        }
        "head-only" => {
            Response::html("").head(stream, None)?;
            until_closed(stream, |_| Ok(()));
            Ok(())
        }
        "drip" => {
            Response::html("").head(stream, Some(1_000_000))?;
            until_closed(stream, |stream| stream.write_all(b"x"));
            Ok(())
        }
        "truncated" => {
            let body = "<!doctype html><title>Cut</title><p>only the beginning";
            Response::html("").head(stream, Some(body.len() + 10_000))?;
            stream.write_all(body.as_bytes())
        }
        _ => plain(path, request).write(stream),
    }
}

fn plain(path: &str, request: &Request) -> Response {
    let (word, rest) = path.split_once('/').unwrap_or((path, ""));
    let to = |location: &str| Response::of(302, "text/plain", "").header("Location", location);
    match word {
        "ledger.js" => Response::of(200, "text/javascript", pages::LEDGER),
        "status" => {
            let status = rest.parse().unwrap_or(400);
            let page = format!("<!doctype html><title>Status {status}</title><h1>It is {status}</h1>");
            Response { status, ..Response::html(page) }
        }
        "empty" => Response { status: rest.parse().unwrap_or(400), ..Response::html("") },
        "redirect" => to(&request.parameter("to").unwrap_or_default()),
        "loop" => to("loop"),
        "basic" | "digest" if !authentication::knows(request) => authentication::asks(word),
        "basic" | "digest" => Response::html("<!doctype html><title>Inside</title><h1>Inside</h1>")
            .header("Access-Control-Allow-Origin", "*"),
        "post" => Response::html("<!doctype html><title>Posted</title><h1>Posted</h1>"),
        "attachment" => Response::of(200, "application/octet-stream", "some bytes")
            .header("Content-Disposition", "attachment; filename=\"report.bin\""),
        "image.svg" => Response::of(
            200,
            "image/svg+xml",
            "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'><rect width='20' height='20'/></svg>",
        ),
        _ => Response::of(404, "text/html", "<!doctype html><title>Not here</title><h1>Not here</h1>"),
    }
}

fn slow(site: &Site, visit: &str, name: &str, request: &Request, stream: &mut TcpStream) -> io::Result<()> {
    let key = (visit.to_owned(), name.to_owned());
    site.until(|shared| shared.open.contains(&key) || is_closed(stream));
    let media_type = request.parameter("type").unwrap_or_else(|| "text/html; charset=utf-8".to_owned());
    let body = format!("<!doctype html><title>{name}</title><h1>{name}</h1>");
    Response::of(200, &media_type, body).header("Access-Control-Allow-Origin", "*").write(stream)
}

fn ledger(site: &Site, visit: &str, request: &Request, stream: &mut TcpStream) -> io::Result<()> {
    if let Ok(event) = serde_json::from_slice(&request.body) {
        site.lock().events.entry(visit.to_owned()).or_default().push(event);
        site.wake();
    }
    let done = Response { status: 204, headers: Vec::new(), body: Vec::new() };
    done.header("Access-Control-Allow-Origin", "*").write(stream)
}

/// Does something once a second until the other side closes the connection.
fn until_closed(stream: &mut TcpStream, mut each: impl FnMut(&mut TcpStream) -> io::Result<()>) {
    let second = Some(Duration::from_secs(1));
    while stream.set_read_timeout(second).is_ok() && each(stream).is_ok() {
        match stream.peek(&mut [0]) {
            Ok(0) => return,
            Err(error) if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return;
            }
            _ => {}
        }
    }
}

fn is_closed(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    let closed = matches!(stream.peek(&mut [0]), Ok(0));
    stream.set_nonblocking(false).is_err() || closed
}
