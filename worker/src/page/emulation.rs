//! What the session's pages are told of device, place, language, looks and network (contract 5.3).
//!
//! Owns the settings and the commands that bring them to a page, a frame or a worker. They are sent to everything that
//! is attached, and to what comes later before its first script runs.

use std::collections::BTreeMap;

use glass_proto::op::{ColorScheme, Device, Emulate, Header, Media, NetworkProfile, Position, ReducedMotion};
use glass_proto::session::Permission;

use super::Pages;
use crate::cdp::types::browser::{PermissionDescriptor, PermissionSetting, SetPermission};
use crate::cdp::types::empty::Empty;
use crate::cdp::types::emulation::{
    ClearDeviceMetricsOverride, ClearGeolocationOverride, MediaFeature, SetCPUThrottlingRate,
    SetDeviceMetricsOverride, SetEmulatedMedia, SetGeolocationOverride, SetLocaleOverride,
    SetTimezoneOverride, SetTouchEmulationEnabled, SetUserAgentOverride, UserAgentMetadata,
};
use crate::cdp::types::network::{EmulateNetworkConditions, SetExtraHTTPHeaders};
use crate::cdp::{Command as _, Pending};
use crate::chromium::{ONLINE, user_agent_metadata};

/// What is emulated. What is absent is as it really is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Emulation {
    /// The device.
    pub device: Option<Device>,
    /// The user agent; without it the device's.
    pub user_agent: Option<String>,
    /// The language.
    pub locale: Option<String>,
    /// The time zone.
    pub timezone: Option<String>,
    /// The place.
    pub geolocation: Option<Position>,
    /// The colour scheme.
    pub color_scheme: Option<ColorScheme>,
    /// Whether little is to move.
    pub reduced_motion: Option<ReducedMotion>,
    /// The medium.
    pub media: Option<Media>,
    /// The network.
    pub network: Option<NetworkProfile>,
    /// How many times slower the processor is.
    pub cpu_throttle: Option<u32>,
    /// Headers of every request.
    pub headers: Vec<Header>,
}

/// A size that a page was given by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// CSS pixels.
    pub width: u32,
    /// CSS pixels.
    pub height: u32,
}

/// What a CDP session drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A page.
    Page,
    /// A frame in a process of its own.
    Frame,
    /// A worker.
    Worker,
}

struct Screen {
    width: u32,
    height: u32,
    scale: f64,
    mobile: bool,
    /// The user agent; None is the browser's own.
    agent: Option<&'static str>,
    /// Platform and model for client hints; None where the real device sends none.
    hints: Option<(&'static str, &'static str)>,
}

const SAFARI_PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const SAFARI_PAD: &str = "Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
/// Chromium's reduced user agent of phones; the version stands in place of the mark.
const ANDROID: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Mobile Safari/537.36";

fn screen(device: Device) -> Screen {
    let of =
        |width, height, scale, mobile, agent, hints| Screen { width, height, scale, mobile, agent, hints };
    match device {
        Device::Iphone => of(393, 852, 3.0, true, Some(SAFARI_PHONE), None),
        Device::Ipad => of(820, 1180, 2.0, true, Some(SAFARI_PAD), None),
        Device::Pixel => of(412, 915, 2.625, true, Some(ANDROID), Some(("Android", "Pixel 7"))),
        Device::Galaxy => of(360, 780, 3.0, true, Some(ANDROID), Some(("Android", "SM-S911B"))),
        Device::Laptop => of(1440, 900, 2.0, false, None, None),
        Device::Desktop => of(1920, 1080, 1.0, false, None, None),
    }
}

impl Emulation {
    /// With what the call names; the rest stays.
    #[must_use]
    pub fn with(&self, call: &Emulate) -> Self {
        let mut next = if call.reset { Self::default() } else { self.clone() };
        fn set<T: Clone>(place: &mut Option<T>, given: &Option<T>) {
            if given.is_some() {
                place.clone_from(given);
            }
        }
        set(&mut next.device, &call.device);
        set(&mut next.user_agent, &call.user_agent);
        set(&mut next.locale, &call.locale);
        set(&mut next.timezone, &call.timezone);
        set(&mut next.geolocation, &call.geolocation);
        set(&mut next.color_scheme, &call.color_scheme);
        set(&mut next.reduced_motion, &call.reduced_motion);
        set(&mut next.media, &call.media);
        set(&mut next.network, &call.network);
        set(&mut next.cpu_throttle, &call.cpu_throttle);
        if !call.headers.is_empty() {
            next.headers.clone_from(&call.headers);
        }
        next
    }

