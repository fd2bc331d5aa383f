//! Which connections a session's browser may make (contract 10.3).
//!
//! Owns the rules as glassd compiles them for `glass-egress`, and the decision on one connection. Does not
//! resolve names and does not connect: the proxy asks twice, once for the name and once for each address that
//! the name turned out to have, and connects to nothing that was not allowed both times.
//!
//! Invariant: what no rule allows is denied. [`Rules::default`] allows nothing.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::address::{is_loopback, is_public};
use crate::host::{Host, HostRule, Transport};

/// The rule named when nothing allows a connection.
const NO_RULE: &str = "default";

/// The most that the host rules of a layer may come to, in bytes as JSON: those of both layers fit one message to the
/// proxy.
pub const MAX_LAYER_BYTES: usize = 24 * 1024;

/// Whose rules they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The daemon's: the ceiling.
    Daemon,
    /// The command line of a client, within it.
    Client,
}

impl Source {
    /// The first part of a rule's id.
    pub fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Client => "client",
        }
    }
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The document that a target shows; those of its frames are parts of it.
    Navigation,
    /// Anything: the proxy cannot tell.
    Any,
}

/// One side's rules about hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostLayer {
    /// Whose they are.
    pub source: Source,
    /// Hosts that no list names are allowed.
    pub any: bool,
    /// Allowed for everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<HostRule>,
    /// Allowed for all but navigation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subresource: Vec<HostRule>,
    /// Denied, whatever else allows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<HostRule>,
    /// Addresses that are not public are denied unless a rule names them.
    pub public_only: bool,
}

/// A connection that is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// The host as it was asked for.
    pub host: &'a Host,
    /// The port.
    pub port: u16,
    /// How the bytes travel.
    pub transport: Transport,
    /// What the name turned out to be; `None` before it was resolved. A denial at that point spares the lookup, and an
    /// allowance is provisional until each address was asked for too.
    pub address: Option<IpAddr>,
    /// Whether that address is one of this machine's own, as far as whoever connects knows; loopback needs no telling.
    pub own: bool,
}

impl Connection<'_> {
    fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Address(address) => Some(*address),
            Host::Name(_) => self.address,
        }
    }

    /// Whether it ends at this machine, under whichever name and address.
    pub fn is_to_this_machine(&self) -> bool {
        self.own || self.host.is_localhost() || self.address().is_some_and(is_loopback)
    }
}

impl HostLayer {
    /// Whether it forbids nothing.
    pub fn is_open(&self) -> bool {
        self.any && self.deny.is_empty() && !self.public_only
    }

    /// Whether it tells navigation from the rest.
    pub fn tells_navigation(&self) -> bool {
        !self.subresource.is_empty()
    }

    fn decide(&self, connection: &Connection<'_>, purpose: Purpose) -> Decision {
        let Connection { host, port, transport, .. } = *connection;
        let address = connection.address();
        let names = |rule: &HostRule| address.is_some_and(|address| rule.names(address, port, transport));
        let matches = |rule: &HostRule| rule.matches(host, port, transport);
        let source = self.source.name();
        // What is denied is denied in every spelling; what is allowed is allowed as it stands.
        let to_this_machine = connection.is_to_this_machine();
        let denies = |rule: &&HostRule| {
            matches(rule)
                || address.is_some_and(|address| rule.reaches(address, port, transport))
                || (to_this_machine && rule.is_this_machine(port, transport))
        };
        if let Some(rule) = self.deny.iter().find(denies) {
            return deny(
                format!("{source}/deny_hosts/{rule}"),
                format!("the rule {rule} denies {}", Place(connection)),
            );
        }
        let subresource: &[HostRule] = if purpose == Purpose::Any { &self.subresource } else { &[] };
        let mut lists = self.allow.iter().chain(subresource);
        let named = lists.clone().any(matches);
        if !self.any && !named {
            let what = match purpose {
                Purpose::Navigation if self.subresource.iter().any(matches) => "navigation to",
                Purpose::Navigation | Purpose::Any => "",
            };
            let space = if what.is_empty() { "" } else { " " };
            return deny(
                format!("{source}/{NO_RULE}"),
                format!("no rule allows {what}{space}{}", Place(connection)),
            );
        }
        let local =
            self.public_only && (to_this_machine || address.is_some_and(|address| !is_public(address)));
        // Who names localhost names this machine.
        let at_home =
            host.is_localhost() && address.is_none_or(|address| address.to_canonical().is_loopback());
        if !local || lists.any(names) || (named && at_home) {
            return Decision::Allow;
        }
        let what = if to_this_machine { "this machine" } else { "no public address" };
        deny(
            format!("{source}/non_public_addresses"),
            format!("{} is {what}, and no rule names it", Place(connection)),
        )
    }
}

