//! `screenshot`: of the viewport, the whole page, a part or one element, without scrolling (contract 3.8).

mod annotate;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{ImageFormat, Locator, Screenshot};
use glass_proto::result::{Mark, Shot};
use serde::Deserialize;
use serde_json::json;

use super::begin;
use crate::act::{find, look, page_line, scrolls, view};
use crate::cdp::CdpError;
use crate::cdp::types::page::{
    CaptureFormat, CaptureScreenshot, LayoutMetrics, Screenshot as Captured, Viewport,
};
use crate::context::{Context, halted};
use crate::page::{EngineError, FrameKey, Halt, Step, Taken, Target, View, reference};

/// Most refs in one picture.
const MAX_MARKS: usize = 200;
/// Most elements whose place in the page is asked for them.
const MAX_LOOKED: usize = 2 * MAX_MARKS;
/// How long a picture may take before it is asked for again.
const ASK_AGAIN: Duration = Duration::from_millis(400);
/// Quality of an annotated jpeg when the call names none.
const QUALITY: u8 = 80;

#[derive(Deserialize)]
struct Shown {
    status: String,
    rect: Option<[f64; 4]>,
}

#[derive(Deserialize)]
struct Fonts {
    pending: bool,
}

/// What is pictured.
struct Part {
    /// Its place in the page, in CSS pixels; none for the viewport as it is.
    clip: Option<Viewport>,
    /// Height of the page that is not in it.
    cut: Option<u32>,
    /// Some of it lies beyond the viewport.
    beyond: bool,
}

pub(super) async fn run(context: &Context, params: &Screenshot) -> Result<Shot, OpError> {
    begin::page(context)?;
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    let session = session.ok_or_else(|| halted(&Halt::Closed))?;
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let looked = look(context, None, false, 1).await?;
    let fonts_pending = fonts(context, params.wait_fonts_ms).await;
    let (mut shown, metrics) = view(context).await.map_err(fault)?;
    let part = part(context, params, &shown, &metrics).await?;
    // Read in the layout that the picture shows.
    let (rows, mut unmarked) =
        if params.annotate { rows(context).await.map_err(fault)? } else { (Vec::new(), 0) };
    let drawn = params.annotate.then_some(ImageFormat::Png);
    let command = CaptureScreenshot {
        format: match drawn.unwrap_or(params.format) {
            ImageFormat::Png => CaptureFormat::Png,
            ImageFormat::Jpeg => CaptureFormat::Jpeg,
            ImageFormat::Webp => CaptureFormat::Webp,
        },
        quality: params.quality.filter(|_| drawn.is_none()).and_then(|quality| u8::try_from(quality).ok()),
        clip: part.clip.as_ref(),
        capture_beyond_viewport: part.beyond,
        from_surface: None,
        optimize_for_speed: params.annotate,
    };
    let shot = match capture(context, &session, &command).await {
        Ok(shot) => shot,
        Err(EngineError::Cdp(CdpError::TooLarge { .. })) => return Err(too_large()),
        Err(error) => return Err(fault(error)),
    };
    // What the picture itself made the page scroll is in it.
    shown.scrolls = scrolls(context).await;
    let mut data = STANDARD.decode(shot.data.as_bytes()).map_err(|error| unreadable(&error))?;
    let size = imagesize::blob_size(&data).map_err(|error| unreadable(&error))?;
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let size = [side(size.width), side(size.height)];
    let place =
        part.clip.as_ref().map(|clip| ([clip.x - shown.scroll[0], clip.y - shown.scroll[1]], clip.width));
    let (origin, width) = place.unwrap_or(([0.0, 0.0], shown.viewport[0]));
    let taken = Taken::now(shown, origin, f64::from(size[0]) / width.max(1.0), size);
    let mut marks = Vec::new();
    if params.annotate {
        marks = rows.into_iter().filter_map(|row| mark(row, &taken)).collect();
        unmarked += marks.len().saturating_sub(MAX_MARKS) as u64;
        marks.truncate(MAX_MARKS);
        data = draw(data, &marks, params).await?;
    }
    if data.len() > Screenshot::MAX_BYTES {
        return Err(too_large());
    }
    let pointer = pointer(context, &session, &taken);
    let scale = taken.scale;
    let screenshot_id = context.pages.state().remember_shot(taken);
    let page = page_line(context, looked.changes.revision).await.map_err(fault)?;
    let bytes = data.len() as u64;
    let media_type = match params.format {
        ImageFormat::Png => "image/png",
        ImageFormat::Jpeg => "image/jpeg",
        ImageFormat::Webp => "image/webp",
    };
    context.send_file(&format!("screenshot.{}", params.format.name()), media_type, data).await;
    Ok(Shot {
        path: None,
        format: params.format.name().to_owned(),
        width: size[0],
        height: size[1],
        bytes,
        page,
        cut_height: part.cut,
        screenshot_id,
        scale,
        origin,
        pointer,
        fonts_pending,
        marks,
        marks_left_out: (unmarked > 0).then_some(unmarked),
    })
}

