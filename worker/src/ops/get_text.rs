//! `getText`: visible text of the page with its frames, or of one element.

use glass_proto::error::{OpError, Phase};
use glass_proto::op::GetText;
use glass_proto::result::TextRead;
use serde::Deserialize;
use serde_json::{Value, json};

use super::begin;
use crate::act::{Found, find, find_scope, frames_in, look, page_line};
use crate::context::Context;
use crate::page::{EngineError, FrameKey, Step, frame_number};

#[derive(Debug, Deserialize)]
struct Text {
    text: String,
    bytes: u64,
    #[serde(default)]
    unseen: Vec<String>,
}

pub(super) async fn run(context: &Context, params: &GetText) -> Result<TextRead, OpError> {
    begin::page(context)?;
    let found = match &params.target {
        Some(locator) => Some(find(context, locator).await?),
        None => find_scope(context).await?,
    };
    let (revision, (read, silent)) = match found {
        Some((found, looked)) => {
            (looked.changes.revision, parts(context, Some(&found), GetText::MAX_BYTES).await?)
        }
        None => {
            let revision = look(context, None, false, 1).await?.changes.revision;
            (revision, parts(context, None, GetText::MAX_BYTES).await?)
        }
    };
    let total: u64 = read.iter().map(|part| part.bytes).sum();
    let joined = join(&read);
    let text = glass_proto::escape::cut(&joined, GetText::MAX_BYTES).into_owned();
    let left_out = total.saturating_sub(text.len() as u64);
    let page =
        page_line(context, revision).await.map_err(|error| context.engine(&error, Phase::Preflight))?;
    let frames_unread = (silent > 0).then_some(silent);
    Ok(TextRead { page, text, text_bytes: total, left_out, frames_unread })
}

/// Visible text of the page and its frames, where it is of at most `max` bytes; and how many frames did not answer.
pub(super) async fn page_text(context: &Context, max: usize) -> Result<(Option<String>, u64), OpError> {
    let (parts, silent) = parts(context, None, max).await?;
    let fits = parts.iter().map(|part| part.bytes).sum::<u64>() <= max as u64;
    Ok((fits.then(|| join(&parts)), silent))
}

fn join(parts: &[Text]) -> String {
    let words = parts.iter().map(|part| part.text.as_str()).filter(|part| !part.is_empty());
    words.collect::<Vec<_>>().join("\n")
}

/// The page, or an element, with the frames in it.
async fn parts(context: &Context, scope: Option<&Found>, max: usize) -> Result<(Vec<Text>, u64), OpError> {
    context.pages.place_frames(&context.target).await;
    let keys = match scope {
        Some(found) => {
            let inner = frames_in(context, found).await?;
            std::iter::once(found.key.clone()).chain(inner).collect()
        }
        None => context.readable(),
    };
    let reads = keys.iter().enumerate().map(|(at, key)| {
        let mut args = json!({ "maxBytes": max });
        if let (0, Some(found)) = (at, scope) {
            args["scopeRef"] = found.node.into();
        }
        text(context, key, args)
    });
    let mut parts: Vec<(u32, Text)> = Vec::new();
    let mut silent = Vec::new();
    let reads = futures_util::future::join_all(reads).await;
    for (at, (key, read)) in keys.iter().zip(reads).enumerate() {
        match read {
            Ok(part) => parts.push((key.label, part)),
            Err(error) if at == 0 => return Err(context.engine(&error, Phase::Preflight)),
            Err(error) => {
                tracing::debug!(%error, "a frame did not answer");
                silent.extend(context.pages.is_silent(key).then_some(key.label));
            }
        }
    }
    // Frames that nobody sees are not read, whatever they show.
    let unseen =
        parts.iter().flat_map(|(_, part)| &part.unseen).filter_map(|label| frame_number(label)).collect();
    let state = context.pages.state();
    let unseen = state.target(&context.target).map(|target| target.with_inner(&unseen)).unwrap_or_default();
    let silent = silent.iter().filter(|label| !unseen.contains(label)).count() as u64;
    let seen = parts.into_iter().filter(|(label, _)| !unseen.contains(label)).map(|(_, part)| part);
    Ok((seen.collect(), silent))
}

async fn text(context: &Context, key: &FrameKey, args: Value) -> Result<Text, EngineError> {
    context.pages.look(key, vec![Step("text", args)]).await?.take()
}
