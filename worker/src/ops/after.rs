//! What call options ask for once a mutation is done (contract 2.5): whether what was expected holds, and the page as it
//! is then. What cannot be read is told and changes nothing about the mutation; what does not hold makes its answer an
//! error that keeps its result.

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError};
use glass_proto::op::{Lane, ObserveAfter, Predicate, WaitUntil};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{After, Expected, Observation, Unobserved};
use serde_json::{Map, Value};

use super::{observe, unwritable};
use crate::act::{Since, Truth, Weighed, failed, loaded_until, verify};
use crate::context::Context;
use crate::page::Halt;

/// Longest outline of a summary when the call names none (contract 2.5).
const SUMMARY: u32 = 2048;
/// How long an operation that must answer at once may look at its page.
const AT_ONCE: Duration = Duration::from_millis(1000);
/// Time kept back of what a predicate may take, to answer in when it was waited for in vain.
const LAST_WORD: Duration = Duration::from_millis(250);
/// How long a new document is given to have its DOM ready before it is looked at.
const NEW_DOCUMENT: Duration = Duration::from_millis(1500);
/// Bytes of an error (contract 2.6) with what is added to it on its way.
const ERROR: usize = 7 * 1024;
/// What a result can do without in an error, the least important first.
const DISPENSABLE: [&str; 6] = ["observation", "value", "steps", "warning", "fields", "evidence"];

/// How things were when a mutation began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    revision: u64,
    since: Since,
}

impl Mark {
    /// Takes it down.
    pub(crate) fn of(context: &Context) -> Self {
        let state = context.pages.state();
        Self {
            revision: state.target(&context.target).map_or(0, |target| target.revisions.number),
            since: Since { targets: state.mark(), downloads: state.downloads_begun },
        }
    }
}

/// The answer of a mutation, with what the call's options ask for.
///
/// # Errors
/// `verification_failed` where what was expected does not hold; the outcome stays `completed`.
pub(crate) async fn after(context: &Context, before: &Mark, output: Vec<u8>) -> Result<Vec<u8>, OpError> {
    let expected = context.options.expect.whole();
    if expected.is_none() && !context.options.observes() {
        return Ok(output);
    }
    // A fault of ours; the mutation was done all the same.
    let unwritable = |error| unwritable(&error).ended(Outcome::Completed, Dispatched::Yes);
    let mut answer: Map<String, Value> = serde_json::from_slice(&output).map_err(unwritable)?;
    let own = context.facts.targeted;
    let target = answer.get("targetId").and_then(Value::as_str).filter(|_| !own).unwrap_or(&context.target);
    let page = context.whole_page(target);
    let mut after = After::default();
    let mut failure = None;
    // A batch that a step ended did not do what something was expected of.
    let whole = answer.get("notRun").is_none() || answer.get("outcome") == Some(&"completed".into());
    if let (Some(predicate), true) = (&expected, whole) {
        match hold(&page, predicate, before.since).await {
            Ok(expected) => after.expected = Some(expected),
            Err(error) => failure = Some(error),
        }
    }
    if context.options.observes() {
        let since = answer.get("previousRevision").and_then(Value::as_u64);
        let since = since.unwrap_or_else(|| if own { before.revision } else { Mark::of(&page).revision });
        look(&page, since, &mut after).await;
    }
    let added = serde_json::to_vec(&after).and_then(|added| serde_json::from_slice(&added));
    let added: Map<String, Value> = added.map_err(unwritable)?;
    answer.extend(added);
    match failure {
        Some(error) => Err(with_result(error, answer)),
        None => serde_json::to_vec(&answer).map_err(unwritable),
    }
}

