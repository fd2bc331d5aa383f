//! The fixture site: an HTTP server on loopback within the test process.
//!
//! Every test works under a prefix of its own, a visit, so that tests that run at once do not see each other's requests
//! and events. Pages are the files of `tests/site/` or made by the test; special paths misbehave on purpose (`routes`).

mod authentication;
mod http;
mod ledger;
mod pages;
mod routes;
mod server;
mod tls;
mod visit;

pub use http::Request;
pub use ledger::Event;
pub use pages::names;
pub use server::{Site, closed_port, site};
pub use tls::{Asks, TlsSite};
pub use visit::Visit;
