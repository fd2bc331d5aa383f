//! One test's part of the site: its prefix, its own pages, the requests and events under it, and the gates it opens.

use std::time::Duration;

use super::http::{Request, Response};
use super::ledger::Event;
use super::server::{Shared, Site};
use crate::eventually;

/// How long a request or an event of a page may take to arrive.
const ARRIVES: Duration = Duration::from_secs(15);

/// A test's own prefix on the site.
#[derive(Debug)]
pub struct Visit {
    pub(super) site: &'static Site,
    pub(super) name: String,
}

impl Visit {
    /// The URL of a page or special path of this visit, at 127.0.0.1.
    pub fn url(&self, page: &str) -> String {
        self.url_at("127.0.0.1", page)
    }

    /// The same at another name for loopback, such as `a.localhost`.
    pub fn url_at(&self, host: &str, page: &str) -> String {
        format!("http://{host}:{}/{}/{page}", self.site.port(), self.name)
    }

    /// Serves this HTML at `page`. `{{port}}` and `{{visit}}` in it are filled in.
    pub fn serve(&self, page: &str, html: &str) {
        self.serve_with(page, html, &[]);
    }

    /// The same with response headers.
    pub fn serve_with(&self, page: &str, html: &str, headers: &[(&str, &str)]) {
        let html = self.site.fill(&self.name, html);
        let response =
            headers.iter().fold(Response::html(html), |all, (name, value)| all.header(name, value));
        self.change(|shared| {
            shared.pages.insert((self.name.clone(), page.to_owned()), response);
        });
    }

    /// Lets everything at `slow/NAME` go on.
    pub fn release(&self, name: &str) {
        self.change(|shared| {
            shared.open.insert((self.name.clone(), name.to_owned()));
        });
    }

    /// The requests under this visit so far, without those for the ledger.
    pub fn requests(&self) -> Vec<Request> {
        self.look(|shared| shared.requests.get(&self.name).cloned().unwrap_or_default())
    }

    /// How often this path was asked for.
    pub fn count(&self, path: &str) -> usize {
        self.requests().iter().filter(|request| request.path == path).count()
    }

    /// Waits until this path was asked for.
    ///
    /// # Panics
    /// When it was not in time.
    #[track_caller]
    pub fn asked_for(&self, path: &str) -> Request {
        eventually(&format!("a request for {path}"), ARRIVES, || {
            self.requests().into_iter().find(|request| request.path == path)
        })
    }

    /// Every event so far, in the order of arrival.
    pub fn events(&self) -> Vec<Event> {
        self.look(|shared| shared.events.get(&self.name).cloned().unwrap_or_default())
    }

    /// Ids of the elements that received this kind of trusted event.
    pub fn received(&self, kind: &str) -> Vec<String> {
        self.events()
            .into_iter()
            .filter(|event| event.kind == kind && event.trusted)
            .map(|event| event.id)
            .collect()
    }

    /// Ids of the elements that were clicked by trusted input.
    pub fn clicks(&self) -> Vec<String> {
        self.received("click")
    }

    /// Waits until an event of this kind arrived.
    ///
    /// # Panics
    /// When none did in time.
    #[track_caller]
    pub fn saw(&self, kind: &str) -> Event {
        eventually(&format!("an event {kind}"), ARRIVES, || {
            self.events().into_iter().find(|event| event.kind == kind)
        })
    }

    fn look<T>(&self, look: impl FnOnce(&Shared) -> T) -> T {
        look(&self.site.lock())
    }

    fn change(&self, change: impl FnOnce(&mut Shared)) {
        change(&mut self.site.lock());
        self.site.wake();
    }
}
