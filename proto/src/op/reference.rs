//! Refs: `r7:e42`, `e42`, and `r7:f2e13`, `f2e13` in frames (contract 3.5).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A node as seen in an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ref {
    /// The revision that it was given at. A record: `e42` never changes its node.
    pub revision: Option<u64>,
    /// The frame, 0 for the main one.
    pub frame: u32,
    /// The node within the frame's document.
    pub node: u32,
}

/// A text that is no ref.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a ref looks like e42, f2e13 or r7:e42, as printed by observe")]
pub struct InvalidRef;

impl FromStr for Ref {
    type Err = InvalidRef;
    fn from_str(text: &str) -> Result<Self, InvalidRef> {
        let number = |digits: &str| -> Result<u64, InvalidRef> {
            let plain = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
            let canonical = plain && (digits == "0" || !digits.starts_with('0'));
            if canonical { digits.parse().map_err(|_| InvalidRef) } else { Err(InvalidRef) }
        };
        let small = |digits: &str| u32::try_from(number(digits)?).map_err(|_| InvalidRef);
        let (revision, rest) = match text.split_once(':') {
            Some((revision, rest)) => (Some(number(revision.strip_prefix('r').ok_or(InvalidRef)?)?), rest),
            None => (None, text),
        };
        let (frame, node) = match rest.strip_prefix('f') {
            Some(rest) => {
                let (frame, node) = rest.split_once('e').ok_or(InvalidRef)?;
                let frame = small(frame)?;
                // Frame 0 is the main one and is written without its number.
                if frame == 0 {
                    return Err(InvalidRef);
                }
                (frame, node)
            }
            None => (0, rest.strip_prefix('e').ok_or(InvalidRef)?),
        };
        Ok(Self { revision, frame, node: small(node)? })
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(revision) = self.revision {
            write!(f, "r{revision}:")?;
        }
        if self.frame != 0 {
            write!(f, "f{}", self.frame)?;
        }
        write!(f, "e{}", self.node)
    }
}

impl TryFrom<String> for Ref {
    type Error = InvalidRef;
    fn try_from(text: String) -> Result<Self, InvalidRef> {
        text.parse()
    }
}

impl From<Ref> for String {
    fn from(value: Ref) -> String {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_every_form() {
        for text in ["e42", "r7:e42", "f2e13", "r7:f2e13", "e0", "r18446744073709551615:e1"] {
            assert_eq!(text.parse::<Ref>().map(|r| r.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn refuses_what_is_no_ref() {
        for text in [
            "",
            "e",
            "42",
            "r7",
            "r7:",
            "f2",
            "f0e1",
            "e01",
            "e-1",
            "r:e1",
            "e1x",
            "e4294967296",
            "E1",
            "email",
        ] {
            assert_eq!(text.parse::<Ref>(), Err(InvalidRef), "{text}");
        }
    }
}
