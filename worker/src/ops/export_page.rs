//! `exportPage`: the page as a file, from what the browser has and shows; nothing is fetched (contract 7.8).

mod har;

mod content;

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::op::{ExportFormat, ExportPage};
use glass_proto::result::{Asset, Exported};
use serde::Deserialize;
use serde_json::json;

use super::begin;
use crate::act::{line, look, page_line};
use crate::cdp::types::page::{CaptureSnapshot, FrameResources, GetResourceTree, PrintToPDF, Resource};
use crate::cdp::{CdpError, Command};
use crate::context::{Context, halted};
use crate::page::{EngineError, Halt, Step, Target};
use content::{Content, content};

/// Assets in a list.
const MAX_LISTED: usize = 200;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Html {
    html: Option<String>,
}

#[derive(Deserialize)]
struct Marked {
    some: bool,
}

/// What was loaded, with the CDP session and the frame that have it.
struct Loaded {
    session: String,
    frame: String,
    resource: Resource,
}

pub(super) async fn run(context: &Context, params: &ExportPage) -> Result<Exported, OpError> {
    begin::page(context)?;
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let looked = look(context, None, false, 1).await?;
    let (session, key, frames) = {
        let state = context.pages.state();
        let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
        let key = target.key(&target.main).ok_or_else(|| fault(EngineError::Gone))?;
        (target.session.clone(), key, target.frames.len() as u64 - 1)
    };
    let mut exported = Exported { format: params.format.name().to_owned(), ..Exported::default() };
    let (media_type, data) = match params.format {
        ExportFormat::Text => {
            let (text, silent) = super::get_text::page_text(context, ExportPage::MAX_BYTES).await?;
            exported.frames_left_out = (silent > 0).then_some(silent);
            ("text/plain", text.ok_or_else(too_large)?.into_bytes())
        }
        ExportFormat::Html => {
            let step = Step("html", json!({ "maxChars": ExportPage::MAX_BYTES }));
            let read: Html =
                context.pages.run(&key, vec![step]).await.and_then(|mut call| call.take()).map_err(fault)?;
            exported.frames_left_out = (frames > 0).then_some(frames);
            ("text/html", read.html.ok_or_else(too_large)?.into_bytes())
        }
        ExportFormat::Pdf => {
            let (data, completeness) = match original(context, &session, params.refetch).await? {
                Some(original) => {
                    exported.fetched = original.fetched;
                    (original.data, "original")
                }
                None => {
                    let print = PrintToPDF { print_background: true, prefer_css_page_size: true };
                    context.pages.note_printing(&context.target, true);
                    let printed = ask(context, &session, print).await;
                    context.pages.note_printing(&context.target, false);
                    (decode(&printed?.data)?, "unverified")
                }
            };
            exported.completeness = Some(completeness.to_owned());
            ("application/pdf", data)
        }
        ExportFormat::Mhtml => {
            if marks_secrets(context).await.map_err(fault)? {
                return Err(OpError::rejected(
                    ErrorKind::Denied,
                    Phase::Preflight,
                    "a password or one-time code stands in the page's markup, and MHTML would show it",
                    "export html, which leaves it out",
                )
                .reason("sensitive_values"));
            }
            let taken = ask(context, &session, CaptureSnapshot {}).await?;
            exported.completeness = Some("unverified".to_owned());
            ("multipart/related", taken.data.into_bytes())
        }
        ExportFormat::Har => return archive(context, params.bodies).await,
        ExportFormat::Assets => {
            let loaded = loaded(context).await?;
            match &params.asset {
                None => {
                    let left = loaded.len().saturating_sub(MAX_LISTED) as u64;
                    exported.assets = loaded.iter().take(MAX_LISTED).map(row).collect();
                    exported.assets_left_out = (left > 0).then_some(left);
                    ("", Vec::new())
                }
                Some(url) => {
                    let Some(found) = loaded.iter().find(|one| shown_url(&one.resource.url) == *url) else {
                        return Err(OpError::rejected(
                            ErrorKind::TargetNotFound,
                            Phase::TargetResolution,
                            "the page has loaded nothing of this URL",
                            "export-page --format assets lists what there is",
                        ));
                    };
                    let (frame, url) = (&found.frame, &found.resource.url);
                    let Content { data, fetched } =
                        content(context, &found.session, frame, url, params.refetch, |_| true).await?;
                    exported.fetched = fetched;
                    if data.len() > ExportPage::MAX_ASSET {
                        return Err(too_large());
                    }
                    exported.assets = vec![row(found)];
                    ("application/octet-stream", data)
                }
            }
        }
    };
    if data.len() > ExportPage::MAX_BYTES {
        return Err(too_large());
    }
    exported.bytes = data.len() as u64;
    exported.media_type = media_type.to_owned();
    exported.page = page_line(context, looked.changes.revision).await.map_err(fault)?;
    if params.writes() {
        context.send_file(&format!("page.{}", params.format.ending()), media_type, data).await;
    }
    Ok(exported)
}

