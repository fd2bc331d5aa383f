//! `networkBody`: asks the browser for a body that it has kept (contract 7.5). Nothing is fetched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::NetworkBody;
use glass_proto::result;

use crate::cdp::CdpError;
use crate::cdp::types::network::{GetResponseBody, ResponseBody};
use crate::context::Context;
use crate::page::{Ended, EngineError};

pub(super) async fn run(context: &Context, params: &NetworkBody) -> Result<result::NetworkBody, OpError> {
    let id = params.request_id.as_str();
    let ended = {
        let state = context.pages.state();
        let log = state.target(&context.target).map(|target| &target.log);
        let under_way = log.is_some_and(|log| log.is_under_way(id));
        let ended = log.and_then(|log| log.request(id));
        ended.ok_or_else(|| if under_way { unended() } else { unknown() })?
    };
    let kept = body(context, &ended).await?;
    let (whole, is_text) = decode(kept)?;
    let mut told = result::NetworkBody {
        request_id: id.to_owned(),
        page_url: ended.entry.page_url.unwrap_or_default(),
        status: ended.entry.request.and_then(|request| request.status),
        media_type: ended.transfer.media_type,
        bytes: whole.len() as u64,
        ..result::NetworkBody::default()
    };
    if params.as_resource {
        context.send_file("body.bin", "application/octet-stream", whole).await;
        return Ok(told);
    }
    let from = (params.offset.unwrap_or(0) as usize).min(whole.len());
    let most = params.max_bytes.unwrap_or(NetworkBody::BYTES) as usize;
    let mut part = &whole[from..whole.len().min(from + most)];
    if is_text {
        // A part begins and ends between two characters, where that is possible.
        let text = String::from_utf8_lossy(part);
        let cut = part.len() - incomplete_end(part);
        if from + part.len() < whole.len() && cut > 0 {
            part = &part[..cut];
            told.page_body = String::from_utf8_lossy(part).into_owned();
        } else {
            told.page_body = text.into_owned();
        }
    } else {
        told.base64 = true;
        told.page_body = STANDARD.encode(part);
    }
    told.offset = from as u64;
    told.left_out = (whole.len() - from - part.len()) as u64;
    Ok(told)
}

/// The body that the browser has kept.
///
/// # Errors
/// When it keeps it no longer, or the page does not answer.
pub(super) async fn body(context: &Context, ended: &Ended) -> Result<ResponseBody, OpError> {
    let Some(request) = &ended.entry.request else { return Err(unknown()) };
    let ask = GetResponseBody { request_id: &request.request_id };
    let pending = context.pages.client().start_send(Some(&ended.transfer.session), ask);
    context.pages.or_halt(&context.target, pending).await.map_err(|error| match error {
        EngineError::Cdp(CdpError::TooLarge { .. }) => too_large(),
        EngineError::Cdp(error) if !error.is_closed() => {
            tracing::debug!(%error, "a body is not kept");
            not_kept()
        }
        EngineError::Gone => not_kept(),
        error => context.engine(&error, Phase::Preflight),
    })
}

/// Its bytes, and whether they are text.
pub(super) fn decode(body: ResponseBody) -> Result<(Vec<u8>, bool), OpError> {
    if !body.base64_encoded {
        return Ok((body.body.into_bytes(), true));
    }
    let bytes = STANDARD.decode(body.body.as_bytes()).map_err(|error| {
        tracing::warn!(%error, "a body that is no Base64");
        not_kept()
    })?;
    Ok((bytes, false))
}

/// How many bytes at the end begin a character that goes on behind them.
fn incomplete_end(part: &[u8]) -> usize {
    let back = part.iter().rev().take(4).position(|byte| byte & 0xC0 != 0x80);
    let Some(back) = back else { return 0 };
    let length = match part[part.len() - 1 - back] {
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
        _ => 1,
    };
    if length > back + 1 { back + 1 } else { 0 }
}

fn refuse(reason: &str, message: &str, remedy: &str) -> OpError {
    OpError::rejected(ErrorKind::TargetNotFound, Phase::TargetResolution, message, remedy).reason(reason)
}

fn unknown() -> OpError {
    refuse(
        "no_request",
        "the target knows no request of that id",
        "diagnostics --kind request shows which there are",
    )
}

fn unended() -> OpError {
    refuse("under_way", "that request has not ended", "try again once diagnostics tells of its end")
}

fn not_kept() -> OpError {
    refuse(
        "body_not_kept",
        "the browser does not keep that body: it is too large or too old, its document went, or there was none",
        "ask sooner after the request; nothing is fetched again",
    )
}

fn too_large() -> OpError {
    OpError::rejected(
        ErrorKind::ResultTooLarge,
        Phase::Verification,
        "the body is larger than what the browser may hand out at once",
        "download it instead",
    )
}

#[cfg(test)]
mod tests {
    use super::incomplete_end;

    #[test]
    fn a_character_that_is_cut_is_seen() {
        assert_eq!(incomplete_end("aé".as_bytes()), 0);
        assert_eq!(incomplete_end(&"aé".as_bytes()[..2]), 1);
        assert_eq!(incomplete_end(&"a😀".as_bytes()[..4]), 3);
        assert_eq!(incomplete_end("a😀".as_bytes()), 0);
        assert_eq!(incomplete_end(b""), 0);
        assert_eq!(incomplete_end(b"abc"), 0);
    }
}
