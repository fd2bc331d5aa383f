//! The outer shape of a message: which call it answers, or which event it is.
//!
//! Parses the envelope only; parameters and results stay raw JSON until the one who wants them decodes them, so a
//! reply of megabytes is not turned into a tree on the way.

use std::sync::Arc;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::decode;

/// Something that happened in the browser.
#[derive(Clone, Debug)]
pub struct Event {
    /// The session that it came from; `None` for the browser itself.
    pub session: Option<Arc<str>>,
    /// Domain and name, such as `Page.frameNavigated`.
    pub method: String,
    /// The parameters, not yet parsed; `null` when there were none.
    pub params: Box<RawValue>,
}

impl Event {
    /// The parameters as a type of [`super::types`].
    ///
    /// # Errors
    /// When they do not have that shape. The text may quote the page: for logs at debug level only.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        decode::from_raw(&self.params)
    }
}

/// The error member of a reply.
#[derive(Debug, Deserialize)]
pub(super) struct WireError {
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) data: Option<Box<RawValue>>,
}

/// A message of the browser, sorted.
#[derive(Debug)]
pub(super) enum Incoming {
    Reply {
        id: u64,
        result: Result<Box<RawValue>, WireError>,
    },
    Event(Event),
    /// An error that names no call: the browser could not read what we sent.
    Complaint(WireError),
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default, rename = "sessionId")]
    session: Option<String>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<WireError>,
}

/// Sorts one message.
pub(super) fn parse(message: &[u8]) -> Result<Incoming, serde_json::Error> {
    let envelope: Envelope<'_> = serde_json::from_slice(message)?;
    let owned = |raw: Option<&RawValue>| raw.unwrap_or(RawValue::NULL).to_owned();
    if let Some(method) = envelope.method {
        let session = envelope.session.map(Into::into);
        return Ok(Incoming::Event(Event { session, method, params: owned(envelope.params) }));
    }
    match (envelope.id, envelope.error) {
        (Some(id), Some(error)) => Ok(Incoming::Reply { id, result: Err(error) }),
        (Some(id), None) => Ok(Incoming::Reply { id, result: Ok(owned(envelope.result)) }),
        (None, Some(error)) => Ok(Incoming::Complaint(error)),
        (None, None) => Err(serde::de::Error::missing_field("id")),
    }
}

/// The id of a reply from its first bytes; `None` for an event or anything else.
pub(super) fn id_in_head(head: &[u8]) -> Option<u64> {
    let digits = after_key(head, b"\"id\"")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

/// The method of an event from its first bytes.
pub(super) fn method_in_head(head: &[u8]) -> Option<&str> {
    let text = after_key(head, b"\"method\"")?.strip_prefix(b"\"")?;
    let end = text.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&text[..end]).ok()
}

/// What follows `{ KEY :`, when KEY is the first member.
fn after_key<'a>(head: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let inside = head.trim_ascii_start().strip_prefix(b"{")?.trim_ascii_start();
    let value = inside.strip_prefix(key)?.trim_ascii_start().strip_prefix(b":")?;
    Some(value.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replies_and_events_are_told_apart() {
        let reply = parse(br#"{"id":4,"result":{"a":[1]},"sessionId":"S"}"#).expect("a reply");
        assert!(matches!(reply, Incoming::Reply { id: 4, result: Ok(raw) } if raw.get() == r#"{"a":[1]}"#));

        let refused =
            parse(br#"{"id":5,"error":{"code":-32000,"message":"no","data":"x"}}"#).expect("a reply");
        assert!(matches!(refused, Incoming::Reply { id: 5, result: Err(WireError { code: -32000, .. }) }));

        let event =
            parse(br#"{"method":"Page.loadEventFired","sessionId":"S","extra":1}"#).expect("an event");
        let Incoming::Event(event) = event else { panic!("an event expected") };
        assert_eq!((event.session.as_deref(), event.method.as_str()), (Some("S"), "Page.loadEventFired"));
        assert_eq!(event.params.get(), "null");

        assert!(matches!(parse(br#"{"error":{"code":-32700}}"#), Ok(Incoming::Complaint(_))));
        assert!(parse(b"{}").is_err());
        assert!(parse(b"").is_err());
    }

    #[test]
    fn the_head_of_a_dropped_message_names_it() {
        assert_eq!(id_in_head(br#"{"id":123,"result":{"#), Some(123));
        assert_eq!(id_in_head(br#" { "id" : 9 ,"#), Some(9));
        assert_eq!(id_in_head(br#"{"method":"A.b","params":{"id":3}"#), None);
        assert_eq!(id_in_head(br#"{"id":12"#), None, "a number that may go on is not an id");
        assert_eq!(method_in_head(br#"{"method":"A.b","params":{"id":3}"#), Some("A.b"));
        assert_eq!(method_in_head(br#"{"id":123,"#), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_sorted_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _outcome = parse(&bytes);
            let _id = id_in_head(&bytes);
            let _method = method_in_head(&bytes);
        }
    }
}
