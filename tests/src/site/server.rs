//! The server: one thread a connection, for as long as the test process lives.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use super::http::{self, Request, Response};
use super::ledger::Event;
use super::routes;
use super::visit::Visit;

/// What the connections and the tests share. Keys are visits.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) pages: HashMap<(String, String), Response>,
    pub(super) requests: HashMap<String, Vec<Request>>,
    pub(super) events: HashMap<String, Vec<Event>>,
    pub(super) open: HashSet<(String, String)>,
}

/// The fixture site.
#[derive(Debug)]
pub struct Site {
    port: u16,
    visits: AtomicU32,
    shared: Mutex<Shared>,
    changed: Condvar,
}

/// The one site of this test process.
///
/// # Panics
/// When no port of loopback can be had.
pub fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    static STARTED: OnceLock<()> = OnceLock::new();
    let mut listener = None;
    let site = SITE.get_or_init(|| {
        let bound = TcpListener::bind(("127.0.0.1", 0)).expect("a port of loopback");
        let port = bound.local_addr().expect("a bound socket has an address").port();
        listener = Some(bound);
        Site { port, visits: AtomicU32::new(1), shared: Mutex::default(), changed: Condvar::new() }
    });
    if let Some(listener) = listener {
        STARTED.get_or_init(|| {
            std::thread::spawn(move || accept(&listener, site));
        });
    }
    site
}

fn accept(listener: &TcpListener, site: &'static Site) {
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || {
            // A browser that goes away in the middle is part of the tests.
            let _ = site.answer(stream);
        });
    }
}

/// A port of loopback where nothing listens.
///
/// # Panics
/// When no port of loopback can be had.
pub fn closed_port() -> u16 {
    // The kernel does not hand a port out again at once.
    let bound = TcpListener::bind(("127.0.0.1", 0)).expect("a port of loopback");
    bound.local_addr().expect("a bound socket has an address").port()
}

impl Site {
    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A prefix that no other test uses.
    pub fn visit(&'static self) -> Visit {
        let number = self.visits.fetch_add(1, Ordering::Relaxed);
        Visit { site: self, name: format!("t{number}") }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("nobody panics while it holds the site")
    }

    /// Every event that pages of this visit have reported so far, in the order of arrival.
    pub fn events(&self, visit: &str) -> Vec<Event> {
        self.lock().events.get(visit).cloned().unwrap_or_default()
    }

    /// The visit that a URL of this site belongs to.
    pub fn visit_of(&self, url: &str) -> Option<String> {
        let (_, rest) = url.strip_prefix("http://")?.split_once(&format!(":{}/", self.port))?;
        let (visit, _) = rest.split_once('/')?;
        Some(visit.to_owned())
    }

    pub(super) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Waits until `done`, looking again at every change and once a second.
    pub(super) fn until(&self, mut done: impl FnMut(&Shared) -> bool) {
        let mut shared = self.lock();
        while !done(&shared) {
            shared = self.changed.wait_timeout(shared, Duration::from_secs(1)).expect("nobody panics").0;
        }
    }

    pub(super) fn fill(&self, visit: &str, html: &str) -> String {
        html.replace("{{port}}", &self.port.to_string()).replace("{{visit}}", visit)
    }

    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let Some(mut request) = http::read(&stream)? else { return Ok(()) };
        let path = request.path.trim_start_matches('/').to_owned();
        let (visit, path) = path.split_once('/').unwrap_or((path.as_str(), ""));
        let (visit, path) = (visit.to_owned(), path.to_owned());
        request.path = path;
        if request.path != "ledger" && request.path != "ledger.js" {
            self.lock().requests.entry(visit.clone()).or_default().push(request.clone());
            self.wake();
        }
        routes::answer(self, &visit, &request, &mut stream)
    }
}
