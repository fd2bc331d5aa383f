//! How values that a page wrote to its console read: bounded, from what the browser sent along. Nothing of the page is
//! asked for, so no getter of it runs.

use std::fmt::Write as _;

use glass_proto::escape::cut;

use crate::cdp::types::remote::{ObjectPreview, PropertyPreview, RemoteObject};

/// Most values of a message.
const MAX_VALUES: usize = 16;
/// Most bytes of one of them.
const MAX_VALUE: usize = 512;

/// A message, its first value filled in with the others where it asks for that.
pub(super) fn message(values: &[RemoteObject]) -> String {
    let values = &values[..values.len().min(MAX_VALUES)];
    let Some((first, mut rest)) = values.split_first() else { return String::new() };
    let mut out = String::new();
    let first_text = value(first);
    let mut parts = first_text.split('%');
    out.push_str(parts.next().unwrap_or_default());
    let mut literal = false;
    for part in parts {
        let mut letters = part.chars();
        match letters.next() {
            _ if std::mem::take(&mut literal) => out.push_str(part),
            _ if first.kind != "string" => {
                let _ = write!(out, "%{part}");
            }
            // `%%` is one `%`, and what follows it stands for itself.
            None => {
                out.push('%');
                literal = true;
            }
            Some('s' | 'd' | 'i' | 'f' | 'o' | 'O') if !rest.is_empty() => {
                out.push_str(&value(&rest[0]));
                rest = &rest[1..];
                out.push_str(letters.as_str());
            }
            // A style.
            Some('c') if !rest.is_empty() => {
                rest = &rest[1..];
                out.push_str(letters.as_str());
            }
            Some(_) => {
                let _ = write!(out, "%{part}");
            }
        }
    }
    for other in rest {
        let _ = write!(out, " {}", value(other));
    }
    out
}

/// One value.
pub(super) fn value(of: &RemoteObject) -> String {
    let json = of.value.as_ref().map(|value| value.get());
    let shown = match (json, &of.unserializable_value, &of.preview, &of.description) {
        (Some(json), ..) => serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned()),
        (None, Some(text), ..) => text.clone(),
        (None, None, Some(preview), description) if of.subtype.as_deref() != Some("error") => {
            object(preview, description.as_deref())
        }
        (None, None, _, Some(text)) => text.clone(),
        (None, None, _, None) if of.subtype.as_deref() == Some("null") => "null".to_owned(),
        (None, None, _, None) => of.kind.clone(),
    };
    cut(&shown, MAX_VALUE).into_owned()
}

fn object(preview: &ObjectPreview, description: Option<&str>) -> String {
    let list = matches!(preview.subtype.as_deref(), Some("array" | "typedarray"));
    let name = preview.description.as_deref().or(description).unwrap_or_default();
    if preview.properties.is_empty() && preview.entries.is_empty() && !list && name != "Object" {
        return name.to_owned();
    }
    let mut parts: Vec<String> = preview.properties.iter().map(|property| part(property, list)).collect();
    parts.extend(preview.entries.iter().map(|entry| {
        let value = entry.value.description.as_deref().unwrap_or_default();
        match &entry.key {
            Some(key) => format!("{} => {value}", key.description.as_deref().unwrap_or_default()),
            None => value.to_owned(),
        }
    }));
    if preview.overflow {
        parts.push("…".to_owned());
    }
    let inside = parts.join(", ");
    let name = if name == "Object" { String::new() } else { format!("{name} ") };
    if list { format!("{name}[{inside}]") } else { format!("{name}{{{inside}}}") }
}

fn part(property: &PropertyPreview, list: bool) -> String {
    let value = property.value.as_deref().unwrap_or_default();
    let value = match property.kind.as_str() {
        "string" => format!("{value:?}"),
        "accessor" => "(…)".to_owned(),
        "function" => "function".to_owned(),
        "object" if value == "Object" => "{…}".to_owned(),
        _ => value.to_owned(),
    };
    if list && property.name.parse::<u64>().is_ok() { value } else { format!("{}: {value}", property.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(json: &str) -> Vec<RemoteObject> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn objects_lists_and_maps_are_shown_in_short() {
        let told = values(
            r#"[{"type":"string","value":"a"},
                {"type":"number","value":7,"description":"7"},
                {"type":"number","unserializableValue":"NaN"},
                {"type":"undefined"},
                {"type":"object","subtype":"null","value":null},
                {"type":"object","className":"Object","description":"Object","preview":{"type":"object","description":"Object","overflow":true,
                 "properties":[{"name":"a","type":"number","value":"1"},{"name":"b","type":"object","value":"Object"},{"name":"c","type":"string","value":"x"},{"name":"d","type":"accessor"}]}},
                {"type":"object","subtype":"array","description":"Array(2)","preview":{"type":"object","subtype":"array","description":"Array(2)","overflow":false,
                 "properties":[{"name":"0","type":"string","value":"x"},{"name":"1","type":"number","value":"2"}]}},
                {"type":"object","subtype":"map","description":"Map(1)","preview":{"type":"object","subtype":"map","description":"Map(1)","overflow":false,
                 "properties":[],"entries":[{"key":{"type":"string","description":"k","overflow":false,"properties":[]},"value":{"type":"number","description":"1","overflow":false,"properties":[]}}]}}]"#,
        );
        assert_eq!(
            message(&told),
            "a 7 NaN undefined null {a: 1, b: {…}, c: \"x\", d: (…), …} Array(2) [\"x\", 2] Map(1) {k => 1}"
        );
    }

    #[test]
    fn a_format_is_filled_in() {
        let told = |format: &str, others: &str| {
            message(&values(&format!(r#"[{{"type":"string","value":"{format}"}}{others}]"#)))
        };
        let two = r#",{"type":"string","value":"x"},{"type":"number","value":3}"#;
        assert_eq!(told("%s is %d%", two), "x is 3%");
        assert_eq!(told("%cstyled", r#",{"type":"string","value":"color:red"}"#), "styled");
        assert_eq!(told("100% sure", two), "100% sure x 3");
        assert_eq!(told("%s", ""), "%s");
        assert_eq!(told("%%s", two), "%s x 3");
    }
}