fn deny(rule: String, reason: String) -> Decision {
    Decision::Deny { rule, reason }
}

struct Place<'a>(&'a Connection<'a>);

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Connection { host, port, address, .. } = self.0;
        match (host, address) {
            (Host::Name(_), Some(address)) => write!(f, "{host}:{port} at {}", address.to_canonical()),
            _ => write!(f, "{host}:{port}"),
        }
    }
}

/// The compiled egress rules of one session: what each of its layers allows.
///
/// Unknown keys are refused, so that a proxy that is older than its daemon closes a session rather than run it
/// with a rule that it does not understand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rules {
    /// Every host, port and address is allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_all: bool,
    /// Each of these must allow a connection; without one nothing is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<HostLayer>,
}

impl Rules {
    /// Rules under which every connection is allowed.
    pub fn allow_all() -> Self {
        Self { allow_all: true, layers: Vec::new() }
    }

    /// What all of these allow together.
    pub fn of(layers: impl IntoIterator<Item = HostLayer>) -> Self {
        let layers: Vec<_> = layers.into_iter().filter(|layer| !layer.is_open()).collect();
        Self { allow_all: layers.is_empty(), layers }
    }

    /// Whether connections may be handed to an upstream proxy at `host`:`port`. Only that one learns what a name turns out
    /// to be, so where addresses that are not public are denied, a rule must name it (contract 10.3).
    pub fn admit_upstream(&self, host: &Host, port: u16) -> Decision {
        let trusts = |layer: &&HostLayer| {
            let names = |rule: &HostRule| {
                [Transport::Plain, Transport::Tls]
                    .iter()
                    .any(|transport| rule.matches(host, port, *transport))
            };
            !layer.public_only || layer.allow.iter().chain(&layer.subresource).any(names)
        };
        match self.layers.iter().find(|layer| !trusts(layer)) {
            Some(layer) => deny(
                format!("{}/upstream_proxy", layer.source.name()),
                format!(
                    "behind an upstream proxy nobody here sees whether an address is public, and no rule names {host}:{port}"
                ),
            ),
            None => Decision::Allow,
        }
    }

    /// Whether some host is allowed for all but navigation.
    pub fn tells_navigation(&self) -> bool {
        self.layers.iter().any(HostLayer::tells_navigation)
    }

    /// Decides on a connection.
    pub fn decide(&self, connection: &Connection<'_>, purpose: Purpose) -> Decision {
        if self.allow_all {
            return Decision::Allow;
        }
        let mut decided = deny(NO_RULE.to_owned(), format!("no rule allows {}", Place(connection)));
        for layer in &self.layers {
            decided = layer.decide(connection, purpose);
            if decided != Decision::Allow {
                break;
            }
        }
        decided
    }
}

