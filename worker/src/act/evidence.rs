//! Measuring an effect: the state before dispatch, and what is different after the settle (contract 2.4, 5.4).

use std::time::Duration;

use glass_proto::error::{OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::result::{DownloadSeen, Evidence, NavigationSeen, PageLine, SemanticDiff};
use serde::Deserialize;
use serde_json::json;

use super::arrival::{Arrived, Went, expected};
use super::find::look;
use crate::context::Context;
use crate::page::{Changes, Download, EngineError, FrameKey, Halt, State, Step, Target};

/// The target as it was before anything was sent.
#[derive(Clone, Debug)]
pub struct Before {
    /// Its revision.
    pub revision: u64,
    url: String,
    title: String,
    generation: u64,
    mark: u64,
    begun: u64,
    within: u64,
    frames_begun: u64,
    downloads_asked: u64,
    totals: SemanticDiff,
    downloads: u64,
    choosers: u64,
    dialog: Option<String>,
}

impl Before {
    /// Whether another page was opened since.
    pub fn opened(&self, context: &Context, state: &State) -> bool {
        !state.popups_since(&context.target, self.mark).is_empty()
    }

    /// Whether the page went elsewhere since, and how.
    pub fn went(&self, target: &Target) -> Option<Went> {
        if target.main_frame().is_some_and(|frame| frame.generation != self.generation) {
            return Some(Went::Document);
        }
        (target.document.moves.within > self.within).then_some(Went::Within)
    }

    /// Whether this target began a download since.
    pub fn began(&self, context: &Context, download: &Download) -> bool {
        download.number >= self.downloads && download.target.as_deref() == Some(&context.target)
    }

    /// Takes over what a look told that was sent before what is measured, and answered later.
    pub fn saw(&mut self, changes: &Changes, info: &Info) {
        self.revision = changes.revision;
        self.totals = changes.totals;
        self.url.clone_from(&info.url);
        self.title.clone_from(&info.title);
    }

    /// Takes it down.
    ///
    /// `info` is what the page's document said of itself in the look that began the operation.
    pub fn of(context: &Context, changes: &Changes, info: Option<&Info>) -> Self {
        let state = context.pages.state();
        let target = state.target(&context.target);
        Self {
            revision: changes.revision,
            totals: changes.totals,
            url: info
                .map(|info| info.url.clone())
                .or_else(|| target.map(|t| t.url.clone()))
                .unwrap_or_default(),
            title: info
                .map(|info| info.title.clone())
                .or_else(|| target.map(|t| t.title.clone()))
                .unwrap_or_default(),
            generation: target.and_then(|target| target.main_frame()).map_or(0, |frame| frame.generation),
            mark: state.mark(),
            begun: target.map_or(0, |target| target.document.begun),
            within: target.map_or(0, |target| target.document.moves.within),
            frames_begun: target.map_or(0, |target| target.frames_begun),
            downloads_asked: target.map_or(0, |target| target.downloads_asked),
            downloads: state.downloads_begun,
            choosers: state.choosers_begun,
            dialog: target
                .and_then(|target| target.dialog.as_ref())
                .map(|dialog| dialog.seen.dialog_id.clone()),
        }
    }
}

/// What a document says of itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Info {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// loading, interactive or complete.
    pub ready_state: String,
}

/// Waits for what the operation began to commit, then measures. Answers the evidence and the revision.
///
/// `fresh` is a look that was taken after the settle; it is used as long as nothing came after it.
///
/// # Errors
/// When the browser goes. A dialog, a crash or the end of the page are evidence, not errors.
pub async fn measure(
    context: &Context,
    before: &Before,
    fresh: Option<(Changes, Info)>,
) -> Result<(Evidence, u64), OpError> {
    let wanted = &context.options.expect_navigation;
    if !wanted.is_none() {
        let arrived = expected(context, before, wanted).await?;
        let later = context.lasting(context.hard);
        let (mut evidence, revision) = measured(&later, before, None).await?;
        evidence.navigation = Some(arrived_at(arrived, evidence.navigation));
        return Ok((evidence, revision));
    }
    measured(context, before, fresh).await
}

/// The navigation that the call expects, waited for and as far as it is known; `None` where none is expected.
///
/// # Errors
/// When the browser goes.
pub async fn expected_navigation(
    context: &Context,
    before: &Before,
) -> Result<Option<NavigationSeen>, OpError> {
    let wanted = &context.options.expect_navigation;
    if wanted.is_none() {
        return Ok(None);
    }
    let arrived = expected(context, before, wanted).await?;
    let mut evidence = Evidence::default();
    browser_side(context, before, &mut evidence);
    Ok(Some(arrived_at(arrived, evidence.navigation)))
}

fn arrived_at(arrived: Arrived, seen: Option<NavigationSeen>) -> NavigationSeen {
    let Arrived { matched, loaded } = arrived;
    NavigationSeen { matched: Some(matched), loaded, ..seen.unwrap_or_default() }
}

