//! The two sides together: the daemon's policy is a ceiling, a client's command line chooses within it (contract 10.1).
//!
//! Owns precedence: deny beats confirm beats allow, whoever says it. So nothing that the daemon denies is ever allowed.

use std::fmt;
use std::sync::Arc;

use url::Url;

use crate::capability::{Capability, Preset, Stance};
use crate::egress::{Connection, Decision, HostLayer, Purpose, Rules, Source};
use crate::host::{Host, Transport};
use crate::layer::{By, Layer, List, Says};

/// How much of the rates and targets a client has (contract 10.2, 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rates {
    /// All of them.
    Full,
    /// A fifth, and a quarter of the targets.
    Fifth,
}

/// What holds for one client. Compiled once, and cheap to clone.
#[derive(Clone, Debug)]
pub struct Policy {
    daemon: Arc<Layer>,
    client: Arc<Layer>,
    rules: Arc<Rules>,
}

/// What is decided about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The capability that decided.
    pub capability: Capability,
    /// Who decided, where, and what.
    pub says: Says,
}

/// Why something is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The rule that decided: whose it is, its list or preset, itself.
    pub rule: String,
    /// Why: lower case, no final stop.
    pub reason: String,
    /// What a person could do about it.
    pub remedy: String,
    /// Whether whoever starts the client can give it back on its command line.
    pub override_possible: bool,
    /// Whether nothing is forbidden by a rule, but a rule is missing that the policy cannot work without.
    pub unconfigured: bool,
}

impl Policy {
    /// What holds for a client within the daemon's policy.
    pub fn new(daemon: Arc<Layer>, client: Arc<Layer>) -> Self {
        let rules = Rules::of([&daemon, &client].map(|layer| HostLayer::clone(&layer.hosts))).into();
        Self { daemon, client, rules }
    }

    /// Both sides, the ceiling first.
    pub fn layers(&self) -> [&Layer; 2] {
        [&self.daemon, &self.client]
    }

    /// What holds for a capability.
    pub fn capability(&self, capability: Capability) -> Ruling {
        let [daemon, client] = self.layers().map(|layer| layer.says(capability));
        // The daemon's word where both say the same: nothing that the client changes would help.
        let says = if client.stance > daemon.stance { client } else { daemon };
        Ruling { capability, says }
    }

    /// How many operations of a capability the client's command line agreed to beforehand. None where the daemon asks for a
    /// person itself: a client does not answer for one.
    pub fn tokens(&self, capability: Capability) -> u32 {
        let [daemon, client] = self.layers();
        if daemon.says(capability).stance == Stance::Allow { client.tokens(capability) } else { 0 }
    }

    /// What holds for something that needs all of these: the narrowest of them.
    pub fn all(&self, needs: &[Capability]) -> Option<Ruling> {
        let rulings = needs.iter().map(|capability| self.capability(*capability));
        rulings
            .reduce(|narrowest, next| if next.says.stance > narrowest.says.stance { next } else { narrowest })
    }

    /// Whether a target may be sent to `url`, as far as hosts decide. Schemes are [`crate::navigation::admit`]'s.
    ///
    /// # Errors
    /// The rule that forbids it, or the lack of one.
    pub fn navigation(&self, url: &Url) -> Result<(), Denial> {
        if url.scheme() == "about" {
            return Ok(());
        }
        if let Some(layer) = self.layers().into_iter().find(|layer| layer.lacks_hosts()) {
            let preset = layer.preset.map_or("this policy", |preset| preset.name());
            let (where_, remedy) = match layer.source {
                Source::Client => (
                    "the client's",
                    "whoever starts the client names them: --policy-allow-host example.com".to_owned(),
                ),
                Source::Daemon => (
                    "the daemon's",
                    "name them in policy.toml, as in allow_hosts = [\"example.com\"]; a client narrows that with --policy-allow-host".to_owned(),
                ),
            };
            return Err(Denial {
                rule: format!("{}/default", layer.source.name()),
                reason: format!(
                    "{where_} policy ({preset}) loads pages of listed hosts alone, and lists none"
                ),
                remedy,
                override_possible: layer.source == Source::Client,
                unconfigured: true,
            });
        }
        let (Some(transport), Some(port)) = (Transport::of(url.scheme()), url.port_or_known_default()) else {
            // It makes no connection of its own; what its document sends goes through the proxy.
            return Ok(());
        };
        let Some(host) = Host::of(url) else {
            return Err(Denial {
                rule: "hosts/unreadable".to_owned(),
                reason: "the host of that URL is none that rules can be asked about".to_owned(),
                remedy: "give a URL whose host is a name or an address".to_owned(),
                override_possible: false,
                unconfigured: false,
            });
        };
        let connection = Connection { host: &host, port, transport, address: None, own: false };
        match self.rules.decide(&connection, Purpose::Navigation) {
            Decision::Allow => Ok(()),
            Decision::Deny { rule, reason } => Err(host_denial(rule, reason)),
        }
    }

