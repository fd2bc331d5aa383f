//! Facts about elements.

use glass_proto::error::{ErrorKind, OpError};
use glass_proto::op::Locator;
use glass_proto::op::predicate::CountOf;
use glass_proto::op::wait::{Become, Match};
use serde_json::{Map, Value, json};

use super::{Seen, Truth, Want};
use crate::act::find::{Ask, Looked, ambiguous, candidates, locate_for};
use crate::context::Context;

/// Looks for elements and at what they are.
pub(super) async fn look(
    context: &Context,
    want: Want<'_>,
    locator: &Locator,
    matching: Match,
) -> Result<Seen, OpError> {
    let hidden_too = matches!(want, Want::State(Become::Attached | Become::Detached));
    let ask = Ask { hidden: hidden_too, limit: 8, test: test(want) };
    let absence = matches!(want, Want::State(state) if state.is_absence());
    let looked = match locate_for(context, locator, &ask).await {
        Ok(looked) => looked,
        Err(error) => return without(error, absence),
    };
    let Totals { visible, hidden, good } = totals(&looked);
    let mut what = seen(&looked);
    if absence {
        let left = if hidden_too { visible + hidden } else { visible };
        if left == 0 && looked.unread > 0 {
            what.insert("framesUnread".to_owned(), looked.unread.into());
            return Ok(Seen::new(Truth::Undecided, what.into()));
        }
        return Ok(Seen::new(left == 0, what.into()));
    }
    let pool = if hidden_too { visible + hidden } else { visible };
    if looked.unread > 0 {
        what.insert("framesUnread".to_owned(), looked.unread.into());
    }
    let good = match want {
        Want::State(Become::Visible) => visible,
        Want::State(Become::Attached) => pool,
        _ => good,
    };
    if !matches!(want, Want::State(Become::Visible | Become::Attached)) {
        what.insert("fitting".to_owned(), good.into());
    }
    let truth = match matching {
        Match::Unique if pool > 1 => {
            what.insert("ambiguous".to_owned(), true.into());
            Truth::Undecided
        }
        Match::Unique if pool == 1 => Truth::from(good > 0),
        Match::Unique | Match::Any if good > 0 => Truth::Holds,
        Match::All if good < pool => Truth::Fails,
        // Others may be where nobody looked.
        _ if looked.unread > 0 => Truth::Undecided,
        Match::Unique | Match::Any => Truth::Fails,
        Match::All => Truth::from(pool > 0),
    };
    // A value or a check that nobody can look at is neither so nor not so.
    let truth =
        if pool == 0 && matches!(want, Want::Checked | Want::Value(_)) { Truth::Undecided } else { truth };
    Ok(Seen::new(truth, what.into()))
}

/// Counts elements, hidden ones too.
pub(super) async fn count(context: &Context, count: &CountOf) -> Result<Seen, OpError> {
    let ask = Ask { hidden: true, limit: 3, test: None };
    let looked = match locate_for(context, &count.target, &ask).await {
        Ok(looked) => looked,
        Err(error) => return without(error, count.equals == 0),
    };
    let Totals { visible, hidden, .. } = totals(&looked);
    let mut what = seen(&looked);
    what.insert("count".to_owned(), (visible + hidden).into());
    let (found, wanted) = (visible + hidden, u64::from(count.equals));
    if looked.unread > 0 {
        what.insert("framesUnread".to_owned(), looked.unread.into());
        // Those that did not answer may have more, and none the less.
        let truth = if found > wanted { Truth::Fails } else { Truth::Undecided };
        return Ok(Seen::new(truth, what.into()));
    }
    Ok(Seen::new(found == wanted, what.into()))
}

/// The error of a wait that a second match ends.
pub fn several(what: &Value) -> OpError {
    let candidates = what.get("matches").cloned().and_then(|matches| serde_json::from_value(matches).ok());
    let total = what.get("total").and_then(Value::as_u64).unwrap_or(0);
    ambiguous(total, "was waited for", candidates.unwrap_or_default())
}

fn test(want: Want<'_>) -> Option<Value> {
    match want {
        Want::State(Become::Enabled) => Some(json!({ "kind": "enabled" })),
        Want::State(Become::Disabled) => Some(json!({ "kind": "disabled" })),
        Want::State(Become::Stable) => Some(json!({ "kind": "stable" })),
        Want::State(_) => None,
        Want::Checked => Some(json!({ "kind": "checked" })),
        Want::Value(value) => Some(json!({ "kind": "value", "value": value })),
    }
}

/// What it means that nothing could be looked at: a container that is not there, a ref that is stale.
fn without(error: OpError, absence: bool) -> Result<Seen, OpError> {
    let nothing = json!({ "total": 0, "hidden": 0 });
    match error.kind {
        // Nobody looked.
        _ if is_unread(&error) => Ok(Seen::new(Truth::Undecided, json!({ "unread": error.reason }))),
        // The element is there, as something else: that it is gone cannot be said.
        ErrorKind::StaleReference if absence && error.reason.as_deref() == Some("changed") => {
            Ok(Seen::new(Truth::Undecided, json!({ "ref": "changed" })))
        }
        ErrorKind::TargetNotFound if error.reason.is_none() => Ok(Seen::new(absence, nothing)),
        ErrorKind::StaleReference if absence => Ok(Seen::new(Truth::Holds, nothing)),
        _ => Err(error),
    }
}

/// Whether an error says that the page was not read.
pub(super) fn is_unread(error: &OpError) -> bool {
    match error.reason.as_deref() {
        Some("frame_unavailable") => true,
        Some("navigated") => error.kind == ErrorKind::TargetNotFound,
        _ => false,
    }
}

struct Totals {
    visible: u64,
    hidden: u64,
    good: u64,
}

fn totals(looked: &Looked) -> Totals {
    let mut totals = Totals { visible: 0, hidden: 0, good: 0 };
    for (_, matches) in &looked.matches {
        // A ref is found though its element is hidden.
        let of_ref = u64::from(matches.total == 1 && matches.matches.first().is_some_and(|one| !one.visible));
        totals.visible += matches.total - of_ref;
        totals.hidden += matches.hidden_total;
        totals.good += matches.good;
    }
    totals
}

fn seen(looked: &Looked) -> Map<String, Value> {
    let Totals { visible, hidden, .. } = totals(looked);
    let mut rows = candidates(&looked.matches);
    rows.truncate(3);
    let mut what = Map::new();
    what.insert("total".to_owned(), visible.into());
    what.insert("hidden".to_owned(), hidden.into());
    if !rows.is_empty() {
        what.insert("matches".to_owned(), json!(rows));
    }
    what
}
