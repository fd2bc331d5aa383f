//! Answers held against the published schemas (contract 12.7).
//!
//! A program that reads answers must take fields that it does not know, so the schemas allow them. The tests do not:
//! here a field that no schema names is a mistake.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use glass_proto::op::AnyOperation;
use jsonschema::Validator;
use serde_json::{Value, json};

static ANSWER: LazyLock<Validator> = LazyLock::new(|| {
    let text = include_str!("../../docs/reference/schemas/answer.json");
    compile(serde_json::from_str(text).expect("answer.json is JSON"))
});

static RESULTS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Where an answer differs from the schema of every answer.
pub fn wrong_answer(answer: &Value) -> Vec<String> {
    wrong(&ANSWER, answer)
}

/// Where the result of the operation called `name` differs from its schema.
///
/// # Panics
/// When there is no such operation.
pub fn wrong_result(name: &str, result: &Value) -> Vec<String> {
    let validator = {
        let mut known = RESULTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let compiled = known.entry(name.to_owned()).or_insert_with(|| {
            let (_, schema) = AnyOperation::schemas(name).unwrap_or_else(|| panic!("no operation {name}"));
            Arc::new(compile(schema.to_value()))
        });
        Arc::clone(compiled)
    };
    wrong(&validator, result)
}

fn wrong(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).take(4).collect()
}

fn compile(mut schema: Value) -> Validator {
    close(&mut schema, true);
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

/// Makes objects refuse what they do not name. A shape among several of one object is closed with that object, since
/// the others name fields too.
fn close(schema: &mut Value, may: bool) {
    let Some(schema) = schema.as_object_mut() else { return };
    let named = schema.contains_key("properties");
    if named && may && !schema.contains_key("additionalProperties") {
        schema.insert("unevaluatedProperties".into(), json!(false));
    }
    for (key, inner) in schema.iter_mut() {
        match (key.as_str(), inner) {
            ("properties" | "$defs", Value::Object(fields)) => {
                fields.values_mut().for_each(|field| close(field, true));
            }
            ("oneOf" | "anyOf" | "allOf", Value::Array(shapes)) => {
                shapes.iter_mut().for_each(|shape| close(shape, may && !named));
            }
            ("items" | "additionalProperties", inner) => close(inner, true),
            _ => {}
        }
    }
}
