//! A JSON schema as rows: one for each field, nested ones by their path.

use serde_json::Value;

/// One field.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    /// Its path, `evidence.popups[].targetId`.
    pub(super) path: String,
    /// What it holds, in words.
    pub(super) kind: String,
    /// Whether it is always there.
    pub(super) required: bool,
    /// What it means.
    pub(super) meaning: String,
}

/// Deeper levels are left to the schema itself.
const DEPTH: usize = 6;

/// The fields of an object.
pub(super) fn rows(schema: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    walk(schema, "", 0, &mut rows);
    rows
}

fn walk(schema: &Value, path: &str, depth: usize, rows: &mut Vec<Row>) {
    if depth > DEPTH {
        return;
    }
    for shape in shapes(schema) {
        walk(shape, path, depth + 1, rows);
    }
    let Some(fields) = schema["properties"].as_object() else {
        return;
    };
    for (name, field) in fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let required = schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let meaning = field["description"].as_str().unwrap_or_default().to_owned();
        // Another shape of the same object may have the same field.
        if !rows.iter().any(|row| row.path == path) {
            rows.push(Row { path: path.clone(), kind: kind(field), required, meaning });
        }
        let field = only(field);
        match field["items"].is_object() {
            true => walk(only(&field["items"]), &format!("{path}[]"), depth + 1, rows),
            false => walk(field, &path, depth + 1, rows),
        }
    }
}

/// Different shapes that an object may have; not the words of a choice.
fn shapes(schema: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf", "allOf"]
        .into_iter()
        .filter_map(|key| schema[key].as_array())
        .flatten()
        .filter(|shape| shape.get("properties").is_some() || shape.get("oneOf").is_some())
}

/// What is there when it is not null.
fn only(schema: &Value) -> &Value {
    let choice = schema["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    match choice.iter().filter(|one| one["type"] != "null").collect::<Vec<_>>()[..] {
        [one] => one,
        _ => schema,
    }
}

/// What a value is, in words.
pub(super) fn kind(schema: &Value) -> String {
    let schema = only(schema);
    if let Some(words) = words(schema) {
        return words.join(", ");
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect()
        }
        _ if schema.get("oneOf").is_some() || schema.get("anyOf").is_some() => vec!["one of several shapes"],
        _ => vec!["any JSON"],
    };
    match names[..] {
        ["array"] => format!("list of {}", kind(&schema["items"])),
        ["integer"] => match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
            (Some(least), Some(most)) => format!("integer, {least} to {most}"),
            (Some(least), None) if least > 0 => format!("integer, from {least}"),
            _ => "integer".to_owned(),
        },
        _ => names.join(" or "),
    }
}

/// The words of a choice.
fn words(schema: &Value) -> Option<Vec<String>> {
    let word = |value: &Value| value.as_str().map(|word| format!("`{word}`"));
    if let Some(word) = word(&schema["const"]) {
        return Some(vec![word]);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter(|one| !one.is_null()).map(word).collect();
    }
    let choices = schema["oneOf"].as_array()?;
    let words: Option<Vec<_>> = choices.iter().map(words).collect();
    words.map(|words| words.concat())
}

#[test]
fn a_schema_reads_as_rows() {
    let schema = serde_json::json!({
        "properties": {
            "name": {"type": ["string", "null"], "description": "A name"},
            "button": {"oneOf": [{"const": "left"}, {"enum": ["right"]}]},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1, "maximum": 9}}}},
        },
        "required": ["button"],
    });
    let got: Vec<_> = rows(&schema).into_iter().map(|row| (row.path, row.kind, row.required)).collect();
    let row = |path: &str, kind: &str, required| (path.to_owned(), kind.to_owned(), required);
    assert_eq!(
        got,
        [
            row("name", "string", false),
            row("button", "`left`, `right`", true),
            row("rows", "list of object", false),
            row("rows[].id", "integer, 1 to 9", false)
        ]
    );
}
