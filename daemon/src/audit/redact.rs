//! What the audit log says of a call's parameters and options (contract 10.7).
//!
//! Numbers, flags and the words of choices stay, and so do refs and ids, which Glass itself gave. Every other text becomes
//! its keyed hash and its length; of a URL the scheme, host and port stay. What a name is allowed to be comes from the
//! operation's own schema: a name that stands in none is a text of the caller's.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use glass_policy::host::Host;
use glass_proto::op::{AnyOperation, CallOptions, OPERATIONS, Step, schema};
use serde_json::{Map, Value, json};
use url::Url;

use super::Audit;

/// Largest record of one call's arguments, in bytes; a larger one is replaced by its hash.
const MAX: usize = 4096;
/// Items of a list that are told.
const ITEMS: usize = 32;

/// The properties of a schema, and the words that each of them may be.
type Names = HashMap<String, HashSet<String>>;

/// Those of an operation; each is read from its schema once.
fn names(operation: &'static str) -> Arc<Names> {
    static KNOWN: Mutex<BTreeMap<&str, Arc<Names>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let mut names = Names::new();
        collect(&schema::<CallOptions>().to_value(), None, &mut names);
        if let Some((params, _)) = AnyOperation::schemas(operation) {
            collect(&params.to_value(), None, &mut names);
        }
        Arc::new(names)
    };
    known.entry(operation).or_insert_with(read).clone()
}

/// Every property of a schema at any depth, with the words that it may be.
fn collect(schema: &Value, of: Option<&str>, names: &mut Names) {
    match schema {
        Value::Array(all) => all.iter().for_each(|one| collect(one, of, names)),
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        for (name, schema) in properties {
                            names.entry(name.clone()).or_default();
                            collect(schema, Some(name), names);
                        }
                    }
                    ("const", Value::String(word)) => {
                        names.entry(of.unwrap_or_default().to_owned()).or_default().insert(word.clone());
                    }
                    ("enum", Value::Array(words)) => {
                        let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
                        names.entry(of.unwrap_or_default().to_owned()).or_default().extend(words);
                    }
                    ("default" | "description" | "title", _) => {}
                    (_, value) => collect(value, of, names),
                }
            }
        }
        _ => {}
    }
}

/// What stays of a call.
pub(crate) fn arguments(audit: &Audit, operation: &AnyOperation, options: &CallOptions) -> Option<Value> {
    let params = operation.encode().ok()?;
    let mut all: Map<String, Value> = serde_json::from_slice(&params).ok()?;
    let steps = match operation {
        AnyOperation::Batch(batch) => {
            all.remove("steps");
            Some(batch.steps.iter().take(ITEMS).map(|step| of_step(audit, step)).collect::<Vec<_>>())
        }
        _ => None,
    };
    let options: Map<String, Value> = serde_json::from_slice(&options.encode().ok()?).ok()?;
    all.extend(options);
    let mut told = object(audit, &names(operation.name()), &all);
    if let Some(steps) = steps {
        told.insert("steps".to_owned(), steps.into());
    }
    let told = Value::Object(told);
    match told.to_string().len() {
        size if size <= MAX => Some(told),
        size => Some(json!({ "leftOut": size, "hash": audit.hash(&String::from_utf8_lossy(&params)) })),
    }
}

fn of_step(audit: &Audit, step: &Step) -> Value {
    let name = step.name();
    let Some(facts) = OPERATIONS.iter().find(|facts| facts.name == name) else { return Value::Null };
    let mut told = Map::new();
    told.insert("operation".to_owned(), facts.name.into());
    told.extend(object(audit, &names(facts.name), &step.arguments));
    Value::Object(told)
}

fn object(audit: &Audit, names: &Names, map: &Map<String, Value>) -> Map<String, Value> {
    let tell = |(key, value): (&String, &Value)| match names.get_key_value(key) {
        Some((key, words)) => (key.clone(), self::value(audit, names, key, words, value)),
        None => (format!("#{}", audit.hash(key)), self::value(audit, names, "", &HashSet::new(), value)),
    };
    let mut told: Map<String, Value> = map.iter().take(ITEMS).map(tell).collect();
    if map.len() > ITEMS {
        told.insert("leftOut".to_owned(), (map.len() - ITEMS).into());
    }
    told
}

fn value(audit: &Audit, names: &Names, key: &str, words: &HashSet<String>, given: &Value) -> Value {
    match given {
        Value::String(text) => self::text(audit, key, words, text),
        Value::Array(items) => {
            let one = |item: &Value| value(audit, names, key, words, item);
            let mut told: Vec<_> = items.iter().take(ITEMS).map(one).collect();
            if items.len() > ITEMS {
                told.push(json!({ "leftOut": items.len() - ITEMS }));
            }
            told.into()
        }
        Value::Object(map) => Value::Object(object(audit, names, map)),
        Value::Null | Value::Bool(_) | Value::Number(_) => given.clone(),
    }
}

