//! `screenshot`: of the viewport, the whole page or one element, without scrolling (contract 3.8).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{ImageFormat, Screenshot};
use glass_proto::result::Shot;
use serde_json::json;

use super::begin;
use crate::act::{find, look, page_line};
use crate::cdp::CdpError;
use crate::cdp::types::page::{CaptureFormat, CaptureScreenshot, GetLayoutMetrics, LayoutMetrics, Viewport};
use crate::context::{Context, Notice, halted};
use crate::page::{EngineError, Halt, Step};

#[derive(serde::Deserialize)]
struct Place {
    scroll: [f64; 2],
}

#[derive(serde::Deserialize)]
struct Shown {
    status: String,
    rect: Option<[f64; 4]>,
}

pub(super) async fn run(context: &Context, params: &Screenshot) -> Result<Shot, OpError> {
    begin::page(context)?;
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let looked = look(context, None, false, 1).await?;
    let pending = context.pages.client().start_send(Some(&session), GetLayoutMetrics {});
    let metrics = context.pages.or_halt(&context.target, pending).await.map_err(fault)?;
    let (clip, cut_height, beyond) = match &params.target {
        Some(locator) => {
            let clip = element(context, locator).await?;
            let beyond = !in_view(&clip, &metrics);
            (Some(clip), None, beyond)
        }
        None if params.full_page => {
            let (clip, cut) = whole(&metrics);
            (Some(clip), cut, true)
        }
        None => (None, None, false),
    };
    let command = CaptureScreenshot {
        format: match params.format {
            ImageFormat::Png => CaptureFormat::Png,
            ImageFormat::Jpeg => CaptureFormat::Jpeg,
            ImageFormat::Webp => CaptureFormat::Webp,
        },
        quality: params.quality.and_then(|quality| u8::try_from(quality).ok()),
        clip: clip.as_ref(),
        capture_beyond_viewport: beyond,
        from_surface: None,
        optimize_for_speed: false,
    };
    let pending = context.pages.client().start_send(Some(&session), command);
    let shot = match context.pages.or_halt(&context.target, pending).await {
        Ok(shot) => shot,
        Err(EngineError::Cdp(CdpError::TooLarge { .. })) => return Err(too_large()),
        Err(error) => return Err(fault(error)),
    };
    let data = STANDARD.decode(shot.data.as_bytes()).map_err(|error| {
        tracing::warn!(%error, "a picture that is no base64");
        OpError::rejected(
            ErrorKind::Transport,
            Phase::Transport,
            "the browser's picture cannot be read",
            "try again",
        )
    })?;
    if data.len() > Screenshot::MAX_BYTES {
        return Err(too_large());
    }
    let size = imagesize::blob_size(&data).map_err(|error| {
        tracing::warn!(%error, "a picture without a size");
        OpError::rejected(
            ErrorKind::Transport,
            Phase::Transport,
            "the browser's picture cannot be read",
            "try again",
        )
    })?;
    let page = page_line(context, looked.changes.revision).await.map_err(fault)?;
    let bytes = data.len() as u64;
    let media_type = match params.format {
        ImageFormat::Png => "image/png",
        ImageFormat::Jpeg => "image/jpeg",
        ImageFormat::Webp => "image/webp",
    };
    let name = format!("screenshot.{}", params.format.name());
    // A receiver that is gone means a cancel, which ends this future at its next await.
    let _ = context.notices.send(Notice::Artifact { name, media_type, data }).await;
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Ok(Shot {
        path: None,
        format: params.format.name().to_owned(),
        width: side(size.width),
        height: side(size.height),
        bytes,
        page,
        cut_height,
    })
}

/// Whether the viewport shows all of it. What lies beyond is pictured by making the viewport larger for a moment, which
/// a page can notice.
fn in_view(clip: &Viewport, metrics: &LayoutMetrics) -> bool {
    let view = &metrics.css_visual_viewport;
    let (x, y) = (clip.x - view.page_x, clip.y - view.page_y);
    x >= 0.0 && y >= 0.0 && x + clip.width <= view.client_width && y + clip.height <= view.client_height
}

/// The whole page, cut at the bound; and how much of its height is not in it.
fn whole(metrics: &LayoutMetrics) -> (Viewport, Option<u32>) {
    let max = f64::from(Screenshot::MAX_SIDE);
    let size = &metrics.css_content_size;
    let over = (size.height - max).max(0.0);
    let clip = Viewport {
        x: 0.0,
        y: 0.0,
        width: size.width.clamp(1.0, max),
        height: size.height.clamp(1.0, max),
        scale: 1.0,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a page's height is positive and small"
    )]
    let cut = (over >= 1.0).then_some(over as u32);
    (clip, cut)
}

async fn element(context: &Context, locator: &glass_proto::op::Locator) -> Result<Viewport, OpError> {
    let (found, _) = find(context, locator).await?;
    if found.key.label != 0 {
        return Err(OpError::rejected(
            ErrorKind::Unsupported,
            Phase::Preflight,
            "a picture of one element inside a frame cannot be taken by this build",
            "take the whole page",
        ));
    }
    let steps = vec![
        Step("info", json!({})),
        Step("prepare", json!({ "ref": found.node, "need": "none", "scroll": false })),
    ];
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let mut call = context.pages.run(&found.key, steps).await.map_err(fault)?;
    let place: Place = call.take().map_err(fault)?;
    let shown: Shown = call.take().map_err(fault)?;
    let rect = shown
        .rect
        .filter(|rect| shown.status == "ready" && rect[2] >= 1.0 && rect[3] >= 1.0)
        .ok_or_else(|| {
            OpError::rejected(
                ErrorKind::NotActionable,
                Phase::Preflight,
                "the element is not visible",
                "observe the page",
            )
            .reason("not_visible")
        })?;
    let max = f64::from(Screenshot::MAX_SIDE);
    Ok(Viewport {
        x: rect[0] + place.scroll[0],
        y: rect[1] + place.scroll[1],
        width: rect[2].min(max),
        height: rect[3].min(max),
        scale: 1.0,
    })
}

fn too_large() -> OpError {
    OpError::rejected(
        ErrorKind::ResultTooLarge,
        Phase::Verification,
        format!("the picture is larger than {} MiB", Screenshot::MAX_BYTES / 1024 / 1024),
        "take the viewport or one element, or use --format jpeg",
    )
}