/// Asks for the picture, and once more when none comes: a page that is not in front paints nothing for the first request
/// and answers both at the second (seen on Chromium 156).
async fn capture(
    context: &Context,
    session: &str,
    command: &CaptureScreenshot<'_>,
) -> Result<Captured, EngineError> {
    let ask = || {
        let pending = context.pages.client().start_send(Some(session), command.clone());
        context.pages.or_halt(&context.target, pending)
    };
    let mut first = std::pin::pin!(ask());
    if let Ok(shot) = tokio::time::timeout(ASK_AGAIN, first.as_mut()).await {
        return shot;
    }
    tokio::select! {
        shot = first => shot,
        shot = ask() => shot,
    }
}

/// Waits for fonts that are loading, at most `limit` milliseconds. Answers whether some still are.
async fn fonts(context: &Context, limit: u32) -> bool {
    let keys = context.pages.state().target(&context.target).map(Target::keys).unwrap_or_default();
    let limit = Duration::from_millis(limit.into()).min(context.left().mul_f64(0.5));
    let step = json!({ "timeoutMs": u64::try_from(limit.as_millis()).unwrap_or(0) });
    let waits = keys.iter().map(|key| {
        let steps = vec![Step("fonts", step.clone())];
        async move {
            let read = async { context.pages.run(key, steps).await?.take::<Fonts>() };
            // A document that does not answer has its own trouble; the picture does not wait for it.
            let answer = tokio::time::timeout(limit + Duration::from_millis(100), read).await;
            matches!(answer, Ok(Ok(Fonts { pending: true })))
        }
    });
    futures_util::future::join_all(waits).await.contains(&true)
}

async fn part(
    context: &Context,
    params: &Screenshot,
    shown: &View,
    metrics: &LayoutMetrics,
) -> Result<Part, OpError> {
    let max = f64::from(Screenshot::MAX_SIDE);
    let pixels = shown.dpr.max(0.01);
    let [scroll_x, scroll_y] = shown.scroll;
    let mut cut = None;
    let mut clip = if let Some(locator) = &params.target {
        let [x, y, width, height] = element(context, locator).await?;
        let layout = &metrics.css_layout_viewport;
        Some([x + layout.page_x, y + layout.page_y, width, height])
    } else if let Some(clip) = &params.clip {
        let [width, height] = shown.viewport;
        if clip.x + clip.width > width || clip.y + clip.height > height {
            return Err(OpError::invalid(
                format!("the clip reaches beyond the viewport of {width}×{height} CSS pixels"),
                "give a part of the viewport, or use --full-page or --target",
            ));
        }
        Some([clip.x + scroll_x, clip.y + scroll_y, clip.width, clip.height])
    } else if params.full_page {
        let size = &metrics.css_content_size;
        let over = (size.height - max / pixels).max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a page's height is positive and small"
        )]
        {
            cut = (over >= 1.0).then_some(over as u32);
        }
        Some([0.0, 0.0, size.width.max(1.0), (size.height - over).max(1.0)])
    } else {
        None
    };
    let bound = params.max_side.map_or(max, f64::from);
    let [width, height] = clip.map_or(shown.viewport, |[_, _, width, height]| [width, height]);
    let scale =
        (bound / (width.max(height) * pixels * if clip.is_none() { shown.zoom } else { 1.0 })).min(1.0);
    if scale < 1.0 && clip.is_none() {
        clip = Some([scroll_x, scroll_y, width, height]);
    }
    let clip = clip.map(|[x, y, width, height]| Viewport { x, y, width, height, scale });
    let beyond = clip.as_ref().is_some_and(|clip| !in_view(clip, shown, metrics));
    Ok(Part { clip, cut, beyond })
}

