//! The model of downloads (contract 7.3): every one is caught, bounded in number and in bytes.

use glass_proto::escape::cut;
use glass_proto::filename::shortened;
use glass_proto::result::{DownloadState, EventKind, EventOf};

use super::Pages;
use super::state::{Download, State};
use crate::cdp::types::browser;
use glass_proto::redact::address;

/// Downloads remembered.
const MAX_DOWNLOADS: usize = 256;

impl Pages {
    pub(super) fn download_begins(&self, begin: browser::DownloadWillBegin) {
        let forgotten = self.state().download_begins(begin);
        if let (Some(id), Some(spool)) = (forgotten, self.spool()) {
            spool.remove(&id);
        }
    }

    pub(super) fn download_goes_on(&self, progress: &browser::DownloadProgress) {
        let uploaded = self.uploads().bytes();
        let most = self.spool_bytes();
        let too_much = self.state().download_goes_on(progress, uploaded, most);
        if too_much && let Some(browser) = self.browser() {
            let cancel =
                browser::CancelDownload { guid: &progress.guid, ..browser::CancelDownload::default() };
            drop(browser.client().start_send(None, cancel));
        }
    }
}

impl State {
    /// Answers the id of a download that is no longer known for it.
    fn download_begins(&mut self, begin: browser::DownloadWillBegin) -> Option<String> {
        let target =
            self.targets.values().find(|t| t.frames.contains_key(&begin.frame_id)).map(|t| t.id.clone());
        let full = self.downloads.len() >= MAX_DOWNLOADS;
        let oldest = full.then(|| self.downloads.iter().position(|one| one.ended.is_some()).unwrap_or(0));
        let forgotten = oldest.and_then(|at| self.downloads.remove(at)).map(|one| one.id);
        let of = EventOf {
            download_id: Some(begin.guid.clone()),
            page_file_name: Some(shortened(&begin.suggested_filename, 256)),
            page_url: Some(address(&begin.url)),
            ..EventOf::default()
        };
        self.news.add(EventKind::Download, "began", target.as_deref(), of);
        let number = self.downloads_begun;
        self.downloads_begun += 1;
        self.downloads.push_back(Download {
            id: begin.guid,
            target,
            name: shortened(&begin.suggested_filename, 256),
            url: cut(&begin.url, 4096).into_owned(),
            state: DownloadState::InProgress,
            reason: None,
            received: 0,
            total: 0,
            taken: false,
            given_up: false,
            number,
            ended: None,
        });
        forgotten
    }

    /// Answers whether the session keeps more than it may, so that this one is to be given up.
    fn download_goes_on(&mut self, progress: &browser::DownloadProgress, uploaded: u64, most: u64) -> bool {
        let ended = self.downloads_ended;
        let Some(found) = self.downloads.iter_mut().find(|one| one.id == progress.guid) else { return false };
        if found.ended.is_some() {
            return false;
        }
        let bytes = |number: f64| if number.is_finite() && number > 0.0 { number as u64 } else { 0 };
        found.total = bytes(progress.total_bytes);
        match progress.state {
            browser::DownloadState::InProgress | browser::DownloadState::Other => {
                found.received = bytes(progress.received_bytes);
                let used = self.kept().saturating_add(uploaded);
                let over =
                    !self.elsewhere && used > most && self.give_up_download(&progress.guid, Some("quota"));
                if over {
                    let (limit, used) = (Some(most), Some(used));
                    let of = EventOf { name: Some("spool".to_owned()), limit, used, ..EventOf::default() };
                    self.news.add(EventKind::Quota, "refused", None, of);
                }
                return over;
            }
            browser::DownloadState::Completed => {
                found.received = bytes(progress.received_bytes);
                found.state = DownloadState::Completed;
            }
            // The browser has one word for what was given up and what broke off.
            browser::DownloadState::Canceled => {
                let asked = found.given_up && found.reason.is_none();
                found.state = if asked { DownloadState::Canceled } else { DownloadState::Failed };
            }
        }
        found.ended = Some(ended);
        let of = EventOf {
            download_id: Some(found.id.clone()),
            state: Some(found.state),
            name: found.reason.map(str::to_owned),
            ..EventOf::default()
        };
        let target = found.target.clone();
        self.news.add(EventKind::Download, "ended", target.as_deref(), of);
        self.downloads_ended += 1;
        false
    }