fn text(audit: &Audit, key: &str, words: &HashSet<String>, text: &str) -> Value {
    if words.contains(text) || (names_element(key) && is_ref(text)) || is_id(key, text) {
        return text.into();
    }
    let mut told = Map::new();
    if let Some(origin) = is_address(key).then(|| origin(text)).flatten() {
        told.insert("origin".to_owned(), origin.into());
    }
    told.insert("hash".to_owned(), audit.hash(text).into());
    told.insert("bytes".to_owned(), text.len().into());
    Value::Object(told)
}

/// Parameters that are locators. What is put into a page may look like a ref too.
fn names_element(key: &str) -> bool {
    ["target", "scope", "from", "to", "frame"].contains(&key)
}

/// `e12`, `f2e3` or `r7:e12`, also as `ref=e12`, which is how a locator is written out.
fn is_ref(text: &str) -> bool {
    let text = text.strip_prefix("ref=").unwrap_or(text);
    text.len() <= 32 && text.parse::<glass_proto::op::Ref>().is_ok()
}

fn is_id(key: &str, text: &str) -> bool {
    let known = ["targetId", "frameId", "downloadId", "chooserId", "dialogId", "fileIds", "snapshotId"];
    known.contains(&key) && text.parse::<glass_proto::TargetId>().is_ok()
}

fn is_address(key: &str) -> bool {
    ["url", "origin"].contains(&key)
}

fn origin(text: &str) -> Option<String> {
    let url: Url = text.parse().ok()?;
    url.has_host().then(|| url.origin().ascii_serialization())
}

/// The host that an operation names.
pub(crate) fn host(operation: &AnyOperation) -> Option<String> {
    let url = match operation {
        AnyOperation::Navigate(navigate) => Some(&navigate.url),
        AnyOperation::CreateTarget(create) => create.url.as_ref(),
        AnyOperation::Cookies(cookies) => cookies.url.as_ref(),
        _ => None,
    };
    let url: Url = url?.parse().ok()?;
    Host::of(&url).map(|host| host.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(operation: &str, params: &str, options: &str) -> Value {
        let audit = Audit::off();
        let operation = AnyOperation::decode(operation, params.as_bytes()).unwrap();
        let options = CallOptions::decode(options.as_bytes()).unwrap();
        arguments(&audit, &operation, &options).unwrap()
    }

    // contract: 10.7
    #[test]
    fn no_text_of_the_callers_is_told() {
        let cases = [
            ("fill", r#"{"target":"label=CANARY","text":"CANARY"}"#, r#"{"scope":"css=.CANARY"}"#),
            ("type", r#"{"text":"CANARY","target":"CANARY"}"#, ""),
            ("evaluate", r#"{"expression":"'CANARY'"}"#, ""),
            ("navigate", r#"{"url":"https://example.com/CANARY?q=CANARY"}"#, ""),
            (
                "cookies",
                r#"{"action":"set","name":"CANARY","value":"CANARY","url":"https://example.com/CANARY"}"#,
                "",
            ),
            ("fillForm", r#"{"fields":[{"target":"label=CANARY","value":"CANARY"}]}"#, ""),
            ("batch", r#"{"steps":[{"operation":"type","text":"CANARY","scope":"CANARY"}]}"#, ""),
            ("wait", r#"{"condition":{"text":"CANARY"}}"#, ""),
        ];
        for (operation, params, options) in cases {
            let Ok(decoded) = AnyOperation::decode(operation, params.as_bytes()) else { continue };
            let options = CallOptions::decode(options.as_bytes()).unwrap();
            let text = arguments(&Audit::off(), &decoded, &options).unwrap().to_string();
            assert!(!text.contains("CANARY") && text.contains("hash"), "{operation}: {text}");
        }
    }

    #[test]
    fn what_glass_itself_gave_and_the_words_of_choices_stay() {
        let click =
            told("click", r#"{"target":"e12","button":"right"}"#, r#"{"timeoutMs":500,"targetId":"T1"}"#);
        assert_eq!(click["target"], "ref=e12");
        assert_eq!(
            (&click["button"], &click["timeoutMs"], &click["targetId"]),
            (&json!("right"), &json!(500), &json!("T1"))
        );
        // The same words are a text where somebody typed them.
        let typed = told("type", r#"{"text":"e12"}"#, "");
        assert!(typed["text"]["hash"].is_string(), "{typed}");
        let typed = told("type", r#"{"text":"right"}"#, "");
        assert_eq!(typed["text"]["bytes"], 5);
        let gone = told("navigate", r#"{"url":"https://example.com:8443/x?y"}"#, "");
        assert_eq!(gone["url"]["origin"], "https://example.com:8443");
        let batch =
            told("batch", r#"{"steps":[{"operation":"click","target":"e1"},{"operation":"back"}]}"#, "");
        assert_eq!(batch["steps"][0], json!({ "operation": "click", "target": "e1" }));
    }

    #[test]
    fn what_is_large_is_left_out_and_counted() {
        let batch: Vec<String> = (0..32)
            .map(|_| r#"{"operation":"click","target":"label=Some long name of a button"}"#.to_owned())
            .collect();
        let told = told("batch", &format!(r#"{{"steps":[{}]}}"#, batch.join(",")), "");
        assert!(told.to_string().len() <= MAX, "{told}");
    }
}
