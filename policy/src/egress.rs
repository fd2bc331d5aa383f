//! Which connections a session's browser may make (contract 10.3).
//!
//! Owns the rules as glassd compiles them for `glass-egress`, and the decision on one connection. Does not
//! resolve names and does not connect: the proxy asks twice, once for the name and once for each address that
//! the name turned out to have, and connects to nothing that was not allowed both times.
//!
//! Invariant: what no rule allows is denied. [`Rules::default`] allows nothing.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::address::is_public;
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
        let Connection { host, port, transport, address } = *connection;
        let address = match host {
            Host::Address(address) => Some(*address),
            Host::Name(_) => address,
        };
        let names = |rule: &HostRule| address.is_some_and(|address| rule.names(address, port, transport));
        let matches = |rule: &HostRule| rule.matches(host, port, transport);
        let source = self.source.name();
        if let Some(rule) = self.deny.iter().find(|rule| matches(rule) || names(rule)) {
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
        let Some(address) = address.filter(|address| self.public_only && !is_public(*address)) else {
            return Decision::Allow;
        };
        // Who names localhost names this machine.
        if lists.any(names) || (named && host.is_localhost() && address.to_canonical().is_loopback()) {
            return Decision::Allow;
        }
        deny(
            format!("{source}/non_public_addresses"),
            format!("{} is no public address, and no rule names it", Place(connection)),
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
    use super::*;

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
        rules.decide(&Connection { host: &host, port, transport, address }, purpose)
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
