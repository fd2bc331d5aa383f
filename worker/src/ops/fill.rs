//! `fill`: select everything in the field, put the text in its place, and read it back (contract 5.6).

use glass_proto::error::OpError;
use glass_proto::op::{Fill, Locator};
use glass_proto::result::Acted;

use super::begin;
use super::click::acted;
use super::write::{GUARDED, did_not_stick, replace};
use crate::act::{Before, Need, find, guard_revision, measure, ready};
use crate::context::Context;

pub(super) async fn run(context: &Context, params: &Fill) -> Result<Acted, OpError> {
    whole(context, "fill", &params.target, &params.text).await
}

/// Makes `text` the whole content of a field.
pub(super) async fn whole(
    context: &Context,
    action: &str,
    target: &Locator,
    text: &str,
) -> Result<Acted, OpError> {
    begin::page(context)?;
    let (found, looked) = find(context, target).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let need = Need { word: "fill", guarded: GUARDED, position: None };
    let (aim, _) = ready(context, target, found, need).await?;
    let filled = replace(context, &aim, text).await?;
    let (mut evidence, revision) = measure(context, &before, None).await?;
    evidence.focused = Some(filled.focused);
    evidence.native_setter = filled.native.then_some(true);
    if let Some(read) = filled.read {
        evidence.value_matches = Some(read.matches);
        if !read.matches {
            return Err(did_not_stick(&read));
        }
    }
    Ok(acted(context, action, &aim, &before, revision, evidence, carried))
}
