//! What can be allowed, confirmed or denied, and what each preset says about it (contract 10.2).
//!
//! Owns the one table of both. Does not decide: `decide` joins presets with what a policy adds to them.

use serde::{Deserialize, Serialize};

use Stance::{Allow as A, Deny as D};

/// What is said about a capability or an operation. The greater one wins wherever two meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stance {
    /// It may be done.
    Allow,
    /// It may be done once a person has agreed.
    Confirm,
    /// It may not be done.
    Deny,
}

impl Stance {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Confirm => "confirm",
            Self::Deny => "deny",
        }
    }
}

/// A set of stances with a name (contract 10.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// One's own machine: everything but secrets.
    Development,
    /// Unattended runs: no profiles that stay, no raw protocol.
    Ci,
    /// Public sites: no addresses that are not public, robots.txt obeyed, paced.
    Polite,
    /// An agent that may only read and click on the hosts that are listed.
    Hardened,
    /// The same for a client that nobody trusts, with one private session and a fifth of the rates.
    UntrustedMcp,
}

/// A name that is no preset's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a preset is one of {}", names(Preset::ALL.iter().map(|preset| preset.name())))]
pub struct UnknownPreset;

impl Preset {
    /// Every preset, from the widest to the narrowest.
    pub const ALL: &'static [Self] =
        &[Self::Development, Self::Ci, Self::Polite, Self::Hardened, Self::UntrustedMcp];

    /// Its name in configuration and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Ci => "ci",
            Self::Polite => "polite",
            Self::Hardened => "hardened",
            Self::UntrustedMcp => "untrusted-mcp",
        }
    }

    /// Whether only hosts that a rule lists may be reached.
    pub fn lists_hosts(self) -> bool {
        matches!(self, Self::Hardened | Self::UntrustedMcp)
    }

    /// Whether addresses that are not public are denied unless a rule names them.
    pub fn public_only(self) -> bool {
        matches!(self, Self::Polite | Self::Hardened | Self::UntrustedMcp)
    }

    /// Whether a session whose network rules nobody enforces is refused (contract 10.3).
    pub fn requires_egress(self) -> bool {
        self.lists_hosts()
    }

    /// Whether this build can do what the preset promises.
    pub fn is_available(self) -> bool {
        self != Self::Polite
    }
}

impl std::str::FromStr for Preset {
    type Err = UnknownPreset;
    fn from_str(text: &str) -> Result<Self, UnknownPreset> {
        Self::ALL.iter().copied().find(|preset| preset.name() == text).ok_or(UnknownPreset)
    }
}

impl std::fmt::Display for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no capability's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a capability is one of {}", names(Capability::ALL.iter().map(|capability| capability.name())))]
pub struct UnknownCapability;

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

macro_rules! capabilities {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal: $development:ident $ci:ident $polite:ident $hardened:ident $untrusted:ident;)*) => {
        /// What a policy allows, confirms or denies (contract 10.2).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Capability {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Capability {
            /// Every capability, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in policies.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it is, for a person.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc,)*).trim_ascii(),)* }
            }

            /// What a preset says.
            pub fn of(self, preset: Preset) -> Stance {
                let row = match self { $(Self::$variant => [$development, $ci, $polite, $hardened, $untrusted],)* };
                match preset {
                    Preset::Development => row[0],
                    Preset::Ci => row[1],
                    Preset::Polite => row[2],
                    Preset::Hardened => row[3],
                    Preset::UntrustedMcp => row[4],
                }
            }
        }
    };
}

// Columns: development, ci, polite, hardened, untrusted-mcp.
capabilities! {
    /// Loading pages
    Navigate = "navigate": A A A A A;
    /// Reading what a page shows
    Read = "read": A A A A A;
    /// Page input: click, type, fill, keys, dialog answers
    Input = "input": A A A A A;
    /// Input at a point instead of an element
    CoordinateInput = "coordinate_input": A A A D D;
    /// Running script in the page
    Evaluate = "evaluate": A A A D D;
    /// Taking pictures
    Screenshot = "screenshot": A A A D D;
    /// Reading what fields hold
    ReadFormValues = "read_form_values": A A A D D;
    /// Reading what password and one-time-code fields hold
    ReadSensitiveValues = "read_sensitive_values": D D D D D;
    /// Giving files to a page
    Upload = "upload": A A A D D;
    /// Taking downloads out of a session
    Download = "download": A A A D D;
    /// Writing a page to a file
    ExportPage = "export_page": A A A D D;
    /// The session's clipboard
    Clipboard = "clipboard": A A A D D;
    /// Cookies
    Cookies = "cookies": A A A D D;
    /// Saving and loading what sites have stored
    StorageState = "storage_state": A A A D D;
    /// Values of console arguments
    ConsoleValues = "console_values": A A A D D;
    /// Bodies of requests and responses
    NetworkBodies = "network_bodies": A A A D D;
    /// Changing requests and responses
    Intercept = "intercept": A A A D D;
    /// Credentials for HTTP authentication
    HttpCredentials = "http_credentials": A A A D D;
    /// Taking certificates that are not valid
    IgnoreCertificateErrors = "ignore_certificate_errors": A A A D D;
    /// Granting pages what a person would be asked for
    Permissions = "permissions": A A A D D;
    /// Tools that a page registers
    Webmcp = "webmcp": A A A D D;
    /// Ports of a session that lead to a service
    Forward = "forward": A A A D D;
    /// Watching a session live
    LiveView = "live_view": A A A D D;
    /// Handing a page to a person
    Handoff = "handoff": A A A D D;
    /// Restarting a browser to recover
    RecoverBrowser = "recover_browser": A A A D D;
    /// Taking values into the vault
    CaptureSecrets = "capture_secrets": D D D D D;
    /// The browser's own protocol
    RawCdp = "raw_cdp": A D D D D;
    /// Somebody else's browser
    Attach = "attach": A A D D D;
    /// Profiles that stay
    PersistentProfile = "persistent_profile": A D A D D;
    /// Sessions by name, shared with others
    NamedSessions = "named_sessions": A A A A D;
}

impl std::str::FromStr for Capability {
    type Err = UnknownCapability;
    fn from_str(text: &str) -> Result<Self, UnknownCapability> {
        Self::ALL.iter().copied().find(|capability| capability.name() == text).ok_or(UnknownCapability)
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 10.2
    #[test]
    fn presets_grow_narrower_and_names_are_read_back() {
        for capability in Capability::ALL {
            assert_eq!(capability.name().parse(), Ok(*capability));
            assert_eq!(serde_json::to_value(capability).unwrap(), capability.name());
            assert!(capability.about().len() > 5, "{capability}");
            let hardened = capability.of(Preset::Hardened);
            assert!(capability.of(Preset::Development) <= hardened, "{capability}");
            assert!(hardened <= capability.of(Preset::UntrustedMcp), "{capability}");
        }
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(*preset));
            assert_eq!(serde_json::to_value(preset).unwrap(), preset.name());
        }
        assert_eq!(Capability::Evaluate.of(Preset::Ci), Stance::Allow);
        assert_eq!(Capability::RawCdp.of(Preset::Ci), Stance::Deny);
        assert_eq!(Capability::NamedSessions.of(Preset::UntrustedMcp), Stance::Deny);
        assert!("Evaluate".parse::<Capability>().is_err() && "strict".parse::<Preset>().is_err());
    }
}
