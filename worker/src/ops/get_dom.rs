//! `getDOM`: the elements of one document, as HTML or as a tree, bounded (contract 3.8).

use glass_proto::error::{OpError, Phase};
use glass_proto::op::{DomFormat, GetDom};
use glass_proto::result::{DomRead, LeftOut};
use serde::Deserialize;
use serde_json::json;

use super::begin;
use crate::act::{find_attached, find_scope, look, page_line};
use crate::context::Context;
use crate::page::{EngineError, FrameKey, Step};

/// Part of the time that asking for closed roots may take.
const REVEAL: f64 = 0.3;
/// Frames named in an answer.
const MAX_FRAMES_NAMED: usize = 8;

/// What the engine says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    dom: String,
    elements: u64,
    text_bytes: u64,
    untold: u64,
    frames: Vec<String>,
}

/// Elements as text, and what of them is missing.
pub(super) struct Dom {
    pub(super) text: String,
    pub(super) incomplete: Vec<LeftOut>,
}

pub(super) async fn run(context: &Context, params: &GetDom) -> Result<DomRead, OpError> {
    begin::page(context)?;
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let found = match &params.target {
        Some(locator) => Some(find_attached(context, locator).await?),
        None => find_scope(context).await?,
    };
    let (key, node, revision) = match found {
        Some((found, looked)) => (found.key, Some(found.node), looked.changes.revision),
        None => {
            let revision = look(context, None, false, 1).await?.changes.revision;
            let key = context.readable().into_iter().next().ok_or_else(|| fault(EngineError::Gone))?;
            (key, None, revision)
        }
    };
    // Closed shadow roots are read too.
    context.pages.reveal(&context.target, context.left().mul_f64(REVEAL)).await;
    // Which element holds which frame is told in it.
    context.pages.place_frames(&context.target).await;
    let values = params.values.unwrap_or(!context.hide_values);
    let dom = read(context, &key, node, params.format, params.max_bytes, values).await.map_err(fault)?;
    let page = page_line(context, revision).await.map_err(fault)?;
    Ok(DomRead { page, format: params.format.name().to_owned(), dom: dom.text, incomplete: dom.incomplete })
}

/// Reads a document, or one element of it.
pub(super) async fn read(
    context: &Context,
    key: &FrameKey,
    node: Option<u32>,
    format: DomFormat,
    max: u32,
    values: bool,
) -> Result<Dom, EngineError> {
    let mut args = json!({ "format": format.name(), "maxBytes": max, "values": values });
    if let Some(node) = node {
        args["scopeRef"] = node.into();
    }
    let read: Read = context.pages.run(key, vec![Step("dom", args)]).await?.take()?;
    let mut incomplete = Vec::new();
    let mut left = |kind: &str, count: u64, reason: Option<&str>, hint: Option<&str>| {
        if count > 0 {
            incomplete.push(LeftOut {
                kind: kind.to_owned(),
                count: Some(count),
                reason: reason.map(str::to_owned),
                hint: hint.map(str::to_owned),
                ..LeftOut::default()
            });
        }
    };
    left("elements", read.elements, None, Some("get-dom LOCATOR reads one part of the page"));
    left("text", read.text_bytes, None, Some("get-dom LOCATOR reads one part of the page"));
    left("scripts and styles", read.untold, Some("they are never shown"), None);
    for frame in read.frames.iter().take(MAX_FRAMES_NAMED) {
        incomplete.push(LeftOut {
            kind: "frame".to_owned(),
            reference: Some(frame.clone()),
            hint: Some(format!("get-dom --frame {frame}")),
            ..LeftOut::default()
        });
    }
    let more = read.frames.len().saturating_sub(MAX_FRAMES_NAMED) as u64;
    if more > 0 {
        incomplete.push(LeftOut {
            kind: "frame".to_owned(),
            count: Some(more),
            hint: Some("list-frames names them all".to_owned()),
            ..LeftOut::default()
        });
    }
    Ok(Dom { text: read.dom, incomplete })
}