/// The answer on one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The connection may be made.
    Allow,
    /// The connection may not be made.
    Deny {
        /// The rule that decided: whose it is, its list, itself; `default` where none matched.
        rule: String,
        /// Why, for a person: lower case, no final stop.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use ipnet::IpNet;
    use proptest::prelude::*;

    use super::*;
    use crate::address::spellings;

    fn layer(any: bool, allow: &[&str], subresource: &[&str], deny: &[&str], public_only: bool) -> Rules {
        let read = |rules: &[&str]| rules.iter().map(|rule| rule.parse().unwrap()).collect();
        Rules::of([HostLayer {
            source: Source::Client,
            any,
            allow: read(allow),
            subresource: read(subresource),
            deny: read(deny),
            public_only,
        }])
    }

    fn decide(rules: &Rules, host: &str, port: u16, address: Option<&str>, purpose: Purpose) -> Decision {
        let host = Host::parse(host).unwrap();
        let address = address.map(|address| address.parse().unwrap());
        let transport = if port == 443 { Transport::Tls } else { Transport::Plain };
        rules.decide(&Connection { host: &host, port, transport, address, own: false }, purpose)
    }

    fn rule(decision: Decision) -> String {
        match decision {
            Decision::Allow => "allowed".to_owned(),
            Decision::Deny { rule, .. } => rule,
        }
    }

    #[test]
    fn nothing_is_allowed_without_a_rule() {
        let decision = decide(&Rules::default(), "example.com", 443, None, Purpose::Any);
        let Decision::Deny { rule, reason } = decision else { panic!("allowed") };
        assert_eq!((&*rule, &*reason), ("default", "no rule allows example.com:443"));
    }

    #[test]
    fn allow_all_allows_before_and_after_resolution() {
        let rules = Rules::of([]);
        assert_eq!(rules, Rules::allow_all());
        assert_eq!(decide(&rules, "example.com", 1, None, Purpose::Any), Decision::Allow);
        assert_eq!(decide(&rules, "example.com", 1, Some("::1"), Purpose::Navigation), Decision::Allow);
    }

    // contract: 10.3
    #[test]
    fn listed_hosts_are_allowed_and_a_denial_beats_them() {
        let rules = layer(
            false,
            &["example.com", "*.example.com"],
            &["cdn.test"],
            &["ads.example.com", "9.0.0.0/8"],
            false,
        );
        let of = |host, purpose| rule(decide(&rules, host, 443, None, purpose));
        assert_eq!(of("example.com", Purpose::Navigation), "allowed");
        assert_eq!(of("a.example.com", Purpose::Any), "allowed");
        assert_eq!(of("ads.example.com", Purpose::Any), "client/deny_hosts/ads.example.com");
        assert_eq!(of("cdn.test", Purpose::Any), "allowed");
        assert_eq!(of("cdn.test", Purpose::Navigation), "client/default");
        assert_eq!(of("other.test", Purpose::Any), "client/default");
        // By the address that a name turned out to have, too.
        assert_eq!(
            rule(decide(&rules, "example.com", 443, Some("9.1.1.1"), Purpose::Any)),
            "client/deny_hosts/9.0.0.0/8"
        );
        assert_eq!(
            rule(decide(&rules, "example.com", 443, Some("::ffff:9.1.1.1"), Purpose::Any)),
            "client/deny_hosts/9.0.0.0/8"
        );
    }

    // contract: 10.3
    #[test]
    fn a_name_that_turns_to_an_address_that_is_not_public_is_denied_unless_a_rule_names_it() {
        let closed = layer(false, &["example.com", "localhost:8080"], &[], &[], true);
        let of =
            |rules: &Rules, host, port, address| rule(decide(rules, host, port, Some(address), Purpose::Any));
        assert_eq!(of(&closed, "example.com", 80, "93.184.216.34"), "allowed");
        for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1"] {
            assert_eq!(of(&closed, "example.com", 80, address), "client/non_public_addresses", "{address}");
        }
        assert_eq!(of(&closed, "localhost", 8080, "127.0.0.1"), "allowed");
        assert_eq!(of(&closed, "localhost", 8080, "::1"), "allowed");
        assert_eq!(of(&closed, "localhost", 8080, "10.0.0.1"), "client/non_public_addresses");
        assert_eq!(of(&closed, "localhost", 8081, "127.0.0.1"), "client/default");
        let block = layer(false, &["intranet.test", "10.0.0.0/8"], &[], &[], true);
        assert_eq!(of(&block, "intranet.test", 80, "10.1.1.1"), "allowed");
        assert_eq!(of(&block, "intranet.test", 80, "192.168.1.1"), "client/non_public_addresses");
        assert_eq!(of(&block, "other.test", 80, "10.1.1.1"), "client/default", "a block admits no name");
        let any = layer(true, &[], &[], &[], true);
        assert_eq!(of(&any, "localhost", 80, "127.0.0.1"), "client/non_public_addresses");
        assert_eq!(rule(decide(&any, "127.0.0.1", 80, None, Purpose::Any)), "client/non_public_addresses");
    }

    fn host_of(address: IpAddr) -> String {
        match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        }
    }

    proptest! {
        // contract: 10.3
        #[test]
        fn what_is_denied_is_denied_in_every_spelling(bits in any::<u32>(), at in any::<(usize, usize)>(), length in 0_u8..=32) {
            let spellings = spellings(bits.into());
            let (denied, asked) = (spellings[at.0 % spellings.len()], spellings[at.1 % spellings.len()]);
            let block = IpNet::new(IpAddr::from(Ipv4Addr::from(bits)), length).unwrap().trunc();
            for rule_text in [denied.to_string(), block.to_string()] {
                let rules = layer(true, &[], &[], &[&rule_text], false);
                for (host, address) in [(host_of(asked), None), ("a.test".to_owned(), Some(asked.to_string()))] {
                    let decision = decide(&rules, &host, 80, address.as_deref(), Purpose::Any);
                    prop_assert!(decision != Decision::Allow, "{} lets {} {:?} through", rule_text, host, address);
                }
            }
        }

        // contract: 10.3
        #[test]
        fn what_is_allowed_is_allowed_as_it_stands(bits in any::<u32>(), at in any::<usize>()) {
            let own = Ipv4Addr::from(bits);
            let spellings = spellings(own);
            let asked = spellings[at % spellings.len()];
            let rules = layer(false, &[&own.to_string()], &[], &[], true);
            let decision = decide(&rules, &host_of(asked), 80, None, Purpose::Any);
            prop_assert_eq!(decision == Decision::Allow, asked.to_canonical() == own, "{}", asked);
        }
    }

    // contract: 10.3
    #[test]
    fn this_machine_is_denied_under_every_name_of_it() {
        let ways = [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.0.0.7",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:0:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[::127.0.0.1]",
        ];
        let names = ["localhost", "localhost.", "LOCALHOST", "a.localhost", "x.a.localhost", "%6cocalhost"];
        let denials = [
            "localhost",
            "127.0.0.1",
            "0.0.0.0",
            "[::]",
            "::1",
            "127.0.0.0/8",
            "127.1.0.0/16",
            "::/128",
            "::ffff:127.0.0.1",
            "0x7f.1",
            "localhost:80",
        ];
        for denied in denials {
            let rules = layer(true, &[], &[], &[denied], false);
            for host in ways.into_iter().chain(names) {
                assert_ne!(
                    decide(&rules, host, 80, None, Purpose::Navigation),
                    Decision::Allow,
                    "{denied}: {host}"
                );
            }
            for address in ["127.0.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"] {
                assert_ne!(
                    decide(&rules, "a.test", 80, Some(address), Purpose::Any),
                    Decision::Allow,
                    "{denied}: {address}"
                );
            }
            let host = Host::parse("93.184.216.34").unwrap();
            let mut own =
                Connection { host: &host, port: 80, transport: Transport::Plain, address: None, own: true };
            assert_ne!(
                rules.decide(&own, Purpose::Any),
                Decision::Allow,
                "{denied}: an address of this machine"
            );
            own.own = false;
            assert_eq!(rules.decide(&own, Purpose::Any), Decision::Allow, "{denied}: another machine");
        }
        // A rule for one name below localhost is about that name.
        let rules = layer(true, &[], &[], &["a.localhost", "10.0.0.0/8"], false);
        assert_ne!(decide(&rules, "a.localhost", 80, None, Purpose::Any), Decision::Allow);
        assert_eq!(decide(&rules, "127.0.0.1", 80, None, Purpose::Any), Decision::Allow);
        // And an address of this machine is none that anybody could have.
        let public = layer(true, &[], &[], &[], true);
        for host in ways.into_iter().chain(names) {
            assert_eq!(
                rule(decide(&public, host, 80, None, Purpose::Any)),
                "client/non_public_addresses",
                "{host}"
            );
        }
    }

    // contract: 10.3
    #[test]
    fn an_upstream_proxy_is_used_where_addresses_need_no_look_or_a_rule_names_it() {
        let proxy = Host::parse("proxy.test").unwrap();
        let of = |rules: &Rules| rule(rules.admit_upstream(&proxy, 3128));
        assert_eq!(of(&Rules::allow_all()), "allowed");
        assert_eq!(of(&layer(false, &["a.test"], &[], &[], false)), "allowed");
        assert_eq!(of(&layer(false, &["a.test"], &[], &[], true)), "client/upstream_proxy");
        assert_eq!(of(&layer(false, &["a.test", "proxy.test:80"], &[], &[], true)), "client/upstream_proxy");
        assert_eq!(of(&layer(false, &["a.test", "proxy.test:3128"], &[], &[], true)), "allowed");
        assert_eq!(of(&layer(false, &["a.test"], &["*.test"], &[], true)), "allowed");
    }

    #[test]
    fn every_layer_must_allow() {
        let daemon = HostLayer {
            source: Source::Daemon,
            ..layer(true, &[], &[], &["b.test"], false).layers[0].clone()
        };
        let client = layer(false, &["a.test", "b.test"], &[], &[], false).layers[0].clone();
        let rules = Rules::of([daemon, client]);
        assert_eq!(rule(decide(&rules, "a.test", 80, None, Purpose::Any)), "allowed");
        assert_eq!(rule(decide(&rules, "b.test", 80, None, Purpose::Any)), "daemon/deny_hosts/b.test");
        assert_eq!(rule(decide(&rules, "c.test", 80, None, Purpose::Any)), "client/default");
    }

    #[test]
    fn rules_of_a_newer_daemon_are_refused_not_ignored() {
        assert!(serde_json::from_str::<Rules>(r#"{"allowAll":true,"denyHosts":["a"]}"#).is_err());
        assert_eq!(serde_json::from_str::<Rules>("{}").unwrap(), Rules::default());
        assert_eq!(serde_json::to_string(&Rules::allow_all()).unwrap(), r#"{"allowAll":true}"#);
        let rules = layer(false, &["a.test"], &[], &["10.0.0.0/8"], true);
        let text = r#"{"layers":[{"source":"client","any":false,"allow":["a.test"],"deny":["10.0.0.0/8"],"publicOnly":true}]}"#;
        assert_eq!(serde_json::to_string(&rules).unwrap(), text);
        assert_eq!(serde_json::from_str::<Rules>(text).unwrap(), rules);
    }
}
