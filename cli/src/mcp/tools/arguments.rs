//! From a client's arguments to an operation and its options.
//!
//! Takes what clients make of a schema: nulls for what is absent, numbers and objects as strings, older names. What the
//! operation does not know is an error that names it; nothing is ignored.

use glass_proto::op::{AnyOperation, CallOptions, Facts, Interaction, Observe, Screenshot};
use glass_proto::{OpError, SessionName};
use serde_json::{Map, Value};

use super::table::OTHER_FORMS;
use super::words::spoken;
use super::{Entry, Tools};

/// Room for what stands around an observation: our own line, and the marks.
const AROUND: u32 = 128;

/// A call that can be sent.
#[derive(Clone, Debug)]
pub struct Call {
    /// The operation with its parameters.
    pub operation: AnyOperation,
    /// What every operation takes.
    pub options: CallOptions,
    /// The session that the call names.
    pub session: Option<SessionName>,
    /// Whether a failure carries its trace.
    pub include_trace: bool,
    /// Whether the call itself chose a picture's format.
    pub chose_format: bool,
}

/// Reads the arguments of a call.
///
/// # Errors
/// `invalid_argument`: names the argument, never its value.
pub fn prepare(
    tools: &Tools,
    entry: &Entry,
    arguments: Map<String, Value>,
    key: Option<String>,
) -> Result<Call, OpError> {
    let mut params = Map::new();
    let mut options = Map::new();
    let (mut session, mut include_trace) = (None, false);
    for (name, value) in arguments {
        // An explicit null counts as absent.
        if value.is_null() {
            continue;
        }
        if let Some(schema) = entry.params.get(&name) {
            params.insert(name, taken(schema, value));
        } else if let Some(schema) = tools.options.get(&name) {
            options.insert(name, taken(schema, value));
        } else if name == "includeTrace" {
            include_trace = flag(&value).ok_or_else(|| wrong("includeTrace is true or false"))?;
        } else if name == "session" {
            session = Some(session_name(&value)?);
        } else {
            // The operation's own types name what they do not know.
            params.insert(name, value);
        }
    }
    other_forms(entry, &mut params)?;
    if entry.facts.name == "batch" {
        steps(tools, &mut params)?;
    }
    if let Some(key) = key {
        options.insert("idempotencyKey".to_owned(), key.into());
    }
    // Who acts by calls wants to know what came of one without another call.
    if entry.facts.leaves_page() && entry.facts.targeted {
        options.entry("observe").or_insert_with(|| "summary".into());
    }
    let chose_format = params.contains_key("format");
    let chose_size = params.contains_key("maxBytes");
    let remedy = || format!("{} takes: {}", entry.facts.name, known(entry));
    let decoded = AnyOperation::decode(entry.facts.name, Value::Object(params).to_string().as_bytes());
    let mut operation = decoded.map_err(|error| OpError::invalid(spoken(&error.to_string()), remedy()))?;
    if let AnyOperation::Screenshot(picture) = &mut operation {
        picture.max_side.get_or_insert(Screenshot::MODEL_SIDE);
    }
    if let AnyOperation::Observe(observe) = &mut operation
        && !chose_size
    {
        observe.max_bytes = Observe::default_max_bytes() - AROUND;
    }
    let decoded = CallOptions::decode(Value::Object(options).to_string().as_bytes());
    let mut options = decoded.map_err(|error| OpError::invalid(spoken(&error.to_string()), remedy()))?;
    if operation.points() && tools.interaction != Interaction::Fast {
        options.interaction.get_or_insert(tools.interaction);
    }
    operation
        .check_options(&options)
        .map_err(|error| OpError::invalid(error.to_string(), "leave it out for this tool"))?;
    Ok(Call { operation, options, session, include_trace, chose_format })
}

/// The arguments of a batch's steps, read as those of calls are.
fn steps(tools: &Tools, params: &mut Map<String, Value>) -> Result<(), OpError> {
    let steps = params.get_mut("steps").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten().filter_map(Value::as_object_mut) {
        let name = step.get("operation").or_else(|| step.get("action")).and_then(Value::as_str);
        let Some(entry) = name.and_then(Facts::of).and_then(|facts| tools.get(facts.name)) else { continue };
        let given = std::mem::take(step);
        for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
            let schema = entry.params.get(&name).or_else(|| tools.options.get(&name));
            let value = schema.map_or_else(|| value.clone(), |schema| taken(schema, value.clone()));
            step.insert(name, value);
        }
        other_forms(entry, step)?;
        if entry.facts.name == "screenshot" {
            step.entry("maxSide").or_insert_with(|| Screenshot::MODEL_SIDE.into());
        }
    }
    Ok(())
}

