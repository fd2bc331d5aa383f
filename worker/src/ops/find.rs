//! `find`: candidates, without acting.

use glass_proto::error::{OpError, Phase};
use glass_proto::op::Find;
use glass_proto::result::Found;

use super::begin;
use crate::act::{candidates, locate_all, page_line};
use crate::context::Context;

pub(super) async fn run(context: &Context, params: &Find) -> Result<Found, OpError> {
    begin::page(context)?;
    let looked = locate_all(context, &params.target, params.all, params.limit).await?;
    let hidden: u64 = looked.matches.iter().map(|(_, matches)| matches.hidden_total).sum();
    let visible: u64 = looked.matches.iter().map(|(_, matches)| matches.total).sum();
    let mut matches = candidates(&looked.matches);
    matches.truncate(params.limit as usize);
    let total = if params.all { visible + hidden } else { visible };
    if !params.all {
        matches.retain(|found| found.reason.is_none());
    }
    let page = page_line(context, looked.changes.revision).await;
    let page = page.map_err(|error| context.engine(&error, Phase::Preflight))?;
    let frames_unread = Some(looked.unread as u64).filter(|unread| *unread > 0);
    Ok(Found { page, total, hidden, matches, frames_unread })
}
