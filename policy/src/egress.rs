//! Which connections a session's browser may make (contract 10.3).
//!
//! Owns the rules as glassd compiles them for `glass-egress`, and the decision on one connection. Does not
//! resolve names and does not connect: the proxy asks twice, once for the name and once for each address that
//! the name turned out to have, and connects to nothing that was not allowed both times.
//!
//! Invariant: what no rule allows is denied. [`Rules::default`] allows nothing.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The rule named when nothing allows a connection.
const NO_RULE: &str = "default";

/// The compiled egress rules of one session.
///
/// Unknown keys are refused, so that a proxy that is older than its daemon closes a session rather than run it
/// with a rule that it does not understand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rules {
    /// Every host, port and address is allowed.
    #[serde(default)]
    pub allow_all: bool,
}

impl Rules {
    /// Rules under which every connection is allowed.
    pub fn allow_all() -> Self {
        Self { allow_all: true }
    }

    /// Decides on a connection to `host`:`port`.
    ///
    /// `host` is a name in lower case without a final dot, or an address in text form without brackets.
    /// `address` is `None` before the name was resolved; a denial at that point spares the lookup, and an
    /// allowance is provisional until each address was asked for too.
    pub fn decide(&self, host: &str, port: u16, address: Option<IpAddr>) -> Decision {
        if self.allow_all {
            return Decision::Allow;
        }
        let place = match address {
            Some(address) => format!("{host}:{port} at {address}"),
            None => format!("{host}:{port}"),
        };
        Decision::Deny { rule: NO_RULE.to_owned(), reason: format!("no rule allows {place}") }
    }
}

/// The answer on one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The connection may be made.
    Allow,
    /// The connection may not be made.
    Deny {
        /// The rule that decided, as it is written in the policy; `default` where none matched.
        rule: String,
        /// Why, for a person: lower case, no final stop.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_without_a_rule() {
        let decision = Rules::default().decide("example.com", 443, None);
        let Decision::Deny { rule, reason } = decision else { panic!("allowed") };
        assert_eq!(rule, "default");
        assert_eq!(reason, "no rule allows example.com:443");
    }

    #[test]
    fn a_denial_after_resolution_names_the_address() {
        let address = "10.1.2.3".parse().ok();
        let Decision::Deny { reason, .. } = Rules::default().decide("a.example", 80, address) else {
            panic!("allowed")
        };
        assert_eq!(reason, "no rule allows a.example:80 at 10.1.2.3");
    }

    #[test]
    fn allow_all_allows_before_and_after_resolution() {
        let rules = Rules::allow_all();
        assert_eq!(rules.decide("example.com", 1, None), Decision::Allow);
        assert_eq!(rules.decide("example.com", 1, "::1".parse().ok()), Decision::Allow);
    }

    #[test]
    fn rules_of_a_newer_daemon_are_refused_not_ignored() {
        assert!(serde_json::from_str::<Rules>(r#"{"allowAll":true,"denyHosts":["a"]}"#).is_err());
        assert_eq!(serde_json::from_str::<Rules>("{}").unwrap(), Rules::default());
        assert_eq!(serde_json::to_string(&Rules::allow_all()).unwrap(), r#"{"allowAll":true}"#);
    }
}
