//! What call options add to the answer of a mutation (contract 2.5): the page as it is afterwards. That it cannot be read
//! is told and changes nothing about the mutation.

use std::time::Duration;

use glass_proto::error::{ErrorKind, OpError};
use glass_proto::op::{Lane, Observe, ObserveAfter};
use glass_proto::result::{After, Observation, Unobserved};
use serde_json::{Map, Value};

use super::observe;
use crate::context::Context;
use crate::page::Halt;

/// Longest outline of a summary when the call names none (contract 2.5).
const SUMMARY: u32 = 2048;
/// How long an operation that must answer at once may look at its page.
const AT_ONCE: Duration = Duration::from_millis(1000);

/// How things were when a mutation began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    revision: u64,
}

impl Mark {
    /// Takes it down.
    pub(crate) fn of(context: &Context) -> Self {
        let state = context.pages.state();
        Self { revision: state.target(&context.target).map_or(0, |target| target.revisions.number) }
    }
}

/// The answer of a mutation, with what the call's options ask for beside it.
pub(crate) async fn after(context: &Context, before: &Mark, output: Vec<u8>) -> Vec<u8> {
    if !context.options.observes() {
        return output;
    }
    let Ok(mut answer) = serde_json::from_slice::<Map<String, Value>>(&output) else { return output };
    let after = look(context, before, &answer).await;
    if let Ok(Value::Object(added)) = serde_json::to_value(after) {
        answer.extend(added);
    }
    serde_json::to_vec(&answer).unwrap_or(output)
}

async fn look(context: &Context, before: &Mark, answer: &Map<String, Value>) -> After {
    let own = context.facts.targeted;
    let target = answer.get("targetId").and_then(Value::as_str).filter(|_| !own).unwrap_or(&context.target);
    let since = answer.get("previousRevision").and_then(Value::as_u64);
    let since = since.unwrap_or_else(|| match own {
        true => before.revision,
        false => Mark::of(&context.of_target(target)).revision,
    });
    let page = context.whole_page(target);
    let time = if context.facts.lane == Lane::Control { context.left().min(AT_ONCE) } else { context.left() };
    let seen = tokio::time::timeout(time, observed(&page, since)).await;
    match seen {
        Ok(Ok(observation)) => After { observation: Some(observation), unobserved: None },
        Ok(Err(error)) => After { observation: None, unobserved: Some(why(&page, &error)) },
        Err(_) => After { observation: None, unobserved: Some(Unobserved::Timeout) },
    }
}

async fn observed(page: &Context, since: u64) -> Result<Observation, OpError> {
    let most = page.options.observe_max_bytes;
    if page.options.observe == Some(ObserveAfter::Summary) {
        return observe::changed(page, since, most.unwrap_or(SUMMARY)).await;
    }
    observe::bounded(page, most.unwrap_or(Observe::MAX_BYTES)).await
}

fn why(page: &Context, error: &OpError) -> Unobserved {
    match Halt::of(&page.pages.state(), &page.target) {
        Some(Halt::Closed) => Unobserved::PageClosed,
        Some(Halt::Crashed) => Unobserved::PageCrashed,
        _ if error.kind == ErrorKind::Timeout || page.left().is_zero() => Unobserved::Timeout,
        _ => Unobserved::Unreadable,
    }
}
