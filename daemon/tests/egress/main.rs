//! The egress proxy over real sockets: glassd's side, the forwarder's side, browsers and servers are played here.

#![expect(clippy::unwrap_used, reason = "the lint only knows functions marked as tests; here all is one")]

mod answers;
mod failures;
mod process;
mod rules;
mod sessions;
mod tunnels;
mod upstream;
mod world;
