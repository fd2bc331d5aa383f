//! `Page`'s navigations and load events.

use serde::{Deserialize, Serialize};

use super::super::empty::Empty;
use crate::cdp::command::command;

/// Turns page events on.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Enable {}
command!(Enable = "Page.enable" -> Empty);

/// Turns [`LifecycleEvent`] on or off; what already happened is announced again.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetLifecycleEventsEnabled {
    /// Whether they are sent.
    pub enabled: bool,
}
command!(SetLifecycleEventsEnabled = "Page.setLifecycleEventsEnabled" -> Empty);

/// Navigates a frame; the reply comes when the navigation committed or failed.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Navigate<'a> {
    /// Where to.
    pub url: &'a str,
    /// Referrer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referrer: Option<&'a str>,
    /// Such as `typed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition_type: Option<&'a str>,
    /// The frame; the main one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<&'a str>,
}
command!(Navigate<'a> = "Page.navigate" -> Navigated);

/// How the navigation began.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Navigated {
    /// The frame.
    pub frame_id: String,
    /// The new document; absent when the document stays.
    pub loader_id: Option<String>,
    /// Such as `net::ERR_CONNECTION_REFUSED`.
    pub error_text: Option<String>,
    /// Whether it became a download.
    #[serde(default)]
    pub is_download: bool,
}

/// Loads the page again.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reload<'a> {
    /// Whether the cache is passed by.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_cache: bool,
    /// Only if this is still the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loader_id: Option<&'a str>,
}
command!(Reload<'a> = "Page.reload" -> Empty);

/// Stops all loading.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StopLoading {}
command!(StopLoading = "Page.stopLoading" -> Empty);

/// Closes the page, running its `beforeunload`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Close {}
command!(Close = "Page.close" -> Empty);

/// Makes this the front tab.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct BringToFront {}
command!(BringToFront = "Page.bringToFront" -> Empty);

/// A document reached a point of its life.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleEvent {
    /// The frame.
    pub frame_id: String,
    /// The document.
    pub loader_id: String,
    /// `init`, `commit`, `DOMContentLoaded`, `load`, `networkIdle`, `firstPaint`, ….
    pub name: String,
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub timestamp: f64,
}

impl LifecycleEvent {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.lifecycleEvent";
}

/// The main frame's document is parsed.
#[derive(Clone, Debug, Deserialize)]
pub struct DomContentEventFired {
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub timestamp: f64,
}

impl DomContentEventFired {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.domContentEventFired";
}

/// The main frame's document is loaded.
#[derive(Clone, Debug, Deserialize)]
pub struct LoadEventFired {
    /// Seconds of the monotonic clock.
    #[serde(default)]
    pub timestamp: f64,
}

impl LoadEventFired {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.loadEventFired";
}

/// The page opens a window.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowOpen {
    /// Its address.
    pub url: String,
    /// Its name.
    #[serde(default)]
    pub window_name: String,
    /// Features asked for.
    #[serde(default)]
    pub window_features: Vec<String>,
    /// Whether a user's gesture caused it.
    #[serde(default)]
    pub user_gesture: bool,
}

impl WindowOpen {
    /// The name of the event.
    pub const METHOD: &'static str = "Page.windowOpen";
}
