//! `selectText`: a part of a field or of an element's text, by offsets or by the text itself (contract 5.3).

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::SelectText;
use glass_proto::result::Acted;
use serde::Deserialize;
use serde_json::json;

use super::begin;
use super::click::acted;
use super::write::{run as call, take};
use crate::act::{Before, Need, find, guard_revision, measure, ready};
use crate::context::Context;
use crate::page::Step;

#[derive(Deserialize)]
struct Selected {
    fault: Option<String>,
    #[serde(default)]
    total: u64,
    #[serde(default)]
    length: u64,
    #[serde(default)]
    selected: u64,
    focused: Option<bool>,
}

pub(super) async fn run(context: &Context, params: &SelectText) -> Result<Acted, OpError> {
    begin::page(context)?;
    let (found, looked) = find(context, &params.target).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let need = Need { word: "none", guarded: &[], position: None };
    let (aim, _) = ready(context, &params.target, found, need).await?;
    let SelectText { start, end, text, occurrence, .. } = params;
    let wish = |trial: bool| {
        json!({ "ref": aim.found.node, "start": start, "end": end, "text": text, "occurrence": occurrence,
            "trial": trial })
    };
    // Whether there is such a part is known before anything changes.
    let mut answer = call(context, &aim.found.key, vec![Step("selectPart", wish(true))]).await?;
    let trial: Selected = take(context, &mut answer)?;
    if let Some(fault) = trial.fault {
        return Err(no_part(&fault, trial.total));
    }
    context.dispatching().await;
    let mut answer = call(context, &aim.found.key, vec![Step("selectPart", wish(false))]).await?;
    let selected: Selected = take(context, &mut answer)?;
    let (mut evidence, revision) = measure(context, &before, None).await?;
    evidence.selected_length = Some(selected.selected);
    evidence.focused = selected.focused;
    if selected.fault.is_some() || (selected.length > 0 && selected.selected == 0) {
        return Err(OpError::failed(
            ErrorKind::VerificationFailed,
            Phase::Verification,
            "the text was selected and the selection did not stay",
            "observe the page: it may not let its text be selected",
        )
        .reason("reverted"));
    }
    Ok(acted(context, "selectText", &aim, &before, revision, evidence, carried))
}

fn no_part(fault: &str, total: u64) -> OpError {
    let reject = |kind, message: String, remedy: &str| {
        OpError::rejected(kind, Phase::Preflight, message, remedy).detail("total", total)
    };
    match fault {
        "several" => reject(
            ErrorKind::AmbiguousTarget,
            format!("the text stands there {total} times; nothing was selected"),
            "give --occurrence",
        ),
        "not_there" | "fewer" => reject(
            ErrorKind::TargetNotFound,
            format!("the text stands there {total} times, not as often as asked; nothing was selected"),
            "get-text shows what stands there",
        ),
        "no_offsets" => reject(
            ErrorKind::NotActionable,
            "this kind of field tells of no offsets; it can be selected as a whole only".to_owned(),
            "leave --start and --end out",
        )
        .reason("not_editable"),
        _ => OpError::invalid(
            format!("start and end lie within the text, which has {total} UTF-16 units"),
            "give smaller numbers",
        ),
    }
}
