//! One side's policy: what a file or a command line gives, checked and compiled (contract 10.1, 10.2).
//!
//! Owns the meaning of the lists beside a preset, and which of them contradict each other. Does not read text (`file`)
//! and does not join the two sides (`decide`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capability::{Capability, Preset, Stance};
use crate::egress::{HostLayer, MAX_LAYER_BYTES, Source};
use crate::host::HostRule;

/// What a policy file or a command line gives, as it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Given {
    /// The preset. Without one the daemon goes by `development`, and a client by what the daemon says.
    pub preset: Option<Preset>,
    /// Capabilities that are allowed.
    pub allow: Vec<Capability>,
    /// Capabilities that a person must agree to each time.
    pub confirm: Vec<Capability>,
    /// Capabilities that a person must agree to, of which each item here is one operation's agreement given beforehand.
    /// Only a client's command line has it.
    pub confirm_once: Vec<Capability>,
    /// Capabilities that are denied.
    pub deny: Vec<Capability>,
    /// Hosts that are allowed for everything. With a rule in this list or the next, only hosts in them are reached.
    pub allow_hosts: Vec<HostRule>,
    /// Hosts that are allowed for all but navigation.
    pub allow_subresource_hosts: Vec<HostRule>,
    /// Hosts that are denied.
    pub deny_hosts: Vec<HostRule>,
    /// Refuse sessions whose network rules nobody enforces.
    pub require_egress: bool,
}

/// A list of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// `preset`, which is no list but has a place too.
    Preset,
    /// `allow`
    Allow,
    /// `confirm`
    Confirm,
    /// `confirm_once`, which no file has
    ConfirmOnce,
    /// `deny`
    Deny,
    /// `allow_hosts`
    AllowHosts,
    /// `allow_subresource_hosts`
    AllowSubresourceHosts,
    /// `deny_hosts`
    DenyHosts,
}

impl List {
    /// Its key in policy files, and its part of a rule's id.
    pub fn key(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Allow => "allow",
            Self::Confirm => "confirm",
            Self::ConfirmOnce => "confirm_once",
            Self::Deny => "deny",
            Self::AllowHosts => "allow_hosts",
            Self::AllowSubresourceHosts => "allow_subresource_hosts",
            Self::DenyHosts => "deny_hosts",
        }
    }

    /// The option of a command line.
    pub fn option(self) -> &'static str {
        match self {
            Self::Preset => "--policy",
            Self::Allow => "--policy-allow",
            Self::Confirm => "--policy-confirm",
            Self::ConfirmOnce => "--policy-confirm-once",
            Self::Deny => "--policy-deny",
            Self::AllowHosts => "--policy-allow-host",
            Self::AllowSubresourceHosts => "--policy-allow-subresource-host",
            Self::DenyHosts => "--policy-deny-host",
        }
    }
}

/// Something given that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Contradiction {
    /// Where it stands.
    pub list: List,
    /// The how-manieth of the list, from 0.
    pub index: usize,
    /// What is wrong: lower case, no final stop.
    pub message: String,
}

impl Given {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Everything that a person must agree to, each once.
    pub fn asked(&self) -> Vec<Capability> {
        let mut asked = Vec::new();
        for capability in self.confirm.iter().chain(&self.confirm_once) {
            if !asked.contains(capability) {
                asked.push(*capability);
            }
        }
        asked
    }

    /// The same without what was agreed to beforehand: a person is asked each time.
    #[must_use]
    pub fn without_tokens(self) -> Self {
        Self { confirm: self.asked(), confirm_once: Vec::new(), ..self }
    }

