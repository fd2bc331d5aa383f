//! glassd as a process, with a worker that misbehaves on demand (`examples/fake-worker.rs`). No browser needed.

#![forbid(unsafe_code)]

mod crashes;
mod operations;
mod sessions;
mod starting;
mod stopping;
mod world;
