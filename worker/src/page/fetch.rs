//! Requests that the browser stops and asks about (`Fetch`): who wants that, and what is answered.
//!
//! The one place that turns it on: turning it on again replaces what was asked for before, so what each CDP session is
//! told is always made of everything that is wanted of it ([`Pages::fetch_in`]), and each event is answered here once.
//! A request that is stopped and not answered hangs; every way through ends in an answer.

use std::collections::HashMap;
use std::sync::Arc;

use super::Pages;
use crate::cdp::types::{fetch, network};

/// An empty document: it loads nothing, not even an icon.
const EMPTY: &str = "PCFkb2N0eXBlIGh0bWw+PGxpbmsgcmVsPWljb24gaHJlZj0iZGF0YTosIj4=";

/// What is wanted of requests.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// CDP sessions that load nothing but an empty document at one address.
    pub(super) empty: HashMap<Arc<str>, String>,
}

impl Pages {
    /// Tells a CDP session which of its requests it stops, from all that is wanted now.
    pub(super) fn fetch_in(&self, session: &str) {
        let all = self.state().fetch.empty.contains_key(session);
        let documents = super::admission::DOCUMENTS;
        let patterns = match (all, self.tells_documents()) {
            (true, _) => None,
            (false, true) => Some(documents),
            (false, false) => {
                drop(self.start(session, fetch::Disable {}));
                return;
            }
        };
        drop(self.start(session, fetch::Enable { patterns, handle_auth_requests: false }));
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
        self.fetch_in(session);
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
            None => drop(self.start(session, fetch::ContinueRequest { request_id })),
        }
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

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(before, _)| before)
}