    /// Notes that the browser is told to give it up. False when it was told before.
    pub(crate) fn give_up_download(&mut self, id: &str, reason: Option<&'static str>) -> bool {
        let Some(found) = self.downloads.iter_mut().find(|one| one.id == id) else { return false };
        let first = !std::mem::replace(&mut found.given_up, true);
        found.reason = found.reason.or(reason);
        first
    }

    /// Notes how a download's handing out goes.
    pub(crate) fn note_capture(&mut self, id: &str, state: DownloadState) {
        if let Some(found) = self.downloads.iter_mut().find(|one| one.id == id) {
            found.state = state;
            found.taken = state == DownloadState::Completed;
        }
    }

    /// Bytes that lie in the spool.
    pub(crate) fn kept(&self) -> u64 {
        let kept = self.downloads.iter().filter(|one| {
            matches!(
                one.state,
                DownloadState::InProgress | DownloadState::Completed | DownloadState::CaptureFailed
            )
        });
        kept.map(|one| one.received).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = 1 << 20;

    fn begin(state: &mut State, id: &str) -> Option<String> {
        state.download_begins(browser::DownloadWillBegin {
            frame_id: "F".to_owned(),
            guid: id.to_owned(),
            url: "http://a/".to_owned(),
            suggested_filename: "n".to_owned(),
        })
    }

    fn goes_on(state: &mut State, id: &str, bytes: f64, to: browser::DownloadState) -> bool {
        state.download_goes_on(
            &browser::DownloadProgress {
                guid: id.to_owned(),
                total_bytes: bytes,
                received_bytes: bytes,
                state: to,
                file_path: None,
            },
            0,
            MOST,
        )
    }

    fn state_of(state: &State, id: &str) -> (DownloadState, Option<&'static str>) {
        let found = state.downloads.iter().find(|one| one.id == id).unwrap();
        (found.state, found.reason)
    }

    #[test]
    fn what_was_given_up_what_broke_off_and_what_was_too_much_are_told_apart() {
        let mut state = State::default();
        for id in ["given", "broken", "large", "late"] {
            begin(&mut state, id);
        }
        assert!(state.give_up_download("given", None));
        assert!(!state.give_up_download("given", None));
        for id in ["given", "broken"] {
            goes_on(&mut state, id, 0.0, browser::DownloadState::Canceled);
        }
        let too_much = (MOST + 1) as f64;
        assert!(goes_on(&mut state, "large", too_much, browser::DownloadState::InProgress));
        assert!(!goes_on(&mut state, "large", too_much, browser::DownloadState::InProgress), "told once");
        goes_on(&mut state, "large", 0.0, browser::DownloadState::Canceled);
        goes_on(&mut state, "late", 5.0, browser::DownloadState::Completed);
        goes_on(&mut state, "late", 0.0, browser::DownloadState::Canceled);
        assert_eq!(state_of(&state, "given"), (DownloadState::Canceled, None));
        assert_eq!(state_of(&state, "broken"), (DownloadState::Failed, None));
        assert_eq!(state_of(&state, "large"), (DownloadState::Failed, Some("quota")));
        assert_eq!(state_of(&state, "late"), (DownloadState::Completed, None));
        assert_eq!((state.kept(), state.downloads_ended), (5, 4));
    }

    #[test]
    fn over_its_bound_the_oldest_that_ended_is_forgotten() {
        let mut state = State::default();
        for number in 0..MAX_DOWNLOADS {
            assert_eq!(begin(&mut state, &number.to_string()), None);
        }
        goes_on(&mut state, "7", 1.0, browser::DownloadState::Completed);
        assert_eq!(begin(&mut state, "new").as_deref(), Some("7"));
        assert_eq!(state.downloads.len(), MAX_DOWNLOADS);
    }
}
