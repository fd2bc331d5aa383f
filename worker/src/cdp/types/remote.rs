//! `Runtime`'s values: results, arguments, exceptions.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A value of the page's script.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteObject {
    /// `object`, `function`, `undefined`, `string`, `number`, `boolean`, `symbol` or `bigint`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Such as `null`, `node`, `array`, `error`, `promise`.
    pub subtype: Option<String>,
    /// Name of the constructor.
    pub class_name: Option<String>,
    /// The value, when it came as JSON.
    pub value: Option<Box<RawValue>>,
    /// `NaN`, `Infinity`, `-0`, `123n`: what JSON cannot say.
    pub unserializable_value: Option<String>,
    /// What the console would print; page content.
    pub description: Option<String>,
    /// A handle on the object, when it did not come as JSON.
    pub object_id: Option<String>,
    /// What is in it, in short; page content.
    pub preview: Option<ObjectPreview>,
}

/// What is in an object, in short.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectPreview {
    /// Such as `array`, `map`, `error`.
    pub subtype: Option<String>,
    /// What the console would print in its place.
    pub description: Option<String>,
    /// There is more in it.
    #[serde(default)]
    pub overflow: bool,
    /// Its first properties.
    #[serde(default)]
    pub properties: Vec<PropertyPreview>,
    /// The first entries of a map or a set.
    #[serde(default)]
    pub entries: Vec<EntryPreview>,
}

/// A property, in short.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PropertyPreview {
    /// Its name.
    pub name: String,
    /// Such as `string`, `object`, `accessor`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Its value as text.
    pub value: Option<String>,
}

/// An entry of a map or a set, in short.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryPreview {
    /// The key of a map's.
    pub key: Option<ObjectPreview>,
    /// The value.
    pub value: ObjectPreview,
}

/// What a script threw.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionDetails {
    /// Its number.
    #[serde(default)]
    pub exception_id: i64,
    /// A short text, such as `Uncaught`.
    #[serde(default)]
    pub text: String,
    /// Line, from 0.
    #[serde(default)]
    pub line_number: i64,
    /// Column, from 0.
    #[serde(default)]
    pub column_number: i64,
    /// Of the script.
    pub url: Option<String>,
    /// The value thrown.
    pub exception: Option<RemoteObject>,
    /// Where.
    pub execution_context_id: Option<i64>,
}

/// An argument of a function: exactly one member is set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallArgument<'a> {
    /// A JSON value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<&'a RawValue>,
    /// `NaN`, `Infinity`, `-0`, `123n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unserializable_value: Option<&'a str>,
    /// An object of the same context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<&'a str>,
}
