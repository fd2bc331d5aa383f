//! `back`, `forward` and `reload` (contract 5.3). The browser's own history is asked and followed; the page is not.
//!
//! A form is never sent again unasked: Chromium shows a kept answer from its cache alone when it goes through the
//! history, and sends only on a reload, so a reload of such a page is refused here.

use std::time::{Duration, Instant};

use futures_util::TryFutureExt as _;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Back, Forward, Reload};
use glass_proto::result::Navigated;

use super::load::{Asked, Committed, arrive, begin, error_page_stands, generation, no_answer};
use crate::act::Before;
use crate::cdp::types::page::{
    self, GetNavigationHistory, NavigateToHistoryEntry, NavigationEntry, NavigationHistory,
};
use crate::cdp::{CdpError, Command};
use crate::context::{Context, halted};
use crate::page::{EngineError, Halt, Moves};

/// Between two looks at the history while a navigation is awaited.
const LOOK: Duration = Duration::from_millis(10);
/// What Chromium says of a form's answer that it has not kept.
const NOT_KEPT: &str = "net::ERR_CACHE_MISS";

pub(super) async fn back(context: &Context, params: &Back) -> Result<Navigated, OpError> {
    let asked = Asked { action: "back", url: "", wait_until: params.wait_until, fail_http: params.fail_http };
    step(context, asked, -1, params.resubmit).await
}

pub(super) async fn forward(context: &Context, params: &Forward) -> Result<Navigated, OpError> {
    let asked =
        Asked { action: "forward", url: "", wait_until: params.wait_until, fail_http: params.fail_http };
    step(context, asked, 1, params.resubmit).await
}

async fn step(context: &Context, asked: Asked<'_>, step: i64, resubmit: bool) -> Result<Navigated, OpError> {
    let before = begin(context).await?;
    let session = session(context)?;
    let history = history(context, &session).await?;
    let Some(entry) = at(&history, history.current_index + step) else {
        return Err(at_the_end(step));
    };
    let asked = Asked { url: &entry.url, ..asked };
    let began = Instant::now();
    let seen = Seen::of(context);
    context.dispatching().await;
    let command = NavigateToHistoryEntry { entry_id: entry.id };
    taken(context, tell(context, &session, command).await)?;
    let committed = follow(context, &session, &seen, &before, Some(entry.id)).await?;
    if resubmit
        && committed == Committed::Document
        && failure(context, &seen).await.as_deref() == Some(NOT_KEPT)
    {
        let seen = Seen::of(context);
        taken(context, tell(context, &session, page::Reload::default()).await)?;
        let committed = follow(context, &session, &seen, &before, None).await?;
        return arrive(context, asked, &before, committed, began).await;
    }
    arrive(context, asked, &before, committed, began).await
}

pub(super) async fn reload(context: &Context, params: &Reload) -> Result<Navigated, OpError> {
    let before = begin(context).await?;
    let session = session(context)?;
    let history = history(context, &session).await?;
    let (url, by_form) = at(&history, history.current_index)
        .map_or_else(Default::default, |entry| (entry.url.as_str(), entry.transition_type == "form_submit"));
    let loader = {
        let state = context.pages.state();
        let document = &state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?.document;
        let method = document.exchange(&document.loader).map(|exchange| exchange.method.as_str());
        // Where the request was not seen, the history knows at least that a form led here.
        let sends = match method.filter(|method| !method.is_empty()) {
            Some(method) => method == "POST",
            None => by_form,
        };
        if sends && !params.resubmit {
            return Err(sends_again());
        }
        document.loader.clone()
    };
    let asked = Asked { action: "reload", url, wait_until: params.wait_until, fail_http: params.fail_http };
    let began = Instant::now();
    let seen = Seen::of(context);
    context.dispatching().await;
    // Only the document that was judged above: another one may be a form's answer.
    let loader = Some(loader.as_str()).filter(|loader| !loader.is_empty());
    let command = page::Reload { ignore_cache: params.ignore_cache, loader_id: loader };
    match tell(context, &session, command).await {
        Err(EngineError::Cdp(error)) if !error.is_closed() => {
            tracing::debug!(%error, "another document came before the reload");
            return Err(OpError::failed(
                ErrorKind::NavigationFailed,
                Phase::BrowserEffect,
                "another page was shown before this one could be loaded again; nothing was loaded",
                "observe the page; reload again if it is to be",
            )
            .reason("navigated"));
        }
        sent => taken(context, sent)?,
    }
    let committed = follow(context, &session, &seen, &before, None).await?;
    arrive(context, asked, &before, committed, began).await
}

/// What the target was like right before.
struct Seen {
    generation: u64,
    moves: Moves,
    crashed: bool,
}

impl Seen {
    fn of(context: &Context) -> Self {
        let state = context.pages.state();
        let target = state.target(&context.target);
        Self {
            generation: generation(&state, &context.target),
            moves: target.map(|target| target.document.moves).unwrap_or_default(),
            crashed: target.is_some_and(|target| target.crashed),
        }
    }
}

fn session(context: &Context) -> Result<std::sync::Arc<str>, OpError> {
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    session.ok_or_else(|| halted(&Halt::Closed))
}

async fn history(context: &Context, session: &str) -> Result<NavigationHistory, OpError> {
    let history = tell(context, session, GetNavigationHistory {}).await;
    history.map_err(|error| context.engine(&error, Phase::Preflight))
}

