//! Files dropped on an element, for pages that take them that way only: as a drag from outside the browser.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Locator, Upload};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{DragKind, Evidence, Target, Uploaded};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::super::key::settle;
use super::{given, staged};
use crate::act::{Before, Need, disarm_all, find, guard_revision, measure, ready, unwatch_all, watch_all};
use crate::cdp::types::input::{DispatchDragEvent, DragEventType};
use crate::context::{Context, halted};
use crate::page::{EngineError, Halt};

/// What a drag may do with the files: copy them.
const COPY: u8 = 1;

pub(super) async fn run(context: &Context, params: &Upload, locator: &Locator) -> Result<Uploaded, OpError> {
    let staged = staged(context, &params.file_ids)?;
    let (found, looked) = find(context, locator).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let need = Need { word: "hover", guarded: &["over"], position: None };
    let (aim, _) = ready(context, locator, found, need).await?;
    let key = aim.found.key.clone();
    let point = aim.point.ok_or_else(|| {
        OpError::rejected(
            ErrorKind::NotActionable,
            Phase::Preflight,
            "the element has no point to drop on",
            "observe the page",
        )
        .reason("not_visible")
    })?;
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    let paths = given(context, &staged)?;
    let data = json!({ "items": [], "files": paths, "dragOperationsMask": COPY });
    let data =
        to_raw_value(&data).map_err(|error| context.engine(&EngineError::Shape(error), Phase::Dispatch))?;
    context.dispatching().await;
    for kind in [DragEventType::DragEnter, DragEventType::DragOver, DragEventType::DragOver] {
        send(context, &session, kind, point, &data).await?;
    }
    let report = disarm_all(context, &key).await.unwrap_or_default();
    if report.stopped > 0 || !report.prevented {
        send(context, &session, DragEventType::DragCancel, point, &data).await?;
        let (message, reason) = if report.stopped > 0 {
            ("something else was under the files; they were not dropped", "hit_test_blocked")
        } else {
            ("the element takes no files that are dropped on it; they were not dropped", "not_dropped")
        };
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::BrowserEffect,
            message,
            "observe the page: another element may take them, or a file input",
        )
        .reason(reason)
        .with_candidates(report.would_hit.into_iter().collect()));
    }
    watch_all(context, &["drag"]).await;
    send(context, &session, DragEventType::Drop, point, &data).await?;
    settle(context).await?;
    let seen = unwatch_all(context).await;
    let dropped = seen.iter().find_map(|(key, report)| report.drop_target(key));
    let (measured, revision) = measure(context, &before, None).await?;
    let went = measured.document_changed == Some(true) || measured.target_closed == Some(true);
    if dropped.is_none() && !went && measured.dialog.is_none() {
        return Err(OpError::failed(
            ErrorKind::VerificationFailed,
            Phase::Verification,
            "the files were dropped, and the page received no drop",
            "observe the page",
        )
        .reason("not_dropped")
        .ended(Outcome::Failed, Dispatched::Yes));
    }
    Ok(Uploaded {
        action: "upload".to_owned(),
        target: Some(Target {
            label: glass_proto::escape::cut(&format!("{} \"{}\"", aim.role, aim.label), 160).into_owned(),
            reference: aim.found.reference(),
            carried: carried.filter(|carried| *carried),
        }),
        chooser_id: None,
        target_id: context.target.clone(),
        frame_id: (key.label != 0).then(|| format!("f{}", key.label)),
        files: staged.iter().map(|staged| staged.file.clone()).collect(),
        held: None,
        warning: None,
        previous_revision: before.revision,
        revision,
        evidence: Evidence { hit_target: dropped, drag: Some(DragKind::Native), ..measured },
    })
}

async fn send(
    context: &Context,
    session: &str,
    kind: DragEventType,
    (x, y): (f64, f64),
    data: &RawValue,
) -> Result<(), OpError> {
    let event = DispatchDragEvent { kind, x, y, data, modifiers: None };
    let sent = context.pages.client().start_send(Some(session), event);
    match context.pages.or_halt(&context.target, sent).await {
        Ok(_) | Err(EngineError::Gone | EngineError::Halted(Halt::Dialog(_) | Halt::Closed)) => Ok(()),
        Err(error) => Err(context.engine(&error, Phase::Dispatch)),
    }
}