    /// Checks it and makes it one side's policy.
    ///
    /// # Errors
    /// Everything that contradicts something else, or that this build cannot do.
    pub fn compile(self, source: Source) -> Result<Layer, Vec<Contradiction>> {
        // The size first: nothing is compared that is too much anyway.
        if let Some(wrong) = self.too_large() {
            return Err(vec![wrong]);
        }
        let mut wrong = Vec::new();
        if let Some(preset) = self.preset.filter(|preset| !preset.is_available()) {
            let message =
                format!("the preset {preset} obeys robots.txt and paces, which this build cannot do yet");
            wrong.push(Contradiction { list: List::Preset, index: 0, message });
        }
        for (list, capabilities) in [(List::Confirm, &self.confirm), (List::ConfirmOnce, &self.confirm_once)]
        {
            let named = capabilities.iter().position(|capability| *capability == Capability::NamedSessions);
            if let Some(index) = named {
                let message = "named_sessions cannot be confirmed: it is about every call, not about one; allow or deny it";
                wrong.push(Contradiction { list, index, message: message.to_owned() });
            }
        }
        let mut said: HashMap<Capability, (Stance, List)> = HashMap::new();
        let lists = [
            (List::Allow, Stance::Allow, &self.allow),
            (List::Confirm, Stance::Confirm, &self.confirm),
            (List::ConfirmOnce, Stance::Confirm, &self.confirm_once),
            (List::Deny, Stance::Deny, &self.deny),
        ];
        for (list, stance, capabilities) in lists {
            for (index, capability) in capabilities.iter().enumerate() {
                match said.get(capability) {
                    // Each of these is one more agreement to what is asked for anyway.
                    Some((Stance::Confirm, _)) if list == List::ConfirmOnce => continue,
                    Some((_, other)) => wrong.push(twice(list, index, *other, capability.name())),
                    None => {}
                }
                said.insert(*capability, (stance, list));
            }
        }
        let allowed = [
            (List::AllowHosts, &self.allow_hosts),
            (List::AllowSubresourceHosts, &self.allow_subresource_hosts),
        ]
        .map(|(list, rules)| (list, rules.iter().collect::<HashSet<_>>()));
        for (index, rule) in self.deny_hosts.iter().enumerate() {
            if let Some((other, _)) = allowed.iter().find(|(_, rules)| rules.contains(rule)) {
                wrong.push(twice(List::DenyHosts, index, *other, &rule.to_string()));
            }
        }
        let listed = !self.allow_hosts.is_empty() || !self.allow_subresource_hosts.is_empty();
        let preset = match source {
            Source::Daemon => Some(self.preset.unwrap_or(Preset::Development)),
            Source::Client => self.preset,
        };
        let hosts = HostLayer {
            source,
            any: !listed && !preset.is_some_and(Preset::lists_hosts),
            allow: self.allow_hosts,
            subresource: self.allow_subresource_hosts,
            deny: self.deny_hosts,
            public_only: preset.is_some_and(Preset::public_only),
        };
        let requires_egress = self.require_egress || preset.is_some_and(Preset::requires_egress);
        let mut tokens = HashMap::new();
        for capability in self.confirm_once {
            *tokens.entry(capability).or_default() += 1;
        }
        if wrong.is_empty() {
            Ok(Layer { source, preset, said, tokens, hosts: hosts.into(), requires_egress })
        } else {
            Err(wrong)
        }
    }

    /// More than one side may come to.
    fn too_large(&self) -> Option<Contradiction> {
        let capabilities =
            [(List::Allow, &self.allow), (List::Confirm, &self.confirm), (List::Deny, &self.deny)];
        // Each once in each list is too much already.
        if let Some((list, _)) =
            capabilities.iter().find(|(_, items)| items.len() > 2 * Capability::ALL.len())
        {
            let message = format!("{} names more than there is", list.key());
            return Some(Contradiction { list: *list, index: 0, message });
        }
        let hosts = [
            (List::AllowHosts, &self.allow_hosts),
            (List::AllowSubresourceHosts, &self.allow_subresource_hosts),
            (List::DenyHosts, &self.deny_hosts),
        ];
        // Quotes and a comma round each, and the keys.
        let size = |rules: &[HostRule]| rules.iter().map(|rule| rule.to_string().len() + 3).sum::<usize>();
        let (longest, _) =
            hosts.iter().map(|(list, rules)| (*list, size(rules))).max_by_key(|(_, bytes)| *bytes)?;
        let bytes = 200 + hosts.iter().map(|(_, rules)| size(rules)).sum::<usize>();
        (bytes > MAX_LAYER_BYTES).then(|| Contradiction {
            list: longest,
            index: 0,
            message: format!(
                "the host rules come to {bytes} bytes, and at most {MAX_LAYER_BYTES} are taken; use *.example.com and blocks"
            ),
        })
    }
}

fn twice(list: List, index: usize, other: List, what: &str) -> Contradiction {
    let message = if list == other {
        format!("{what} stands in {} twice", list.key())
    } else {
        format!("{what} stands in {} and in {}", other.key(), list.key())
    };
    Contradiction { list, index, message }
}

/// One side's policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Whose it is.
    pub source: Source,
    /// The preset that it begins with; a client without one adds to what the daemon says.
    pub preset: Option<Preset>,
    /// What is said beside the preset.
    said: HashMap<Capability, (Stance, List)>,
    /// Its rules about hosts; sessions that are begun under it share them.
    pub hosts: Arc<HostLayer>,
    /// How many operations were agreed to beforehand.
    tokens: HashMap<Capability, u32>,
    /// Whether sessions whose network rules nobody enforces are refused.
    pub requires_egress: bool,
}

/// What one side says about a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Says {
    /// Whose word it is.
    pub source: Source,
    /// What it says.
    pub stance: Stance,
    /// Where: a list, or its preset; `None` for a client that says nothing.
    pub by: Option<By>,
}

/// Where something is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By the preset.
    Preset(Preset),
    /// In a list.
    List(List),
}

