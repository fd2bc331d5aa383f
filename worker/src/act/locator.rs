//! Locators in the words of the page engine.

use glass_proto::op::locator::{Key, RoleStep, Step, Text};
use serde_json::{Map, Value, json};

/// The engine's form of a step. `None` for a ref, which names its node by itself.
pub(super) fn engine_locator(step: &Step) -> Option<Value> {
    Some(match step {
        Step::Ref(_) => return None,
        Step::Bare(value) => json!({ "kind": "bare", "value": value }),
        Step::Keyed(Key::Css, text) => json!({ "kind": "css", "value": text.value }),
        Step::Keyed(key, text) => {
            let mut locator = matched(text);
            locator.insert("kind".to_owned(), key.word().into());
            Value::Object(locator)
        }
        Step::Role(role) => self::role(role),
    })
}

fn role(step: &RoleStep) -> Value {
    let mut locator = Map::new();
    locator.insert("kind".to_owned(), "role".into());
    locator.insert("role".to_owned(), step.role.as_str().into());
    if let Some(name) = &step.name {
        locator.insert("name".to_owned(), Value::Object(matched(name)));
    }
    if let Some(level) = step.level {
        locator.insert("level".to_owned(), level.into());
    }
    for (flag, on) in &step.states {
        locator.insert(flag.word().to_owned(), (*on).into());
    }
    Value::Object(locator)
}

fn matched(text: &Text) -> Map<String, Value> {
    let how = if text.substring { "substring" } else { "exact" };
    Map::from_iter([("value".to_owned(), text.value.as_str().into()), ("match".to_owned(), how.into())])
}
