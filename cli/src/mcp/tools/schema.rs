//! Schemas as every known client takes them (contract 9.5): flat objects, one type each, no composition, no references.
//!
//! What a schema then says less precisely is still checked: the operation's own types read the arguments.

use serde_json::{Map, Value, json};

use super::words::spoken;

/// Longest description of a property, in characters.
const PROPERTY: usize = 120;
/// Longest description of a tool, in characters.
const TOOL: usize = 600;

/// How deep the properties of objects are spelled out.
const SPELLED_OUT: usize = 3;

/// Keywords that are kept as they are. No defaults: what is absent says them, and a client that fills them in sends what
/// nobody asked for.
const KEPT: [&str; 8] =
    ["enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "required"];

/// A schema in the portable form.
pub(super) fn portable(schema: Value) -> Value {
    let whole = schema.clone();
    convert(&schema, &whole, 0)
}

/// A result's schema in the portable form, without words.
pub(super) fn output(schema: Value) -> Map<String, Value> {
    fn bare(schema: &mut Value) {
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("description");
            schema.get_mut("items").into_iter().for_each(bare);
            let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
            properties.into_iter().flat_map(|properties| properties.values_mut()).for_each(bare);
        }
    }
    let mut schema = portable(schema);
    bare(&mut schema);
    schema.as_object().cloned().unwrap_or_default()
}

/// The properties of an object's schema.
pub(super) fn properties(schema: &Value) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// What a tool does, in the words of tools.
pub(super) fn description(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    cut(text, TOOL)
}

/// The schema without its words.
pub(super) fn without_words(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("description");
        for bound in ["minimum", "maximum"] {
            schema.remove(bound);
        }
    }
    schema
}

fn convert(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(schema) = schema.as_object() else {
        // `true` takes anything.
        return json!({ "type": "object" });
    };
    if let Some(inner) = referred(schema, root) {
        // A type that holds itself ends where objects are no longer spelled out.
        if depth >= SPELLED_OUT {
            return json!({ "type": "object" });
        }
        let mut inner = convert(inner, root, depth);
        describe(&mut inner, schema, depth);
        return inner;
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        if let Some(variants) = schema.get(word).and_then(Value::as_array) {
            let mut joined = join(variants, root, depth);
            describe(&mut joined, schema, depth);
            return joined;
        }
    }
    let mut out = Map::new();
    if let Some(kind) = kind(schema) {
        out.insert("type".to_owned(), kind.into());
    }
    if let Some(only) = schema.get("const") {
        out.insert("type".to_owned(), type_of(only).into());
        out.insert("enum".to_owned(), json!([only]));
    }
    for word in KEPT {
        // Where the properties are not spelled out, none is named as required.
        let said = schema.get(word).filter(|_| word != "required" || depth < SPELLED_OUT);
        // That a count is not below zero goes without saying.
        if let Some(value) = said.filter(|value| word != "minimum" || **value != json!(0)) {
            out.insert(word.to_owned(), value.clone());
        }
    }
    if let Some(values) = out.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    if let Some(properties) =
        schema.get("properties").and_then(Value::as_object).filter(|_| depth < SPELLED_OUT)
    {
        let converted = properties
            .iter()
            .map(|(name, property)| (name.clone(), convert(property, root, depth + 1)))
            .collect::<Map<_, _>>();
        out.insert("properties".to_owned(), Value::Object(converted));
    }
    if let Some(items) = schema.get("items") {
        out.insert("items".to_owned(), convert(items, root, depth + 1));
    }
    let mut out = Value::Object(out);
    describe(&mut out, schema, depth);
    if out.get("type").is_none() {
        out["type"] = if out.get("properties").is_some() { "object" } else { "string" }.into();
    }
    out
}