async fn measured(
    context: &Context,
    before: &Before,
    fresh: Option<(Changes, Info)>,
) -> Result<(Evidence, u64), OpError> {
    let mut evidence = Evidence::default();
    let waited = std::time::Instant::now();
    wait_for_commits(context, before).await?;
    let known = !context.pages.has_internals(&context.target);
    let fresh = fresh.filter(|_| known && waited.elapsed() < Duration::from_millis(5));
    let halt = Halt::of(&context.pages.state(), &context.target);
    let revision = match halt {
        Some(Halt::Closed) => {
            evidence.target_closed = Some(true);
            before.revision
        }
        Some(Halt::Crashed) => {
            return Err(crate::context::halted(&Halt::Crashed)).map_err(|error| context.sent_or_not(error));
        }
        Some(Halt::Dialog(dialog)) => {
            evidence.dialog = Some(dialog);
            before.revision
        }
        None => look_again(context, before, fresh, &mut evidence).await?,
    };
    browser_side(context, before, &mut evidence);
    Ok((evidence, revision))
}

/// How long after a navigation that ended without a commit a download may still be told.
const BECOMES_DOWNLOAD: Duration = Duration::from_millis(200);

/// A navigation or a popup that began is awaited until it commits (contract 5.4), within the deadline.
async fn wait_for_commits(context: &Context, before: &Before) -> Result<(), OpError> {
    let waited = context.pages.until(context.soft, |state| {
        let Some(target) = state.target(&context.target) else { return Some(()) };
        if target.dialog.is_some() || target.crashed {
            return Some(());
        }
        let navigating = target.document.begun > before.begun && target.document.pending.is_some();
        let opening = state.popups_since(&context.target, before.mark).iter().any(|popup| {
            popup.main_frame().is_none_or(|frame| !frame.lifecycle.dom && popup.document.pending.is_some())
        });
        // Frames of a document that came meanwhile are its loading, which is nobody's effect to wait for.
        let replaced = target.main_frame().is_none_or(|frame| frame.generation != before.generation);
        let framed = !replaced && target.frame_navigates_since(before.frames_begun);
        let asked = target.downloads_asked > before.downloads_asked;
        let fetching = asked && !state.downloads.iter().any(|download| before.began(context, download));
        (!navigating && !opening && !framed && !fetching).then_some(())
    });
    let closed = |error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect);
    waited.await.map_err(closed)?;
    // A navigation that ended without a commit may have become a download, of which the browser tells a moment later.
    let until = context.soft.min(std::time::Instant::now() + BECOMES_DOWNLOAD);
    let told = context.pages.until(until, |state| {
        let Some(target) = state.target(&context.target) else { return Some(()) };
        let replaced = target.main_frame().is_none_or(|frame| frame.generation != before.generation);
        let began = state.downloads.iter().any(|download| before.began(context, download));
        (target.document.begun == before.begun || replaced || began || target.dialog.is_some()).then_some(())
    });
    told.await.map(|_| ()).map_err(closed)
}

async fn look_again(
    context: &Context,
    before: &Before,
    fresh: Option<(Changes, Info)>,
    evidence: &mut Evidence,
) -> Result<u64, OpError> {
    let pages = &context.pages;
    let until = context.soft.max(std::time::Instant::now() + Duration::from_millis(20));
    let mut fresh = fresh;
    loop {
        let main = {
            let state = pages.state();
            state.target(&context.target).and_then(|target| target.key(&target.main))
        };
        let Some(main) = main else {
            evidence.target_closed = Some(true);
            return Ok(before.revision);
        };
        let replaced = main.generation != before.generation;
        let seen = match fresh.take().filter(|_| !replaced) {
            Some(seen) => Ok(Ok(seen)),
            None => tokio::time::timeout_at(until.into(), look(context, None, false, 1))
                .await
                .map(|looked| looked.map(|l| (l.changes, l.info))),
        };
        match seen {
            Ok(Ok((changes, info))) => {
                evidence.document_changed = Some(replaced);
                evidence.url_changed = Some(info.url != before.url);
                evidence.title_changed = Some(info.title != before.title);
                if info.url != before.url {
                    evidence.page_url = Some(cut(&info.url, 4096).into_owned());
                }
                if !replaced {
                    evidence.semantic_diff = Some(since(changes.totals, before.totals));
                }
                return Ok(changes.revision);
            }
            Ok(Err(error)) => {
                let halt = Halt::of(&pages.state(), &context.target);
                match halt {
                    Some(Halt::Dialog(dialog)) => {
                        evidence.dialog = Some(dialog);
                        return Ok(before.revision);
                    }
                    Some(Halt::Closed) => {
                        evidence.target_closed = Some(true);
                        return Ok(before.revision);
                    }
                    // Another document came in the meantime: look at that one.
                    None if error.reason.as_deref() == Some("navigated") => {}
                    Some(Halt::Crashed) | None => return Err(error),
                }
            }
            // It was sent, and the page does not answer in time: what can be said without it is said.
            Err(_) => return Ok(before.revision),
        }
    }
}

