//! Locators in the words of the page engine, and what a call means by them.

use glass_proto::error::OpError;
use glass_proto::op::Locator;
use glass_proto::op::locator::{Key, RoleStep, Step, Text};
use serde_json::{Map, Value, json};

use crate::context::Context;

/// The locator that a call means: within its `scope`, and with the rows that it numbers in place of their numbers.
///
/// # Errors
/// `invalid_argument` for a number without a row.
pub(super) fn meant(context: &Context, locator: &Locator) -> Result<Locator, OpError> {
    let scoped = context.options.scope.as_ref().map(|scope| locator.within(scope));
    numbered(context, scoped.unwrap_or_else(|| locator.clone()))
}

/// The same with refs in place of ordinals.
pub(super) fn numbered(context: &Context, mut locator: Locator) -> Result<Locator, OpError> {
    for step in locator.scopes.iter_mut().chain(std::iter::once(&mut locator.step)) {
        if let Step::Ordinal(number) = *step {
            *step = Step::Ref(row(context, number)?);
        }
    }
    Ok(locator)
}

/// The ref of the row with that number in the client's last observation of the target (contract 4.1).
fn row(context: &Context, number: u32) -> Result<glass_proto::op::Ref, OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target);
    let Some(rows) = target.and_then(|target| target.observed.rows(&context.client)) else {
        return Err(OpError::invalid(
            "ordinal= counts the rows of the last observation of this page, and there is none",
            "observe first",
        ));
    };
    let row = usize::try_from(number).ok().and_then(|number| rows.get(number.checked_sub(1)?)).copied();
    row.ok_or_else(|| {
        OpError::invalid(
            format!("the last observation of this page has {} rows", rows.len()),
            "count from 1, in the order of the observation; refs are safer",
        )
    })
}

/// The engine's form of a step. `None` for what names its node by itself.
pub(super) fn engine_locator(context: &Context, step: &Step) -> Option<Value> {
    Some(match step {
        Step::Ref(_) | Step::Ordinal(_) => return None,
        Step::Bare(value) => json!({ "kind": "bare", "value": value }),
        Step::Keyed(key, text) if key.is_selector() => json!({ "kind": key.word(), "value": text.value }),
        Step::Keyed(key, text) => {
            let mut locator = matched(text);
            locator.insert("kind".to_owned(), key.word().into());
            if *key == Key::TestId {
                locator.insert("attribute".to_owned(), context.pages.test_id_attribute().into());
            }
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