    fn screen(&self) -> Option<Screen> {
        self.device.map(screen)
    }
}

/// Which parameter of a call it is that a command brings to the browser; `None` for what the call does not ask for.
pub fn asked_by(call: &Emulate, method: &str) -> Option<&'static str> {
    let device = call.device.is_some();
    let commands = [
        (SetLocaleOverride::METHOD, "locale", call.locale.is_some()),
        (SetTimezoneOverride::METHOD, "timezone", call.timezone.is_some()),
        (SetUserAgentOverride::METHOD, "userAgent", call.user_agent.is_some()),
        (SetUserAgentOverride::METHOD, "locale", call.locale.is_some()),
        (SetUserAgentOverride::METHOD, "device", device),
        (SetExtraHTTPHeaders::METHOD, "headers", !call.headers.is_empty()),
        (EmulateNetworkConditions::METHOD, "network", call.network.is_some()),
        (SetEmulatedMedia::METHOD, "colorScheme", call.color_scheme.is_some()),
        (SetEmulatedMedia::METHOD, "reducedMotion", call.reduced_motion.is_some()),
        (SetEmulatedMedia::METHOD, "media", call.media.is_some()),
        (SetGeolocationOverride::METHOD, "geolocation", call.geolocation.is_some()),
        (SetCPUThrottlingRate::METHOD, "cpuThrottle", call.cpu_throttle.is_some()),
        (SetTouchEmulationEnabled::METHOD, "device", device),
        (SetDeviceMetricsOverride::METHOD, "device", device),
    ];
    commands.into_iter().find(|(of, _, given)| *of == method && *given).map(|(_, name, _)| name)
}

/// Latency in milliseconds, bytes a second down and up.
fn throttle(profile: NetworkProfile) -> EmulateNetworkConditions {
    let of = |latency, down, up| EmulateNetworkConditions {
        offline: false,
        latency,
        download_throughput: down,
        upload_throughput: up,
    };
    match profile {
        NetworkProfile::Online => of(0.0, -1.0, -1.0),
        NetworkProfile::Offline => EmulateNetworkConditions { offline: true, ..of(0.0, 0.0, 0.0) },
        NetworkProfile::Slow3g => of(400.0, 50_000.0, 50_000.0),
        NetworkProfile::Fast3g => of(150.0, 200_000.0, 93_750.0),
        NetworkProfile::Slow4g => of(60.0, 1_125_000.0, 1_125_000.0),
    }
}