impl Layer {
    /// A layer that forbids nothing and says nothing.
    pub fn silent_client() -> Self {
        let hosts = HostLayer {
            source: Source::Client,
            any: true,
            allow: Vec::new(),
            subresource: Vec::new(),
            deny: Vec::new(),
            public_only: false,
        };
        Self {
            source: Source::Client,
            preset: None,
            said: HashMap::new(),
            tokens: HashMap::new(),
            hosts: hosts.into(),
            requires_egress: false,
        }
    }

    /// What it says about a capability.
    pub fn says(&self, capability: Capability) -> Says {
        let source = self.source;
        match (self.said.get(&capability), self.preset) {
            (Some((stance, list)), _) => Says { source, stance: *stance, by: Some(By::List(*list)) },
            (None, Some(preset)) => {
                Says { source, stance: capability.of(preset), by: Some(By::Preset(preset)) }
            }
            (None, None) => Says { source, stance: Stance::Allow, by: None },
        }
    }

    /// How many operations of a capability were agreed to beforehand.
    pub fn tokens(&self, capability: Capability) -> u32 {
        self.tokens.get(&capability).copied().unwrap_or(0)
    }

    /// Whether no page can be navigated to, because only listed hosts are allowed and none is listed.
    pub fn lacks_hosts(&self) -> bool {
        !self.hosts.any && self.hosts.allow.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(given: Given) -> Vec<String> {
        given.compile(Source::Client).unwrap_err().into_iter().map(|wrong| wrong.message).collect()
    }

    // contract: 10.2
    #[test]
    fn what_contradicts_itself_is_told_all_at_once() {
        let given = Given {
            preset: Some(Preset::Polite),
            allow: vec![Capability::Evaluate, Capability::Evaluate],
            confirm: vec![Capability::NamedSessions],
            confirm_once: vec![Capability::Upload, Capability::Upload],
            deny: vec![Capability::Evaluate],
            allow_hosts: vec!["a.test".parse().unwrap()],
            allow_subresource_hosts: vec!["b.test".parse().unwrap()],
            deny_hosts: vec!["A.test.".parse().unwrap(), "b.test".parse().unwrap()],
            require_egress: false,
        };
        let wrong = wrong(given);
        for part in [
            "polite",
            "named_sessions cannot be confirmed",
            "evaluate stands in allow twice",
            "evaluate stands in allow and in deny",
            "a.test stands in allow_hosts and in deny_hosts",
            "b.test stands in allow_subresource_hosts and in deny_hosts",
        ] {
            assert!(wrong.iter().any(|message| message.contains(part)), "{part}: {wrong:#?}");
        }
        assert_eq!(wrong.len(), 6, "{wrong:#?}");
    }

    // contract: 10.4
    #[test]
    fn an_agreement_beforehand_asks_for_what_goes_beyond_it() {
        let given = Given {
            confirm: vec![Capability::Upload],
            confirm_once: vec![Capability::Evaluate, Capability::Upload, Capability::Evaluate],
            ..Given::default()
        };
        assert_eq!(given.asked(), [Capability::Upload, Capability::Evaluate]);
        let layer = given.clone().compile(Source::Client).unwrap();
        for (capability, stance, tokens) in [
            (Capability::Evaluate, Stance::Confirm, 2),
            (Capability::Upload, Stance::Confirm, 1),
            (Capability::Screenshot, Stance::Allow, 0),
        ] {
            assert_eq!(
                (layer.says(capability).stance, layer.tokens(capability)),
                (stance, tokens),
                "{capability}"
            );
        }
        let layer = given.without_tokens().compile(Source::Client).unwrap();
        assert_eq!(
            (layer.says(Capability::Evaluate).stance, layer.tokens(Capability::Evaluate)),
            (Stance::Confirm, 0)
        );
    }

    #[test]
    fn rules_beyond_what_the_proxy_takes_are_refused() {
        let rules = (0..1000).map(|n| format!("host-{n}.a-rather-long-domain.example").parse().unwrap());
        assert!(wrong(Given { allow_hosts: rules.collect(), ..Given::default() })[0].contains("at most"));
    }

    // contract: 10.2
    #[test]
    fn a_listed_host_closes_all_others_in_every_preset() {
        let of = |preset, allow: &[&str]| {
            let allow_hosts = allow.iter().map(|rule| rule.parse().unwrap()).collect();
            Given { preset, allow_hosts, ..Given::default() }.compile(Source::Client).unwrap()
        };
        assert!(of(None, &[]).hosts.is_open() && of(Some(Preset::Development), &[]).hosts.is_open());
        assert!(!of(Some(Preset::Development), &["a.test"]).hosts.any);
        assert!(
            of(Some(Preset::Hardened), &[]).lacks_hosts() && of(Some(Preset::Hardened), &[]).requires_egress
        );
        assert!(!of(Some(Preset::Hardened), &["a.test"]).lacks_hosts());
    }
}
