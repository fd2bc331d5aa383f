//! Which documents a target may show, where the rules tell navigation from the rest (contract 10.3).
//!
//! The rules for somebody else's browser, whose requests pass no proxy of ours, hold here for all that can be stopped: no
//! WebSocket, and nothing of what it does for pages that are not this session's. They are advice, and told as such.
//!
//! The proxy cannot tell a document from a part of one, so each document of a main frame waits here until its host was
//! looked up in the rules for navigation: links, forms, redirects, popups, history. What the rules for everything forbid
//! never leaves the proxy, whatever is decided here.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

use glass_policy::egress::{Connection, Decision, Purpose, Rules};
use glass_policy::host::{Host, Transport};
use url::Url;

use super::Pages;
use crate::cdp::types::fetch;
use crate::forward::{Failure, FailureKind};

/// Documents alone wait.
pub(super) const DOCUMENTS: &[fetch::RequestPattern<'static>] =
    &[fetch::RequestPattern { url_pattern: None, resource_type: Some("Document") }];

impl Pages {
    /// Whether the rules tell documents from the rest.
    pub(super) fn tells_documents(&self) -> bool {
        self.inner.navigation.is_some()
    }

    /// Whether every request waits for the rules.
    pub(super) fn judges_all(&self) -> bool {
        self.is_elsewhere() && self.tells_documents()
    }

    /// Whether what waits is a document that the target may not show; it is remembered why.
    pub(super) fn refuses_document(&self, session: &str, paused: &fetch::RequestPaused) -> bool {
        let document = paused.resource_type == "Document";
        let Some(rules) = self.inner.navigation.as_ref().filter(|_| document || self.is_elsewhere()) else {
            return false;
        };
        let is_main = {
            let mut state = self.state();
            let session = Arc::<str>::from(session);
            state.target_of_session(Some(&session)).is_some_and(|target| target.main == paused.frame_id)
        };
        let shown = document && is_main;
        if !shown && !self.is_elsewhere() {
            return false;
        }
        let purpose = if shown { Purpose::Navigation } else { Purpose::Any };
        let Some(failure) = denial(rules, &paused.request.url, purpose) else { return false };
        tracing::info!(rule = failure.rule, "a navigation was denied");
        self.inner.forwarder.note(failure);
        true
    }
}

/// Why a document may not be shown, or a part of it not be loaded.
fn denial(rules: &Rules, url: &str, purpose: Purpose) -> Option<Failure> {
    let url = Url::parse(url).ok()?;
    let (host, port) = (Host::of(&url)?, url.port_or_known_default()?);
    let transport = Transport::of(url.scheme())?;
    // No lookup is needed to know what these mean.
    let address = host.is_localhost().then_some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let connection = Connection { host: &host, port, transport, address, own: false };
    match rules.decide(&connection, purpose) {
        Decision::Allow => None,
        Decision::Deny { rule, reason } => Some(Failure {
            host: url.host_str().unwrap_or_default().to_owned(),
            port,
            error: FailureKind::Denied,
            rule: Some(rule),
            reason: Some(reason),
            at: Instant::now(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 10.3 report: 86
    #[test]
    fn a_host_for_parts_of_pages_is_none_to_navigate_to() {
        let rules = r#"{"layers":[{"source":"client","any":false,"allow":["a.test"],"subresource":["cdn.test"],"publicOnly":false}]}"#;
        let rules: Rules = serde_json::from_str(rules).unwrap();
        assert_eq!(denial(&rules, "https://a.test/x", Purpose::Navigation), None);
        assert_eq!(denial(&rules, "data:text/html,x", Purpose::Navigation), None);
        let denied = denial(&rules, "http://cdn.test:81/", Purpose::Navigation).unwrap();
        assert_eq!(
            (&*denied.host, denied.port, denied.rule.as_deref()),
            ("cdn.test", 81, Some("client/default"))
        );
        assert_eq!(denial(&rules, "http://cdn.test:81/x.js", Purpose::Any), None);
        assert!(denial(&rules, "http://b.test/x.js", Purpose::Any).is_some());
    }
}