/// What `$ref` points at.
fn referred<'a>(schema: &Map<String, Value>, root: &'a Value) -> Option<&'a Value> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// Several variants as one schema: enumerations as one, objects as one with every property of them.
fn join(variants: &[Value], root: &Value, depth: usize) -> Value {
    let variants: Vec<Value> = variants
        .iter()
        .filter(|variant| variant.get("type").and_then(Value::as_str) != Some("null"))
        .map(|variant| convert(variant, root, depth))
        .collect();
    if variants.len() == 1 {
        return variants.into_iter().next().unwrap_or_default();
    }
    let all = |word: &str| variants.iter().all(|variant| variant.get(word).is_some());
    if all("enum") {
        let values: Vec<Value> =
            variants.iter().filter_map(|variant| variant["enum"].as_array()).flatten().cloned().collect();
        let kind = values.first().map_or("string", type_of);
        return json!({ "type": kind, "enum": values });
    }
    let objects: Vec<&Map<String, Value>> =
        variants.iter().filter_map(|variant| variant.get("properties")?.as_object()).collect();
    if !objects.is_empty() {
        let mut properties = Map::new();
        for (name, property) in objects.into_iter().flatten() {
            properties.entry(name.clone()).or_insert_with(|| property.clone());
        }
        return json!({ "type": "object", "properties": properties });
    }
    variants.into_iter().next().unwrap_or_else(|| json!({ "type": "string" }))
}

/// One type name, not null.
fn kind(schema: &Map<String, Value>) -> Option<&str> {
    match schema.get("type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::String(_) | Value::Null => "string",
    }
}

/// Words stand at the tool and its arguments; further in, names must do: every client pays for every word each time.
fn describe(out: &mut Value, schema: &Map<String, Value>, depth: usize) {
    if depth > 1 {
        return;
    }
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        let text = text.replace("\n\n", ". ").replace('\n', " ");
        let limit = if schema.contains_key("properties") { 4 * TOOL } else { PROPERTY };
        out["description"] = cut(&text, limit).into();
    }
}

/// At most so many characters, up to the end of a sentence or a word.
fn cut(text: &str, limit: usize) -> String {
    let text = spoken(text);
    let text = text.trim();
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let end = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    let end = head.rfind(". ").or_else(|| head.rfind([';', ','])).or_else(|| head.rfind(' ')).unwrap_or(end);
    head[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nullable_enumerations_and_choices_become_plain() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "X",
            "description": "Do it\n\nWith care.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "n": { "type": ["integer", "null"], "format": "uint32", "minimum": 0, "default": null },
                "b": { "oneOf": [{ "const": "left", "type": "string", "description": "L" }, { "const": "right", "type": "string" }], "default": "left" },
                "c": { "anyOf": [{ "type": "object", "properties": { "a": { "type": "string" } } }, { "type": "null" }] },
                "d": { "$ref": "#/$defs/D" },
                "any": true,
                "list": { "type": "array", "items": { "anyOf": [{ "type": "string" }, { "type": "null" }] } }
            },
            "$defs": { "D": { "oneOf": [
                { "type": "object", "properties": { "not": { "$ref": "#/$defs/D" } } },
                { "type": "object", "properties": { "x": { "type": "string" } } }
            ] } }
        });
        let plain = portable(schema);
        let text = plain.to_string();
        for word in ["$", "anyOf", "oneOf", "null", "format", "title", "additionalProperties", "true"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        assert_eq!(plain["properties"]["n"], json!({ "type": "integer" }));
        assert_eq!(plain["properties"]["b"]["enum"], json!(["left", "right"]));
        assert!(!text.contains("default"), "{text}");
        assert_eq!(plain["properties"]["d"]["properties"]["x"]["type"], "string");
        assert_eq!(
            plain["properties"]["d"]["properties"]["not"]["properties"]["not"],
            json!({ "type": "object" })
        );
        assert_eq!(plain["properties"]["list"]["items"]["type"], "string");
        assert_eq!(description(&plain), "Do it. With care.");
    }

    #[test]
    fn long_words_end_at_a_sentence() {
        let text = format!("One. Two {}", "x".repeat(200));
        assert_eq!(cut(&text, 120), "One");
        assert_eq!(cut("short", 120), "short");
    }
}
