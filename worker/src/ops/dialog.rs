//! `acceptDialog` and `dismissDialog` (contract 5.5). In the control lane: they answer while the page stands still.

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{AcceptDialog, DismissDialog};
use glass_proto::result::DialogAnswered;

use crate::act::{Before, expected_navigation};
use crate::cdp::types::page::HandleJavaScriptDialog;
use crate::context::{Context, halted};
use crate::page::{Dialog, EngineError, Halt};

pub(super) async fn accept(context: &Context, params: &AcceptDialog) -> Result<DialogAnswered, OpError> {
    let dialog = open(context, params.dialog_id.as_deref())?;
    if params.prompt_text.is_some() && dialog.seen.kind != "prompt" {
        return Err(OpError::invalid(
            format!("promptText is for a prompt, and the open dialog is of type {}", dialog.seen.kind),
            "leave promptText out",
        ));
    }
    answer(context, dialog, "acceptDialog", true, params.prompt_text.as_deref()).await
}

pub(super) async fn dismiss(context: &Context, params: &DismissDialog) -> Result<DialogAnswered, OpError> {
    let dialog = open(context, params.dialog_id.as_deref())?;
    answer(context, dialog, "dismissDialog", false, None).await
}

fn open(context: &Context, wanted: Option<&str>) -> Result<Dialog, OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    let none = |message: &str| {
        OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::Preflight,
            message,
            "observe shows an open dialog",
        )
        .reason("no_dialog")
    };
    match (&target.dialog, wanted) {
        (None, _) => Err(none("no dialog is open")),
        (Some(dialog), Some(wanted)) if dialog.seen.dialog_id != wanted => {
            Err(none("another dialog is open than the one named")
                .detail("dialogId", dialog.seen.dialog_id.clone()))
        }
        (Some(dialog), _) => Ok(dialog.clone()),
    }
}

async fn answer(
    context: &Context,
    dialog: Dialog,
    action: &str,
    accept: bool,
    prompt_text: Option<&str>,
) -> Result<DialogAnswered, OpError> {
    let before = Before::of(context, &context.pages.take_reports(&context.target, &[]), None);
    context.dispatching().await;
    let id = dialog.seen.dialog_id.clone();
    let sent =
        context.pages.client().send(Some(&dialog.session), HandleJavaScriptDialog { accept, prompt_text });
    match sent.await {
        Ok(_) => {}
        // It closed by itself in the meantime: the browser knows no dialog to answer.
        Err(error) if !error.is_closed() => {
            tracing::debug!(%error, "the dialog was not there any more");
            return Err(OpError::failed(
                ErrorKind::TargetNotFound,
                Phase::BrowserEffect,
                "the dialog closed before it was answered",
                "observe the page",
            )
            .reason("no_dialog"));
        }
        Err(error) => return Err(context.engine(&EngineError::Cdp(error), Phase::BrowserEffect)),
    }
    let until = context.soft.min(Instant::now() + Duration::from_millis(500));
    let closed = context.pages.until(until, |state| {
        let open = state.target(&context.target).and_then(|target| target.dialog.as_ref());
        open.is_none_or(|open| open.seen.dialog_id != id).then_some(())
    });
    let closed = closed
        .await
        .map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?
        .is_some();
    let navigation = expected_navigation(context, &before).await?;
    Ok(DialogAnswered {
        action: action.to_owned(),
        target_id: context.target.clone(),
        dialog: dialog.seen,
        closed,
        navigation,
    })
}
