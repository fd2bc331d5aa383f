//! How far a page has loaded, and the navigation that an input shall begin (contract 5.3).

use std::time::{Duration, Instant};

use glass_proto::error::{OpError, Phase};
use glass_proto::op::{ExpectNavigation, WaitUntil};

use super::Before;
use crate::context::Context;
use crate::glob::fits;
use crate::page::{EngineError, Halt};

/// How long `auto` waits for load after the DOM is ready.
const AUTO_LOAD: Duration = Duration::from_secs(2);
/// How long the network has to be quiet for `networkidle`.
const QUIET: Duration = Duration::from_millis(500);
/// Time kept back to measure in, when a navigation was waited for in vain.
const MEASURE: Duration = Duration::from_millis(250);

/// What became of a navigation that was expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// It came.
    pub matched: bool,
    /// Its page came as far as was asked for; absent where the document stayed.
    pub loaded: Option<bool>,
}

/// Waits for the navigation that the call expects, from the state before anything was sent on, and for its page.
///
/// # Errors
/// When the browser goes.
pub(super) async fn expected(
    context: &Context,
    before: &Before,
    wanted: &ExpectNavigation,
) -> Result<Arrived, OpError> {
    let kept_back = MEASURE.min(wanted.time() / 4);
    let last = context.hard.checked_sub(kept_back).unwrap_or(context.hard);
    let until = last.min(Instant::now() + wanted.time() - kept_back);
    let goes = |url: &str| wanted.to().is_none_or(|to| to == url || fits(to, url));
    let came = context.pages.until(until, |state| {
        let Some(target) = state.target(&context.target) else { return Some(None) };
        match before.went(target) {
            Some(went) if goes(&target.url) => Some(Some(went)),
            // A page that stands still goes nowhere until somebody acts.
            _ if target.dialog.is_some() || target.crashed => Some(None),
            _ => None,
        }
    });
    let came = came.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?;
    let loaded = match came.flatten() {
        None => return Ok(Arrived { matched: false, loaded: None }),
        Some(Went::Within) => None,
        Some(Went::Document) => {
            let asked = wanted.wait_until.unwrap_or_default();
            let loaded = loaded_until(&context.lasting(until), asked).await?;
            (asked != WaitUntil::Commit).then_some(loaded)
        }
    };
    Ok(Arrived { matched: true, loaded })
}

/// How a page went elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// Another document is shown, or the same one anew.
    Document,
    /// The document stayed and its URL changed.
    Within,
}

/// Whether the document's own response ended before it was whole.
pub fn is_broken_off(context: &Context) -> bool {
    context.pages.state().target(&context.target).is_some_and(|target| target.document.broken_off().is_some())
}

/// Whether the page stands still behind a dialog, is gone or crashed.
pub fn is_held(context: &Context) -> bool {
    Halt::of(&context.pages.state(), &context.target).is_some()
}

/// Waits until the page has loaded as far as is asked for, and answers whether it has. With `commit` whether it had
/// loaded by then.
///
/// # Errors
/// When the browser goes.
pub async fn loaded_until(context: &Context, until: WaitUntil) -> Result<bool, OpError> {
    let pages = &context.pages;
    let closed = |error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect);
    let reached = |load: bool| {
        move |state: &crate::page::State| {
            let target = state.target(&context.target)?;
            let lifecycle = target.main_frame()?.lifecycle;
            let there = if load { lifecycle.load } else { lifecycle.dom };
            let ended = target.dialog.is_some() || target.crashed || target.document.broken_off().is_some();
            (there || ended).then_some((there, lifecycle.load))
        }
    };
    let at = async |deadline: Instant, load: bool| {
        let came = pages.until(deadline, reached(load)).await.map_err(closed)?;
        Ok::<_, OpError>(came.unwrap_or((false, false)))
    };
    Ok(match until {
        WaitUntil::Commit => at(Instant::now(), true).await?.1,
        WaitUntil::DomContentLoaded => at(context.soft, false).await?.0,
        WaitUntil::Load => at(context.soft, true).await?.1,
        WaitUntil::Auto => {
            if !at(context.soft, false).await?.0 {
                return Ok(false);
            }
            at(context.soft.min(Instant::now() + AUTO_LOAD), true).await?.1
        }
        WaitUntil::NetworkIdle => at(context.soft, true).await?.1 && quiet(context).await?,
    })
}

/// Waits until no request was under way for half a second.
async fn quiet(context: &Context) -> Result<bool, OpError> {
    loop {
        let since = context.pages.state().target(&context.target).and_then(crate::page::Target::quiet_since);
        let wake = match since {
            Some(since) if since.elapsed() >= QUIET => return Ok(true),
            Some(since) => context.soft.min(since + QUIET),
            None => context.soft,
        };
        let moved = context.pages.any_event(wake).await;
        moved.map_err(|error| context.engine(&error, Phase::BrowserEffect))?;
        if context.left().is_zero() || is_held(context) {
            return Ok(false);
        }
    }
}
