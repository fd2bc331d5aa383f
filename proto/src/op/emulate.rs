//! `emulate`: what the session's pages are told of device, place, language and network (contract 5.3).

use std::str::FromStr;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, at_most, seconds};
use crate::result::Emulated;

/// Change what pages are told of device, place, language, looks and network
///
/// Holds for all pages of the session, their popups, frames and workers, and for later documents from their first
/// script line, until `--reset`. What is not named stays as it is. Documents that are open learn of most of it at once;
/// reload them to be sure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Emulate {
    /// Take everything back that was emulated, before the rest is applied
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
    /// A device: its screen, touch, and user agent
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The user agent, in the header and in scripts; client hints are empty then
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// The language of pages and of scripts' formats, such as de-DE
    #[arg(long, value_name = "TAG")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The time zone, such as Asia/Tokyo
    #[arg(long, value_name = "ZONE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Where the device is: LATITUDE,LONGITUDE[,ACCURACY in metres]; pages that ask are told
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Position>,
    /// The colour scheme that pages are asked for
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// Whether pages are asked to move little
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_motion: Option<ReducedMotion>,
    /// The medium that pages are shown on
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
    /// A network: none at all, or one that is slower than it is
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkProfile>,
    /// How many times slower the processor is (1 to 20)
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=20))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20))]
    pub cpu_throttle: Option<u32>,
    /// A header of every request, `Name: value`; repeat for more. Given ones replace all that were given before
    #[arg(long = "header", value_name = "NAME: VALUE")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Header>,
}

/// A place on Earth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// Degrees north (-90 to 90).
    pub latitude: f64,
    /// Degrees east (-180 to 180).
    pub longitude: f64,
    /// Metres.
    #[serde(default = "Position::default_accuracy")]
    pub accuracy: f64,
}

impl Position {
    fn default_accuracy() -> f64 {
        10.0
    }
}

impl FromStr for Position {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        match numbers.as_deref() {
            Ok(&[latitude, longitude]) => {
                Ok(Self { latitude, longitude, accuracy: Self::default_accuracy() })
            }
            Ok(&[latitude, longitude, accuracy]) => Ok(Self { latitude, longitude, accuracy }),
            _ => Err("two or three numbers are wanted: LATITUDE,LONGITUDE,ACCURACY"),
        }
    }
}

/// A header of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value; no answer shows it.
    pub value: String,
}

impl FromStr for Header {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once(':').ok_or("a header is written as NAME: VALUE")?;
        Ok(Self { name: name.trim().to_owned(), value: value.trim().to_owned() })
    }
}

/// A known device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// 393 × 852 at 3, touch
    Iphone,
    /// 820 × 1180 at 2, touch
    Ipad,
    /// 412 × 915 at 2.625, touch
    Pixel,
    /// 360 × 780 at 3, touch
    Galaxy,
    /// 1440 × 900 at 2
    Laptop,
    /// 1920 × 1080 at 1
    Desktop,
}

/// What colours a user likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ColorScheme {
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
}

/// How much may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ReducedMotion {
    /// Little
    Reduce,
    /// As much as the page likes
    NoPreference,
}

/// A medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Media {
    /// A screen
    Screen,
    /// Paper
    Print,
}

/// How good the network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkProfile {
    /// As good as it is
    Online,
    /// None
    Offline,
    /// 400 kbit/s both ways, 400 ms
    Slow3g,
    /// 1.6 Mbit/s down, 750 kbit/s up, 150 ms
    Fast3g,
    /// 9 Mbit/s both ways, 60 ms
    Slow4g,
}

/// Headers that belong to the connection or to the browser; pages and proxies go by them.
const REFUSED: [&str; 12] = [
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "upgrade",
    "te",
    "trailer",
    "keep-alive",
    "cookie",
    "origin",
    "user-agent",
    "expect",
];

impl Operation for Emulate {
    const FACTS: Facts = Facts {
        name: "emulate",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Emulated;

    fn check(&self) -> Result<(), InvalidParams> {
        let wrong = |text: &str| Err(InvalidParams(text.to_owned()));
        if *self == Self::default() {
            return wrong("nothing to emulate is named, and nothing to reset");
        }
        if let Some(agent) = &self.user_agent {
            at_most("userAgent", agent.len(), 1024)?;
            if agent.is_empty() || agent.chars().any(char::is_control) {
                return wrong("userAgent is empty or has control characters");
            }
        }
        let tag = |text: &str| {
            (2..=64).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if self.locale.as_deref().is_some_and(|locale| !tag(locale)) {
            return wrong("locale is a language tag such as de-DE");
        }
        if self.timezone.as_ref().is_some_and(|zone| zone.is_empty() || zone.len() > 64) {
            return wrong("timezone is a name such as Asia/Tokyo");
        }
        if let Some(place) = &self.geolocation
            && !((-90.0..=90.0).contains(&place.latitude)
                && (-180.0..=180.0).contains(&place.longitude)
                && (0.0..=1e7).contains(&place.accuracy))
        {
            return wrong("geolocation has a latitude of -90 to 90, a longitude of -180 to 180, and metres");
        }
        if self.cpu_throttle.is_some_and(|times| !(1..=20).contains(&times)) {
            return wrong("cpuThrottle is 1 to 20");
        }
        at_most("headers", self.headers.len(), 32)?;
        for header in &self.headers {
            check_header(header, true)?;
        }
        Ok(())
    }
}

/// Whether a header can be set on a request, or on an answer that Glass gives in a site's place.
///
/// # Errors
/// Without its value.
pub(super) fn check_header(header: &Header, of_request: bool) -> Result<(), InvalidParams> {
    let wrong = |text: &str| Err(InvalidParams(text.to_owned()));
    let Header { name, value } = header;
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let lower = name.to_ascii_lowercase();
    if name.is_empty() || name.len() > 128 || !name.bytes().all(token) {
        return wrong("a header's name has letters, digits and dashes");
    }
    let refused = match of_request {
        true => REFUSED.contains(&lower.as_str()) || lower.starts_with("proxy-") || lower.starts_with("sec-"),
        false => {
            ["content-length", "connection", "transfer-encoding", "set-cookie"].contains(&lower.as_str())
        }
    };
    if refused {
        return wrong("one of the headers belongs to the browser and cannot be set");
    }
    if value.len() > 8192 || value.chars().any(|letter| letter.is_control() || !letter.is_ascii()) {
        return wrong("a header's value is printable ASCII of at most 8192 bytes");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_emulated_is_refused_without_its_value() {
        let header = |text: &str| Emulate { headers: vec![text.parse().unwrap()], ..Emulate::default() };
        for good in ["X-Trace: 1", "Authorization: Bearer secret", "Accept-Language: de"] {
            assert_eq!(header(good).check(), Ok(()), "{good}");
        }
        for bad in
            ["Host: a", "Proxy-Authorization: secret", "Sec-Fetch-Mode: x", "A B: secret", "Cookie: secret"]
        {
            let error = header(bad).check().unwrap_err();
            assert!(!error.0.contains("secret"), "{error}");
        }
        assert!(Emulate::default().check().is_err());
        let place = |text: &str| Emulate { geolocation: text.parse().ok(), ..Emulate::default() }.check();
        assert_eq!(place("52.5,-13.4"), Ok(()));
        assert!(place("91,0").is_err());
        assert!("1".parse::<Position>().is_err());
    }
}
