//! Pages aside: what only a document of an origin can do, without the site and without any client seeing it.
//!
//! Such a page is a hidden target of the browser: it is no tab, takes no focus, and is not among the session's targets. It
//! loads nothing but an empty document that is answered in the browser ([`super::fetch`]), and goes when its handle is
//! dropped.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{EngineError, Pages};
use crate::cdp::CdpError;
use crate::cdp::types::{emulation, network, page, runtime, target};

/// One page aside.
#[derive(Debug)]
pub struct Aside {
    pages: Pages,
    target: String,
    session: Arc<str>,
}

/// Why there is no answer of a page aside.
#[derive(Debug, thiserror::Error)]
pub enum AsideError {
    /// The document cannot be shown.
    #[error("the empty document was not shown: {0}")]
    NotShown(String),
    /// The script threw.
    #[error("the script threw")]
    Threw,
    /// Something between us and the page.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<CdpError> for AsideError {
    fn from(error: CdpError) -> Self {
        Self::Engine(EngineError::Cdp(error))
    }
}

impl Pages {
    /// A page aside that shows an empty document at `url`.
    ///
    /// # Errors
    /// When the browser goes, or makes none until `until`.
    pub async fn aside(&self, url: &str, until: Instant) -> Result<Aside, AsideError> {
        let pages = self.clone();
        // A task of its own: whoever gives up meanwhile leaves no page behind.
        let made = tokio::spawn(async move { pages.make_aside().await });
        let made = tokio::time::timeout_at(until.into(), made).await.map_err(|_| EngineError::Silent)?;
        let aside = made.map_err(|_| EngineError::Silent)??;
        aside.show(url, until).await?;
        Ok(aside)
    }

    async fn make_aside(self) -> Result<Aside, AsideError> {
        let hidden =
            target::CreateTarget { url: "about:blank", hidden: true, ..target::CreateTarget::default() };
        let target = self.client().send(None, hidden).await?.target_id;
        let attach = target::AttachToTarget { target_id: &target, flatten: true };
        let attached = self.client().send(None, attach).await;
        let session: Arc<str> = match attached {
            Ok(attached) => attached.session_id.into(),
            Err(error) => {
                drop(self.client().start_send(None, target::CloseTarget { target_id: &target }));
                return Err(error.into());
            }
        };
        drop(self.start(&session, page::Enable {}));
        // A service worker of the origin would answer in the place of the empty document.
        drop(self.start(&session, network::SetBypassServiceWorker { bypass: true }));
        drop(self.start(&session, emulation::SetFocusEmulationEnabled { enabled: true }));
        Ok(Aside { pages: self, target, session })
    }
}

impl Aside {
    /// Shows an empty document at this address. Nothing is asked of any server.
    ///
    /// # Errors
    /// [`AsideError::NotShown`] with the browser's name for why.
    pub async fn show(&self, url: &str, until: Instant) -> Result<(), AsideError> {
        self.pages.only_empty(&self.session, Some(url));
        let command = page::Navigate { url, ..page::Navigate::default() };
        let navigated = self.pages.client().start_send(Some(&self.session), command);
        let navigated = tokio::time::timeout_at(until.into(), navigated).await;
        let navigated = navigated.map_err(|_| EngineError::Silent)??;
        match navigated.error_text.filter(|error| !error.is_empty()) {
            Some(error) => Err(AsideError::NotShown(error)),
            None => Ok(()),
        }
    }

    /// Calls a function of its document with an argument; it counts as a user's gesture.
    ///
    /// # Errors
    /// [`AsideError::Threw`]; see [`AsideError`].
    pub async fn call<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: &impl Serialize,
        until: Instant,
    ) -> Result<T, AsideError> {
        // JSON is a part of the language.
        let argument = serde_json::to_string(argument).map_err(EngineError::Shape)?;
        let expression = format!("({function})({argument})");
        let command = runtime::Evaluate {
            expression: &expression,
            silent: true,
            return_by_value: true,
            await_promise: true,
            user_gesture: true,
            ..runtime::Evaluate::default()
        };
        let answer = self.pages.client().start_send(Some(&self.session), command);
        let answer = tokio::time::timeout_at(until.into(), answer).await;
        let answer = answer.map_err(|_| EngineError::Silent)??;
        if answer.exception_details.is_some() {
            return Err(AsideError::Threw);
        }
        super::engine::read_value(answer).map_err(AsideError::Engine)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.pages.state().fetch.empty.remove(&self.session);
        // A browser that is gone has closed it already.
        if let Some(browser) = self.pages.browser() {
            let close = target::CloseTarget { target_id: &self.target };
            drop(browser.client().start_send(None, close));
        }
    }
}
