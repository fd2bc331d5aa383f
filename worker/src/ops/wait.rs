//! `wait` (contract 8.1), beside other operations.

use std::time::Instant;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::wait::Milestone;
use glass_proto::op::{Condition, Wait};
use glass_proto::result::Waited;
use serde_json::Value;

use crate::act::{Fact, Question, Since, Truth, Wake, check_script, page_seen, several, until};
use crate::context::Context;

pub(super) async fn run(context: &Context, params: &Wait) -> Result<Waited, OpError> {
    context.pages.use_target(&context.target);
    let condition = &params.condition;
    if let Condition::Js(expression) = condition {
        check_script(context, expression).await?;
    }
    let fact = Fact::of_condition(condition, params.matching.unwrap_or_default());
    let began = Instant::now();
    let tick = matches!(condition, Condition::NetworkQuiet(_) | Condition::Lifecycle(Milestone::NetworkIdle));
    let wake = Wake { page: fact.is_of_page(), tick };
    let (seen, _) = until(context, wake, Question::Fact(fact), Since::default()).await?;
    if seen.truth != Truth::Holds {
        let ambiguous = seen.what.get("ambiguous") == Some(&Value::Bool(true));
        return Err(if ambiguous { several(&seen.what) } else { timed_out(condition, seen.what) });
    }
    let waited_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let revision = revision(context).await;
    let page = page_seen(context, revision).await?;
    Ok(Waited { condition: condition.word().to_owned(), waited_ms, page, seen: seen.what })
}

/// The revision now; where the page cannot be asked, the last one that is known.
pub(super) async fn revision(context: &Context) -> u64 {
    match context.pages.sync(&context.target).await {
        Ok(changes) => changes.revision,
        Err(_) => context.pages.state().target(&context.target).map_or(1, |target| target.revisions.number),
    }
}

fn timed_out(condition: &Condition, last: Value) -> OpError {
    OpError::rejected(
        ErrorKind::Timeout,
        Phase::Verification,
        format!("the condition ({}) did not come to hold within the deadline", condition.word()),
        "details.last says what was seen last; observe shows the page, --timeout-ms gives it longer",
    )
    .detail("last", last)
}
