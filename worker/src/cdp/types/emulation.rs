//! `Emulation`: focus, viewport, identity, locale.

use serde::Serialize;

use super::empty::Empty;
use crate::cdp::command::command;

/// Makes a page believe that it is in front and focused.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetFocusEmulationEnabled {
    /// Whether it does.
    pub enabled: bool,
}
command!(SetFocusEmulationEnabled = "Emulation.setFocusEmulationEnabled" -> Empty);

/// Sets the viewport.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDeviceMetricsOverride {
    /// CSS pixels; 0 leaves it.
    pub width: u32,
    /// CSS pixels; 0 leaves it.
    pub height: u32,
    /// Device pixels per CSS pixel; 0 leaves it.
    pub device_scale_factor: f64,
    /// Whether it behaves as a mobile browser.
    pub mobile: bool,
}
command!(SetDeviceMetricsOverride = "Emulation.setDeviceMetricsOverride" -> Empty);

/// Gives the viewport back to the window.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ClearDeviceMetricsOverride {}
command!(ClearDeviceMetricsOverride = "Emulation.clearDeviceMetricsOverride" -> Empty);

/// Sets the user agent of a page.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetUserAgentOverride<'a> {
    /// The header and `navigator.userAgent`.
    pub user_agent: &'a str,
    /// The language header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_language: Option<&'a str>,
    /// `navigator.platform`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<&'a str>,
    /// Client hints and `navigator.userAgentData`; without it the hints are empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent_metadata: Option<&'a UserAgentMetadata>,
}
command!(SetUserAgentOverride<'a> = "Emulation.setUserAgentOverride" -> Empty);

/// The structured user agent.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserAgentMetadata {
    /// Brands with major versions.
    pub brands: Vec<BrandVersion>,
    /// Brands with full versions.
    pub full_version_list: Vec<BrandVersion>,
    /// Such as `Linux`.
    pub platform: String,
    /// Its version.
    pub platform_version: String,
    /// Such as `x86`.
    pub architecture: String,
    /// Device model; empty for computers.
    pub model: String,
    /// Whether it is mobile.
    pub mobile: bool,
    /// `64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitness: Option<String>,
    /// Whether it is a 32-bit browser on 64-bit Windows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wow64: bool,
}

/// A brand and its version.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BrandVersion {
    /// Such as `Chromium`.
    pub brand: String,
    /// Its version.
    pub version: String,
}

/// Sets the time zone.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTimezoneOverride<'a> {
    /// Such as `Europe/Berlin`; empty takes it back.
    pub timezone_id: &'a str,
}
command!(SetTimezoneOverride<'a> = "Emulation.setTimezoneOverride" -> Empty);

/// Sets the locale of scripts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetLocaleOverride<'a> {
    /// Such as `de_DE`; absent takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<&'a str>,
}
command!(SetLocaleOverride<'a> = "Emulation.setLocaleOverride" -> Empty);

/// Sets medium and preferences that style sheets ask for.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetEmulatedMedia<'a> {
    /// `screen`, `print`; empty takes it back.
    pub media: &'a str,
    /// Preferences; those that are not named are taken back.
    pub features: Vec<MediaFeature<'a>>,
}
command!(SetEmulatedMedia<'a> = "Emulation.setEmulatedMedia" -> Empty);

/// A preference.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MediaFeature<'a> {
    /// Such as `prefers-color-scheme`.
    pub name: &'a str,
    /// Such as `dark`.
    pub value: &'a str,
}

/// Sets where the device is.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SetGeolocationOverride {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Metres.
    pub accuracy: f64,
}
command!(SetGeolocationOverride = "Emulation.setGeolocationOverride" -> Empty);

/// Takes the place back.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ClearGeolocationOverride {}
command!(ClearGeolocationOverride = "Emulation.clearGeolocationOverride" -> Empty);

/// Slows the processor down.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SetCPUThrottlingRate {
    /// How many times slower; 1 is as fast as it is.
    pub rate: f64,
}
command!(SetCPUThrottlingRate = "Emulation.setCPUThrottlingRate" -> Empty);

/// Makes a page believe that it has a touch screen.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTouchEmulationEnabled {
    /// Whether it does.
    pub enabled: bool,
    /// Fingers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_touch_points: Option<u32>,
}
command!(SetTouchEmulationEnabled = "Emulation.setTouchEmulationEnabled" -> Empty);
