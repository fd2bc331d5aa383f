//! The browser's command line, each flag with its reason.
//!
//! Refuses any flag that weakens Chromium's own sandbox or its site isolation; a test reads the whole list.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use super::version::Version;

/// One argument of the browser, or one of the features in such an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The argument or feature as it is passed.
    pub text: Cow<'static, str>,
    /// Why it is there.
    pub why: &'static str,
}

/// What differs from session to session.
#[derive(Clone, Debug)]
pub struct FlagPlan {
    /// The user data directory, as the browser sees it.
    pub profile: PathBuf,
    /// The browser's version, for its user agent.
    pub version: Version,
    /// Port of the forwarder on 127.0.0.1; `None` leaves the network alone.
    pub proxy_port: Option<u16>,
    /// Whether `/dev/shm` is the session's own.
    pub own_shared_memory: bool,
    /// Width and height of the page in CSS pixels.
    pub viewport: (u32, u32),
    /// Languages of the user, such as `de-DE,de`; `None` keeps the browser's own.
    pub language: Option<String>,
    /// Whether certificates that are not valid are taken.
    pub ignore_certificate_errors: bool,
}

const fn flag(text: &'static str, why: &'static str) -> Flag {
    Flag { text: Cow::Borrowed(text), why }
}

const FIXED: &[Flag] = &[
    flag("--headless", "there is no display"),
    flag("--remote-debugging-pipe", "CDP on descriptors 3 and 4: no port that others could find"),
    flag("--enable-blink-features=ComputedAccessibilityInfo", "roles and names as Chromium computes them"),
    flag("--disable-gpu", "the cage has no graphics device; probing for one costs start-up time"),
    flag("--screen-info={1920x1080}", "a screen that the window fits on; headless mode has 800 x 600"),
    flag(
        "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
        "our mouse hovers and points finely; without a device pages would show their touch layout",
    ),
    flag(
        "--use-fake-ui-for-media-stream=deny",
        "a choice of screens would be a window that takes the page's input",
    ),
    flag(
        "--disable-print-preview",
        "a preview that nobody sees: it would keep the page from being printed to a file ever after",
    ),
    flag("--mute-audio", "nobody listens, and outside of the cage somebody would"),
    flag("--no-first-run", "first-run pages belong to nobody's session"),
    flag("--no-default-browser-check", "a question that nobody answers"),
    flag("--disable-search-engine-choice-screen", "a question that nobody answers"),
    flag("--hide-crash-restore-bubble", "a session that was killed must start like any other"),
    flag("--disable-prompt-on-repost", "reloading a form's result would wait for a dialog that nobody sees"),
    flag(
        "--disable-popup-blocking",
        "a blocked window is a bubble that nobody sees; targets are bounded instead",
    ),
    flag("--disable-hang-monitor", "a busy page is the operation's to end, not a hidden dialog's"),
    flag("--disable-back-forward-cache", "documents that were seen to end must not come back"),
    flag("--disable-extensions", "extensions see and change what the page shows"),
    flag("--disable-default-apps", "nothing is installed into a profile"),
    flag("--password-store=basic", "no keyring daemon is asked"),
    flag("--disable-sync", "a profile belongs to this machine"),
    flag("--disable-background-networking", "the page's requests are the only ones that policy should see"),
    flag("--disable-component-update", "no downloads of its own"),
    // Port 9 is on Chromium's list of unsafe ports, so these two end before any connection (checked: with the whole
    // list 0 requests in 12 s, with and without a network).
    flag("--component-updater=url-source=http://127.0.0.1:9/", "on-demand components ignore the flag above"),
    flag("--gaia-url=http://127.0.0.1:9/", "the account list is asked for at every start"),
    flag("--disable-domain-reliability", "no reports of its own"),
    flag("--no-pings", "hyperlink auditing is nothing that the user asked for"),
    flag("--metrics-recording-only", "no metrics are sent"),
    flag("--disable-breakpad", "no crash reports: they would hold what a page had in memory"),
    flag(
        "--disable-field-trial-config",
        "builds without Google's brand turn test experiments on by themselves",
    ),
];

/// What of Chromium is turned off.
const DISABLED_FEATURES: &[Flag] = &[
    flag("NetworkTimeServiceQuerying", "asks a server for the time"),
    flag("OptimizationHints", "asks a server about pages"),
    flag("AutofillServerCommunication", "asks a server about every form"),
    flag("MediaRouter", "looks for cast devices on the network"),
    flag("Translate", "offers in a bubble that nobody sees, with a download of its own"),
    flag("HttpsUpgrades", "a plain http address must not cause a second, https attempt"),
    flag("HttpsFirstBalancedMode", "the same, by another way"),
    flag("HttpsFirstBalancedModeAutoEnable", "the same, by itself after some time"),
    flag("Prerender2", "a prerendered page would take the tab's place as another target"),
    flag("WebUIOmniboxPopup", "a hidden renderer of 78 MB for a bar that nobody sees"),
    flag("WebUIOmniboxAimPopup", "the same"),
    flag("WebUIOmniboxFullPopup", "the same"),
];

