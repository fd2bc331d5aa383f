//! `health` and `recover` (contract 7.7). In the control lane: they answer while an operation runs or a page spins.

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::op::{Recover, RecoverMethod};
use glass_proto::redact::address;
use glass_proto::result::{Health, QuotaRow, Recovered, TargetHealth};

use crate::cdp::types::target;
use crate::context::Context;
use crate::page::EngineError;

/// How long pages have for an answer.
const ANSWER: Duration = Duration::from_millis(40);

pub(super) async fn health(context: &Context) -> Result<Health, OpError> {
    let until = context.soft.min(Instant::now() + ANSWER);
    let asked = context.pages.pulse(until).await;
    asked.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::Transport))?;
    let uploaded = context.pages.uploads().bytes();
    let state = context.pages.state();
    let targets = state.order.iter().filter_map(|id| state.target(id)).map(|target| TargetHealth {
        id: target.id.clone(),
        page_url: cut(&address(&target.url), 512).into_owned(),
        crashed: target.crashed,
        dialog: target.dialog.is_some(),
        responsive: target.answers().then_some(target.asked.is_none()),
        silent_ms: target.asked.map(|since| u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)),
    });
    let quota = |quota: &str, used, limit| QuotaRow { quota: quota.to_owned(), used, limit };
    Ok(Health {
        browser: context
            .pages
            .browser()
            .map_or_else(String::new, |browser| browser.version().full().to_owned()),
        targets: targets.collect(),
        running: context.pages.running().rows(&context.token),
        quotas: vec![
            quota("targets", state.targets.len() as u64, context.pages.max_targets() as u64),
            quota("spool", state.kept() + uploaded, context.pages.spool_bytes()),
        ],
    })
}

pub(super) async fn recover(context: &Context, params: &Recover) -> Result<Recovered, OpError> {
    let execution = params.execution_id.as_str();
    let stuck = context.pages.running().find(execution).filter(|_| execution != context.token);
    let Some(stuck) = stuck else {
        return Err(OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::TargetResolution,
            "no operation of that execution id runs in this session; it has ended",
            "health shows what runs",
        )
        .reason("not_running"));
    };
    let mut recovered = Recovered {
        action: "recover".to_owned(),
        method: params.method.name().to_owned(),
        execution_id: execution.to_owned(),
        operation: stuck.facts.name.to_owned(),
        ..Recovered::default()
    };
    match (params.method, &stuck.target) {
        (RecoverMethod::CloseTarget, Some(target)) => {
            super::elsewhere::closes(context, target)?;
            context.dispatching().await;
            stuck.end.cancel();
            close(context, target).await?;
            recovered.target_id = Some(target.clone());
            recovered.left = context.pages.state().targets.len() as u64;
        }
        (RecoverMethod::CloseTarget, None) => {
            return Err(OpError::invalid(
                "that operation is about no single page",
                "cancel it, or end the browser with the method restart_browser",
            ));
        }
        (RecoverMethod::RestartBrowser, _) => {
            context.dispatching().await;
            stuck.end.cancel();
            context.pages.running().end_browser();
        }
    }
    Ok(recovered)
}

async fn close(context: &Context, id: &str) -> Result<(), OpError> {
    let fault = |error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect);
    match context.pages.client().send(None, target::CloseTarget { target_id: id }).await {
        Err(error) if error.is_closed() => return Err(fault(error)),
        // It closed by itself in the meantime, which is what was wanted.
        Ok(_) | Err(_) => {}
    }
    let gone = context.pages.until(context.soft, |state| state.target(id).is_none().then_some(()));
    gone.await.map_err(fault)?.ok_or_else(|| {
        OpError::unknown(
            "timeout",
            "the browser was told to close the page, and it was still there at the deadline",
            "list-targets shows whether it is gone; the method restart_browser ends all of it",
        )
    })
}
