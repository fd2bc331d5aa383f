//! The gRPC service `Glass`: convert, call, convert (STYLE 7.5).
//!
//! Owns nothing but the words. Every request begins with a hello that is checked (contract 12.1); one that does not
//! fit is answered with FAILED_PRECONDITION and a message that says what to do.

mod executions;
mod quotas;
mod service;
mod sessions;

pub use service::{Service, View};
