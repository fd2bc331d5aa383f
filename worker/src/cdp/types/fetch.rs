//! `Fetch`: requests that the browser stops and asks about.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use super::network::Request;
use crate::cdp::command::command;

/// Stops the requests that fit a pattern. What was asked for before is replaced.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable<'a> {
    /// Which requests; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<&'a [RequestPattern<'a>]>,
    /// Whether [`AuthRequired`] is sent for them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub handle_auth_requests: bool,
}
command!(Enable<'a> = "Fetch.enable" -> Empty);

/// Some requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPattern<'a> {
    /// An address in which `*` and `?` stand for more, and `\` takes their meaning away; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_pattern: Option<&'a str>,
    /// Such as `Document`; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<&'a str>,
}

/// Stops no more requests; those that are stopped go on.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Disable {}
command!(Disable = "Fetch.disable" -> Empty);

/// A request waits for an answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPaused {
    /// What answers name.
    pub request_id: String,
    /// What is asked for.
    pub request: Request,
    /// The frame.
    #[serde(default)]
    pub frame_id: String,
    /// Such as `Document`, `Script`, `XHR`.
    #[serde(default)]
    pub resource_type: String,
}

impl RequestPaused {
    /// The name of the event.
    pub const METHOD: &'static str = "Fetch.requestPaused";
}

/// A server or proxy wants to know who asks.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthRequired {
    /// What answers name.
    pub request_id: String,
    /// What is asked for.
    pub request: Request,
    /// Who wants to know, and how.
    pub auth_challenge: AuthChallenge,
}

impl AuthRequired {
    /// The name of the event.
    pub const METHOD: &'static str = "Fetch.authRequired";
}

/// Who wants to know, and how.
#[derive(Clone, Debug, Deserialize)]
pub struct AuthChallenge {
    /// `Server` or `Proxy`.
    #[serde(default)]
    pub source: String,
    /// The origin of who wants to know.
    pub origin: String,
    /// Such as `basic`, `digest`.
    #[serde(default)]
    pub scheme: String,
}

/// Lets a request go on.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContinueRequest<'a> {
    /// The request.
    pub request_id: &'a str,
    /// All of its headers, in place of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<&'a [HeaderEntry<'a>]>,
}
command!(ContinueRequest<'a> = "Fetch.continueRequest" -> Empty);

/// Ends a request with an error.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailRequest<'a> {
    /// The request.
    pub request_id: &'a str,
    /// Such as `BlockedByClient`.
    pub error_reason: &'a str,
}
command!(FailRequest<'a> = "Fetch.failRequest" -> Empty);

/// Answers a request in the server's place.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FulfillRequest<'a> {
    /// The request.
    pub request_id: &'a str,
    /// HTTP status.
    pub response_code: u16,
    /// Headers.
    pub response_headers: &'a [HeaderEntry<'a>],
    /// Base64.
    pub body: &'a str,
}
command!(FulfillRequest<'a> = "Fetch.fulfillRequest" -> Empty);

/// A header.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HeaderEntry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}

/// Answers [`AuthRequired`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContinueWithAuth<'a> {
    /// The request.
    pub request_id: &'a str,
    /// Who asks.
    pub auth_challenge_response: AuthChallengeResponse<'a>,
}
command!(ContinueWithAuth<'a> = "Fetch.continueWithAuth" -> Empty);

/// Who asks. Not `Debug`: it holds a password.
#[derive(Default, Serialize)]
pub struct AuthChallengeResponse<'a> {
    /// `CancelAuth` or `ProvideCredentials`.
    pub response: &'a str,
    /// The user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<&'a str>,
    /// The password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<&'a str>,
}
