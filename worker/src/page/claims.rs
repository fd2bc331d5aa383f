//! Pages of somebody else's browser (contract 1.2, 7.1, 13.9): which there are, and which are this session's.
//!
//! A page that nobody claimed is known by its id, address and title alone: it has no CDP session and no engine in it. What
//! a session claims no other session of the same daemon sees; the daemon decides, since workers know nothing of each
//! other. What the session opened, and what was opened from there, is Glass's own and goes when the session ends; the rest
//! is the user's and stays.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use glass_proto::start::{FromWorker, ToWorker};
use serde_json::json;
use tokio::sync::mpsc;

use super::attach::PAGES;
use super::{Pages, State, Step};
use crate::cdp::CdpError;
use crate::cdp::types::{browser, target};
use crate::chromium::Browser;

/// Pages of the browser that are remembered; what is more is not listed.
const MAX_KNOWN: usize = 512;
/// How long the daemon may take to say whose a page is.
const ANSWER: Duration = Duration::from_secs(1);
/// How long a page that was claimed may take until its engine can be called. One that spins is claimed all the same.
const READY: Duration = Duration::from_secs(2);

/// How the daemon is told what the session claims. Absent for a browser of the session's own.
pub type Notes = mpsc::UnboundedSender<FromWorker>;

/// What is known of somebody else's browser.
#[derive(Debug, Default)]
pub struct Claims {
    known: Vec<Known>,
    /// Claimed by other sessions.
    held: HashSet<String>,
    /// The daemon said that they are this session's.
    granted: HashSet<String>,
    /// Opened by this session, or from what it opened.
    made: HashSet<String>,
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The page that opened it.
    pub opener: Option<String>,
}

/// Why a page is not the session's.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// There is none of that id.
    #[error("the browser has no page of that id")]
    NoTarget,
    /// It is a part of the browser.
    #[error("that page is a part of the browser itself, or a file: it is listed, and not driven")]
    Internal,
    /// It is another session's.
    #[error("another session has claimed that page")]
    Held,
    /// The session has as many as it may.
    #[error("the session has {0} targets, which is as many as it may")]
    Full(usize),
    /// The daemon did not answer.
    #[error("the daemon did not say whose the page is")]
    Silent,
    /// The browser's own.
    #[error("the page could not be attached to: {0}")]
    Cdp(#[from] CdpError),
}

impl ClaimError {
    /// The name of the error where a session begins with it.
    pub fn step(&self) -> &'static str {
        match self {
            Self::NoTarget | Self::Held => "attach_no_target",
            Self::Internal => "attach_internal_page",
            Self::Full(_) | Self::Silent | Self::Cdp(_) => "attach_failed",
        }
    }

    /// What the user can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoTarget => "list-targets shows which pages there are",
            Self::Internal => "take another page, or open one with create-target",
            Self::Held => "use that session, or take another page",
            Self::Full(_) => "close one with close-target",
            Self::Silent | Self::Cdp(_) => "try again",
        }
    }
}

/// Whether a page is part of the browser, or shows what lies on its user's disk.
pub fn is_internal(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else { return !url.is_empty() };
    match scheme.to_ascii_lowercase().as_str() {
        // What the browser shows where a page cannot be had is gone from like any page.
        "http" | "https" | "data" | "blob" | "chrome-error" => false,
        "about" => !(rest == "blank" || rest.starts_with("blank#") || rest.starts_with("blank?")),
        _ => true,
    }
}

impl Claims {
    fn know(&mut self, info: &target::TargetInfo) {
        let known = Known {
            id: info.target_id.clone(),
            url: info.url.clone(),
            title: info.title.clone(),
            opener: info.opener_id.clone(),
        };
        if let Some(one) = self.known.iter_mut().find(|one| one.id == known.id) {
            *one = known;
        } else if self.known.len() < MAX_KNOWN {
            self.known.push(known);
        }
    }

    fn forget(&mut self, id: &str) {
        self.known.retain(|one| one.id != id);
        self.made.remove(id);
        self.granted.remove(id);
        self.held.remove(id);
    }

    fn is_known(&self, id: &str) -> Option<&Known> {
        self.known.iter().find(|one| one.id == id)
    }