/// Whether the viewport shows all of it. What lies beyond is pictured by making the viewport larger for a moment, which
/// a page can notice.
fn in_view(clip: &Viewport, shown: &View, metrics: &LayoutMetrics) -> bool {
    let view = &metrics.css_visual_viewport;
    let (x, y) = (clip.x - view.page_x, clip.y - view.page_y);
    let [width, height] = shown.viewport;
    x >= 0.0 && y >= 0.0 && x + clip.width <= width && y + clip.height <= height
}

/// The element's box in the page's viewport, in whichever frame it is.
async fn element(context: &Context, locator: &Locator) -> Result<[f64; 4], OpError> {
    let (found, _) = find(context, locator).await?;
    let steps = vec![Step("prepare", json!({ "ref": found.node, "need": "none", "scroll": false }))];
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let mut call = context.pages.run(&found.key, steps).await.map_err(fault)?;
    let shown: Shown = call.take().map_err(fault)?;
    let is_there = |rect: &[f64; 4]| shown.status == "ready" && rect[2] >= 1.0 && rect[3] >= 1.0;
    let rect = shown.rect.filter(is_there).ok_or_else(|| {
        OpError::rejected(
            ErrorKind::NotActionable,
            Phase::Preflight,
            "the element is not visible",
            "observe the page",
        )
        .reason("not_visible")
    })?;
    context.pages.place_frames(&context.target).await;
    context.pages.box_in_page(&found.key, rect).await.map_err(fault)
}

/// Something that can be acted on, with its box in the page's viewport.
struct Row {
    reference: String,
    role: String,
    name: String,
    area: [f64; 4],
}

#[derive(Deserialize)]
struct Rows {
    rows: Vec<RowRead>,
    #[serde(default)]
    unseen: Vec<String>,
    #[serde(default, rename = "leftOut")]
    left_out: Vec<RowsLeftOut>,
}

#[derive(Deserialize)]
struct RowsLeftOut {
    kind: String,
    count: u64,
}

impl Rows {
    /// Rows that there are and are not among these.
    fn more(&self) -> u64 {
        self.left_out.iter().filter(|left| left.kind == "rows").map(|left| left.count).sum()
    }
}

#[derive(Deserialize)]
struct RowRead {
    #[serde(rename = "ref")]
    node: u32,
    role: String,
    name: String,
    #[serde(rename = "box")]
    area: [f64; 4],
    frame: Option<String>,
}

