//! Predicates weighed: three-valued, with what each part saw.

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::Predicate;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::SeenPart;

use super::until::{Question, Wake, until};
use super::{Fact, Seen, Since, Truth, look_at};
use crate::context::Context;

/// Parts that an answer tells of.
const TOLD: usize = 16;
/// Bytes of what an error tells.
const ERROR_BYTES: usize = 5000;

/// What became of a predicate.
#[derive(Clone, Debug)]
pub struct Weighed {
    /// Whether it holds.
    pub truth: Truth,
    /// What each part saw, the first of them.
    pub parts: Vec<SeenPart>,
    /// How long it was waited for.
    pub waited: Duration,
}

/// Weighs a predicate; while it does not hold and `wait` says so, again until the operation's time is up.
///
/// # Errors
/// When it cannot be asked at all; see `look_at`.
pub async fn verify(
    context: &Context,
    predicate: &Predicate,
    since: Since,
    wait: bool,
) -> Result<Weighed, OpError> {
    let began = Instant::now();
    if wait {
        let wake = Wake { page: needs_page(predicate), tick: false };
        let (seen, parts) = until(context, wake, Question::Predicate(predicate), since).await?;
        return Ok(Weighed { truth: seen.truth, parts, waited: began.elapsed() });
    }
    let mut parts = Vec::new();
    let truth = weigh(context, predicate, since, String::new(), &mut parts).await?;
    Ok(Weighed { truth, parts, waited: began.elapsed() })
}

fn needs_page(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::All(parts) | Predicate::Any(parts) => parts.iter().any(needs_page),
        Predicate::Not(part) => needs_page(part),
        leaf => Fact::of_predicate(leaf).is_some_and(|fact| fact.is_of_page()),
    }
}

type Weighing<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Truth, OpError>> + Send + 'a>>;

/// Weighs one part; `told` takes what the leaves saw. Boxed, since predicates hold predicates.
pub(super) fn weigh<'a>(
    context: &'a Context,
    predicate: &'a Predicate,
    since: Since,
    path: String,
    told: &'a mut Vec<SeenPart>,
) -> Weighing<'a> {
    let at =
        if path.is_empty() { predicate.name().to_owned() } else { format!("{path}.{}", predicate.name()) };
    Box::pin(async move {
        match predicate {
            Predicate::Not(part) => Ok(match weigh(context, part, since, at, told).await? {
                Truth::Holds => Truth::Fails,
                Truth::Fails => Truth::Holds,
                Truth::Undecided => Truth::Undecided,
            }),
            Predicate::All(parts) | Predicate::Any(parts) => {
                let mut truths = Vec::with_capacity(parts.len());
                for (number, part) in parts.iter().enumerate() {
                    let at = format!("{at}[{}]", number + 1);
                    truths.push(weigh(context, part, since, at, told).await?);
                }
                let decisive =
                    if matches!(predicate, Predicate::All(_)) { Truth::Fails } else { Truth::Holds };
                Ok(together(&truths, decisive))
            }
            leaf => weigh_leaf(context, leaf, since, at, told).await,
        }
    })
}

async fn weigh_leaf(
    context: &Context,
    leaf: &Predicate,
    since: Since,
    at: String,
    told: &mut Vec<SeenPart>,
) -> Result<Truth, OpError> {
    let Some(fact) = Fact::of_predicate(leaf) else { return Ok(Truth::Undecided) };
    let seen = match look_at(context, fact, since).await {
        // The page stands still; what it would show nobody can say.
        Err(error) if error.kind == ErrorKind::DialogBlocked => {
            Seen { truth: Truth::Undecided, what: serde_json::json!({ "blocked": "dialog" }) }
        }
        seen => seen?,
    };
    if told.len() < TOLD {
        let holds = match seen.truth {
            Truth::Holds => Some(true),
            Truth::Fails => Some(false),
            Truth::Undecided => None,
        };
        told.push(SeenPart { part: at, holds, seen: seen.what });
    }
    Ok(seen.truth)
}

/// One decisive part decides; else one undecided part leaves it open.
fn together(truths: &[Truth], decisive: Truth) -> Truth {
    let other = if decisive == Truth::Fails { Truth::Holds } else { Truth::Fails };
    if truths.contains(&decisive) {
        decisive
    } else if truths.contains(&Truth::Undecided) {
        Truth::Undecided
    } else {
        other
    }
}

/// The error of a predicate that does not hold. `outcome` and `dispatched` are those of what was done before.
pub fn failed(weighed: &Weighed, outcome: Outcome, dispatched: Dispatched) -> OpError {
    let message = match weighed.truth {
        Truth::Undecided => "whether it holds cannot be said; what was seen is in details.seen",
        _ => "it does not hold; what was seen is in details.seen",
    };
    let mut parts: Vec<&SeenPart> =
        weighed.parts.iter().filter(|part| part.holds != Some(is_meant(part))).collect();
    let json = |parts: &[&SeenPart]| serde_json::to_value(parts).unwrap_or_default();
    while parts.len() > 1 && json(&parts).to_string().len() > ERROR_BYTES {
        parts.pop();
    }
    OpError::rejected(
        ErrorKind::VerificationFailed,
        Phase::Verification,
        message,
        "observe the page; with --timeout-ms verify waits until it holds",
    )
    .detail("seen", json(&parts))
    .ended(outcome, dispatched)
}

/// Whether a part should hold: under an odd number of `not` it should not.
fn is_meant(part: &SeenPart) -> bool {
    part.part.split('.').filter(|key| *key == "not").count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::Truth::{Fails, Holds, Undecided};
    use super::*;

    #[test]
    fn what_is_undecided_is_neither() {
        assert_eq!(together(&[Holds, Undecided], Fails), Undecided);
        assert_eq!(together(&[Holds, Undecided, Fails], Fails), Fails);
        assert_eq!(together(&[Holds, Holds], Fails), Holds);
        assert_eq!(together(&[Fails, Undecided], Holds), Undecided);
        assert_eq!(together(&[Fails, Holds, Undecided], Holds), Holds);
        assert_eq!(together(&[Fails, Fails], Holds), Fails);
    }
}
