//! How entries become lines that hold on to each other.
//!
//! A line is `{"seq":N,"prev":"…",ENTRY,"hash":"…"}`: its number, the hash of the line before it, what it tells, and the
//! SHA-256 of all its bytes before `,"hash"`. Bytes are hashed as they stand in the file, so no two readers can differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::entry::Entry;

/// What the first line of all has for the hash of the one before it.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Bytes of a hash in hexadecimal.
pub const HASH_TEXT: usize = 64;
/// The longest line, in bytes.
pub const MAX_LINE: usize = 32 * 1024;

const MARK: &str = ",\"hash\":\"";
const END: &str = "\"}";

/// An entry with its place in the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sealed {
    /// Its number, from 1.
    pub seq: u64,
    /// The hash of the line before it.
    pub prev: String,
    /// What it tells.
    #[serde(flatten)]
    pub entry: Entry,
    /// Its own hash.
    #[serde(default)]
    pub hash: String,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum Fault {
    /// It is no entry.
    #[error("it is no entry")]
    Unreadable,
    /// Its own hash is not that of its bytes.
    #[error("it was changed: its hash is not that of its text")]
    Changed,
    /// Lines before it are not there.
    #[error("lines before it are missing")]
    Missing,
    /// A line of that number came before.
    #[error("it is out of order, or stands there twice")]
    Order,
    /// It has the right number, and the line before it is another than the one that it was written after.
    #[error("the line before it is not the one that it was written after")]
    Replaced,
    /// Lines that were written are not there.
    #[error("lines at the end are missing")]
    CutOff,
    /// The note of how far the log goes is not there, or cannot be read.
    #[error("the file `head`, which says how far the log goes, is missing or broken")]
    NoHead,
}

/// The end of a chain: what the next line goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The number of the last line; 0 before the first.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

impl Default for Chain {
    fn default() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

impl Chain {
    /// The next line, without a line break, and the chain after it.
    ///
    /// # Errors
    /// When the entry cannot be written as JSON, or is too long for a line.
    pub fn seal(&self, entry: &Entry) -> serde_json::Result<(String, Self)> {
        #[derive(Serialize)]
        struct Open<'a> {
            seq: u64,
            prev: &'a str,
            #[serde(flatten)]
            entry: &'a Entry,
        }
        let seq = self.seq + 1;
        let mut line = serde_json::to_string(&Open { seq, prev: &self.hash, entry })?;
        line.pop();
        if line.len() + MARK.len() + HASH_TEXT + END.len() > MAX_LINE {
            return Err(serde::ser::Error::custom("an entry is too long for a line"));
        }
        let hash = hex(&Sha256::digest(&line));
        line.push_str(MARK);
        line.push_str(&hash);
        line.push_str(END);
        Ok((line, Self { seq, hash }))
    }
}

/// A line that is read by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Unseal {
    /// A whole entry, whose hash is that of its bytes.
    Whole(Box<Sealed>),
    /// An entry whose hash is not that of its bytes.
    Changed(Box<Sealed>),
    /// No entry.
    No,
}

/// Reads a line, without its line break.
pub fn unseal(line: &[u8]) -> Unseal {
    if line.len() > MAX_LINE {
        return Unseal::No;
    }
    let Ok(sealed) = serde_json::from_slice::<Sealed>(line) else { return Unseal::No };
    let tail = MARK.len() + HASH_TEXT + END.len();
    let (body, rest) = line.split_at(line.len().saturating_sub(tail));
    let ends = rest.starts_with(MARK.as_bytes()) && rest.ends_with(END.as_bytes());
    let sealed = Box::new(sealed);
    let hash = hex(&Sha256::digest(body));
    if ends && sealed.hash == hash { Unseal::Whole(sealed) } else { Unseal::Changed(sealed) }
}

/// How far a log goes and where it begins: written after the lines that it tells of, so that a log that was cut off is
/// seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The first line of the oldest file.
    pub begins: u64,
    /// The last line.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

/// The name of the file that begins with the line of this number. Names sort as their lines do.
pub fn file_name(first: u64) -> String {
    format!("{first:020}.jsonl")
}

/// The number of the first line of a file, by its name; `None` for what is no file of a log.
pub fn first_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".jsonl")?;
    (digits.len() == 20 && digits.bytes().all(|digit| digit.is_ascii_digit())).then(|| digits.parse().ok())?
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