fn wrong(message: &str) -> OpError {
    OpError::invalid(message, "see the tool's schema")
}

fn session_name(value: &Value) -> Result<SessionName, OpError> {
    let name = value.as_str().and_then(|text| text.parse().ok());
    name.ok_or_else(|| {
        wrong("session is 1 to 63 of a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit")
    })
}

fn known(entry: &Entry) -> String {
    let names: Vec<_> = entry.params.keys().map(String::as_str).collect();
    if names.is_empty() { "no arguments of its own".to_owned() } else { names.join(", ") }
}

/// Replaces other forms of arguments by the operation's own.
fn other_forms(entry: &Entry, params: &mut Map<String, Value>) -> Result<(), OpError> {
    for (form, argument) in OTHER_FORMS {
        if entry.params.contains_key(form) || !entry.params.contains_key(argument) {
            continue;
        }
        let Some(value) = params.remove(form) else { continue };
        if params.contains_key(argument) {
            return Err(wrong(&format!("{form} stands for {argument}; give one of them")));
        }
        let value = match (form, value) {
            // Quoted: a selector may hold what ends a locator's value.
            ("selector", Value::String(css)) => format!("css={}", Value::from(css)).into(),
            ("key", Value::String(key)) => Value::from(vec![key]),
            (_, value @ Value::Array(_)) => value,
            _ => return Err(wrong(&format!("{form} is a string"))),
        };
        params.insert(argument.to_owned(), value);
    }
    Ok(())
}

/// The value as the schema's type, where a client sent it as a string and the meaning is certain.
fn taken(schema: &Value, value: Value) -> Value {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    match (kind, value) {
        ("integer", Value::Number(number)) => whole(&number).map_or(Value::Number(number), Value::from),
        ("integer", Value::String(text)) => {
            text.trim().parse::<i64>().map_or(Value::String(text), Value::from)
        }
        ("number", Value::String(text)) => match text.trim().parse::<serde_json::Number>() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::String(text),
        },
        ("boolean", value) => flag(&value).map_or(value, Value::Bool),
        ("array", Value::String(text)) => match serde_json::from_str(&text) {
            Ok(list @ Value::Array(_)) => items(schema, list),
            _ if plain_strings(schema) => Value::from(vec![text]),
            _ => Value::String(text),
        },
        ("object", Value::String(text)) => match serde_json::from_str(&text) {
            Ok(object @ Value::Object(_)) => members(schema, object),
            _ => Value::String(text),
        },
        ("array", list @ Value::Array(_)) => items(schema, list),
        ("object", object @ Value::Object(_)) => members(schema, object),
        (_, value) => value,
    }
}

fn plain_strings(schema: &Value) -> bool {
    schema["items"]["type"] == "string"
}

fn items(schema: &Value, list: Value) -> Value {
    match (list, schema.get("items")) {
        (Value::Array(list), Some(item)) => list.into_iter().map(|value| taken(item, value)).collect(),
        (list, _) => list,
    }
}

fn members(schema: &Value, object: Value) -> Value {
    let Value::Object(object) = object else { return object };
    let properties = schema.get("properties");
    let taken =
        object.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
            match properties.and_then(|all| all.get(&name)) {
                Some(schema) => (name, taken(schema, value)),
                None => (name, value),
            }
        });
    Value::Object(taken.collect())
}

