//! `listDownloads`, `download`, `cancelDownload`, `retryDownloadCapture` (contract 7.3).
//!
//! The worker sees nothing of the user's files: it sends the kept file's bytes, and the client writes them.

use std::io::Read;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{CancelDownload, Download, RetryDownloadCapture};
use glass_proto::redact::address;
use glass_proto::result::{DownloadEnded, DownloadRow, DownloadState, Downloaded, Downloads};
use glass_proto::wire::CHUNK;
use sha2::{Digest, Sha256};

use crate::cdp::types::browser;
use crate::context::{Context, Notice};
use crate::page::{self, EngineError, Pages};

pub(super) fn list(context: &Context) -> Downloads {
    let state = context.pages.state();
    let rows = state.downloads.iter().map(|download| DownloadRow {
        download_id: download.id.clone(),
        state: download.state,
        reason: download.reason.map(str::to_owned),
        page_file_name: download.name.clone(),
        page_url: address(&download.url),
        target_id: download.target.clone(),
        bytes: download.received,
        total_bytes: (download.total > 0).then_some(download.total),
        taken: download.taken,
    });
    Downloads {
        downloads: rows.collect(),
        forgotten: state.downloads_begun.saturating_sub(state.downloads.len() as u64),
    }
}

/// Which one is meant.
enum Wanted<'a> {
    One(&'a str),
    EndedSince(u64),
    Oldest { since: u64 },
}

pub(super) async fn download(context: &Context, params: &Download) -> Result<Downloaded, OpError> {
    let since = context.pages.state().downloads_ended;
    let wanted = match (&params.download_id, params.next) {
        (Some(id), _) => Wanted::One(id.as_str()),
        (None, true) => Wanted::EndedSince(since),
        (None, false) => Wanted::Oldest { since },
    };
    if let Wanted::One(id) = wanted {
        known(context, id)?;
    }
    let ended = context.pages.until(context.soft, |state| {
        let found = match wanted {
            Wanted::One(id) => state.downloads.iter().find(|one| one.id == id),
            Wanted::EndedSince(since) => ended_since(state, since),
            Wanted::Oldest { since } => state
                .downloads
                .iter()
                .find(|one| one.state == DownloadState::Completed && !one.taken)
                .or_else(|| ended_since(state, since)),
        };
        found.filter(|one| one.state != DownloadState::InProgress).cloned()
    });
    let ended = ended.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::Preflight))?;
    let Some(ended) = ended else {
        return Err(OpError::rejected(
            ErrorKind::Timeout,
            Phase::Preflight,
            "no such download ended within the deadline; nothing was written",
            "list-downloads shows how they stand; give it longer with --timeout-ms",
        )
        .reason("no_download_ended"));
    };
    hand_out(context, "download", &ended).await
}

pub(super) async fn retry(context: &Context, params: &RetryDownloadCapture) -> Result<Downloaded, OpError> {
    let kept = known(context, params.download_id.as_str())?;
    if matches!(kept.state, DownloadState::Completed | DownloadState::CaptureFailed) {
        return hand_out(context, "retryDownloadCapture", &kept).await;
    }
    Err(OpError::rejected(
        ErrorKind::TargetNotFound,
        Phase::Preflight,
        "of that download no whole file is kept",
        "list-downloads shows how they stand; the site is asked again by what began the download",
    )
    .reason("not_kept"))
}

