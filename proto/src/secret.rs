//! Secrets of a session's vault (contract 10.8): their names, their bounds, and values that show nowhere and are wiped.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use crate::wire::{client, worker};

/// How long a value is kept after its capture.
pub const LIFETIME: Duration = Duration::from_secs(600);
/// Most secrets of a session.
pub const MOST: usize = 64;
/// Longest value, in bytes of UTF-8.
pub const LONGEST: usize = 16 * 1024;
/// Most bytes of all values of a session.
pub const MOST_BYTES: usize = 256 * 1024;

/// The name of a secret: `[A-Za-z_][A-Za-z0-9_]{0,63}`, so that it can be a variable's, and holds nothing that cannot be
/// seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretName(String);

/// A text that is no name of a secret.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a secret's name is 1 to 64 of A-Z, a-z, 0-9 and `_`, and begins with no digit; this is not one")]
pub struct InvalidSecretName;

impl FromStr for SecretName {
    type Err = InvalidSecretName;
    fn from_str(text: &str) -> Result<Self, InvalidSecretName> {
        let bytes = text.as_bytes();
        let fits = (1..=64).contains(&bytes.len())
            && !bytes[0].is_ascii_digit()
            && bytes.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_');
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidSecretName) }
    }
}

impl TryFrom<String> for SecretName {
    type Error = InvalidSecretName;
    fn try_from(text: String) -> Result<Self, InvalidSecretName> {
        text.parse()
    }
}

impl From<SecretName> for String {
    fn from(name: SecretName) -> Self {
        name.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SecretName {
    /// The text of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

// Messages with a value: what prints them prints the name alone, and their bytes are wiped when they are dropped.
macro_rules! holds_a_value {
    ($message:ty) => {
        impl fmt::Debug for $message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Secret").field("name", &self.name).finish_non_exhaustive()
            }
        }
        impl Drop for $message {
            fn drop(&mut self) {
                self.value.zeroize();
            }
        }
    };
}
holds_a_value!(client::Secret);
holds_a_value!(worker::Secret);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_variables() {
        for good in ["TOKEN", "_x", "a1_B", &"x".repeat(64)] {
            assert_eq!(good.parse::<SecretName>().map(String::from).as_deref(), Ok(good));
        }
        for bad in
            ["", "1a", "a-b", "a b", "a\u{200b}b", "TOKEN\u{202e}", "tök", "a=b", "a\n", &"x".repeat(65)]
        {
            assert!(bad.parse::<SecretName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_message_shows_its_name_alone() {
        let secret = worker::Secret { name: "TOKEN".to_owned(), value: b"very-secret".to_vec() };
        let request = worker::ExecuteRequest { secrets: vec![secret], ..Default::default() };
        let shown = format!("{request:?}");
        assert!(
            shown.contains("TOKEN") && !shown.contains("very-secret") && !shown.contains("118"),
            "{shown}"
        );
    }
}
