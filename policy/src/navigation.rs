//! What a person's or client's text means as a URL, and whether a target may be sent there.
//!
//! Owns the two questions of `navigate`: [`normalise`] completes text to a URL (contract 12.3), [`admit`] decides
//! on its scheme (contract 10.3). Does not decide on hosts (`egress`) and loads nothing. Messages never repeat
//! the text: it may hold a password.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use url::{Host, ParseError, Url};

/// The longest text taken as a URL, in bytes: Chromium's own limit.
pub const MAX_URL_BYTES: usize = 2 * 1024 * 1024;

/// Schemes that are never taken for a host, even where digits follow (`tel:112`, `javascript:1`).
const KNOWN_SCHEMES: &[&str] = &[
    "about",
    "blob",
    "chrome",
    "data",
    "devtools",
    "file",
    "filesystem",
    "ftp",
    "http",
    "https",
    "javascript",
    "mailto",
    "sms",
    "tel",
    "view-source",
    "ws",
    "wss",
];

/// Text that cannot be read as a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    /// Nothing but white space.
    #[error("the URL is empty")]
    Empty,
    /// Over [`MAX_URL_BYTES`].
    #[error("the URL has {bytes} bytes, the limit is {MAX_URL_BYTES}")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// A path, query or fragment alone: there is no page that it could be relative to.
    #[error("the URL has no host; give it whole, like https://example.com/path")]
    Relative,
    /// The parts do not make a URL.
    #[error("not a URL: {0}")]
    Malformed(#[from] ParseError),
}

/// Completes `text` to a URL.
///
/// White space at both ends, tabs and line breaks are dropped, as browsers do. Text without a scheme gets
/// `https://`, and `http://` where its host is `localhost`, below `.localhost`, or an IP literal; a port may
/// follow (`localhost:8080/x`, `[::1]:80`, `example.com:8080`). Normalising a result again changes nothing.
///
/// # Errors
/// [`InvalidUrl`] when the text is empty, too long, relative, or not parseable.
pub fn normalise(text: &str) -> Result<Url, InvalidUrl> {
    if text.len() > MAX_URL_BYTES {
        return Err(InvalidUrl::TooLong { bytes: text.len() });
    }
    let text = as_browsers_read(text);
    if text.is_empty() {
        return Err(InvalidUrl::Empty);
    }
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Ok(Url::parse(&format!("http://[{address}]/"))?);
    }
    if scheme(&text).is_some() {
        return Ok(Url::parse(&text)?);
    }
    let rest = match text.strip_prefix("//") {
        Some(rest) => rest,
        None if text.starts_with(['/', '\\', '.', '?', '#', '~']) => return Err(InvalidUrl::Relative),
        None => &text,
    };
    let secure = Url::parse(&format!("https://{rest}"))?;
    if is_local_or_literal(&secure) {
        // Parsed anew from the text, because a `:443` was dropped as the default of https.
        return Ok(Url::parse(&format!("http://{rest}"))?);
    }
    Ok(secure)
}

/// A URL that a target may not be sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// The scheme of the URL, in lower case.
    pub scheme: String,
    /// Why, for a person: lower case, no final stop, nothing of the URL but its scheme.
    pub reason: String,
    /// What to do instead.
    pub remedy: &'static str,
}

/// Decides whether a target may be sent to `url`.
///
/// Allowed are `http`, `https`, `about:blank`, `data` and `blob`, without a user name or password.
///
/// # Errors
/// The [`Refusal`], with a remedy.
pub fn admit(url: &Url) -> Result<(), Refusal> {
    let refuse = |reason: &str, remedy| {
        Err(Refusal { scheme: url.scheme().to_owned(), reason: reason.to_owned(), remedy })
    };
    if !url.username().is_empty() || url.password().is_some() {
        return refuse(
            "URLs that carry a user name or password are not navigated to",
            "leave the credentials out of the URL and sign in on the page",
        );
    }
    match url.scheme() {
        "http" | "https" | "data" | "blob" => Ok(()),
        "about" if url.path() == "blank" => Ok(()),
        "about" => refuse("only about:blank is navigated to", "use about:blank"),
        "file" | "filesystem" => refuse(
            "local files are not navigated to",
            "serve the folder over HTTP on localhost and navigate there",
        ),
        "javascript" => refuse("javascript: URLs are not navigated to", "use evaluate"),
        "view-source" => {
            refuse("view-source: URLs are not navigated to", "read the document with get-text or evaluate")
        }
        "chrome" | "chrome-untrusted" | "chrome-search" | "chrome-error" | "chrome-extension"
        | "devtools" => refuse("the browser's own pages are not navigated to", WEB_ONLY),
        "ftp" => refuse("the browser does not speak FTP", "fetch the file with another tool"),
        "ws" | "wss" => refuse(
            "a WebSocket address is not a page",
            "navigate to the page that opens the WebSocket (http or https)",
        ),
        other => {
            let shown: String = other.chars().take(40).collect();
            refuse(&format!("the scheme `{shown}` is not one a page is loaded from"), WEB_ONLY)
        }
    }
}

const WEB_ONLY: &str = "use an http, https, data or blob URL, or about:blank";

/// Trims what the URL standard trims and drops what it drops, so that our view of where the scheme ends is the
/// browser's (`java\nscript:` is javascript).
fn as_browsers_read(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_matches(|c: char| c <= ' ' || c.is_whitespace());
    if trimmed.contains(['\t', '\n', '\r']) {
        Cow::Owned(trimmed.replace(['\t', '\n', '\r'], ""))
    } else {
        Cow::Borrowed(trimmed)
    }
}

/// The scheme that `text` begins with, if what stands before its first colon is one and not a host with a port.
fn scheme(text: &str) -> Option<&str> {
    let (head, rest) = text.split_once(':')?;
    let mut bytes = head.bytes();
    let well_formed = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if !well_formed {
        return None;
    }
    let lower = head.to_ascii_lowercase();
    if KNOWN_SCHEMES.contains(&lower.as_str()) || rest.starts_with("//") {
        return Some(head);
    }
    let after_digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let port_follows = after_digits.len() < rest.len()
        && (after_digits.is_empty() || after_digits.starts_with(['/', '?', '#']));
    let is_host = port_follows || lower == "localhost" || head.contains('.');
    (!is_host).then_some(head)
}

fn is_local_or_literal(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests;
