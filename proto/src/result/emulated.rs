//! What `setViewport` and `emulate` answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The viewport as the page has it now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ViewportSet {
    /// The operation.
    pub action: String,
    /// The target.
    pub target_id: String,
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// Device pixels per CSS pixel.
    pub device_scale_factor: f64,
    /// Revision when the operation began.
    pub previous_revision: u64,
    /// Revision now.
    pub revision: u64,
}

/// What is emulated in the session now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Emulated {
    /// The operation.
    pub action: String,
    /// The target.
    pub target_id: String,
    /// The device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The user agent, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// The language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// The place: latitude, longitude, metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<[f64; 3]>,
    /// The colour scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<String>,
    /// Whether little is to move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduced_motion: Option<String>,
    /// The medium.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// The network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// How many times slower the processor is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_throttle: Option<u32>,
    /// Names of the headers that are added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// Revision when the operation began.
    pub previous_revision: u64,
    /// Revision now.
    pub revision: u64,
}

impl Emulated {
    /// What is emulated, in words.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add =
            |name: &str, value: Option<String>| words.extend(value.map(|value| format!("{name} {value}")));
        add("device", self.device.clone());
        add("user agent", self.user_agent.clone());
        add("locale", self.locale.clone());
        add("timezone", self.timezone.clone());
        add("at", self.geolocation.map(|[latitude, longitude, _]| format!("{latitude},{longitude}")));
        add("colours", self.color_scheme.clone());
        add("motion", self.reduced_motion.clone());
        add("media", self.media.clone());
        add("network", self.network.clone());
        add("processor", self.cpu_throttle.map(|times| format!("{times} times slower")));
        add("headers", (!self.headers.is_empty()).then(|| self.headers.join(", ")));
        words
    }
}
