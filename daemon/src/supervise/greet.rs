//! The first words with a worker: its version, its cage, its browser (DESIGN 1, 4).
//!
//! Refuses a worker of another version, and one whose cage was not *seen* to be what the configuration demands: a
//! layer that the greeting does not name counts as missing.

use glass_proto::version::{self, Version};
use glass_proto::wire::worker::GreetReply;
use glass_sandbox::Mode;

/// What a worker said of itself.
#[derive(Clone, Debug)]
pub struct Greeting {
    /// The kind of cage.
    pub mode: Mode,
    /// Each layer: name, state, observation.
    pub layers: Vec<(String, String, String)>,
    /// The browser's version.
    pub browser_version: String,
    /// Whether the browser is somebody else's, and so in no cage of ours.
    pub attached: bool,
}

impl Greeting {
    /// Whether the kernel makes every connection of the session go through the proxy (contract 10.3).
    pub fn enforces_egress(&self) -> bool {
        !self.attached && self.layers.iter().any(|(name, state, _)| name == "network" && state != "missing")
    }
}

/// Whether a cage of this kind can hold a policy that needs its network rules enforced: without namespaces a browser
/// that was taken over reaches the sockets of its own user, unless it runs as another one (DESIGN 4).
pub(super) fn may_enforce_egress(mode: Mode) -> bool {
    match mode {
        Mode::Namespaces => true,
        Mode::LandlockOnly => nix::unistd::geteuid().is_root(),
        Mode::BrowserOnly => false,
    }
}

/// Why a worker is not taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unfit {
    /// It speaks another protocol.
    #[error("the worker speaks protocol {theirs}, and this daemon {ours}")]
    Version {
        /// Its version.
        theirs: Version,
        /// Ours.
        ours: Version,
    },
    /// It names no kind of cage that this daemon knows.
    #[error("the worker named no kind of cage")]
    NoMode,
    /// Its cage is weaker than what the configuration asks for.
    #[error("the cage is of the kind `{found}`, and the configuration asks for `{minimum}`")]
    Weak {
        /// The kind that it is.
        found: Mode,
        /// The kind that it must be.
        minimum: Mode,
    },
    /// A layer that its kind of cage consists of was not seen.
    #[error("the layer `{layer}` of the cage was not seen to be active: {detail}")]
    Missing {
        /// The layer.
        layer: &'static str,
        /// What was seen instead.
        detail: String,
    },
}

/// Layers that a cage of a kind consists of; the others (Landlock beside namespaces, say) strengthen it.
fn mandatory(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Namespaces => &[
            "uid",
            "namespaces",
            "root",
            "processes",
            "network",
            "capabilities",
            "no-new-privs",
            "seccomp",
            "browser",
            "renderers",
        ],
        Mode::LandlockOnly => {
            &["uid", "capabilities", "no-new-privs", "seccomp", "landlock", "browser", "renderers"]
        }
        Mode::BrowserOnly => &["renderers"],
    }
}

/// Layers of the browser's own, which is not ours to judge where it is somebody else's.
const BROWSERS: [&str; 2] = ["browser", "renderers"];

/// Judges a greeting by what the configuration asks for.
///
/// # Errors
/// Why the worker is not taken.
pub(super) fn judge(reply: GreetReply, minimum: Mode, attached: bool) -> Result<Greeting, Unfit> {
    let theirs = Version { major: reply.major, minor: reply.minor };
    if !version::WORKER.accepts_worker(theirs) {
        return Err(Unfit::Version { theirs, ours: version::WORKER });
    }
    let modes = [Mode::Namespaces, Mode::LandlockOnly, Mode::BrowserOnly];
    let mode = modes.into_iter().find(|mode| mode.name() == reply.mode).ok_or(Unfit::NoMode)?;
    if mode < minimum {
        return Err(Unfit::Weak { found: mode, minimum });
    }
    for &layer in mandatory(mode).iter().filter(|layer| !(attached && BROWSERS.contains(*layer))) {
        match reply.layers.iter().find(|seen| seen.name == layer) {
            Some(seen) if seen.state != "missing" => {}
            Some(seen) => return Err(Unfit::Missing { layer, detail: seen.detail.clone() }),
            None => return Err(Unfit::Missing { layer, detail: "it was not looked at".to_owned() }),
        }
    }
    let layers = reply.layers.into_iter().map(|layer| (layer.name, layer.state, layer.detail)).collect();
    Ok(Greeting { mode, layers, browser_version: reply.browser_version, attached })
}

#[cfg(test)]
mod tests {
    use glass_proto::wire::worker::Layer;

    use super::*;

    fn reply(mode: &str) -> GreetReply {
        let layer = |name: &&str| Layer {
            name: (*name).to_owned(),
            state: "active".to_owned(),
            detail: String::new(),
        };
        GreetReply {
            major: version::WORKER.major,
            minor: version::WORKER.minor,
            mode: mode.to_owned(),
            layers: mandatory(Mode::Namespaces).iter().map(layer).collect(),
            ..GreetReply::default()
        }
    }

    #[test]
    fn a_full_cage_is_taken() {
        assert!(
            judge(reply("namespaces"), Mode::Namespaces, false).is_ok_and(|taken| taken.enforces_egress())
        );
    }

    // contract: 10.3
    #[test]
    fn somebody_elses_browser_is_in_no_cage_and_its_network_rules_are_advice() {
        let mut without = reply("namespaces");
        without.layers.retain(|layer| BROWSERS.iter().all(|of| *of != layer.name));
        assert!(matches!(judge(without.clone(), Mode::Namespaces, false), Err(Unfit::Missing { .. })));
        assert!(judge(without, Mode::Namespaces, true).is_ok_and(|taken| !taken.enforces_egress()));
        let mut weak = reply("namespaces");
        weak.layers.retain(|layer| layer.name != "seccomp");
        assert!(judge(weak, Mode::Namespaces, true).is_err(), "the worker's own cage counts");
    }

    #[test]
    fn a_weaker_or_unknown_cage_is_not() {
        assert!(matches!(judge(reply("browser"), Mode::LandlockOnly, false), Err(Unfit::Weak { .. })));
        assert_eq!(judge(reply("strong"), Mode::BrowserOnly, false).unwrap_err(), Unfit::NoMode);
        let mut other = reply("namespaces");
        other.major += 1;
        assert!(matches!(judge(other, Mode::BrowserOnly, false), Err(Unfit::Version { .. })));
    }

    #[test]
    fn every_mandatory_layer_must_have_been_seen() {
        for (index, &name) in mandatory(Mode::Namespaces).iter().enumerate() {
            let mut without = reply("namespaces");
            without.layers.remove(index);
            let mut missing = reply("namespaces");
            missing.layers[index].state = "missing".to_owned();
            for reply in [without, missing] {
                match judge(reply, Mode::Namespaces, false) {
                    Err(Unfit::Missing { layer, .. }) => assert_eq!(layer, name),
                    other => panic!("{name}: {other:?}"),
                }
            }
        }
    }
}
