//! The audit log: one JSON object a line, each with the hash of the one before it (contract 10.7).
//!
//! Owns what an entry is ([`Entry`]), how entries are chained ([`Chain`]), and how a chain is judged ([`Judge`], [`verify`]).
//! Opens no file: glassd writes what is sealed here, and glassctl gives what it reads.
//!
//! A chain tells what was changed, dropped, put elsewhere or cut off by whoever did not write all later lines anew. Whoever
//! can write the files can do that too; the hash of an entry that was noted down elsewhere tells of it.

mod chain;
mod entry;
mod judge;
mod verify;

pub use chain::{
    Chain, Fault, GENESIS, HASH_TEXT, Head, MAX_LINE, Sealed, Unseal, file_name, first_of, unseal,
};
pub use entry::{Client, Decision, Entry, Event};
pub use judge::Judge;
pub use verify::{Last, Line, Problem, Report, each_line, verify};
