//! End-to-end tests: the real programs, the real cage, the real Chromium. Names are promises; `contract:` names the
//! section of the contract that a test holds, `report:` the user report that it answers.

#![forbid(unsafe_code)]

#[macro_use]
mod twice;

mod actionability;
mod after;
mod attach;
mod audit;
mod authentication;
mod cage;
mod certificates;
mod cli;
mod confirm;
mod corpus;
mod daemon;
mod doctor;
mod documents;
mod egress;
mod frames;
mod geometry;
mod hostile;
mod isolation;
mod kill;
mod lanes;
mod layout;
mod mcp;
mod naming;
mod ops;
mod policy;
mod prompts;
mod quotas;
mod redteam;
mod revision;
mod routers;
mod schemas;
mod secrets;
mod seeing;
mod service;
mod sockets;
mod stale;
mod traces;
mod weaker;
mod widgets;