    /// Whether the session opened it, or what it opened did.
    pub fn is_made(&self, id: &str) -> bool {
        self.made.contains(id)
    }
}

impl State {
    /// Pages of somebody else's browser that no session has claimed, in the order in which they were seen.
    pub fn unclaimed(&self) -> impl Iterator<Item = &Known> {
        let ours = |one: &&Known| !self.targets.contains_key(&one.id) && !self.claims.held.contains(&one.id);
        self.claims.known.iter().filter(ours)
    }
}

impl Pages {
    /// Whether the browser is somebody else's.
    pub fn is_elsewhere(&self) -> bool {
        self.inner.notes.is_some()
    }

    /// Learns which pages somebody else's browser has, attaches to none of them but `wanted`, and selects that.
    ///
    /// # Errors
    /// See [`ClaimError`].
    pub async fn begin_elsewhere(
        &self,
        browser: Arc<Browser>,
        wanted: Option<&str>,
    ) -> Result<(), ClaimError> {
        if self.inner.browser.set(browser).is_err() {
            return Ok(());
        }
        // Every page that is there was told of when this is answered.
        let discover = target::SetDiscoverTargets { discover: true, filter: Some(PAGES) };
        self.client().send(None, discover).await?;
        if let Some(id) = wanted {
            self.claim(id).await?;
            self.state().first = Some(id.to_owned());
        }
        Ok(())
    }

    /// Makes a page of somebody else's browser this session's, and waits for a while until it can be worked with. Does
    /// nothing where it is already.
    ///
    /// # Errors
    /// See [`ClaimError`].
    pub async fn claim(&self, id: &str) -> Result<(), ClaimError> {
        {
            let state = self.state();
            if state.targets.contains_key(id) {
                return Ok(());
            }
            let known = state.claims.is_known(id).ok_or(ClaimError::NoTarget)?;
            if state.claims.held.contains(id) {
                return Err(ClaimError::Held);
            }
            if is_internal(&known.url) {
                return Err(ClaimError::Internal);
            }
            if state.targets.len() >= self.max_targets() {
                return Err(ClaimError::Full(self.max_targets()));
            }
        }
        self.note(FromWorker::Claim { target: id.to_owned() });
        let decided = self.until(Instant::now() + ANSWER, |state| {
            let granted = state.claims.granted.contains(id);
            (granted || state.claims.held.contains(id)).then_some(granted)
        });
        match decided.await? {
            Some(true) => {}
            Some(false) => return Err(ClaimError::Held),
            None => return Err(ClaimError::Silent),
        }
        let attach = target::AttachToTarget { target_id: id, flatten: true };
        if let Err(error) = self.client().send(None, attach).await {
            self.let_go(id);
            return Err(if error.is_closed() { error.into() } else { ClaimError::NoTarget });
        }
        self.until(Instant::now() + READY, |state| state.is_ready(id).then_some(())).await?;
        Ok(())
    }

    /// Notes that the session opened this page.
    pub fn note_made(&self, id: &str) {
        self.state().claims.made.insert(id.to_owned());
    }

    fn let_go(&self, id: &str) {
        self.state().claims.granted.remove(id);
        self.note(FromWorker::Release { target: id.to_owned() });
    }

    fn note(&self, note: FromWorker) {
        if let Some(notes) = &self.inner.notes {
            // Whoever reads it ends this process when it ends.
            let _ = notes.send(note);
        }
    }

    /// What the daemon says of a page: this session's, another's, or nobody's any more.
    pub fn told(&self, told: ToWorker) {
        {
            let claims = &mut self.state().claims;
            match told {
                ToWorker::Granted { target } => {
                    claims.granted.insert(target);
                }
                ToWorker::Held { target } => {
                    claims.held.insert(target);
                }
                ToWorker::Free { target } => {
                    claims.held.remove(&target);
                }
            }
        }
        self.inner.moved.send_modify(|count| *count += 1);
    }

