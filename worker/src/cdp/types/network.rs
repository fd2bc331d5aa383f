//! `Network`: the fields that navigation needs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use crate::cdp::command::command;

/// Turns network events on.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    /// Bytes kept of all bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_buffer_size: Option<u64>,
    /// Bytes kept of one body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_resource_buffer_size: Option<u64>,
    /// Most bytes of a request's body in an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_post_data_size: Option<u64>,
}
command!(Enable = "Network.enable" -> Empty);

/// Turns network events off.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Disable {}
command!(Disable = "Network.disable" -> Empty);

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Address without the fragment.
    pub url: String,
    /// The fragment with its `#`.
    pub url_fragment: Option<String>,
    /// Its method.
    pub method: String,
}

/// A response.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// Its address.
    pub url: String,
    /// HTTP status.
    pub status: i64,
    /// HTTP reason.
    #[serde(default)]
    pub status_text: String,
    /// Headers as sent, values of one name joined by a line feed.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Type.
    #[serde(default)]
    pub mime_type: String,
    /// The peer; the proxy's when there is one.
    #[serde(rename = "remoteIPAddress")]
    pub remote_ip_address: Option<String>,
    /// Whether it came from the cache.
    #[serde(default)]
    pub from_disk_cache: bool,
    /// Whether a service worker made it.
    #[serde(default)]
    pub from_service_worker: bool,
    /// Such as `http/1.1`, `h2`.
    pub protocol: Option<String>,
}

/// A request begins, or goes on after a redirect.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestWillBeSent {
    /// The request; equals `loaderId` for a navigation.
    pub request_id: String,
    /// The document.
    #[serde(default)]
    pub loader_id: String,
    /// Address of the document.
    #[serde(rename = "documentURL", default)]
    pub document_url: String,
    /// What is sent.
    pub request: Request,
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub timestamp: f64,
    /// The response that redirected here.
    pub redirect_response: Option<Response>,
    /// Such as `Document`, `Script`, `XHR`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The frame.
    pub frame_id: Option<String>,
    /// Whether a user's gesture caused it.
    #[serde(default)]
    pub has_user_gesture: bool,
}

impl RequestWillBeSent {
    /// The name of the event.
    pub const METHOD: &'static str = "Network.requestWillBeSent";
}

/// The headers of a response are here.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseReceived {
    /// The request.
    pub request_id: String,
    /// The document.
    #[serde(default)]
    pub loader_id: String,
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub timestamp: f64,
    /// Such as `Document`, `Script`, `XHR`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// The response.
    pub response: Response,
    /// The frame.
    pub frame_id: Option<String>,
}

impl ResponseReceived {
    /// The name of the event.
    pub const METHOD: &'static str = "Network.responseReceived";
}

/// A response is complete.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadingFinished {
    /// The request.
    pub request_id: String,
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub timestamp: f64,
    /// Bytes on the wire.
    #[serde(default)]
    pub encoded_data_length: f64,
}

impl LoadingFinished {
    /// The name of the event.
    pub const METHOD: &'static str = "Network.loadingFinished";
}

/// A request failed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadingFailed {
    /// The request.
    pub request_id: String,
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub timestamp: f64,
    /// Such as `Document`, `Script`, `XHR`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Such as `net::ERR_ABORTED`.
    #[serde(default)]
    pub error_text: String,
    /// Whether the page or browser gave it up.
    #[serde(default)]
    pub canceled: bool,
    /// Such as `csp`, `mixed-content`.
    pub blocked_reason: Option<String>,
}

impl LoadingFailed {
    /// The name of the event.
    pub const METHOD: &'static str = "Network.loadingFailed";
}

/// Sets what `navigator.onLine` and `navigator.connection` say; throttles nothing.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverrideNetworkState<'a> {
    /// Whether the page is told that it is offline.
    pub offline: bool,
    /// Milliseconds.
    pub latency: f64,
    /// Bytes a second; -1 leaves it, and when all are left nothing is overridden.
    pub download_throughput: f64,
    /// Bytes a second; -1 leaves it.
    pub upload_throughput: f64,
    /// Such as `ethernet`, `wifi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_type: Option<&'a str>,
}
command!(OverrideNetworkState<'a> = "Network.overrideNetworkState" -> Empty);

/// Adds headers to every request of the page.
#[derive(Clone, Debug, Serialize)]
pub struct SetExtraHTTPHeaders<'a> {
    /// The headers.
    pub headers: &'a BTreeMap<String, String>,
}
command!(SetExtraHTTPHeaders<'a> = "Network.setExtraHTTPHeaders" -> Empty);

/// Slows the network of a page down, or cuts it off; also what pages are told of it.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EmulateNetworkConditions {
    /// Whether there is no network.
    pub offline: bool,
    /// Milliseconds from request to answer.
    pub latency: f64,
    /// Bytes a second; -1 is as fast as it is.
    pub download_throughput: f64,
    /// Bytes a second; -1 is as fast as it is.
    pub upload_throughput: f64,
}
command!(EmulateNetworkConditions = "Network.emulateNetworkConditions" -> Empty);
