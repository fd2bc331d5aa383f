//! V8's deep serialisation as JSON: exact, or refused with the kind of thing that JSON has no word for.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// What JSON cannot say.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum NotJson {
    /// A kind of object or value.
    #[error("it holds {0}")]
    Kind(&'static str),
    /// An object that holds itself.
    #[error("it holds itself")]
    Cycle,
    /// Too deep.
    #[error("it is nested deeper than {} levels", super::MAX_DEPTH)]
    Depth,
    /// More JSON than an answer holds; shared objects count as often as they are referred to.
    #[error("it is larger than {} bytes", glass_proto::op::Evaluate::MAX_VALUE)]
    Large,
    /// Something that this build does not know.
    #[error("it holds something of an unknown kind")]
    Unknown,
}

/// Decodes `deepSerializedValue`.
pub(super) fn decode(raw: &RawValue) -> Result<Value, NotJson> {
    let value: Value = serde_json::from_str(raw.get()).map_err(|_| NotJson::Depth)?;
    Decoder::default().value(&value)?.ok_or(NotJson::Kind("undefined")).or(Ok(Value::Null))
}

/// Decodes a list of a value and of the texts of files that the script kept beside it: name, media type and base64 of
/// each. The bound of values is not one of these.
pub(super) fn decode_with_files(raw: &RawValue) -> Result<(Value, Vec<String>), NotJson> {
    let list: Value = serde_json::from_str(raw.get()).map_err(|_| NotJson::Depth)?;
    let parts = list.get("value").and_then(Value::as_array).filter(|parts| parts.len() == 2);
    let Some([value, files]) = parts.map(Vec::as_slice) else { return Err(NotJson::Unknown) };
    let value = Decoder::default().value(value)?.unwrap_or(Value::Null);
    let texts = files.get("value").and_then(Value::as_array).ok_or(NotJson::Unknown)?;
    let text = |node: &Value| node.get("value").and_then(Value::as_str).map(str::to_owned);
    let texts = texts.iter().map(text).collect::<Option<Vec<_>>>().ok_or(NotJson::Unknown)?;
    Ok((value, texts))
}

/// A primitive that came without its deep form.
pub(super) fn plain(
    kind: &str,
    value: Option<&RawValue>,
    unserializable: Option<&str>,
    subtype: Option<&str>,
) -> Result<Value, NotJson> {
    match (kind, value, unserializable) {
        ("undefined", ..) => Ok(Value::Null),
        ("object", ..) if subtype == Some("null") => Ok(Value::Null),
        (_, Some(raw), _) => serde_json::from_str(raw.get()).map_err(|_| NotJson::Unknown),
        ("bigint", ..) => Err(NotJson::Kind("a BigInt")),
        ("number", _, Some("-0")) => Ok(Value::Number(Number::from(0))),
        ("number", ..) => Err(NotJson::Kind("NaN or Infinity")),
        ("function", ..) => Err(NotJson::Kind("a function")),
        ("symbol", ..) => Err(NotJson::Kind("a symbol")),
        _ => Err(NotJson::Unknown),
    }
}

#[derive(Default)]
struct Decoder {
    /// Objects that are referred to again, by V8's id, with their size. None while one is being read.
    done: HashMap<u64, Option<(Value, usize)>>,
    /// Bytes that the JSON of what was read takes at least.
    size: usize,
}

impl Decoder {
    /// None stands for undefined.
    fn value(&mut self, node: &Value) -> Result<Option<Value>, NotJson> {
        let kind = node.get("type").and_then(Value::as_str).ok_or(NotJson::Unknown)?;
        let id = node.get("weakLocalObjectReference").and_then(Value::as_u64);
        let content = node.get("value");
        if let (Some(id), None) = (id, content) {
            let (value, size) = match self.done.get(&id) {
                Some(Some(done)) => done,
                Some(None) => return Err(NotJson::Cycle),
                None => return Err(NotJson::Depth),
            };
            // Before it is copied: objects that hold others twice, those others twice, and so on, grow without end.
            self.size = fits(self.size + size)?;
            return Ok(Some(value.clone()));
        }
        let Some(id) = id else { return self.content(kind, content) };
        self.done.insert(id, None);
        let before = self.size;
        let value = self.content(kind, content)?;
        match &value {
            Some(value) => self.done.insert(id, Some((value.clone(), self.size - before))),
            None => self.done.remove(&id),
        };
        Ok(value)
    }