/// What is known of the page's requests.
async fn archive(context: &Context, bodies: bool) -> Result<Exported, OpError> {
    let archive = har::archive(context, bodies).await;
    if archive.json.len() > ExportPage::MAX_BYTES {
        return Err(too_large());
    }
    let (url, title, revision) = {
        let state = context.pages.state();
        let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
        (target.url.clone(), target.title.clone(), target.revisions.number)
    };
    let exported = Exported {
        format: ExportFormat::Har.name().to_owned(),
        media_type: "application/json".to_owned(),
        bytes: archive.json.len() as u64,
        page: line(context, revision, &url, &title, ""),
        requests: Some(archive.requests),
        requests_gone: Some(archive.requests_gone),
        bodies_left_out: bodies.then_some(archive.bodies_left_out),
        ..Exported::default()
    };
    let name = format!("page.{}", ExportFormat::Har.ending());
    context.send_file(&name, "application/json", archive.json).await;
    Ok(exported)
}

/// Whether the markup of any frame holds what no reading may show.
///
/// # Errors
/// When a frame does not say.
async fn marks_secrets(context: &Context) -> Result<bool, EngineError> {
    let keys = context.pages.state().target(&context.target).map(Target::keys).unwrap_or_default();
    let asked = keys.iter().map(|key| async move {
        let call = context.pages.look(key, vec![Step("marksSecrets", json!({}))]).await;
        match call.and_then(|mut call| call.take::<Marked>()) {
            Ok(marked) => Ok(marked.some),
            Err(error) if context.pages.is_silent(key) => Err(error),
            // A frame without a document of its own has nothing to show.
            Err(_) => Ok(false),
        }
    });
    let marked: Vec<bool> = futures_util::future::try_join_all(asked).await?;
    Ok(marked.contains(&true))
}

async fn ask<C: Command>(context: &Context, session: &str, command: C) -> Result<C::Reply, OpError> {
    let pending = context.pages.client().start_send(Some(session), command);
    context.pages.or_halt(&context.target, pending).await.map_err(|error| match error {
        EngineError::Cdp(CdpError::TooLarge { .. }) => too_large(),
        EngineError::Cdp(error) => {
            tracing::debug!(%error, "the browser did not export");
            OpError::rejected(
                ErrorKind::Unsupported,
                Phase::BrowserEffect,
                "the browser cannot export this page in this form",
                "try another format",
            )
        }
        error => context.engine(&error, Phase::Preflight),
    })
}

/// The document itself, where it is a PDF: as it came.
async fn original(context: &Context, session: &str, refetch: bool) -> Result<Option<Content>, OpError> {
    let frame = ask(context, session, GetResourceTree {}).await?.frame_tree.frame;
    if frame.mime_type != "application/pdf" {
        return Ok(None);
    }
    let is_pdf = |data: &[u8]| data.starts_with(b"%PDF-");
    content(context, session, &frame.id, &frame.url, refetch, is_pdf).await.map(Some)
}

/// Everything that the page and its frames have loaded, each once.
async fn loaded(context: &Context) -> Result<Vec<Loaded>, OpError> {
    let sessions = context.pages.sessions_of(&context.target);
    let mut all: Vec<Loaded> = Vec::new();
    let mut known = HashSet::new();
    for (at, session) in sessions.iter().enumerate() {
        let tree = match ask(context, session, GetResourceTree {}).await {
            Ok(tree) => tree,
            // A frame in another process that went meanwhile.
            Err(_) if at > 0 => continue,
            Err(error) => return Err(error),
        };
        collect(tree.frame_tree, session, &mut known, &mut all);
    }
    Ok(all)
}

fn collect(tree: FrameResources, session: &str, known: &mut HashSet<String>, all: &mut Vec<Loaded>) {
    let document = Resource {
        url: tree.frame.url,
        kind: "Document".to_owned(),
        mime_type: tree.frame.mime_type,
        content_size: None,
        failed: false,
        canceled: false,
    };
    for resource in std::iter::once(document).chain(tree.resources) {
        // What the browser's own pages are made of is nothing that the page has loaded.
        let of_the_web = ["http:", "https:", "blob:"].iter().any(|scheme| resource.url.starts_with(scheme));
        if resource.failed || resource.canceled || !of_the_web || !known.insert(resource.url.clone()) {
            continue;
        }
        all.push(Loaded { session: session.to_owned(), frame: tree.frame.id.clone(), resource });
    }
    for child in tree.child_frames {
        collect(child, session, known, all);
    }
}

fn row(loaded: &Loaded) -> Asset {
    let resource = &loaded.resource;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size in bytes")]
    let bytes = resource.content_size.filter(|size| *size >= 0.0).map(|size| size as u64);
    Asset {
        page_url: shown_url(&resource.url),
        kind: cut(&resource.kind, 64).into_owned(),
        media_type: cut(&resource.mime_type, 128).into_owned(),
        bytes,
    }
}

fn shown_url(url: &str) -> String {
    cut(url, 4096).into_owned()
}

fn decode(base64: &str) -> Result<Vec<u8>, OpError> {
    STANDARD.decode(base64.as_bytes()).map_err(|error| {
        tracing::warn!(%error, "a file that is no base64");
        OpError::rejected(
            ErrorKind::Transport,
            Phase::Transport,
            "the browser's file cannot be read",
            "try again",
        )
    })
}

fn too_large() -> OpError {
    OpError::rejected(
        ErrorKind::ResultTooLarge,
        Phase::Verification,
        format!(
            "the file is larger than its bound of {} MiB, or {} MiB for an asset",
            ExportPage::MAX_BYTES / 1024 / 1024,
            ExportPage::MAX_ASSET / 1024 / 1024
        ),
        "export less: text, or one asset",
    )
}
