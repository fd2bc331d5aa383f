//! JSON of parameters: strict reading, errors that name the key, and schemas without references.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::json;

use super::{CallOptions, Facts, InvalidOptions, InvalidParams, Operation};
use crate::result::After;

/// Parameters or options that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// No operation of that name.
    #[error("this build has no such operation")]
    Unknown,
    /// No JSON, an unknown key, a missing one, or a value of another type.
    #[error("the parameters do not fit: {0}")]
    Shape(String),
    /// Out of bounds.
    #[error("{0}")]
    Params(#[from] InvalidParams),
    /// Options out of bounds.
    #[error("{0}")]
    Options(#[from] InvalidOptions),
}

/// serde's message with every quoted *value* left out: it may be typed text (contract 2.6). Names of keys stay.
pub(super) fn shape_text(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = match text.split_once("string \"") {
        Some((before, _)) => format!("{before}string"),
        None => text,
    };
    crate::escape::cut(&text, 300).into_owned()
}

fn shape(error: &serde_json::Error) -> DecodeError {
    DecodeError::Shape(shape_text(error))
}

pub(super) fn params<P: Operation>(json: &[u8]) -> Result<P, DecodeError> {
    let params: P = serde_json::from_slice(json).map_err(|error| shape(&error))?;
    params.check()?;
    Ok(params)
}

impl CallOptions {
    /// Reads options from JSON (empty stands for none) and checks them.
    pub fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        if json.is_empty() {
            return Ok(Self::default());
        }
        let options: Self = serde_json::from_slice(json).map_err(|error| shape(&error))?;
        options.check()?;
        Ok(options)
    }

    /// The options as JSON.
    pub fn encode(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

/// The JSON schema (2020-12) of what is read as `T`, without references.
pub fn schema<T: JsonSchema>() -> Schema {
    inline().into_generator().into_root_schema_for::<T>()
}

/// The JSON schema (2020-12) of what is written from a `T`, without references: what it always writes is required.
pub fn written_schema<T: JsonSchema>() -> Schema {
    inline().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// The schema of what an operation answers, with what the call options add to it.
pub(super) fn answered(mut output: Schema, facts: &Facts) -> Schema {
    if !facts.leaves_page() {
        return output;
    }
    let added = written_schema::<After>();
    let added = added.get("properties").and_then(serde_json::Value::as_object).cloned().unwrap_or_default();
    let properties = output.ensure_object().entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.extend(added);
    }
    output
}

fn inline() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true)
}

#[cfg(test)]
mod tests {
    use super::super::AnyOperation;
    use super::*;

    #[test]
    fn an_unknown_key_is_named_and_a_value_is_not() {
        let error = AnyOperation::decode("click", br#"{"target":"Save","bouton":"x"}"#).unwrap_err();
        assert!(error.to_string().contains("bouton"), "{error}");
        let error = AnyOperation::decode("observe", br#"{"maxBytes":"hunter2"}"#).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert!(AnyOperation::decode("observe", br#"{"maxBytes":1}"#).is_err());
        assert!(AnyOperation::decode("fly", b"{}").is_err());
    }

    #[test]
    fn options_are_strict() {
        assert!(CallOptions::decode(br#"{"timeoutMs":0}"#).is_err());
        assert!(CallOptions::decode(br#"{"timeOut":5}"#).is_err());
        assert!(CallOptions::decode(br#"{"guardScope":"page"}"#).is_err());
        assert!(CallOptions::decode(b"").is_ok());
    }
}