    fn content(&mut self, kind: &str, content: Option<&Value>) -> Result<Option<Value>, NotJson> {
        let value = match (kind, content) {
            ("undefined", _) => return Ok(None),
            ("null", _) => Value::Null,
            ("string" | "boolean", Some(value)) => value.clone(),
            ("number", Some(Value::Number(number))) => Value::Number(number.clone()),
            ("number", Some(Value::String(word))) if word == "-0" => Value::Number(Number::from(0)),
            ("number", _) => return Err(NotJson::Kind("NaN or Infinity")),
            // What JSON.stringify gives.
            ("date", Some(value)) => value.clone(),
            ("array", Some(Value::Array(items))) => {
                let items = items.iter().map(|item| Ok(self.value(item)?.unwrap_or(Value::Null)));
                Value::Array(items.collect::<Result<_, NotJson>>()?)
            }
            ("object", Some(Value::Array(pairs))) => self.object(pairs)?,
            ("array" | "object", None) => return Err(NotJson::Depth),
            ("bigint", _) => return Err(NotJson::Kind("a BigInt")),
            ("function", _) => return Err(NotJson::Kind("a function")),
            ("symbol", _) => return Err(NotJson::Kind("a symbol")),
            ("regexp", _) => return Err(NotJson::Kind("a regular expression")),
            ("map" | "weakmap", _) => return Err(NotJson::Kind("a Map")),
            ("set" | "weakset", _) => return Err(NotJson::Kind("a Set")),
            ("error", _) => return Err(NotJson::Kind("an Error")),
            ("proxy", _) => return Err(NotJson::Kind("a Proxy")),
            ("promise", _) => return Err(NotJson::Kind("a promise")),
            ("typedarray" | "arraybuffer", _) => return Err(NotJson::Kind("binary data")),
            ("node" | "window" | "htmlcollection" | "nodelist", _) => {
                return Err(NotJson::Kind("a part of the document"));
            }
            ("generator", _) => return Err(NotJson::Kind("a generator")),
            _ => return Err(NotJson::Unknown),
        };
        let more = match &value {
            Value::String(text) => text.len() + 2,
            Value::Array(_) | Value::Object(_) => 2,
            _ => 1,
        };
        self.size = fits(self.size + more)?;
        Ok(Some(value))
    }

    fn object(&mut self, pairs: &[Value]) -> Result<Value, NotJson> {
        let mut object = Map::new();
        for pair in pairs {
            let Some((key, value)) = pair.as_array().and_then(|pair| Some((pair.first()?, pair.get(1)?)))
            else {
                return Err(NotJson::Unknown);
            };
            let key = key.as_str().ok_or(NotJson::Unknown)?;
            if let Some(value) = self.value(value)? {
                object.insert(key.to_owned(), value);
            }
        }
        Ok(Value::Object(object))
    }
}

fn fits(size: usize) -> Result<usize, NotJson> {
    if size > glass_proto::op::Evaluate::MAX_VALUE { Err(NotJson::Large) } else { Ok(size) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fuzz_values() {
        let words =
            ["\"type\":\"object\"", "\"type\":\"array\"", "\"value\":[", "\"weakLocalObjectReference\":1"];
        glass_fuzz::run("value", &words, |input| {
            let Ok(raw) = serde_json::from_slice::<Box<RawValue>>(input) else { return "no JSON".to_owned() };
            format!("{:?}", decode(&raw).map(|value| value.to_string().len().min(64)))
        });
    }

    fn read(value: &Value) -> Result<Value, NotJson> {
        decode(&serde_json::value::to_raw_value(value).unwrap())
    }

    #[test]
    fn plain_data_is_exact() {
        let object = json!({ "type": "object", "value": [
            ["a", { "type": "number", "value": 1.5 }], ["b", { "type": "undefined" }],
            ["c", { "type": "array", "value": [{ "type": "null" }, { "type": "undefined" }, { "type": "string", "value": "é" }] }],
        ] });
        assert_eq!(read(&object), Ok(json!({ "a": 1.5, "c": [null, null, "é"] })));
        assert_eq!(read(&json!({ "type": "undefined" })), Ok(Value::Null));
    }

    #[test]
    fn what_is_no_json_is_refused_by_name() {
        assert_eq!(read(&json!({ "type": "number", "value": "NaN" })), Err(NotJson::Kind("NaN or Infinity")));
        assert_eq!(read(&json!({ "type": "map", "value": [] })), Err(NotJson::Kind("a Map")));
        assert_eq!(
            read(&json!({ "type": "array", "value": [{ "type": "bigint", "value": "1" }] })),
            Err(NotJson::Kind("a BigInt"))
        );
    }

    #[test]
    fn an_object_seen_twice_is_there_twice_and_a_cycle_is_refused() {
        let shared = json!({ "type": "array", "value": [
            { "type": "object", "weakLocalObjectReference": 1, "value": [["x", { "type": "number", "value": 1 }]] },
            { "type": "object", "weakLocalObjectReference": 1 },
        ] });
        assert_eq!(read(&shared), Ok(json!([{ "x": 1 }, { "x": 1 }])));
        let cycle = json!({ "type": "object", "weakLocalObjectReference": 1, "value": [["me", { "type": "object", "weakLocalObjectReference": 1 }]] });
        assert_eq!(read(&cycle), Err(NotJson::Cycle));
    }

    #[test]
    fn objects_that_hold_each_other_twice_do_not_grow_without_end() {
        let mut value = json!({ "type": "array", "weakLocalObjectReference": 0, "value": [] });
        for id in 1..38 {
            let again = json!({ "type": "array", "weakLocalObjectReference": id - 1 });
            value = json!({ "type": "array", "weakLocalObjectReference": id, "value": [value, again] });
        }
        assert_eq!(read(&value), Err(NotJson::Large));
    }
}
