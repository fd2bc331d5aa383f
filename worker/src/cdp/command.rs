//! What a command is, and how it is written on the wire.

use serde::{Serialize, de::DeserializeOwned};

/// A command of the protocol: its parameters are the value itself.
///
/// The structs of [`super::types`] implement it, so that a method's name, parameters and reply cannot be mixed up.
pub trait Command: Serialize {
    /// Domain and name, such as `Page.navigate`.
    const METHOD: &'static str;
    /// What the browser answers.
    type Reply: DeserializeOwned;
}

#[derive(Serialize)]
struct Envelope<'a, P> {
    id: u64,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    method: &'static str,
    params: &'a P,
}

/// The bytes of one command with its terminator.
pub(super) fn encode<P: Serialize>(
    id: u64,
    session: Option<&str>,
    method: &'static str,
    params: &P,
) -> Result<Vec<u8>, serde_json::Error> {
    // JSON escapes NUL inside strings, so the only NUL byte is the terminator.
    let mut bytes = serde_json::to_vec(&Envelope { id, session, method, params })?;
    bytes.push(0);
    Ok(bytes)
}

/// Declares what a parameter struct is the command of.
macro_rules! command {
    ($name:ident $(<$life:lifetime>)? = $method:literal -> $reply:ty) => {
        impl $(<$life>)? $crate::cdp::Command for $name $(<$life>)? {
            const METHOD: &'static str = $method;
            type Reply = $reply;
        }
    };
}
pub(super) use command;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ends_in_its_only_nul() {
        #[derive(Serialize)]
        struct Params {
            text: &'static str,
        }
        let bytes = encode(3, Some("S"), "Input.insertText", &Params { text: "a\0b" }).expect("JSON");
        let expected =
            br#"{"id":3,"sessionId":"S","method":"Input.insertText","params":{"text":"a\u0000b"}}"#;
        assert_eq!(bytes.strip_suffix(b"\0"), Some(&expected[..]));
    }
}