impl Pages {
    /// Tells one CDP session all that is emulated. `again` takes back, too, what is not emulated any more; a session
    /// that was attached just now needs that not.
    ///
    /// The answers come in the order of sending: language and time zone first, which the browser can refuse.
    pub(super) fn emulate_in(&self, session: &str, part: Part, again: bool) -> Vec<Pending<Empty>> {
        let Some(browser) = self.browser() else { return Vec::new() };
        let client = browser.client();
        let (emulation, own) = {
            let state = self.state();
            (state.emulation.clone(), state.own_size(session))
        };
        let mut sent = Vec::new();
        if again || emulation.locale.is_some() {
            // The browser wants it as ICU writes it.
            let locale = emulation.locale.as_ref().map(|tag| tag.replace('-', "_"));
            sent.push(client.start_send(Some(session), SetLocaleOverride { locale: locale.as_deref() }));
        }
        if again || emulation.timezone.is_some() {
            let timezone_id = emulation.timezone.as_deref().unwrap_or_default();
            sent.push(client.start_send(Some(session), SetTimezoneOverride { timezone_id }));
        }
        let screen = emulation.screen();
        let version = browser.version();
        let elsewhere = browser.is_elsewhere();
        let own_agent = browser.user_agent();
        let device_agent = screen.as_ref().and_then(|screen| screen.agent);
        let device_agent = device_agent.map(|agent| agent.replace("{}", &version.major().to_string()));
        let own_hints = user_agent_metadata(version);
        let hints = match (&emulation.user_agent, &screen) {
            (Some(_), _) => None,
            (None, Some(screen)) if screen.agent.is_some() => {
                screen.hints.map(|(platform, model)| UserAgentMetadata {
                    platform: platform.to_owned(),
                    model: model.to_owned(),
                    mobile: true,
                    architecture: String::new(),
                    bitness: None,
                    ..own_hints.clone()
                })
            }
            _ => Some(own_hints),
        };
        let agent = emulation.user_agent.as_ref().or(device_agent.as_ref()).unwrap_or(&own_agent);
        let language = emulation.locale.as_deref().map(languages);
        // Somebody else's browser says itself what it is, as long as nothing else is wanted; an empty text gives it that back.
        let untouched = elsewhere && *agent == own_agent && language.is_none();
        if again || !untouched {
            sent.push(client.start_send(
                Some(session),
                SetUserAgentOverride {
                    user_agent: if untouched { "" } else { agent },
                    accept_language: language.as_deref(),
                    platform: None,
                    user_agent_metadata: hints.as_ref().filter(|_| !untouched),
                },
            ));
        }
        if again || !emulation.headers.is_empty() {
            let pairs = emulation.headers.iter().map(|header| (header.name.clone(), header.value.clone()));
            let headers = &pairs.collect::<BTreeMap<_, _>>();
            sent.push(client.start_send(Some(session), SetExtraHTTPHeaders { headers }));
        }
        if again || emulation.network.is_some() {
            let conditions = throttle(emulation.network.unwrap_or(NetworkProfile::Online));
            sent.push(client.start_send(Some(session), conditions));
        }
        if part == Part::Worker {
            return sent;
        }
        if !elsewhere && emulation.network.is_none_or(|network| network == NetworkProfile::Online) {
            sent.push(client.start_send(Some(session), ONLINE));
        }
        let mut features = Vec::new();
        if let Some(scheme) = emulation.color_scheme {
            let value = if scheme == ColorScheme::Dark { "dark" } else { "light" };
            features.push(MediaFeature { name: "prefers-color-scheme", value });
        }
        if let Some(motion) = emulation.reduced_motion {
            let value = if motion == ReducedMotion::Reduce { "reduce" } else { "no-preference" };
            features.push(MediaFeature { name: "prefers-reduced-motion", value });
        }
        if again || !features.is_empty() || emulation.media.is_some() {
            let media = match emulation.media {
                None => "",
                Some(Media::Screen) => "screen",
                Some(Media::Print) => "print",
            };
            sent.push(client.start_send(Some(session), SetEmulatedMedia { media, features }));
        }
        match emulation.geolocation {
            Some(Position { latitude, longitude, accuracy }) => {
                let place = SetGeolocationOverride { latitude, longitude, accuracy };
                sent.push(client.start_send(Some(session), place));
            }
            None if again => sent.push(client.start_send(Some(session), ClearGeolocationOverride {})),
            None => {}
        }
        if again || emulation.cpu_throttle.is_some() {
            let rate = f64::from(emulation.cpu_throttle.unwrap_or(1));
            sent.push(client.start_send(Some(session), SetCPUThrottlingRate { rate }));
        }
        let touch = screen.as_ref().is_some_and(|screen| screen.mobile);
        if again || touch {
            let max_touch_points = touch.then_some(5);
            sent.push(
                client
                    .start_send(Some(session), SetTouchEmulationEnabled { enabled: touch, max_touch_points }),
            );
        }
        if part == Part::Page {
            let metrics = metrics(screen.as_ref(), own);
            match metrics {
                Some(metrics) => sent.push(client.start_send(Some(session), metrics)),
                None if again => sent.push(client.start_send(Some(session), ClearDeviceMetricsOverride {})),
                None => {}
            }
        }
        sent
    }

