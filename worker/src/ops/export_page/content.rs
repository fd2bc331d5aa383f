//! What a page was made of, as it came: from what the browser keeps, or, where that was asked for, from the site once more.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::ExportPage;

use super::{ask, decode, too_large};
use crate::cdp::types::io;
use crate::cdp::types::network::{LoadNetworkResource, LoadNetworkResourceOptions};
use crate::cdp::types::page::GetResourceContent;
use crate::context::Context;

/// Bytes asked for at a time.
const PIECE: u32 = 1024 * 1024;

/// Content, and whether the site was asked for it.
pub(super) struct Content {
    pub(super) data: Vec<u8>,
    pub(super) fetched: bool,
}

/// What a frame has loaded from `url`; `is_whole` says whether it is what was meant.
///
/// # Errors
/// `unsupported` where the browser has not kept it, and `refetch` does not allow to ask the site.
pub(super) async fn content(
    context: &Context,
    session: &str,
    frame: &str,
    url: &str,
    refetch: bool,
    is_whole: impl Fn(&[u8]) -> bool,
) -> Result<Content, OpError> {
    match ask(context, session, GetResourceContent { frame_id: frame, url }).await {
        Ok(kept) => {
            let data = if kept.base64_encoded { decode(&kept.content)? } else { kept.content.into_bytes() };
            if is_whole(&data) {
                return Ok(Content { data, fetched: false });
            }
        }
        Err(error) if error.kind == ErrorKind::Unsupported => {}
        Err(error) => return Err(error),
    }
    if !refetch {
        return Err(OpError::rejected(
            ErrorKind::Unsupported,
            Phase::BrowserEffect,
            "the browser has not kept it as it came; the site may forbid that",
            "--refetch asks the site for it once more",
        )
        .reason("not_kept"));
    }
    let data = fetch(context, session, frame, url).await?;
    if is_whole(&data) { Ok(Content { data, fetched: true }) } else { Err(not_fetched()) }
}

async fn fetch(context: &Context, session: &str, frame: &str, url: &str) -> Result<Vec<u8>, OpError> {
    let options = LoadNetworkResourceOptions { disable_cache: false, include_credentials: true };
    let load = LoadNetworkResource { frame_id: frame, url, options };
    let resource = ask(context, session, load).await?.resource;
    let status = resource.http_status_code.unwrap_or(200.0);
    let (true, Some(handle)) = (resource.success && (200.0..300.0).contains(&status), resource.stream) else {
        return Err(not_fetched());
    };
    let mut data = Vec::new();
    loop {
        let piece = ask(context, session, io::Read { handle: &handle, size: Some(PIECE) }).await?;
        if piece.base64_encoded {
            data.extend(decode(&piece.data)?);
        } else {
            data.extend_from_slice(piece.data.as_bytes());
        }
        if piece.eof || data.len() > ExportPage::MAX_BYTES {
            break;
        }
    }
    drop(context.pages.client().start_send(Some(session), io::Close { handle: &handle }));
    if data.len() > ExportPage::MAX_BYTES { Err(too_large()) } else { Ok(data) }
}

fn not_fetched() -> OpError {
    OpError::rejected(
        ErrorKind::NavigationFailed,
        Phase::BrowserEffect,
        "the site was asked once more and did not give it",
        "load the page anew; what it shows may be an answer to a form",
    )
    .reason("not_fetched")
}