/// The entry of that number, where there is one.
fn at(history: &NavigationHistory, index: i64) -> Option<&NavigationEntry> {
    usize::try_from(index).ok().and_then(|index| history.entries.get(index))
}

/// Sends a command about the history. Between two pages the browser refuses each of them, and takes it a moment later.
async fn tell<C: Command + Clone>(
    context: &Context,
    session: &str,
    command: C,
) -> Result<C::Reply, EngineError> {
    loop {
        let sent = context.pages.client().start_send(Some(session), command.clone());
        let refused = |error: &CdpError| error.between_pages() && !context.left().is_zero();
        // Seen before the engine takes the refusal for a page that went.
        let mut between = false;
        let reply = sent.inspect_err(|error| between = refused(error));
        match context.pages.or_halt(&context.target, std::pin::pin!(reply)).await {
            Err(_) if between => context.pages.any_event(context.soft.min(Instant::now() + LOOK)).await?,
            reply => return reply,
        };
    }
}

fn lost(context: &Context, error: &EngineError) -> OpError {
    context.engine(error, Phase::BrowserEffect)
}

/// Whether the browser took the command. Where it changes the process at once the reply never comes, and the events
/// tell the rest.
fn taken<T>(context: &Context, reply: Result<T, EngineError>) -> Result<(), OpError> {
    match reply {
        Ok(_) | Err(EngineError::Gone) => Ok(()),
        Err(error) => Err(lost(context, &error)),
    }
}

/// Waits until the history stands at `wanted`, or at a new document where there is none wanted; or until the browser
/// gave it up.
async fn follow(
    context: &Context,
    session: &std::sync::Arc<str>,
    seen: &Seen,
    before: &Before,
    wanted: Option<i64>,
) -> Result<Committed, OpError> {
    loop {
        let now = Seen::of(context);
        if now.generation != seen.generation {
            return Ok(Committed::Document);
        }
        if now.crashed && !seen.crashed {
            return Err(lost(context, &EngineError::Halted(Halt::Crashed)));
        }
        let halt = Halt::of(&context.pages.state(), &context.target);
        if let Some(halt @ (Halt::Dialog(_) | Halt::Closed)) = halt {
            return Err(lost(context, &EngineError::Halted(halt)));
        }
        let within = now.moves.within > seen.moves.within;
        let ended = now.moves.begun > seen.moves.begun && !now.moves.moving;
        let there = match wanted {
            // A frame can be what goes back: then the page itself tells nothing.
            Some(id) if within || ended || now.moves.begun == seen.moves.begun => {
                let history = history(context, session).await?;
                at(&history, history.current_index).is_some_and(|entry| entry.id == id)
            }
            Some(_) => false,
            None => within,
        };
        if there {
            // Asked later than the model: a new document may have come in between.
            let replaced = generation(&context.pages.state(), &context.target) != seen.generation;
            return Ok(if replaced { Committed::Document } else { Committed::SameDocument });
        }
        if ended {
            return gave_up(context, before);
        }
        if context.left().is_zero() {
            return Err(no_answer(context, session, seen.generation).await);
        }
        let soon = context.soft.min(Instant::now() + Duration::from_millis(500));
        context.pages.any_event(soon).await.map_err(|error| lost(context, &error))?;
        // A page that changes all the time is asked no more often than this.
        tokio::time::sleep(LOOK).await;
    }
}

/// The navigation ended and the page is as it was: no content, a download, or the page's own script took it.
fn gave_up(context: &Context, before: &Before) -> Result<Committed, OpError> {
    let state = context.pages.state();
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    let status =
        target.document.last_exchange().map(|exchange| exchange.status).filter(|status| *status != 0);
    let downloads = state.downloads.iter().any(|download| before.began(context, download));
    if downloads || matches!(status, Some(204 | 205)) {
        return Ok(Committed::Kept { status });
    }
    Err(OpError::failed(
        ErrorKind::NavigationFailed,
        Phase::BrowserEffect,
        "the navigation ended before another page was shown; the page is as it was and may have prevented it",
        "observe the page; navigate goes to an address by itself",
    )
    .reason("prevented"))
}

/// The network error of the document that is shown now, as soon as it is told.
async fn failure(context: &Context, seen: &Seen) -> Option<String> {
    let loader = {
        let state = context.pages.state();
        state.target(&context.target)?.document.loader.clone()
    };
    if generation(&context.pages.state(), &context.target) == seen.generation {
        return None;
    }
    error_page_stands(context, Some(&loader)).await;
    let state = context.pages.state();
    state.target(&context.target)?.document.failure_of(&loader).map(str::to_owned)
}

fn at_the_end(step: i64) -> OpError {
    let (what, reason) = if step < 0 {
        ("this is the first page of the history; there is nothing to go back to", "history_start")
    } else {
        ("this is the last page of the history; there is nothing to go forward to", "history_end")
    };
    OpError::rejected(ErrorKind::TargetNotFound, Phase::Preflight, what, "navigate goes to an address")
        .reason(reason)
}

fn sends_again() -> OpError {
    OpError::rejected(
        ErrorKind::Denied,
        Phase::Preflight,
        "the page is the answer to a sent form (POST); loading it again would send the form again",
        "--resubmit sends it again; navigate loads the URL without the form",
    )
    .reason("resubmit")
}
