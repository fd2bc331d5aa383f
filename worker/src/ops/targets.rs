//! `createTarget`, `selectTarget`, `closeTarget` and `listTargets` (contract 7.1).

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::op::{CloseTarget, CreateTarget, Navigate, SelectTarget};
use glass_proto::outcome::Outcome;
use glass_proto::result::{TargetClosed, TargetMade, TargetRow, TargetSelected, Targets};

use super::elsewhere::{closes, refusal};
use super::navigate;
use crate::act::{look, page_line};
use crate::cdp::types::{runtime, target};
use crate::context::Context;
use crate::execute::no_such_target;
use crate::page::{EngineError, Selection, is_internal};

/// How long a page may take to say that it lives, when targets are listed.
const ALIVE: Duration = Duration::from_millis(150);
/// How long it is waited for that a page that was opened in vain goes, when the deadline has come.
const LAST: Duration = Duration::from_millis(20);

pub(super) async fn create(context: &Context, params: &CreateTarget) -> Result<TargetMade, OpError> {
    let used = context.pages.state().targets.len();
    let most = context.pages.max_targets();
    if used >= most {
        return Err(OpError::rejected(
            ErrorKind::QuotaExceeded,
            Phase::Policy,
            format!("the session has {used} targets, which is as many as it may"),
            "close one with close-target",
        )
        .detail("quota", "targets")
        .detail("limit", most)
        .detail("used", used));
    }
    if let Some(url) = &params.url {
        // Judged before anything is opened.
        navigate::admitted(url)?;
    }
    context.dispatching().await;
    // Nobody who sits at the browser is taken away from what they look at.
    let background = context.pages.is_elsewhere();
    let command = target::CreateTarget { url: "about:blank", background, ..target::CreateTarget::default() };
    let made = context.pages.client().send(None, command).await;
    let id = made.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?.target_id;
    if context.pages.is_elsewhere() {
        context.pages.note_made(&id);
        if let Err(error) = context.pages.claim(&id).await {
            close_again(context, &id).await;
            return Err(refusal(&error));
        }
    }
    let there = context.pages.until(context.soft, |state| state.is_ready(&id).then_some(()));
    let there =
        there.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?;
    if there.is_none() {
        close_again(context, &id).await;
        return Err(OpError::failed(
            ErrorKind::Timeout,
            Phase::BrowserEffect,
            "the new page did not become ready within the deadline, and was closed again",
            "try again, or give it longer with --timeout-ms",
        ));
    }
    let inside = context.of_target(&id);
    let Some(url) = &params.url else { return blank(&inside, id).await };
    let navigate = Navigate { url: url.clone(), wait_until: params.wait_until, fail_http: params.fail_http };
    match navigate::run(&inside, &navigate).await {
        Ok(went) => Ok(TargetMade {
            action: "createTarget".to_owned(),
            target_id: id,
            selected: false,
            page: went.page,
            loaded: went.loaded,
            pending: went.pending,
            warning: went.warning,
            evidence: went.evidence,
        }),
        Err(error) if error.outcome == Outcome::Failed => {
            close_again(context, &id).await;
            Err(error)
        }
        Err(error) => Err(error.detail("targetId", id)),
    }
}

async fn blank(inside: &Context, id: String) -> Result<TargetMade, OpError> {
    let looked = look(inside, None, false, 1).await?;
    let page = page_line(inside, looked.changes.revision).await;
    Ok(TargetMade {
        action: "createTarget".to_owned(),
        target_id: id,
        selected: false,
        page: page.map_err(|error| inside.engine(&error, Phase::Verification))?,
        loaded: true,
        pending: None,
        warning: None,
        evidence: glass_proto::result::Evidence::default(),
    })
}

/// Nothing is left of a page that could not be loaded.
async fn close_again(context: &Context, id: &str) {
    drop(context.pages.client().start_send(None, target::CloseTarget { target_id: id }));
    // At the deadline there is no time to see it go: what was sent is done all the same.
    let until = context.soft.max(Instant::now() + LAST);
    let _ = context.pages.until(until, |state| state.target(id).is_none().then_some(())).await;
}