pub(super) async fn cancel(context: &Context, params: &CancelDownload) -> Result<DownloadEnded, OpError> {
    let id = params.download_id.as_str();
    let found = known(context, id)?;
    let told =
        |state| DownloadEnded { action: "cancelDownload".to_owned(), download_id: id.to_owned(), state };
    if found.state != DownloadState::InProgress {
        return Err(OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::Preflight,
            "that download has ended already",
            "list-downloads shows how they stand",
        )
        .reason("not_in_progress"));
    }
    context.dispatching().await;
    context.pages.state().give_up_download(id, None);
    let sent = context
        .pages
        .client()
        .send(None, browser::CancelDownload { guid: id, ..browser::CancelDownload::default() });
    match sent.await {
        Err(error) if error.is_closed() => {
            return Err(context.engine(&EngineError::Cdp(error), Phase::BrowserEffect));
        }
        // It may have ended in the meantime; its state tells.
        Ok(_) | Err(_) => {}
    }
    let ended = context.pages.until(context.soft, |state| {
        let found = state.downloads.iter().find(|one| one.id == id)?;
        (found.state != DownloadState::InProgress).then_some(found.state)
    });
    let ended =
        ended.await.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?;
    ended.map(told).ok_or_else(|| {
        OpError::unknown(
            "timeout",
            "the browser was told to give the download up, and has not said that it did",
            "list-downloads shows how it stands",
        )
    })
}

fn ended_since(state: &page::State, since: u64) -> Option<&page::Download> {
    let ended = state.downloads.iter().filter(|one| one.ended.is_some_and(|number| number >= since));
    ended.min_by_key(|one| one.ended)
}

fn known(context: &Context, id: &str) -> Result<page::Download, OpError> {
    let found = context.pages.state().downloads.iter().find(|one| one.id == id).cloned();
    found.ok_or_else(|| {
        OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::TargetResolution,
            "the session has no download of that id",
            "list-downloads shows which there are",
        )
        .reason("no_download")
    })
}

/// Sends the kept file, and says what was sent.
async fn hand_out(context: &Context, action: &str, ended: &page::Download) -> Result<Downloaded, OpError> {
    let mut told = Downloaded {
        action: action.to_owned(),
        download_id: ended.id.clone(),
        state: ended.state,
        reason: ended.reason.map(str::to_owned),
        page_file_name: ended.name.clone(),
        path: None,
        bytes: ended.received,
        sha256: None,
    };
    if !matches!(ended.state, DownloadState::Completed | DownloadState::CaptureFailed) {
        return Ok(told);
    }
    let capture = Capture::begin(&context.pages, &ended.id);
    let opened = context.pages.spool().ok_or_else(|| std::io::ErrorKind::NotFound.into());
    let (mut file, size) = opened.and_then(|spool| spool.file(&ended.id)).map_err(|error| kept(&error))?;
    context.dispatching().await;
    let mut hash = Sha256::new();
    let mut sent = 0_u64;
    loop {
        let (mut piece, mut filled) = (vec![0_u8; CHUNK], 0);
        // A file that is still being changed is not the one that was measured: no more than its size is read.
        while filled < piece.len() {
            match file.read(&mut piece[filled..]).map_err(|error| kept(&error))? {
                0 => break,
                read => filled += read,
            }
        }
        piece.truncate(filled);
        hash.update(&piece);
        sent += filled as u64;
        let last = filled < CHUNK || sent >= size;
        let notice = Notice::Piece { name: context.file_name(&ended.name), data: piece, last };
        if context.notices.send(notice).await.is_err() || last {
            break;
        }
    }
    if sent != size {
        return Err(kept(&std::io::ErrorKind::UnexpectedEof.into()));
    }
    capture.done();
    told.state = DownloadState::Completed;
    told.bytes = sent;
    told.sha256 = Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
    Ok(told)
}

fn kept(error: &std::io::Error) -> OpError {
    tracing::warn!(%error, "a kept download cannot be read");
    OpError::failed(
        ErrorKind::Transport,
        Phase::BrowserEffect,
        "the kept file of the download cannot be read",
        "list-downloads shows how it stands; retry-download-capture tries again",
    )
    .reason("capture_failed")
}

/// Marks a download as taken. Where the handing out ends before its time it is a failed capture.
struct Capture<'a> {
    pages: &'a Pages,
    id: &'a str,
    done: bool,
}

impl<'a> Capture<'a> {
    fn begin(pages: &'a Pages, id: &'a str) -> Self {
        pages.state().note_capture(id, DownloadState::Completed);
        Self { pages, id, done: false }
    }

    fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.pages.state().note_capture(self.id, DownloadState::CaptureFailed);
        }
    }
}
