//! `preflight`: the check of an action without the action. Looks once, scrolls nothing, sends nothing.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Action, Preflight};
use glass_proto::result::{Preflighted, Target};

use super::begin;
use crate::act::{Sight, find_among, glance, page_line};
use crate::context::Context;

pub(super) async fn run(context: &Context, params: &Preflight) -> Result<Preflighted, OpError> {
    begin::page(context)?;
    let (found, looked) = find_among(context, &params.target).await?;
    let page = page_line(context, looked.changes.revision).await;
    let page = page.map_err(|error| context.engine(&error, Phase::Preflight))?;
    let hidden = looked.matches.iter().map(|(_, matches)| matches.hidden_total).sum();
    let total = looked.matches.iter().map(|(_, matches)| matches.total).sum();
    let mut answer = Preflighted {
        page,
        action: word(params.action).to_owned(),
        unique: found.is_ok(),
        actionable: false,
        reason: None,
        needs_scroll: false,
        total,
        hidden,
        target: None,
        rect: None,
        candidates: Vec::new(),
    };
    let found = match found {
        Ok(found) => found,
        Err(error) if matches!(error.kind, ErrorKind::TargetNotFound | ErrorKind::AmbiguousTarget) => {
            let unread = error.reason.filter(|reason| reason == "frame_unavailable");
            answer.reason = Some(unread.unwrap_or_else(|| error.kind.name().to_owned()));
            answer.candidates = error.candidates;
            return Ok(answer);
        }
        Err(error) => return Err(error),
    };
    let Sight { role, label, rect, reason, blocker } = glance(context, &found, need(params.action)).await?;
    answer.target = Some(Target {
        label: glass_proto::escape::cut(&format!("{role} \"{label}\""), 160).into_owned(),
        reference: found.reference(),
        carried: None,
    });
    answer.rect = rect;
    answer.actionable = reason.is_none();
    answer.needs_scroll = reason.as_deref() == Some("outside_viewport");
    answer.reason = reason;
    answer.candidates = blocker.into_iter().collect();
    Ok(answer)
}

/// The page engine's word for what an action needs.
fn need(action: Action) -> &'static str {
    match action {
        Action::Click | Action::DoubleClick | Action::Check | Action::Uncheck => "click",
        Action::Hover => "hover",
        Action::Fill | Action::Type => "fill",
    }
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Click => "click",
        Action::DoubleClick => "doubleClick",
        Action::Hover => "hover",
        Action::Fill => "fill",
        Action::Type => "type",
        Action::Check => "check",
        Action::Uncheck => "uncheck",
    }
}
