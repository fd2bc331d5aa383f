//! Where another browser listens, and which of its pages is meant (contract 1.2).
//!
//! Owns what an endpoint may look like. The way there is the daemon's and the worker's.

use std::fmt;

use glass_policy::host::Host;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::id::TargetId;

/// The longest endpoint, in bytes.
const LONGEST: usize = 512;
/// What the path of a browser's own endpoint begins with; the rest is its id.
const BROWSER: &str = "/devtools/browser/";

/// Somebody else's browser, and the page of it that the session begins with.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Attach {
    /// `http://HOST:PORT`, or the browser's own `ws://HOST:PORT/devtools/browser/ID`; on this machine.
    pub endpoint: String,
    /// The page that is claimed and selected when the session begins; without one nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_id: Option<TargetId>,
}

impl fmt::Debug for Attach {
    // The id in a path is what lets in.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = Endpoint::parse(&self.endpoint).map(|endpoint| endpoint.to_string());
        f.debug_struct("Attach").field("endpoint", &address).field("target_id", &self.target_id).finish()
    }
}

/// An endpoint that can be gone to. Printed without its path, which is a secret where a browser has no other.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    host: Host,
    port: u16,
    path: Option<String>,
}

/// A text that is no endpoint that a session can attach to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEndpoint {
    /// It is no address at all, or has parts that an endpoint has not.
    #[error("an endpoint is http://HOST:PORT or ws://HOST:PORT/devtools/browser/ID")]
    Form,
    /// Under TLS.
    #[error("an endpoint on this machine needs no TLS: begin it with http:// or ws://")]
    Tls,
    /// Of one page.
    #[error("that is the endpoint of one page: attach to the browser's, and name the page with --target-id")]
    Page,
    /// Elsewhere.
    #[error(
        "the endpoint is not on this machine, and nothing on the way to it would be protected: lead it here by a tunnel, such as ssh -L 9222:localhost:9222"
    )]
    Elsewhere,
}

impl Endpoint {
    /// Reads an endpoint; without a scheme it is taken as `http://`.
    ///
    /// # Errors
    /// See [`InvalidEndpoint`].
    pub fn parse(text: &str) -> Result<Self, InvalidEndpoint> {
        if text.len() > LONGEST {
            return Err(InvalidEndpoint::Form);
        }
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|_| InvalidEndpoint::Form)?;
        let socket = match url.scheme() {
            "http" => false,
            "ws" => true,
            "https" | "wss" => return Err(InvalidEndpoint::Tls),
            _ => return Err(InvalidEndpoint::Form),
        };
        let bare = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        let host = Host::of(&url).filter(|_| bare).ok_or(InvalidEndpoint::Form)?;
        let port = url.port_or_known_default().filter(|port| *port != 0).ok_or(InvalidEndpoint::Form)?;
        let path = match url.path() {
            "" | "/" => None,
            path if path.starts_with("/devtools/page/") => return Err(InvalidEndpoint::Page),
            path if socket && is_browser(path) => Some(path.to_owned()),
            _ => return Err(InvalidEndpoint::Form),
        };
        let here = match &host {
            Host::Address(address) => address.is_loopback(),
            Host::Name(_) => host.is_localhost(),
        };
        if !here {
            return Err(InvalidEndpoint::Elsewhere);
        }
        Ok(Self { host, port, path })
    }

    /// Host and port, as in a URL.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The path of the browser's socket, where it was given.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// The path of the browser's socket, from the URL that the endpoint itself names. Its host is of no interest: the
    /// way to the endpoint is the one that was given.
    ///
    /// # Errors
    /// When that is no socket of a browser.
    pub fn path_of(text: &str) -> Result<String, InvalidEndpoint> {
        // Line breaks would be passed over by whoever parses it.
        let plain = Some(text).filter(|text| !text.chars().any(char::is_control));
        let url = plain.and_then(|text| Url::parse(text).ok());
        let url = url.filter(|url| matches!(url.scheme(), "ws" | "wss"));
        let path = url.filter(|_| text.len() <= LONGEST).map(|url| url.path().to_owned());
        path.filter(|path| is_browser(path)).ok_or(InvalidEndpoint::Form)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn is_browser(path: &str) -> bool {
    let id = path.strip_prefix(BROWSER).unwrap_or_default();
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 1.2 report: 271
    #[test]
    fn endpoints_are_of_a_browser_on_this_machine() {
        for (good, address) in [
            ("http://127.0.0.1:9222", "http://127.0.0.1:9222"),
            ("http://localhost:9222/", "http://localhost:9222"),
            ("localhost:9222", "http://localhost:9222"),
            ("127.0.0.1:9222", "http://127.0.0.1:9222"),
            ("http://[::1]:9222", "http://[::1]:9222"),
            ("http://127.1:9222", "http://127.0.0.1:9222"),
            ("ws://127.0.0.1:9222/devtools/browser/0a1b-2c", "http://127.0.0.1:9222"),
        ] {
            assert_eq!(Endpoint::parse(good).map(|one| one.to_string()).as_deref(), Ok(address), "{good}");
        }
        use InvalidEndpoint as Why;
        for (bad, why) in [
            ("", Why::Form),
            ("http://127.0.0.1:9222/json", Why::Form),
            ("http://a:b@127.0.0.1:9222", Why::Form),
            ("http://127.0.0.1:9222/?x", Why::Form),
            ("http://127.0.0.1:0", Why::Form),
            ("file:///tmp/x", Why::Form),
            ("ws://127.0.0.1:9222/devtools/browser/", Why::Form),
            ("ws://127.0.0.1:9222/devtools/browser/a/b", Why::Form),
            ("wss://127.0.0.1:9222", Why::Tls),
            ("ws://127.0.0.1:9222/devtools/page/0A", Why::Page),
            ("http://192.168.0.2:9222", Why::Elsewhere),
            ("http://localhost.example.com:9222", Why::Elsewhere),
            ("http://0.0.0.0:9222", Why::Elsewhere),
        ] {
            assert_eq!(Endpoint::parse(bad), Err(why), "{bad}");
        }
    }

    #[test]
    fn the_id_of_a_browser_is_never_printed() {
        let text = "ws://localhost:9222/devtools/browser/secret";
        let endpoint = Endpoint::parse(text).unwrap();
        let attach = Attach { endpoint: text.to_owned(), target_id: None };
        assert_eq!(endpoint.path(), Some("/devtools/browser/secret"));
        assert!(!format!("{endpoint} {endpoint:?} {attach:?}").contains("secret"));
    }

    #[test]
    fn the_socket_that_an_endpoint_names_is_only_its_path() {
        let named = Endpoint::path_of("ws://elsewhere.example/devtools/browser/1-2");
        assert_eq!(named.as_deref(), Ok("/devtools/browser/1-2"));
        for bad in
            ["", "http://x/devtools/browser/1", "ws://x/devtools/page/1", "ws://x/devtools/browser/a\r\nb"]
        {
            assert!(Endpoint::path_of(bad).is_err(), "{bad}");
        }
    }
}
