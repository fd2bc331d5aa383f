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
    /// Headers that are known before it is sent.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
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
    /// Bytes on the wire so far.
    #[serde(default)]
    pub encoded_data_length: f64,
    /// When which part was done.
    pub timing: Option<ResourceTiming>,
}

/// When which part of a request was done: milliseconds since `request_time`, -1 for what was not.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTiming {
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub request_time: f64,
    /// The name begins to be resolved.
    #[serde(default)]
    pub dns_start: f64,
    /// The name is resolved.
    #[serde(default)]
    pub dns_end: f64,
    /// The connection begins to be made.
    #[serde(default)]
    pub connect_start: f64,
    /// The connection is made.
    #[serde(default)]
    pub connect_end: f64,
    /// TLS begins.
    #[serde(default)]
    pub ssl_start: f64,
    /// TLS is done.
    #[serde(default)]
    pub ssl_end: f64,
    /// The request begins to be sent.
    #[serde(default)]
    pub send_start: f64,
    /// The request is sent.
    #[serde(default)]
    pub send_end: f64,
    /// The answer's head is here.
    #[serde(default)]
    pub receive_headers_end: f64,
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
    /// Seconds since 1970.
    #[serde(default)]
    pub wall_time: f64,
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
    /// Why the page may not see it.
    pub cors_error_status: Option<CorsErrorStatus>,
}

/// Why a page may not see an answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CorsErrorStatus {
    /// Such as `MissingAllowOriginHeader`.
    #[serde(default)]
    pub cors_error: String,
}

impl LoadingFailed {
    /// The name of the event.
    pub const METHOD: &'static str = "Network.loadingFailed";
}

/// A part of a response's body is here.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataReceived {
    /// The request.
    pub request_id: String,
    /// Bytes, decoded.
    #[serde(default)]
    pub data_length: f64,
}

impl DataReceived {
    /// The name of the event.
    pub const METHOD: &'static str = "Network.dataReceived";
}

/// Asks for a response's body.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetResponseBody<'a> {
    /// The request.
    pub request_id: &'a str,
}
command!(GetResponseBody<'a> = "Network.getResponseBody" -> ResponseBody);

/// A response's body; page content.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseBody {
    /// It.
    pub body: String,
    /// Whether it is Base64.
    #[serde(default)]
    pub base64_encoded: bool,
}

/// A request was answered by what the page has in memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestServedFromCache {
    /// The request.
    pub request_id: String,
}

impl RequestServedFromCache {
    /// The name of the event.
    pub const METHOD: &'static str = "Network.requestServedFromCache";
}

/// A web socket is made.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebSocketCreated {
    /// The request.
    pub request_id: String,
    /// Address.
    pub url: String,
}

impl WebSocketCreated {
    /// The name of the event.
    pub const METHOD: &'static str = "Network.webSocketCreated";
}

/// What is told later of a web socket: its asking, its answer, a failure, its end.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebSocketTold {
    /// The request.
    pub request_id: String,
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub timestamp: f64,
    /// The answer's head.
    pub response: Option<WebSocketResponse>,
    /// The failure; names addresses.
    pub error_message: Option<String>,
}

/// The head of a web socket's answer.
#[derive(Clone, Debug, Deserialize)]
pub struct WebSocketResponse {
    /// HTTP status.
    #[serde(default)]
    pub status: i64,
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

/// Whether requests of the page go past its service worker.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SetBypassServiceWorker {
    /// Whether they do.
    pub bypass: bool,
}
command!(SetBypassServiceWorker = "Network.setBypassServiceWorker" -> Empty);

/// Asks a site for something on a page's behalf.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadNetworkResource<'a> {
    /// The frame on whose behalf.
    pub frame_id: &'a str,
    /// The address.
    pub url: &'a str,
    /// How.
    pub options: LoadNetworkResourceOptions,
}
command!(LoadNetworkResource<'a> = "Network.loadNetworkResource" -> LoadedNetworkResource);

/// How a site is asked.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadNetworkResourceOptions {
    /// Whether the cache is passed by.
    pub disable_cache: bool,
    /// Whether cookies go along.
    pub include_credentials: bool,
}

/// What a site gave.
#[derive(Clone, Debug, Deserialize)]
pub struct LoadedNetworkResource {
    /// What it gave.
    pub resource: NetworkResource,
}

/// What a site gave.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkResource {
    /// Whether it came.
    pub success: bool,
    /// HTTP status.
    pub http_status_code: Option<f64>,
    /// The stream that has it.
    pub stream: Option<String>,
}
