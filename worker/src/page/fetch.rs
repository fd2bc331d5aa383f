//! Requests that the browser stops and asks about (`Fetch`): who wants that, and what is answered.
//!
//! The one place that turns it on: turning it on again replaces what was asked for before, so what each CDP session is
//! told is always made of everything that is wanted of it ([`Pages::fetch_in`]), and each event is answered here once.
//! A request that is stopped and not answered hangs; every way through ends in an answer.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use glass_proto::session::{HttpCredentials, SessionOptions};

use super::visited::origin;
use super::{Pages, without_fragment};
use crate::cdp::Pending;
use crate::cdp::types::empty::Empty;
use crate::cdp::types::{fetch, network};

/// An empty document: it loads nothing, not even an icon.
const EMPTY: &str = "PCFkb2N0eXBlIGh0bWw+PGxpbmsgcmVsPWljb24gaHJlZj0iZGF0YTosIj4=";

/// What is wanted of requests.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// CDP sessions that load nothing but an empty document at one address.
    pub(super) empty: HashMap<Arc<str>, String>,
    /// Requests whose server was told who asks, the newest last: CDP session and request.
    answered: VecDeque<(Arc<str>, String)>,
}

/// Most requests whose server was told who asks are remembered.
const ANSWERED: usize = 512;

/// Who the session is, by origin. Never shown.
pub(super) struct Credentials(HashMap<String, HttpCredentials>);

impl Credentials {
    /// Those of the session's options.
    pub(super) fn of(options: &SessionOptions) -> Self {
        let all = options.http_credentials.iter().flatten();
        Self(all.filter_map(|one| Some((one.origin()?, one.clone()))).collect())
    }
}

impl Pages {
    /// Tells a CDP session that was attached just now which of its requests it stops.
    pub(super) fn stop_requests(&self, session: &str) {
        // Nothing is stopped before it is asked for.
        if self.authenticates() || self.tells_documents() || !self.state().routes.is_empty() {
            drop(self.fetch_in(session));
        }
    }

    /// Tells a CDP session which of its requests it stops, from all that is wanted now.
    pub(super) fn fetch_in(&self, session: &str) -> Option<Pending<Empty>> {
        let (empty, routes) = {
            let state = self.state();
            (state.fetch.empty.contains_key(session), !state.routes.is_empty())
        };
        // A browser that may authenticate waits for somebody to be asked, at every server that wants it: all requests
        // are stopped then, so that each such question is answered.
        let handle_auth_requests = self.authenticates();
        let patterns =
            match (empty || handle_auth_requests || self.judges_all(), routes, self.tells_documents()) {
                (true, ..) => None,
                (false, true, _) => return self.stop_for_routes(session),
                (false, false, true) => Some(super::admission::DOCUMENTS),
                (false, false, false) => return self.start(session, fetch::Disable {}),
            };
        self.start(session, fetch::Enable { patterns, handle_auth_requests })
    }

    /// As long as the answer is kept, the page loads nothing but an empty document at this address, and no service
    /// worker answers for it.
    pub fn empty_at(&self, session: &Arc<str>, url: &str) -> OnlyEmpty {
        drop(self.start(session, network::SetBypassServiceWorker { bypass: true }));
        self.only_empty(session, Some(url));
        OnlyEmpty { pages: self.clone(), session: session.clone() }
    }

    /// From now on the session loads nothing but an empty document at this address; with none, everything again.
    pub(super) fn only_empty(&self, session: &Arc<str>, url: Option<&str>) {
        {
            let empty = &mut self.state().fetch.empty;
            match url {
                Some(url) => empty.insert(session.clone(), without_fragment(url).to_owned()),
                None => empty.remove(session),
            };
        }
        drop(self.fetch_in(session));
    }

    /// Whether the session has credentials for any server.
    pub fn authenticates(&self) -> bool {
        !self.inner.credentials.0.is_empty()
    }

    /// Tells a server who asks: once, and only the origin that the credentials are for.
    pub(super) fn auth_required(&self, session: &Arc<str>, asked: &fetch::AuthRequired) {
        let request_id = asked.request_id.as_str();
        let challenge = &asked.auth_challenge;
        let known = (challenge.source == "Server"
            && origin(&asked.request.url).as_ref() == Some(&challenge.origin))
        .then(|| self.inner.credentials.0.get(&challenge.origin))
        .flatten()
        .filter(|_| self.state().fetch.answers_first(session, request_id));
        let auth_challenge_response = match known {
            Some(credentials) => fetch::AuthChallengeResponse {
                response: "ProvideCredentials",
                username: Some(&credentials.username),
                password: Some(&credentials.password),
            },
            // The page gets the server's own answer.
            None => fetch::AuthChallengeResponse { response: "CancelAuth", ..Default::default() },
        };
        drop(self.start(session, fetch::ContinueWithAuth { request_id, auth_challenge_response }));
    }

    /// Answers a request that was stopped.
    pub(super) fn request_paused(&self, session: &str, paused: &fetch::RequestPaused) {
        let request_id = paused.request_id.as_str();
        let empty = self.state().fetch.empty.get(session).cloned();
        match empty {
            Some(url) if paused.resource_type == "Document" && paused.request.url == url => {
                let kind = fetch::HeaderEntry { name: "Content-Type", value: "text/html" };
                let page = fetch::FulfillRequest {
                    request_id,
                    response_code: 200,
                    response_headers: &[kind],
                    body: EMPTY,
                };
                drop(self.start(session, page));
            }
            Some(_) => {
                let none = fetch::FailRequest { request_id, error_reason: "BlockedByClient" };
                drop(self.start(session, none));
            }
            None if self.refuses_document(session, paused) => {
                let none = fetch::FailRequest { request_id, error_reason: "BlockedByClient" };
                drop(self.start(session, none));
            }
            None => self.route_request(session, paused),
        }
    }
}

impl Wanted {
    /// Whether the request's server is told for the first time; the second time it has not taken what it was told.
    fn answers_first(&mut self, session: &Arc<str>, request: &str) -> bool {
        if self.answered.iter().any(|(of, known)| of == session && known == request) {
            return false;
        }
        if self.answered.len() >= ANSWERED {
            self.answered.pop_front();
        }
        self.answered.push_back((session.clone(), request.to_owned()));
        true
    }
}

/// A page that loads an empty document alone; when this is dropped it loads everything again.
#[derive(Debug)]
pub struct OnlyEmpty {
    pages: Pages,
    session: Arc<str>,
}

impl Drop for OnlyEmpty {
    fn drop(&mut self) {
        self.pages.only_empty(&self.session, None);
        drop(self.pages.start(&self.session, network::SetBypassServiceWorker { bypass: false }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_once_a_request() {
        let (mut wanted, session) = (Wanted::default(), Arc::from("S"));
        assert!(wanted.answers_first(&session, "1"));
        assert!(!wanted.answers_first(&session, "1"));
        assert!(wanted.answers_first(&session, "2"));
        assert!(wanted.answers_first(&Arc::from("T"), "1"));
        for request in 0..ANSWERED {
            wanted.answers_first(&session, &format!("r{request}"));
        }
        assert_eq!(wanted.answered.len(), ANSWERED);
    }
}