fn since(now: SemanticDiff, before: SemanticDiff) -> SemanticDiff {
    SemanticDiff {
        added: now.added.saturating_sub(before.added),
        removed: now.removed.saturating_sub(before.removed),
        changed: now.changed.saturating_sub(before.changed),
    }
}

/// What the document that is read says of itself; with a dialog open, what is known of it.
///
/// # Errors
/// When it cannot be asked.
pub(super) async fn main_info(context: &Context) -> Result<Info, OpError> {
    let main = {
        let state = context.pages.state();
        let target = state.target(&context.target).ok_or_else(|| crate::context::halted(&Halt::Closed))?;
        if target.dialog.is_some() && context.frame().is_none() {
            let (url, title) = (target.url.clone(), target.title.clone());
            return Ok(Info { url, title, ready_state: "blocked".to_owned() });
        }
        context.frame().or_else(|| target.key(&target.main))
    };
    let read = match main {
        Some(main) => info(context, &main).await,
        None => Err(EngineError::Gone),
    };
    read.map_err(|error| context.engine(&error, Phase::Verification))
}

async fn info(context: &Context, key: &FrameKey) -> Result<Info, EngineError> {
    let info: Info = context.pages.run(key, vec![Step("info", json!({}))]).await?.take()?;
    if key.label == 0 {
        context.pages.note_info(&context.target, &info.url, &info.title);
    }
    Ok(info)
}

/// What the browser's own events tell: popups, downloads, the navigation.
fn browser_side(context: &Context, before: &Before, evidence: &mut Evidence) {
    let state = context.pages.state();
    evidence.popups = state.opened_since(&context.target, before.mark);
    evidence.popups.truncate(8);
    evidence.choosers = state.choosers_since(&context.target, before.choosers);
    evidence.downloads = state
        .downloads
        .iter()
        .filter(|download| before.began(context, download))
        .map(|download| DownloadSeen {
            download_id: download.id.clone(),
            page_file_name: download.name.clone(),
        })
        .collect();
    let Some(target) = state.target(&context.target) else { return };
    if let Some(dialog) = &target.dialog
        && before.dialog.as_ref() != Some(&dialog.seen.dialog_id)
    {
        evidence.dialog = Some(dialog.seen.clone());
    }
    let replaced = target.main_frame().is_some_and(|frame| frame.generation != before.generation);
    if replaced {
        let failure = target.document.failure_of(&target.document.loader);
        evidence.navigation = Some(NavigationSeen {
            final_url: Some(cut(&target.url, 4096).into_owned()),
            status: target.document.status.filter(|status| *status != 0),
            redirects: Some(target.document.redirects),
            net_error: failure.map(str::to_owned),
            ..NavigationSeen::default()
        });
    } else if !context.options.expect_navigation.is_none() && before.went(target).is_some() {
        evidence.navigation = Some(NavigationSeen {
            final_url: Some(cut(&target.url, 4096).into_owned()),
            same_document: Some(true),
            ..NavigationSeen::default()
        });
    } else if target.document.begun > before.begun
        && let Some(pending) = &target.document.pending
    {
        evidence.navigation = Some(NavigationSeen {
            requested_url: Some(cut(&pending.url, 4096).into_owned()),
            ..NavigationSeen::default()
        });
    }
}

/// The page in one line, asked of the page itself.
///
/// # Errors
/// When its document cannot be asked.
pub async fn page_line(context: &Context, revision: u64) -> Result<PageLine, EngineError> {
    let read = match context.frame() {
        Some(frame) => frame,
        None => {
            let state = context.pages.state();
            let target = state.target(&context.target).ok_or(EngineError::Halted(Halt::Closed))?;
            target.key(&target.main).ok_or(EngineError::Gone)?
        }
    };
    let info = info(context, &read).await?;
    Ok(line(context, revision, &info.url, &info.title, &info.ready_state))
}

/// The page in one line; with a dialog open, from what is known.
///
/// # Errors
/// When it cannot be asked.
pub async fn page_seen(context: &Context, revision: u64) -> Result<PageLine, OpError> {
    let info = main_info(context).await?;
    Ok(line(context, revision, &info.url, &info.title, &info.ready_state))
}

/// The page in one line, from what is known.
pub fn line(context: &Context, revision: u64, url: &str, title: &str, ready_state: &str) -> PageLine {
    let frame_id = context.frame().filter(|frame| frame.label != 0).map(|frame| format!("f{}", frame.label));
    let state = context.pages.state();
    let status =
        state.target(&context.target).and_then(|target| target.document.status).filter(|status| *status != 0);
    let net_error = state.target(&context.target).and_then(|target| target.document.shown_failure());
    let net_error = net_error.filter(|_| frame_id.is_none()).map(str::to_owned);
    PageLine {
        net_error,
        http_status: status.filter(|_| frame_id.is_none()),
        frame_id,
        url: cut(url, 4096).into_owned(),
        title: cut(title, 256).into_owned(),
        target_id: context.target.clone(),
        ready_state: ready_state.to_owned(),
        revision,
    }
}