/// Waits until the predicate holds, as long as it may take.
async fn hold(page: &Context, predicate: &Predicate, since: Since) -> Result<Expected, OpError> {
    let began = Instant::now();
    let time = page.options.expect.time();
    let kept_back = LAST_WORD.min(time / 4);
    let page = page.lasting(began + time - kept_back);
    let open = || Weighed { truth: Truth::Undecided, parts: Vec::new(), waited: time };
    let weighed = tokio::select! {
        biased;
        weighed = verify(&page, predicate, since, true) => weighed,
        () = tokio::time::sleep(time - kept_back / 2) => Ok(open()),
        () = page.cancel.cancelled() => Ok(open()),
    };
    let waited_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let dispatched = if page.is_dispatched() { Dispatched::Yes } else { Dispatched::No };
    let (weighed, why) = match weighed {
        Ok(weighed) if weighed.truth == Truth::Holds => {
            let asked = tokio::time::timeout(LAST_WORD, page.pages.sync(&page.target)).await;
            let revision = asked.ok().and_then(Result::ok).map(|changes| changes.revision);
            return Ok(Expected { waited_ms, revision });
        }
        Ok(weighed) => (weighed, None),
        Err(error) => (open(), Some(error)),
    };
    let mut error = failed(&weighed, Outcome::Completed, dispatched);
    let what = match (&why, weighed.truth) {
        (Some(why), _) => format!("whether what was expected holds cannot be said: {}", why.message),
        (None, Truth::Undecided) => "whether what was expected holds cannot be said".to_owned(),
        (None, _) => "what was expected does not hold".to_owned(),
    };
    error.message =
        glass_proto::escape::cut(&format!("it was done, and {what}"), glass_proto::error::MAX_TEXT)
            .into_owned();
    "look at details.result and observe the page before anything is done again; more time is expect's timeoutMs"
        .clone_into(&mut error.remedy);
    if let Some(why) = why {
        error.reason = Some(why.kind.name().to_owned());
        error.candidates = why.candidates;
    }
    Err(error)
}

async fn look(page: &Context, since: u64, after: &mut After) {
    // What was waited for took its own time; the page is looked at in what is left of the operation's.
    let left = page.left().max(LAST_WORD.min(page.options.expect.time() / 8));
    let time = if page.facts.lane == Lane::Control { left.min(AT_ONCE) } else { left };
    let page = page.lasting(Instant::now() + time);
    let seen = tokio::select! {
        biased;
        seen = observed(&page, since) => seen.map_err(|error| why(&page, &error)),
        () = tokio::time::sleep(time) => Err(Unobserved::Timeout),
        () = page.cancel.cancelled() => Err(Unobserved::Cancelled),
    };
    match seen {
        Ok(observation) => after.observation = Some(observation),
        Err(why) => after.unobserved = Some(why),
    }
}

async fn observed(page: &Context, since: u64) -> Result<Observation, OpError> {
    // A document that just came has nothing to show yet; one that takes longer is told as far as it is.
    let soon = page.lasting(Instant::now() + page.left().min(NEW_DOCUMENT));
    loaded_until(&soon, WaitUntil::DomContentLoaded).await?;
    let most = page.options.observe_max_bytes;
    if page.options.observe == Some(ObserveAfter::Summary) {
        return observe::changed(page, since, most.unwrap_or(SUMMARY)).await;
    }
    observe::bounded(page, most).await
}

fn why(page: &Context, error: &OpError) -> Unobserved {
    match Halt::of(&page.pages.state(), &page.target) {
        Some(Halt::Closed) => Unobserved::PageClosed,
        Some(Halt::Crashed) => Unobserved::PageCrashed,
        _ if error.kind == ErrorKind::Timeout || page.left().is_zero() => Unobserved::Timeout,
        _ => Unobserved::Unreadable,
    }
}

/// The error with the mutation's own result, as far as an error has room for it.
fn with_result(error: OpError, result: Map<String, Value>) -> OpError {
    let size = |error: &OpError| serde_json::to_string(error).map_or(0, |text| text.len());
    let mut result = result;
    let mut left_out = Vec::new();
    let mut dispensable = DISPENSABLE.iter();
    loop {
        let mut full = error.clone().detail("result", result.clone());
        if !left_out.is_empty() {
            full = full.detail("resultLeftOut", left_out.clone());
        }
        if size(&full) <= ERROR {
            return full;
        }
        let Some(part) = dispensable.next() else {
            return error.detail("resultLeftOut", vec!["all".to_owned()]);
        };
        if result.remove(*part).is_some() {
            left_out.push((*part).to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use glass_proto::error::Phase;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_keeps_what_it_has_room_for() {
        let error = || OpError::rejected(ErrorKind::VerificationFailed, Phase::Verification, "m", "r");
        let result = |value: usize| {
            let json = json!({ "value": "x".repeat(value), "revision": 3, "observation": { "outline": "y".repeat(900) } });
            json.as_object().cloned().unwrap_or_default()
        };
        let small = with_result(error(), result(10));
        assert_eq!(small.details["result"]["revision"], 3);
        assert!(!small.details.contains_key("resultLeftOut"));
        let less = with_result(error(), result(6500));
        assert_eq!(less.details["resultLeftOut"], json!(["observation"]));
        let least = with_result(error(), result(100_000));
        assert_eq!(least.details["resultLeftOut"], json!(["observation", "value"]));
        assert_eq!(least.details["result"], json!({ "revision": 3 }));
    }
}
