//! Names and ids as types that can only hold what the contract allows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! text_newtype {
    ($name:ident, $error:ty) => {
        impl TryFrom<String> for $name {
            type Error = $error;
            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }
        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
        impl $name {
            /// The text of it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

/// The name of a session: `[a-z0-9][a-z0-9._-]{0,62}` (contract 1.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(String);

/// A text that is no session name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "a session name is 1 to 63 of a-z, 0-9, `.`, `_` and `-`, and begins with a letter or a digit; this is not one"
)]
pub struct InvalidSessionName;

impl FromStr for SessionName {
    type Err = InvalidSessionName;
    fn from_str(text: &str) -> Result<Self, InvalidSessionName> {
        let letter = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        let bytes = text.as_bytes();
        let fits = (1..=63).contains(&bytes.len())
            && letter(bytes[0])
            && bytes.iter().all(|&c| letter(c) || matches!(c, b'.' | b'_' | b'-'));
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidSessionName) }
    }
}
text_newtype!(SessionName, InvalidSessionName);

impl SessionName {
    /// The session that every shell of a user shares.
    pub fn shared_default() -> Self {
        Self("default".to_owned())
    }
}

/// The name of one attempt: unique for the life of the machine's Glass state (contract 2.2). A ULID.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExecutionId(String);

/// A text that is no execution id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("an execution id is 26 characters, as printed in a result or an error")]
pub struct InvalidExecutionId;

impl FromStr for ExecutionId {
    type Err = InvalidExecutionId;
    fn from_str(text: &str) -> Result<Self, InvalidExecutionId> {
        match ulid::Ulid::from_string(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(_) => Err(InvalidExecutionId),
        }
    }
}
text_newtype!(ExecutionId, InvalidExecutionId);

impl ExecutionId {
    /// A new one.
    pub fn generate() -> Self {
        Self(ulid::Ulid::generate().to_string())
    }
}

/// The random id of a client: leases and selection belong to it (contract 12.1). 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClientId(String);

/// A text that is no client id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a client id is 32 hexadecimal digits")]
pub struct InvalidClientId;

impl FromStr for ClientId {
    type Err = InvalidClientId;
    fn from_str(text: &str) -> Result<Self, InvalidClientId> {
        let fits = text.len() == 32 && text.bytes().all(|c| c.is_ascii_hexdigit());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidClientId) }
    }
}
text_newtype!(ClientId, InvalidClientId);

impl ClientId {
    /// A new random one.
    ///
    /// # Panics
    /// If the operating system has no randomness to give.
    pub fn generate() -> Self {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The id of a confirmation: 8 letters and digits that a person can read out and type, none of which looks like another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ConfirmationId(String);

/// A text that is no id of a confirmation.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a confirmation's id is 8 letters and digits, as the refused call has told it")]
pub struct InvalidConfirmationId;

impl FromStr for ConfirmationId {
    type Err = InvalidConfirmationId;
    fn from_str(text: &str) -> Result<Self, InvalidConfirmationId> {
        let text = text.to_ascii_lowercase();
        let fits = text.len() == 8 && text.bytes().all(|c| Self::LETTERS.contains(&c));
        if fits { Ok(Self(text)) } else { Err(InvalidConfirmationId) }
    }
}
text_newtype!(ConfirmationId, InvalidConfirmationId);

impl ConfirmationId {
    /// 32 of them, so that each byte of randomness gives one without a bias.
    const LETTERS: &[u8; 32] = b"23456789abcdefghijkmnpqrstuvwxyz";

    /// A new random one.
    ///
    /// # Panics
    /// If the operating system has no randomness to give.
    pub fn generate() -> Self {
        let mut bytes = [0_u8; 8];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        Self(bytes.iter().map(|byte| char::from(Self::LETTERS[usize::from(byte % 32)])).collect())
    }
}

/// The opaque id of a page of a session, at most 128 bytes (contract 7.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TargetId(String);

/// A text that is no target id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a target id is 1 to 128 letters, digits, `-` and `_`, as printed by list-targets")]
pub struct InvalidTargetId;

impl FromStr for TargetId {
    type Err = InvalidTargetId;
    fn from_str(text: &str) -> Result<Self, InvalidTargetId> {
        let fits = (1..=128).contains(&text.len())
            && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_'));
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidTargetId) }
    }
}
text_newtype!(TargetId, InvalidTargetId);

/// The opaque id of a download of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DownloadId(String);

/// A text that is no download id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a download id is 1 to 128 letters, digits, `-` and `_`, as printed by list-downloads")]
pub struct InvalidDownloadId;

impl FromStr for DownloadId {
    type Err = InvalidDownloadId;
    fn from_str(text: &str) -> Result<Self, InvalidDownloadId> {
        text.parse::<TargetId>().map(|id| Self(id.0)).map_err(|InvalidTargetId| InvalidDownloadId)
    }
}
text_newtype!(DownloadId, InvalidDownloadId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_are_what_contract_1_1_says() {
        for good in ["a", "0", "default", "a.b-c_9", &"x".repeat(63)] {
            assert!(good.parse::<SessionName>().is_ok(), "{good}");
        }
        for bad in ["", "A", ".a", "-a", "a/b", "a b", "é", "..", &"x".repeat(64), "a\nb"] {
            assert!(bad.parse::<SessionName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn generated_ids_parse() {
        assert!(ExecutionId::generate().as_str().parse::<ExecutionId>().is_ok());
        assert!(ClientId::generate().as_str().parse::<ClientId>().is_ok());
        let id = ConfirmationId::generate();
        assert_eq!(id.as_str().to_ascii_uppercase().parse(), Ok(id));
        assert!("0000000l".parse::<ConfirmationId>().is_err());
    }
}