const EGRESS: &[Flag] = &[
    flag("--proxy-bypass-list=<-loopback>", "loopback addresses go through policy as well"),
    flag("--disable-quic", "the proxy speaks TCP"),
    flag("--webrtc-ip-handling-policy=disable_non_proxied_udp", "no packet past the proxy"),
];

/// Height of the browser's own bars in headless mode: the window is that much higher than the page (checked on 156;
/// where it differs, the worker's viewport override still holds).
const BARS: u32 = 143;

/// The whole command line after the program's name.
pub fn flags(plan: &FlagPlan) -> Vec<Flag> {
    let mut flags = FIXED.to_vec();
    let mut add = |text: String, why| flags.push(Flag { text: text.into(), why });
    let names: Vec<&str> = DISABLED_FEATURES.iter().map(|feature| feature.text.as_ref()).collect();
    add(format!("--disable-features={}", names.join(",")), "one list, because the last such flag wins");
    add(data_dir(&plan.profile), "the session's own profile");
    add(
        format!("--user-agent={}", plan.version.user_agent()),
        "the browser's own, without the word Headless",
    );
    let (width, height) = plan.viewport;
    add(
        format!("--window-size={width},{}", height + BARS),
        "a page of the session's size from the first paint",
    );
    if let Some(language) = &plan.language {
        add(format!("--lang={}", first_language(language)), "the user's language");
        add(format!("--accept-lang={language}"), "the user's languages, for pages and servers");
    }
    if plan.ignore_certificate_errors {
        add("--ignore-certificate-errors".to_owned(), "an option of the session, which its user gave");
    }
    if !plan.own_shared_memory {
        add("--disable-dev-shm-usage".to_owned(), "the host's /dev/shm is not the session's; TMPDIR is");
    }
    if let Some(port) = plan.proxy_port {
        add(format!("--proxy-server=http://127.0.0.1:{port}"), "the only way out of the cage");
        flags.extend_from_slice(EGRESS);
    }
    flags.push(flag("about:blank", "the first tab shows nothing and asks for nothing"));
    flags
}

fn data_dir(profile: &Path) -> String {
    format!("--user-data-dir={}", profile.display())
}

fn first_language(languages: &str) -> &str {
    languages.split(',').next().unwrap_or(languages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Flag> {
        flags(&FlagPlan {
            profile: "/session/profile".into(),
            version: Version::parse("Chromium 156.0.8078.114").expect("a version"),
            proxy_port: Some(3128),
            own_shared_memory: false,
            viewport: (1280, 720),
            language: Some("de-DE,de".to_owned()),
            ignore_certificate_errors: false,
        })
    }

    #[test]
    fn every_flag_and_feature_says_why() {
        assert!(all().iter().all(|flag| flag.why.len() >= 8 || flag.why == "the same"));
        assert!(DISABLED_FEATURES.iter().all(|feature| !feature.why.is_empty()));
    }

    #[test]
    fn nothing_weakens_the_browsers_own_sandbox() {
        const FORBIDDEN: &[&str] = &[
            "no-sandbox",
            "disable-setuid-sandbox",
            "disable-seccomp",
            "disable-namespace-sandbox",
            "no-zygote",
            "single-process",
            "disable-web-security",
            "disable-site-isolation",
            "remote-debugging-port",
            "IsolateOrigins",
            "site-per-process",
        ];
        for flag in all() {
            assert!(FORBIDDEN.iter().all(|word| !flag.text.contains(word)), "{}", flag.text);
        }
    }

    #[test]
    fn no_switch_stands_twice() {
        let flags = all();
        let mut names: Vec<&str> = flags.iter().filter_map(|flag| flag.text.split('=').next()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "the last one would win in silence");
    }

    #[test]
    fn the_plan_is_on_the_command_line() {
        let flags = all();
        let has = |text: &str| flags.iter().any(|flag| flag.text == text);
        assert!(has("--user-data-dir=/session/profile"));
        assert!(has("--proxy-server=http://127.0.0.1:3128"));
        assert!(has("--window-size=1280,863"));
        assert!(has("--lang=de-DE") && has("--accept-lang=de-DE,de"));
        assert_eq!(flags.last().map(|flag| flag.text.as_ref()), Some("about:blank"));
    }
}