/// What can be acted on, and how many of them were not looked at.
async fn rows(context: &Context) -> Result<(Vec<Row>, u64), EngineError> {
    let pages = &context.pages;
    pages.place_frames(&context.target).await;
    let keys = pages.state().target(&context.target).map(Target::keys).unwrap_or_default();
    let args =
        json!({ "interactive": true, "boxes": true, "values": false, "maxText": 0, "maxRows": MAX_MARKS });
    let reads = keys.iter().map(|key| {
        let steps = vec![Step("observe", args.clone())];
        async move { pages.look(key, steps).await?.take::<Rows>() }
    });
    let mut read: Vec<(FrameKey, Rows)> = Vec::new();
    for (key, rows) in keys.iter().zip(futures_util::future::join_all(reads).await) {
        match rows {
            Ok(rows) => read.push((key.clone(), rows)),
            Err(error) if key.label == 0 => return Err(error),
            Err(error) => tracing::debug!(%error, "a frame did not answer"),
        }
    }
    let unseen = read.iter().flat_map(|(_, rows)| &rows.unseen);
    let unseen = unseen.filter_map(|label| crate::page::frame_number(label)).collect();
    let unseen =
        pages.state().target(&context.target).map(|target| target.with_inner(&unseen)).unwrap_or_default();
    let seen: Vec<_> = read.iter().filter(|(key, _)| !unseen.contains(&key.label)).collect();
    let more: u64 = seen.iter().map(|(_, rows)| rows.more()).sum();
    let usable = seen.into_iter().flat_map(|(key, rows)| rows.rows.iter().map(move |row| (key, row)));
    let usable = usable.filter(|(_, row)| {
        row.frame.is_none() && !matches!(row.role.as_str(), "dialog" | "alertdialog" | "frame")
    });
    let usable: Vec<_> = usable.collect();
    let more = more + usable.len().saturating_sub(MAX_LOOKED) as u64;
    let placed = usable.into_iter().take(MAX_LOOKED).map(|(key, row)| async move {
        let area = pages.box_in_page(key, row.area).await.ok()?;
        Some(Row {
            reference: reference(key, row.node),
            role: row.role.clone(),
            name: row.name.clone(),
            area,
        })
    });
    Ok((futures_util::future::join_all(placed).await.into_iter().flatten().collect(), more))
}

/// The row as it is drawn; none when the picture does not show it.
fn mark(row: Row, taken: &Taken) -> Option<Mark> {
    let [x, y, width, height] = row.area;
    let (left, upper) = taken.to_picture((x, y));
    let (right, lower) = taken.to_picture((x + width, y + height));
    let [columns, rows] = taken.size.map(f64::from);
    let (left, upper) = (left.max(0.0), upper.max(0.0));
    let (right, lower) = (right.min(columns), lower.min(rows));
    if right - left < 1.0 || lower - upper < 1.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to the picture above")]
    let area = [left, upper, right - left, lower - upper].map(|side| side as u32);
    Some(Mark { reference: row.reference, role: row.role, name: row.name, area })
}

async fn draw(png: Vec<u8>, marks: &[Mark], params: &Screenshot) -> Result<Vec<u8>, OpError> {
    let labels: Vec<(String, [u32; 4])> =
        marks.iter().map(|mark| (mark.reference.clone(), mark.area)).collect();
    let quality = params.quality.and_then(|quality| u8::try_from(quality).ok()).unwrap_or(QUALITY);
    let format = params.format;
    let drawn = tokio::task::spawn_blocking(move || {
        let labels: Vec<_> =
            labels.iter().map(|(text, area)| annotate::Label { text, area: *area }).collect();
        annotate::draw(&png, &labels, format, quality)
    });
    match drawn.await {
        Ok(Ok(data)) => Ok(data),
        Ok(Err(error)) => Err(unreadable(&error)),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Where the pointer is in the picture, as far as it was sent anywhere.
fn pointer(context: &Context, session: &str, taken: &Taken) -> String {
    match context.pages.state().pointer(session) {
        Some(at) => {
            let (x, y) = taken.to_picture(at);
            format!("{},{}", x.round(), y.round())
        }
        None => "unknown".to_owned(),
    }
}

fn unreadable(error: &dyn std::error::Error) -> OpError {
    tracing::warn!(%error, "a picture that cannot be read");
    OpError::rejected(
        ErrorKind::Transport,
        Phase::Transport,
        "the browser's picture cannot be read",
        "try again",
    )
}

fn too_large() -> OpError {
    OpError::rejected(
        ErrorKind::ResultTooLarge,
        Phase::Verification,
        format!("the picture is larger than {} MiB", Screenshot::MAX_BYTES / 1024 / 1024),
        "take the viewport or one element, or use --format jpeg",
    )
}
