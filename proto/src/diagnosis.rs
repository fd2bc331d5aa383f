//! What `glassctl doctor` is told by the programs that it asks: one finding a line, as JSON.
//!
//! glassd and glass-worker look, each at what it knows; glassctl asks them, bounds the time, and judges the whole.

use serde::{Deserialize, Serialize};

/// How a thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// It works, with less than there could be.
    Degraded,
    /// Glass does not work like this.
    Broken,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// A stable name: `browser`, `state-directory`, `sandbox.unshare`.
    pub check: String,
    /// How it was found, after mending.
    pub verdict: Verdict,
    /// What was seen.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What `--fix` did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mended: Option<String>,
}

impl Finding {
    /// One that is as it should be.
    pub fn good(check: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            check: check.into(),
            verdict: Verdict::Good,
            detail: detail.into(),
            remedy: None,
            mended: None,
        }
    }

    /// One that works with less than there could be.
    pub fn degraded(check: impl Into<String>, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Degraded, remedy: Some(remedy.into()), ..Self::good(check, detail) }
    }

    /// One that must be mended.
    pub fn broken(check: impl Into<String>, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Broken, ..Self::degraded(check, detail, remedy) }
    }

    /// With what was done about it; it is good then.
    #[must_use]
    pub fn mended(self, what: impl Into<String>) -> Self {
        Self { verdict: Verdict::Good, remedy: None, mended: Some(what.into()), ..self }
    }
}

/// A line of a program that is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Line {
    /// It begins to look at this. Without a finding after it, it hung there.
    Looking(String),
    /// It has looked.
    Found(Finding),
    /// It is through with everything.
    Done,
}

/// The browser as glass-worker finds it: what it is, or why there is none and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BrowserFound {
    /// There is one, and it says its version.
    Version {
        /// Its real path.
        path: String,
        /// All four numbers.
        version: String,
    },
    /// There is none that can be used.
    Unusable {
        /// Why.
        why: String,
        /// What to do.
        remedy: String,
    },
}

/// What a session is to try to reach, so that whoever asks sees whether it does. Everything in it is the asker's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Lures {
    /// The user's home directory.
    pub home: std::path::PathBuf,
    /// A Unix socket that listens.
    pub socket: std::path::PathBuf,
    /// The name of an abstract one.
    pub abstract_socket: String,
    /// A TCP port of 127.0.0.1 on which somebody listens.
    pub tcp: u16,
    /// A UDP port of the same.
    pub udp: u16,
    /// A process of the user.
    pub pid: i32,
}

/// One thing that a session tried, from inside of its cage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// A stable name: `home`, `tcp`, `mount`.
    pub name: String,
    /// What was tried.
    pub tried: String,
    /// What came of it: the kernel's word, or that it worked.
    pub answer: String,
    /// Whether it worked, as far as that can be seen from inside.
    pub worked: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_as_written_down() {
        for text in [
            r#"{"looking":"browser"}"#,
            r#"{"found":{"check":"browser","verdict":"broken","detail":"d","remedy":"r"}}"#,
            r#"{"found":{"check":"socket","verdict":"good","detail":"d","mended":"m"}}"#,
        ] {
            let line: Line = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&line).unwrap(), text);
        }
        assert!(Verdict::Broken > Verdict::Degraded && Verdict::Degraded > Verdict::Good);
    }
}