    /// A page of somebody else's browser is there. What was opened from a page of the session's is the session's.
    pub(super) fn page_appears(&self, info: &target::TargetInfo) {
        if !self.is_elsewhere() {
            return;
        }
        let opener = {
            let mut state = self.state();
            state.claims.know(info);
            let opener = info.opener_id.clone().filter(|opener| state.targets.contains_key(opener));
            let known = state.targets.contains_key(&info.target_id);
            match opener.filter(|_| !known) {
                None => return,
                Some(_) if state.targets.len() >= self.max_targets() => {
                    state.refuse_target(info);
                    return;
                }
                Some(opener) => opener,
            }
        };
        {
            let claims = &mut self.state().claims;
            if claims.made.contains(&opener) {
                claims.made.insert(info.target_id.clone());
            }
        }
        self.note(FromWorker::Claim { target: info.target_id.clone() });
        let attach = target::AttachToTarget { target_id: &info.target_id, flatten: true };
        if let Some(browser) = self.browser() {
            drop(browser.client().start_send(None, attach));
        }
    }

    /// A page of somebody else's browser has another address or title.
    pub(super) fn page_changes(&self, info: &target::TargetInfo) {
        if self.is_elsewhere() {
            self.state().claims.know(info);
        }
    }

    /// A page of somebody else's browser is closed.
    pub(super) fn page_goes(&self, id: &str) {
        if self.is_elsewhere() {
            let was_ours = self.state().claims.granted.contains(id);
            self.state().claims.forget(id);
            if was_ours {
                self.note(FromWorker::Release { target: id.to_owned() });
            }
        }
    }

    /// Takes leave of somebody else's browser, within `grace`: listeners are taken back, and what the session opened is
    /// closed. What was told to the browser by CDP ends with the connection.
    pub async fn leave(&self, grace: Duration) {
        if !self.is_elsewhere() {
            return;
        }
        let (keys, made) = {
            let state = self.state();
            let stay = state.targets.values().filter(|target| !state.claims.is_made(&target.id));
            let keys: Vec<_> = stay.flat_map(super::Target::keys).collect();
            (keys, state.claims.made.iter().cloned().collect::<Vec<_>>())
        };
        let retire = join_all(keys.iter().map(|key| self.run(key, vec![Step("retire", json!({}))])));
        let close =
            made.iter().map(|id| self.client().start_send(None, target::CloseTarget { target_id: id }));
        let close = join_all(close);
        if tokio::time::timeout(grace, futures_util::future::join(retire, close)).await.is_err() {
            tracing::warn!("the other browser did not answer while it was left");
        }
    }

    /// Downloads of a page of somebody else's browser, which go where that browser stores them.
    pub(super) fn download_elsewhere(&self, begin: browser::DownloadWillBegin) {
        if self.is_elsewhere() {
            self.download_begins(begin);
        }
    }

    /// How they go on.
    pub(super) fn progress_elsewhere(&self, progress: &browser::DownloadProgress) {
        if self.is_elsewhere() {
            self.download_goes_on(progress);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // contract: 1.2
    #[test]
    fn parts_of_the_browser_and_files_are_internal() {
        for url in [
            "http://a/",
            "https://a/",
            "data:,x",
            "blob:https://a/1",
            "about:blank",
            "about:blank#x",
            "chrome-error://chromewebdata/",
            "",
        ] {
            assert!(!is_internal(url), "{url}");
        }
        for url in [
            "chrome://settings/",
            "devtools://devtools/bundled/inspector.html",
            "chrome-extension://a/b.html",
            "edge://flags",
            "view-source:http://a/",
            "file:///etc/passwd",
            "about:version",
            "CHROME://newtab",
            "nothing",
        ] {
            assert!(is_internal(url), "{url}");
        }
    }

    #[test]
    fn a_page_of_another_session_is_not_seen() {
        let mut state = State::default();
        let info = |id: &str| target::TargetInfo {
            target_id: id.to_owned(),
            kind: "page".to_owned(),
            title: String::new(),
            url: "http://a/".to_owned(),
            attached: false,
            opener_id: None,
            opener_frame_id: None,
            parent_frame_id: None,
            can_access_opener: false,
            browser_context_id: None,
            subtype: None,
        };
        for id in ["A", "B", "A"] {
            state.claims.know(&info(id));
        }
        state.claims.held.insert("A".to_owned());
        assert_eq!(state.unclaimed().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["B"]);
        state.claims.forget("B");
        assert_eq!(state.unclaimed().count(), 0);
    }
}
