//! glassd as a process, with a worker that misbehaves on demand (`examples/fake-worker.rs`). No browser needed.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "support of tests is test code, and a failure must show the log"
)]

mod authority;
mod crashes;
mod flood;
mod operations;
mod sessions;
mod starting;
mod stopping;
mod world;