    /// Tells everything that is attached, but for `first`, what is emulated now.
    pub fn emulate_everywhere(&self, first: &str) {
        let sessions: Vec<(String, Part)> = {
            let state = self.state();
            let pages = state.sessions.iter().map(|(session, attached)| {
                let part = if attached.root == attached.target { Part::Page } else { Part::Frame };
                (session.to_string(), part)
            });
            pages.chain(state.workers.keys().map(|session| (session.to_string(), Part::Worker))).collect()
        };
        for (session, part) in sessions {
            if session != first {
                drop(self.emulate_in(&session, part, true));
            }
        }
    }

    /// CDP sessions of a page: its own first, then those of its frames.
    pub fn sessions_of(&self, target: &str) -> Vec<String> {
        let state = self.state();
        let mut own: Vec<_> =
            state.sessions.iter().filter(|(_, attached)| attached.target == target).collect();
        own.sort_by_key(|(session, attached)| (attached.root != attached.target, (*session).clone()));
        own.into_iter().map(|(session, _)| session.to_string()).collect()
    }

    /// Tells one page what is emulated now; the answers are those of [`Self::emulate_in`].
    pub fn emulate_page(&self, session: &str) -> Vec<Pending<Empty>> {
        self.emulate_in(session, Part::Page, true)
    }

    /// Lets pages that ask know the emulated place, or takes that back.
    pub fn allow_place(&self, allow: bool) -> Option<Pending<Empty>> {
        // The session says by itself who may know it.
        if self.inner.grants.iter().any(|grant| grant.permissions.contains(&Permission::Geolocation)) {
            return None;
        }
        let browser = self.browser()?;
        let permission = PermissionDescriptor { name: "geolocation" };
        let setting = if allow { PermissionSetting::Granted } else { PermissionSetting::Prompt };
        let decision = SetPermission { permission, setting, origin: None, browser_context_id: None };
        Some(browser.client().start_send(None, decision))
    }
}

/// The size that a page gets: its own before the device's.
fn metrics(screen: Option<&Screen>, own: Option<Size>) -> Option<SetDeviceMetricsOverride> {
    if screen.is_none() && own.is_none() {
        return None;
    }
    let (width, height) = match (own, screen) {
        (Some(size), _) => (size.width, size.height),
        (None, Some(screen)) => (screen.width, screen.height),
        (None, None) => (0, 0),
    };
    Some(SetDeviceMetricsOverride {
        width,
        height,
        device_scale_factor: screen.map_or(0.0, |screen| screen.scale),
        mobile: screen.is_some_and(|screen| screen.mobile),
    })
}

/// The languages that a user of this one accepts: with its region, then without.
fn languages(tag: &str) -> String {
    match tag.split_once('-') {
        Some((language, _)) => format!("{tag},{language}"),
        None => tag.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_stays_and_a_reset_takes_all_back_first() {
        let first =
            Emulation::default().with(&Emulate { locale: Some("de-DE".into()), ..Emulate::default() });
        let both = first.with(&Emulate { cpu_throttle: Some(2), ..Emulate::default() });
        assert_eq!((both.locale.as_deref(), both.cpu_throttle), (Some("de-DE"), Some(2)));
        let last = both.with(&Emulate { reset: true, cpu_throttle: Some(3), ..Emulate::default() });
        assert_eq!((last.locale, last.cpu_throttle), (None, Some(3)));
    }

    #[test]
    fn what_the_browser_refuses_is_told_by_the_parameter_that_asked_for_it() {
        let call = Emulate { cpu_throttle: Some(2), media: Some(Media::Print), ..Emulate::default() };
        assert_eq!(asked_by(&call, "Emulation.setCPUThrottlingRate"), Some("cpuThrottle"));
        assert_eq!(asked_by(&call, "Emulation.setEmulatedMedia"), Some("media"));
        // Sent again each time, and not asked for now.
        assert_eq!(asked_by(&call, "Emulation.setTimezoneOverride"), None);
        assert_eq!(asked_by(&call, "Page.navigate"), None);
    }

    #[test]
    fn a_page_of_its_own_size_keeps_it_on_a_device() {
        let own = Some(Size { width: 300, height: 200 });
        let phone = screen(Device::Iphone);
        let both = metrics(Some(&phone), own).expect("a size");
        assert_eq!((both.width, both.height, both.mobile), (300, 200, true));
        assert!(metrics(None, None).is_none());
        assert_eq!(languages("pt-BR"), "pt-BR,pt");
    }
}