/// `600.0` as 600.
fn whole(number: &serde_json::Number) -> Option<i64> {
    let value = number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0)?;
    // Beyond this a double is no exact integer.
    #[expect(clippy::cast_possible_truncation, reason = "within the range just checked")]
    (value.abs() < 9_007_199_254_740_992.0).then_some(value as i64)
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Listed;
    use super::*;

    fn call(tool: &str, arguments: Value) -> Result<Call, OpError> {
        let tools = Tools::new(&Listed::All, false);
        let Value::Object(arguments) = arguments else { panic!("no object") };
        prepare(&tools, tools.get(tool).unwrap(), arguments, None)
    }

    fn params(tool: &str, arguments: Value) -> Value {
        serde_json::from_slice(&call(tool, arguments).unwrap().operation.encode().unwrap()).unwrap()
    }

    // contract: 9.5
    #[test]
    fn what_clients_send_as_strings_is_taken_where_the_meaning_is_certain() {
        let sent = params("observe", json!({ "maxBytes": "2048", "interactive": "true", "scope": null }));
        assert_eq!((&sent["maxBytes"], &sent["interactive"]), (&json!(2048), &json!(true)));
        assert_eq!(params("find", json!({ "target": "5", "limit": 7.0 }))["limit"], 7);
        let call = call("click", json!({ "target": "Save", "timeoutMs": "900", "expectedRevision": "3" }));
        let options = call.unwrap().options;
        assert_eq!((options.timeout_ms, options.expected_revision.map(u64::from)), (Some(900), Some(3)));
        assert_eq!(
            params("click", json!({ "target": "x", "modifiers": "[\"Shift\"]" }))["modifiers"],
            json!(["Shift"])
        );
        assert_eq!(params("fill", json!({ "target": "x", "text": "007" }))["text"], "007");
    }

    #[test]
    fn what_is_not_certain_is_refused_without_its_value() {
        for (tool, arguments) in [
            ("observe", json!({ "maxBytes": "hunter2" })),
            ("click", json!({ "target": "Save", "bouton": "hunter2" })),
            ("click", json!({ "target": "Save", "selector": "hunter2" })),
            ("click", json!({ "selector": 5 })),
            ("click", json!({})),
            ("observe", json!({ "expectedRevision": 3 })),
            ("observe", json!({ "includeTrace": "hunter2" })),
            ("observe", json!({ "session": "../hunter2" })),
        ] {
            let error = call(tool, arguments.clone()).unwrap_err();
            assert_eq!(error.kind, glass_proto::ErrorKind::InvalidArgument, "{arguments}");
            assert!(!error.message.contains("hunter2") && !error.remedy.contains("hunter2"), "{error:?}");
        }
    }

    // contract: 6, 9.5
    #[test]
    fn steps_of_a_batch_are_taken_like_calls() {
        let steps = json!([
            { "operation": "click", "selector": "#a", "timeoutMs": "900" },
            { "action": "key", "key": "Enter", "frame": null },
        ]);
        let sent = params("batch", json!({ "steps": steps.to_string() }));
        assert_eq!(
            (&sent["steps"][0]["target"], &sent["steps"][0]["timeoutMs"]),
            (&json!("css=\"#a\""), &json!(900))
        );
        assert_eq!(sent["steps"][1]["keys"], json!(["Enter"]));
        assert!(
            call("batch", json!({ "steps": [{ "operation": "click", "target": "a", "bouton": 1 }] }))
                .is_err()
        );
    }

    // contract: 2.5
    #[test]
    fn a_mutation_tells_what_changed_unless_it_shall_not() {
        let observe = |tool, arguments| call(tool, arguments).unwrap().options.observe;
        use glass_proto::op::ObserveAfter as After;
        assert_eq!(observe("click", json!({ "target": "e1" })), Some(After::Summary));
        assert_eq!(observe("click", json!({ "target": "e1", "observe": "none" })), Some(After::None));
        assert_eq!(observe("acceptDialog", json!({ "observe": "full" })), Some(After::Full));
        for (tool, arguments) in
            [("getText", json!({})), ("listDownloads", json!({})), ("closeTarget", json!({ "id": "T" }))]
        {
            assert_eq!(observe(tool, arguments), None, "{tool}");
        }
        assert!(call("click", json!({ "target": "e1", "observeMaxBytes": 600 })).is_ok());
    }

    #[test]
    fn older_forms_of_arguments_stand_for_the_operations_own() {
        let target = params("click", json!({ "selector": "a[title=\"x;y\"] >> b" }))["target"].clone();
        assert_eq!(target, r#"css="a[title=\"x;y\"] >> b""#);
        assert_eq!(params("key", json!({ "key": "Control+a" }))["keys"], json!(["Control+a"]));
        assert_eq!(params("key", json!({ "keys": "Enter" }))["keys"], json!(["Enter"]));
    }
}
