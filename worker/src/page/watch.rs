//! Waiting on the model: until something holds, or the page cannot go on.

use std::time::Instant;

use glass_proto::result::DialogSeen;

use super::{EngineError, Pages, State, neighbours};
use crate::cdp::CdpError;

/// Why a page cannot answer, or go on, at all.
#[derive(Clone, Debug)]
pub enum Halt {
    /// A dialog is open.
    Dialog(DialogSeen),
    /// Its renderer died.
    Crashed,
    /// It was closed.
    Closed,
}

impl Halt {
    /// What halts the target now.
    pub fn of(state: &State, target: &str) -> Option<Self> {
        match state.target(target) {
            None => Some(Self::Closed),
            Some(target) if target.crashed => Some(Self::Crashed),
            Some(target) => {
                let own = target.dialog.as_ref().map(|dialog| dialog.seen.clone());
                own.or_else(|| neighbours::blocking(state, target)).map(Self::Dialog)
            }
        }
    }
}

impl Pages {
    /// Waits until `holds` gives something, looking again at every event of the browser. `None` at `until`.
    ///
    /// # Errors
    /// When the browser goes.
    pub async fn until<T>(
        &self,
        until: Instant,
        mut holds: impl FnMut(&State) -> Option<T>,
    ) -> Result<Option<T>, CdpError> {
        let mut moved = self.inner.moved.subscribe();
        loop {
            if let Some(found) = holds(&self.state()) {
                return Ok(Some(found));
            }
            tokio::select! {
                _ = moved.changed() => {}
                () = tokio::time::sleep_until(until.into()) => return Ok(None),
                gone = self.client().closed() => return Err(CdpError::Closed(gone)),
            }
        }
    }

    /// Waits for one event of the browser, at most until `until`; false when none came.
    ///
    /// # Errors
    /// When the browser goes.
    pub async fn any_event(&self, until: Instant) -> Result<bool, EngineError> {
        let mut moved = self.inner.moved.subscribe();
        tokio::select! {
            () = tokio::time::sleep_until(until.into()) => Ok(false),
            moved = self.moved(&mut moved) => moved.map(|()| true),
        }
    }
}

impl Pages {
    /// Notes what the main document said of itself: the browser tells titles late, or not at all.
    pub fn note_info(&self, target: &str, url: &str, title: &str) {
        if let Some(target) = self.state().targets.get_mut(target)
            && !url.is_empty()
        {
            url.clone_into(&mut target.url);
            title.clone_into(&mut target.title);
        }
    }

    /// Notes that Glass itself prints a page, or that it has.
    pub fn note_printing(&self, target: &str, on: bool) {
        if let Some(target) = self.state().targets.get_mut(target) {
            target.printing = on;
        }
    }

    /// Popups that no observation has told of yet; they count as told now.
    pub fn take_unreported(&self, target: &str) -> Vec<glass_proto::result::PopupSeen> {
        let mut state = self.state();
        state.targets.get_mut(target).map(|target| std::mem::take(&mut target.unreported)).unwrap_or_default()
    }
}
