//! JSON-RPC messages: what a frame's text is, before anything is known of the protocol above it (contract 9.2).

use rmcp::model::RequestId;
use serde_json::{Map, Value, json};

/// The codes of JSON-RPC and of contract 9.
pub mod code {
    /// The text is no JSON.
    pub const PARSE: i32 = -32700;
    /// The JSON is no request that may be made now.
    pub const INVALID_REQUEST: i32 = -32600;
    /// The parameters do not fit.
    pub const INVALID_PARAMS: i32 = -32602;
    /// A fault of this program.
    pub const INTERNAL: i32 = -32603;
    /// Too many requests at once, on connections with a handshake.
    pub const OVERLOADED: i32 = -32000;
    /// The result is larger than its bound.
    pub const TOO_LARGE: i32 = -32001;
    /// A request before the handshake is done.
    pub const NOT_INITIALIZED: i32 = -32002;
    /// A protocol revision that is not spoken.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
    /// The client cancelled it.
    pub const CANCELLED: i32 = -32800;
}

/// One message.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// It wants an answer.
    Request {
        /// Its id.
        id: RequestId,
        /// Its method.
        method: String,
        /// The whole object.
        whole: Map<String, Value>,
    },
    /// It wants none.
    Notification {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// An answer. Nothing is ever asked of a client, so it belongs to nothing.
    Answer,
}

/// A text that is no message.
#[derive(Debug, PartialEq)]
pub struct Malformed {
    /// The error's code.
    pub code: i32,
    /// What is wrong.
    pub message: &'static str,
    /// The request's id, where it can be read.
    pub id: Option<RequestId>,
}

/// What a frame holds.
#[derive(Debug, PartialEq)]
pub enum Content {
    /// One JSON value.
    One(Value),
    /// An array of them.
    Batch(Vec<Value>),
}

/// Reads a frame as JSON.
///
/// # Errors
/// When it is none.
pub fn read(frame: &[u8]) -> Result<Content, Malformed> {
    let refused = |message| Malformed { code: code::PARSE, message, id: None };
    let text = std::str::from_utf8(frame).map_err(|_| refused("the message is not UTF-8"))?;
    match serde_json::from_str(text) {
        Ok(Value::Array(values)) => Ok(Content::Batch(values)),
        Ok(value) => Ok(Content::One(value)),
        // Half a surrogate pair is no character; the request can still be named.
        Err(_) => match serde_json::from_str::<Value>(&without_halves(text)) {
            Ok(Value::Object(whole)) if text.contains("\\u") => Err(Malformed {
                code: code::INVALID_REQUEST,
                message: "the message holds half a surrogate pair, which is no character",
                id: whole.get("id").and_then(id),
            }),
            _ => Err(refused("the message is not JSON")),
        },
    }
}

/// Reads one value as a message.
///
/// # Errors
/// When it is none.
pub fn classify(value: Value) -> Result<Message, Malformed> {
    let Value::Object(mut whole) = value else {
        return Err(Malformed {
            code: code::INVALID_REQUEST,
            message: "a message is a JSON object",
            id: None,
        });
    };
    let given = whole.contains_key("id");
    let known = whole.get("id").and_then(id);
    let refused = |message| Err(Malformed { code: code::INVALID_REQUEST, message, id: known.clone() });
    if whole.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refused("`jsonrpc` must be \"2.0\"");
    }
    let method = match whole.get("method") {
        Some(Value::String(method)) => method.clone(),
        None if whole.contains_key("result") || whole.contains_key("error") => return Ok(Message::Answer),
        _ => return refused("`method` must be a string"),
    };
    if whole.get("params").is_some_and(Value::is_null) {
        whole.remove("params");
    }
    if !whole.get("params").is_none_or(Value::is_object) {
        return Err(Malformed {
            code: code::INVALID_PARAMS,
            message: "`params` must be an object",
            id: known,
        });
    }
    match (given, known) {
        (false, _) => {
            Ok(Message::Notification { method, params: whole.remove("params").unwrap_or(Value::Null) })
        }
        (true, None) => Err(Malformed {
            code: code::INVALID_REQUEST,
            message: "`id` must be a string or an integer",
            id: None,
        }),
        (true, Some(id)) => Ok(Message::Request { id, method, whole }),
    }
}

/// A request's id: a string, or an integer.
pub fn id(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

/// The text of an error answer.
pub fn error(id: Option<&RequestId>, code: i32, message: &str, data: Option<Value>) -> Vec<u8> {
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data;
    }
    let id = id.map_or(Value::Null, |id| id.clone().into_json_value());
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()
}

/// The text of an answer.
pub fn answer(id: &RequestId, result: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": id.clone().into_json_value(), "result": result }).to_string().into_bytes()
}

/// The text with `\ufffd` for each `\uD800` to `\uDFFF` that has no other half.
fn without_halves(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        out.push_str(&text[at..start]);
        let (keep, size) = match unit(start) {
            Some(0xd800..=0xdbff) if matches!(unit(start + 6), Some(0xdc00..=0xdfff)) => (true, 12),
            Some(0xd800..=0xdfff) => (false, 6),
            Some(_) => (true, 6),
            None => (true, 1 + text[start + 1..].chars().next().map_or(0, char::len_utf8)),
        };
        out.push_str(if keep { &text[start..start + size] } else { "\\ufffd" });
        at = start + size;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Message, Malformed> {
        match read(text.as_bytes())? {
            Content::One(value) => classify(value),
            Content::Batch(_) => panic!("a batch"),
        }
    }

    fn refusal(text: &str) -> (i32, Option<RequestId>) {
        let error = one(text).unwrap_err();
        (error.code, error.id)
    }

    // contract: 9.2
    #[test]
    fn what_is_no_message_is_told_with_the_id_where_it_can_be_read() {
        let five = Some(RequestId::Number(5));
        assert_eq!(refusal("{"), (code::PARSE, None));
        assert_eq!(refusal(""), (code::PARSE, None));
        assert_eq!(refusal("7"), (code::INVALID_REQUEST, None));
        assert_eq!(refusal(r#"{"id":5,"method":"ping"}"#), (code::INVALID_REQUEST, five.clone()));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":5}"#), (code::INVALID_REQUEST, five.clone()));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), (code::INVALID_REQUEST, None));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#), (code::INVALID_REQUEST, None));
        let params = r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}"#;
        assert_eq!(refusal(params), (code::INVALID_PARAMS, five.clone()));
        let half = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"x":"\\\ud83d!"}}"#;
        assert_eq!(refusal(half), (code::INVALID_REQUEST, five));
        assert_eq!(read(b"\xff{}").unwrap_err().code, code::PARSE);
    }

    #[test]
    fn whole_pairs_stay_and_halves_go() {
        assert_eq!(
            without_halves(r"\ud83d\ude00 \\ud83d \ud83d \u0041\n"),
            r"\ud83d\ude00 \\ud83d \ufffd \u0041\n"
        );
        assert_eq!(without_halves("é\\"), "é\\");
    }

    #[test]
    fn messages_are_told_apart() {
        let request = one(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":null}"#).unwrap();
        assert!(matches!(request, Message::Request { id: RequestId::String(id), .. } if &*id == "a"));
        let note = one(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
        assert!(matches!(note, Message::Notification { params: Value::Null, .. }));
        assert_eq!(one(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(Message::Answer));
    }
}