pub(super) fn select(context: &Context, params: &SelectTarget) -> Result<TargetSelected, OpError> {
    let mut state = context.pages.state();
    let id = params.id.as_str();
    let Some(target) = state.target(id) else {
        drop(state);
        return Err(no_such_target(&context.pages));
    };
    let selected = TargetSelected {
        action: "selectTarget".to_owned(),
        target_id: target.id.clone(),
        frame_id: None,
        page_url: cut(&target.url, 4096).into_owned(),
        page_title: cut(&target.title, 256).into_owned(),
    };
    state.select(&context.client, Selection { target: id.to_owned(), frame: None });
    Ok(selected)
}

pub(super) async fn close(context: &Context, params: &CloseTarget) -> Result<TargetClosed, OpError> {
    let id = params.id.as_str();
    let known = {
        let state = context.pages.state();
        state.target(id).is_some() || state.unclaimed().any(|page| page.id == id)
    };
    if !known {
        return Err(no_such_target(&context.pages));
    }
    closes(context, id)?;
    let was_selected = context.pages.state().selected(&context.client).as_deref() == Some(id);
    context.dispatching().await;
    let sent = context.pages.client().send(None, target::CloseTarget { target_id: id }).await;
    match sent {
        Err(error) if error.is_closed() => {
            return Err(context.engine(&EngineError::Cdp(error), Phase::BrowserEffect));
        }
        // It closed by itself in the meantime, which is what was wanted.
        Ok(_) | Err(_) => {}
    }
    let gone = context.pages.until(context.soft, |state| state.target(id).is_none().then_some(()));
    let gone = gone.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?;
    if gone.is_none() {
        return Err(OpError::unknown(
            "timeout",
            "the browser was told to close the page, and it was still there at the deadline",
            "list-targets shows whether it is gone",
        ));
    }
    let left = context.pages.state().targets.len() as u64;
    Ok(TargetClosed { action: "closeTarget".to_owned(), target_id: id.to_owned(), was_selected, left })
}

/// From the model, and a short question to each page whether it lives.
pub(super) async fn list(context: &Context) -> Targets {
    let sessions: Vec<_> = {
        let state = context.pages.state();
        let open = state.order.iter().filter_map(|id| state.target(id));
        // A page behind a dialog and a dead one do not answer, and are told as what they are.
        open.filter(|target| target.dialog.is_none() && !target.crashed)
            .map(|target| (target.id.clone(), target.session.clone()))
            .collect()
    };
    let asked = sessions.into_iter().map(|(id, session)| async move {
        let question = runtime::Evaluate {
            expression: "0",
            silent: true,
            return_by_value: true,
            ..runtime::Evaluate::default()
        };
        let answer = context.pages.client().start_send(Some(&session), question);
        let silent = tokio::time::timeout(ALIVE.min(context.left()), answer).await.is_err();
        silent.then_some(id)
    });
    let silent: Vec<String> = futures_util::future::join_all(asked).await.into_iter().flatten().collect();
    let elsewhere = context.pages.is_elsewhere();
    let state = context.pages.state();
    let others = state.unclaimed().map(|page| TargetRow {
        id: page.id.clone(),
        url: cut(&page.url, 4096).into_owned(),
        title: cut(&page.title, 256).into_owned(),
        kind: if is_internal(&page.url) { "internal" } else { "page" }.to_owned(),
        opener: page.opener.clone(),
        opener_closed: false,
        owner: "user".to_owned(),
        retention: "retain".to_owned(),
        claimed: Some(false),
        selected: false,
        responsive: None,
        dialog: false,
    });
    let targets = state.order.iter().filter_map(|id| state.target(id)).map(|target| TargetRow {
        id: target.id.clone(),
        url: cut(&target.url, 4096).into_owned(),
        title: cut(&target.title, 256).into_owned(),
        kind: if target.crashed { "crashed" } else { "page" }.to_owned(),
        opener: target.opener.clone(),
        opener_closed: target.opener.as_ref().is_some_and(|opener| state.target(opener).is_none()),
        owner: if elsewhere && !state.claims.is_made(&target.id) { "user" } else { "glass" }.to_owned(),
        retention: if elsewhere && !state.claims.is_made(&target.id) { "retain" } else { "temporary" }
            .to_owned(),
        claimed: elsewhere.then_some(true),
        selected: target.id == context.target,
        responsive: silent.contains(&target.id).then_some(false),
        dialog: target.dialog.is_some(),
    });
    Targets { targets: targets.chain(others).collect() }
}
