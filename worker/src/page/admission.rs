//! Which documents a target may show, where the rules tell navigation from the rest (contract 10.3).
//!
//! The proxy cannot tell a document from a part of one, so each document of a main frame waits here until its host was
//! looked up in the rules for navigation: links, forms, redirects, popups, history. What the rules for everything forbid
//! never leaves the proxy, whatever is decided here.

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

    /// Whether what waits is a document that the target may not show; it is remembered why.
    pub(super) fn refuses_document(&self, session: &str, paused: &fetch::RequestPaused) -> bool {
        let Some(rules) = self.inner.navigation.as_ref().filter(|_| paused.resource_type == "Document")
        else {
            return false;
        };
        let is_main = {
            let mut state = self.state();
            let session = Arc::<str>::from(session);
            state.target_of_session(Some(&session)).is_some_and(|target| target.main == paused.frame_id)
        };
        let Some(failure) = denial(rules, &paused.request.url).filter(|_| is_main) else { return false };
        tracing::info!(rule = failure.rule, "a navigation was denied");
        self.inner.forwarder.note(failure);
        true
    }
}

/// Why a document may not be shown.
fn denial(rules: &Rules, url: &str) -> Option<Failure> {
    let url = Url::parse(url).ok()?;
    let (host, port) = (Host::of(&url)?, url.port_or_known_default()?);
    let transport = Transport::of(url.scheme())?;
    let connection = Connection { host: &host, port, transport, address: None, own: false };
    match rules.decide(&connection, Purpose::Navigation) {
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
        assert_eq!(denial(&rules, "https://a.test/x"), None);
        assert_eq!(denial(&rules, "data:text/html,x"), None);
        let denied = denial(&rules, "http://cdn.test:81/").unwrap();
        assert_eq!(
            (&*denied.host, denied.port, denied.rule.as_deref()),
            ("cdn.test", 81, Some("client/default"))
        );
    }
}