    /// The rules of a session that is begun under this policy.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// How much of the rates and targets the client has.
    pub fn rates(&self) -> Rates {
        let untrusted = self.layers().iter().any(|layer| layer.preset == Some(Preset::UntrustedMcp));
        if untrusted { Rates::Fifth } else { Rates::Full }
    }

    /// Whether a session is refused whose network rules nobody enforces.
    pub fn requires_egress(&self) -> bool {
        self.layers().iter().any(|layer| layer.requires_egress)
    }
}

/// A denial by a host rule, as the proxy tells it.
pub fn host_denial(rule: String, reason: String) -> Denial {
    let by_client = rule.starts_with("client/");
    let remedy = match (by_client, rule.contains("/deny_hosts/")) {
        (true, true) => "whoever starts the client may leave out that --policy-deny-host",
        (true, false) => "whoever starts the client may allow it with --policy-allow-host",
        (false, true) => "whoever keeps policy.toml may take the host out of deny_hosts",
        (false, false) => "whoever keeps policy.toml may add the host to allow_hosts",
    };
    Denial { rule, reason, remedy: remedy.to_owned(), override_possible: by_client, unconfigured: false }
}

impl Ruling {
    /// The rule's id.
    pub fn rule(&self) -> String {
        let source = self.says.source.name();
        match self.says.by {
            Some(By::Preset(preset)) => format!("{source}/preset/{preset}/{}", self.capability),
            Some(By::List(list)) => format!("{source}/{}/{}", list.key(), self.capability),
            None => format!("{source}/none/{}", self.capability),
        }
    }

    /// The denial, where it is one.
    pub fn denial(&self) -> Option<Denial> {
        if self.says.stance != Stance::Deny {
            return None;
        }
        let capability = self.capability;
        let remedy = match (self.says.source, self.says.by) {
            (Source::Client, Some(By::List(_))) => {
                format!("whoever starts the client may leave out {} {capability}", List::Deny.option())
            }
            (Source::Client, _) => {
                format!(
                    "whoever starts the client may give it back with {} {capability}",
                    List::Allow.option()
                )
            }
            (Source::Daemon, Some(By::List(_))) => {
                format!("whoever keeps policy.toml may take {capability} out of deny")
            }
            (Source::Daemon, _) => format!("whoever keeps policy.toml may add {capability} to allow"),
        };
        Some(Denial {
            rule: self.rule(),
            reason: format!("the policy denies {capability}: {}", self.says),
            remedy,
            override_possible: self.says.source == Source::Client,
            unconfigured: false,
        })
    }
}

impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = match self.source {
            Source::Daemon => "the daemon's",
            Source::Client => "the client's",
        };
        let stance = self.stance.name();
        match self.by {
            Some(By::Preset(preset)) => write!(f, "{whose} preset {preset} says {stance}"),
            Some(By::List(list)) => {
                let name = match self.source {
                    Source::Daemon => list.key(),
                    Source::Client => list.option(),
                };
                write!(f, "{whose} {name} says {stance}")
            }
            None => write!(f, "{whose} command line says nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};

    use super::*;
    use crate::layer::Given;

    fn presets() -> impl Strategy<Value = Option<Preset>> {
        let available: Vec<_> = Preset::ALL.iter().copied().filter(|preset| preset.is_available()).collect();
        proptest::option::of(select(available))
    }

    const HOSTS: &[&str] = &[
        "a.test",
        "*.a.test",
        "b.a.test",
        "b.test:8080",
        "https://a.test",
        "10.0.0.0/8",
        "127.0.0.1",
        "localhost",
    ];

    fn given() -> impl Strategy<Value = Given> {
        let split = |items: Vec<usize>, count| {
            let mut lists = vec![Vec::new(); count];
            for (at, list) in items.into_iter().enumerate() {
                if list < count {
                    lists[list].push(at);
                }
            }
            lists
        };
        let capabilities = proptest::collection::vec(0_usize..4, Capability::ALL.len());
        let hosts = proptest::collection::vec(0_usize..6, HOSTS.len());
        (presets(), capabilities, hosts, any::<bool>()).prop_map(
            move |(preset, said, hosts, require_egress)| {
                let capabilities = split(said, 3)
                    .into_iter()
                    .map(|list| list.into_iter().map(|at| Capability::ALL[at]).collect::<Vec<_>>());
                let confirmable = |list: Vec<Capability>| {
                    list.into_iter().filter(|one| *one != Capability::NamedSessions).collect::<Vec<_>>()
                };
                let rules = split(hosts, 3)
                    .into_iter()
                    .map(|list| list.into_iter().map(|at| HOSTS[at].parse().unwrap()).collect::<Vec<_>>());
                let ([allow, deny, confirm], [allow_hosts, allow_subresource_hosts, deny_hosts]) = (
                    capabilities.collect::<Vec<_>>().try_into().unwrap(),
                    rules.collect::<Vec<_>>().try_into().unwrap(),
                );
                Given {
                    preset,
                    allow,
                    confirm: confirmable(confirm),
                    deny,
                    allow_hosts,
                    allow_subresource_hosts,
                    deny_hosts,
                    require_egress,
                    ..Given::default()
                }
            },
        )
    }

    fn layer(given: Given, source: Source) -> Arc<Layer> {
        Arc::new(given.compile(source).unwrap())
    }

    proptest! {
        // contract: 10.1
        #[test]
        fn nothing_that_the_daemon_denies_is_ever_allowed(
            ceiling in given(), flags in given(),
            needs in subsequence(Capability::ALL, 0..4),
            host in select(vec!["a.test", "b.a.test", "c.a.test", "b.test", "10.1.2.3", "127.0.0.1", "localhost", "8.8.8.8"]),
            port in select(vec![80_u16, 443, 8080]),
            address in proptest::option::of(select(vec!["10.1.2.3", "127.0.0.1", "8.8.8.8"])),
            tls in any::<bool>(), own in any::<bool>(),
        ) {
            let daemon = layer(ceiling, Source::Daemon);
            let alone = Policy::new(daemon.clone(), Arc::new(Layer::silent_client()));
            let together = Policy::new(daemon, layer(flags, Source::Client));
            for capability in Capability::ALL {
                prop_assert!(together.capability(*capability).says.stance >= alone.capability(*capability).says.stance);
            }
            let stance = |policy: &Policy| policy.all(&needs).map(|ruling| ruling.says.stance);
            prop_assert!(stance(&together) >= stance(&alone));
            let host = Host::parse(host).unwrap();
            let transport = if tls { Transport::Tls } else { Transport::Plain };
            let address = address.map(|address| address.parse().unwrap());
            let connection = Connection { host: &host, port, transport, address, own };
            for purpose in [Purpose::Any, Purpose::Navigation] {
                if together.rules().decide(&connection, purpose) == Decision::Allow {
                    prop_assert_eq!(alone.rules().decide(&connection, purpose), Decision::Allow);
                }
            }
            prop_assert!(!alone.requires_egress() || together.requires_egress());
            prop_assert!(alone.rates() == Rates::Full || together.rates() == Rates::Fifth);
            for url in ["http://a.test/", "https://b.a.test/", "http://127.0.0.1:8080/", "http://[::ffff:10.1.2.3]/", "data:text/html,x", "about:blank"] {
                let url = Url::parse(url).unwrap();
                prop_assert!(alone.navigation(&url).is_ok() || together.navigation(&url).is_err(), "{}", url);
            }
        }
    }

    // contract: 10.1, 10.4
    #[test]
    fn a_client_answers_for_nobody_whom_the_daemon_asks() {
        let upload = || vec![Capability::Upload];
        let client = || layer(Given { confirm_once: upload(), ..Given::default() }, Source::Client);
        let tokens = |daemon: Given| {
            let policy = Policy::new(layer(daemon, Source::Daemon), client());
            (policy.capability(Capability::Upload).says.stance, policy.tokens(Capability::Upload))
        };
        assert_eq!(tokens(Given::default()), (Stance::Confirm, 1));
        assert_eq!(tokens(Given { confirm: upload(), ..Given::default() }), (Stance::Confirm, 0));
        assert_eq!(tokens(Given { deny: upload(), ..Given::default() }), (Stance::Deny, 0));
    }

    // contract: 10.1, 10.6
    #[test]
    fn a_denial_names_its_rule_and_who_could_lift_it() {
        let hardened = Given { preset: Some(Preset::Hardened), ..Given::default() };
        let back = Given { allow: vec![Capability::Evaluate], ..hardened.clone() };
        let open = layer(Given::default(), Source::Daemon);
        let denial = |daemon: &Arc<Layer>, given: Given| {
            Policy::new(daemon.clone(), layer(given, Source::Client))
                .capability(Capability::Evaluate)
                .denial()
        };
        let denied = denial(&open, hardened.clone()).unwrap();
        assert_eq!(denied.rule, "client/preset/hardened/evaluate");
        assert!(denied.remedy.contains("--policy-allow evaluate") && denied.override_possible);
        assert_eq!(denial(&open, back.clone()), None, "given back");
        let closed = layer(Given { deny: vec![Capability::Evaluate], ..Given::default() }, Source::Daemon);
        let denied = denial(&closed, back).unwrap();
        assert_eq!(denied.rule, "daemon/deny/evaluate");
        assert!(denied.remedy.contains("policy.toml") && !denied.override_possible);
    }

    // contract: 10.3
    #[test]
    fn a_host_that_cannot_be_read_is_denied() {
        let open = Policy::new(layer(Given::default(), Source::Daemon), Arc::new(Layer::silent_client()));
        for text in ["http://a..test/", "http://../", &format!("http://{}/", "a.".repeat(140))] {
            let denied = open.navigation(&Url::parse(text).unwrap()).unwrap_err();
            assert_eq!(denied.rule, "hosts/unreadable", "{text}");
        }
    }

    // contract: 10.2
    #[test]
    fn without_a_listed_host_no_page_loads_and_the_remedy_names_the_option() {
        let policy =
            |given: Given| Policy::new(layer(Given::default(), Source::Daemon), layer(given, Source::Client));
        let page = Url::parse("https://example.com/").unwrap();
        let hardened = Given { preset: Some(Preset::Hardened), ..Given::default() };
        let denied = policy(hardened.clone()).navigation(&page).unwrap_err();
        assert!(denied.unconfigured && denied.remedy.contains("--policy-allow-host"), "{denied:?}");
        assert_eq!(policy(hardened.clone()).navigation(&Url::parse("about:blank").unwrap()), Ok(()));
        let listed = Given { allow_hosts: vec!["example.com".parse().unwrap()], ..hardened };
        assert_eq!(policy(listed.clone()).navigation(&page), Ok(()));
        let denied = policy(listed).navigation(&Url::parse("https://evil.test/").unwrap()).unwrap_err();
        assert!(!denied.unconfigured && denied.rule == "client/default", "{denied:?}");
    }
}
