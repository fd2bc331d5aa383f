//! `navigate` (contract 5.3): begins, awaits the commit, then as much of the load as was asked for.

use std::time::{Duration, Instant};

use glass_policy::navigation;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::Navigate;
use glass_proto::result::Navigated;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::load::{Asked, Committed, arrive, begin, error_page_stands, generation, net_failure, no_answer};
use crate::act::Before;
use crate::cdp::types::page;
use crate::context::{Context, halted};
use crate::page::{EngineError, Halt, Step};

/// How long a page may take to say whether it has an opener.
const SAYS: Duration = Duration::from_millis(250);
/// Sign-in flows send what they got to the page that opened them.
const CUT: &str = "this navigation cut the page's link to the one that opened it, which gets no message of it any more; \
                   a click on a link keeps it";

pub(super) async fn run(context: &Context, params: &Navigate) -> Result<Navigated, OpError> {
    let url = admitted(&params.url)?;
    let before = begin(context).await?;
    let linked = has_opener(context).await == Some(true);
    let began = Instant::now();
    context.dispatching().await;
    let committed = commit(context, &before, &url, began).await?;
    let asked = Asked {
        action: "navigate",
        url: url.as_str(),
        wait_until: params.wait_until,
        fail_http: params.fail_http,
    };
    let mut navigated = arrive(context, asked, &before, committed, began).await?;
    if linked && navigated.warning.is_none() && has_opener(context).await == Some(false) {
        navigated.warning = Some(CUT.to_owned());
    }
    Ok(navigated)
}

#[derive(Deserialize)]
struct Info {
    opener: bool,
}

/// Whether the page can reach the one that opened it; `None` where none did, or the page does not say.
async fn has_opener(context: &Context) -> Option<bool> {
    let main = {
        let state = context.pages.state();
        let target = state.target(&context.target).filter(|target| target.opener.is_some())?;
        target.key(&target.main)?
    };
    let asked = context.pages.run(&main, vec![Step("info", json!({}))]);
    let info = tokio::time::timeout(SAYS, asked).await.ok()?.and_then(|mut call| call.take::<Info>());
    info.ok().map(|info| info.opener)
}

/// The URL to go to, if it may be gone to. Never echoes what was given.
pub(super) fn admitted(text: &str) -> Result<Url, OpError> {
    let url = navigation::normalise(text).map_err(|error| {
        OpError::invalid(error.to_string(), "give a full URL such as https://example.com/path")
    })?;
    navigation::admit(&url).map_err(|refusal| {
        OpError::rejected(ErrorKind::Denied, Phase::Policy, refusal.reason, refusal.remedy)
            .reason("scheme")
            .detail("scheme", refusal.scheme)
    })?;
    Ok(url)
}

async fn commit(context: &Context, before: &Before, url: &Url, began: Instant) -> Result<Committed, OpError> {
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    let generation = generation(&context.pages.state(), &context.target);
    let was_crashed = context.pages.state().target(&context.target).is_some_and(|target| target.crashed);
    let command = page::Navigate { url: url.as_str(), ..page::Navigate::default() };
    let mut reply = context.pages.client().start_send(Some(&session), command);
    let answer = tokio::select! {
        answer = &mut reply => answer.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?,
        () = tokio::time::sleep_until(context.soft.into()) => return Err(no_answer(context, &session, generation).await),
    };
    if let Some(error) = answer.error_text.as_deref().filter(|error| !error.is_empty()) {
        let kept =
            failed(context, before, url, error, answer.loader_id.as_deref(), answer.is_download, began);
        if kept.is_err() {
            error_page_stands(context, answer.loader_id.as_deref()).await;
        }
        return kept;
    }
    let Some(loader) = answer.loader_id else { return Ok(Committed::SameDocument) };
    let shown = context.pages.until(context.soft, |state| {
        let target = state.target(&context.target)?;
        let replaced = self::generation(state, &context.target) != generation;
        (target.document.loader == loader || replaced || (target.crashed && !was_crashed)).then_some(())
    });
    let shown =
        shown.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?;
    if shown.is_none() {
        return Err(no_answer(context, &session, generation).await);
    }
    Ok(Committed::Document)
}

fn failed(
    context: &Context,
    before: &Before,
    url: &Url,
    error: &str,
    loader: Option<&str>,
    is_download: bool,
    began: Instant,
) -> Result<Committed, OpError> {
    let status = {
        let state = context.pages.state();
        let target = state.target(&context.target);
        loader
            .and_then(|loader| target.and_then(|t| t.document.exchange(loader)))
            .map(|exchange| exchange.status)
            .filter(|status| *status != 0)
    };
    let downloading = is_download || context.pages.state().downloads.iter().any(|d| before.began(context, d));
    if error == "net::ERR_ABORTED" && (downloading || matches!(status, Some(204 | 205))) {
        return Ok(Committed::Kept { status });
    }
    Err(net_failure(context, url.as_str(), loader, error, status, began))
}
