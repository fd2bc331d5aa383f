//! HTTP authentication (RFC 7617, RFC 7616) as far as a fixture needs it: one user, `ann` with `very-secret`.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::http::{Request, Response};

const NONCE: &str = "a-nonce-of-the-fixture";

/// Asks who it is, by one scheme.
pub(super) fn asks(scheme: &str) -> Response {
    let how = match scheme {
        "basic" => "Basic realm=\"fixture\"".to_owned(),
        _ => format!("Digest realm=\"fixture\", nonce=\"{NONCE}\", algorithm=SHA-256"),
    };
    let page = "<!doctype html><title>Who are you</title><h1>Who are you</h1>";
    let response = Response { status: 401, ..Response::html(page) };
    response.header("WWW-Authenticate", &how).header("Access-Control-Allow-Origin", "*")
}

/// Whether the request says that it is her.
pub(super) fn knows(request: &Request) -> bool {
    let said = request.header("authorization").unwrap_or_default();
    match said.split_once(' ') {
        Some(("Basic", said)) => STANDARD.decode(said).is_ok_and(|said| said == b"ann:very-secret"),
        Some(("Digest", said)) => {
            let part = |name: &str| {
                let parts = said.split(',').filter_map(|part| part.trim().split_once('='));
                parts.filter(|(known, _)| *known == name).map(|(_, value)| value.trim_matches('"')).next()
            };
            let (user, uri) = (part("username").unwrap_or_default(), part("uri").unwrap_or_default());
            let secret = hash(&format!("{user}:fixture:very-secret"));
            let what = hash(&format!("{}:{uri}", request.method));
            user == "ann" && part("response") == Some(&hash(&format!("{secret}:{NONCE}:{what}")))
        }
        _ => false,
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
