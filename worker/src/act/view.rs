//! What the viewport shows and how: what coordinates of a picture depend on (contract 3.8).

use std::collections::BTreeMap;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::Screenshot;
use serde::Deserialize;
use serde_json::json;

use crate::cdp::types::page::{GetLayoutMetrics, LayoutMetrics};
use crate::context::{Context, halted};
use crate::page::{EngineError, Halt, Step, Target, View};

#[derive(Deserialize)]
struct Info {
    viewport: [f64; 2],
    dpr: f64,
    zoom: f64,
}

#[derive(Deserialize)]
struct Scrolls {
    count: u64,
}

/// The view of the target's main document, with the browser's measures. How often something scrolled is not asked: who
/// needs it knows when ([`scrolls`]).
///
/// # Errors
/// When the page cannot be asked.
pub async fn view(context: &Context) -> Result<(View, LayoutMetrics), EngineError> {
    let pages = &context.pages;
    let (session, key) = {
        let state = pages.state();
        let target = state.target(&context.target).ok_or(EngineError::Halted(Halt::Closed))?;
        (target.session.clone(), target.key(&target.main).ok_or(EngineError::Gone)?)
    };
    let metrics = pages.client().start_send(Some(&session), GetLayoutMetrics {});
    let steps = vec![Step("info", json!({}))];
    let (metrics, info) = tokio::join!(pages.or_halt(&context.target, metrics), pages.run(&key, steps));
    let (metrics, info): (_, Info) = (metrics?, info?.take()?);
    let shown = &metrics.css_visual_viewport;
    let view = View {
        key,
        scroll: [shown.page_x, shown.page_y],
        // With pinch zoom the picture shows the visual viewport, whose size has no scroll bars in it.
        viewport: if (info.zoom - 1.0).abs() < 1e-3 {
            info.viewport
        } else {
            [shown.client_width, shown.client_height]
        },
        dpr: info.dpr,
        zoom: info.zoom,
        scrolls: BTreeMap::new(),
    };
    Ok((view, metrics))
}

/// How often something scrolled in each document of the target.
pub async fn scrolls(context: &Context) -> BTreeMap<u32, u64> {
    let keys = context.pages.state().target(&context.target).map(Target::keys).unwrap_or_default();
    let asked = keys.iter().map(|key| async move {
        let call = context.pages.look(key, vec![Step("scrolls", json!({}))]).await;
        let scrolls = call.and_then(|mut call| call.take::<Scrolls>()).ok()?;
        Some((key.label, scrolls.count))
    });
    futures_util::future::join_all(asked).await.into_iter().flatten().collect()
}

/// The point of the viewport that a pixel of a picture shows.
///
/// # Errors
/// `invalid_argument` for a picture that is not known and a point beyond its edges or out of view; `stale_reference`
/// once the page navigated, scrolled or changed its size, where a frame does not tell whether it has, and when the picture
/// is older than [`Screenshot::ID_SECONDS`].
pub async fn from_picture(context: &Context, id: &str, pixel: (f64, f64)) -> Result<(f64, f64), OpError> {
    let taken = context.pages.state().shot(id).cloned();
    let Some(taken) = taken else {
        return Err(OpError::invalid(
            "no picture of that id is known in this session",
            "take a screenshot, and use its screenshotId within 60 s",
        ));
    };
    if context.pages.state().target(&context.target).is_none() {
        return Err(halted(&Halt::Closed));
    }
    let (mut now, _) = view(context).await.map_err(|error| context.engine(&error, Phase::Preflight))?;
    now.scrolls = scrolls(context).await;
    // What cannot be compared is not the same.
    let silent = || {
        let state = context.pages.state();
        let keys = state.target(&context.target).map(Target::keys).unwrap_or_default();
        let missing =
            |label: &u32| !now.scrolls.contains_key(label) && taken.view.scrolls.contains_key(label);
        keys.iter().any(|key| missing(&key.label)).then_some((
            "frame_unavailable",
            "a frame of it does not answer, so whether it has scrolled is not known",
        ))
    };
    let old = || taken.is_old().then_some(("expired", "it is too old"));
    let stale = taken.view.outlived(&now).or_else(silent).or_else(old);
    if let Some((reason, why)) = stale {
        return Err(OpError::rejected(
            ErrorKind::StaleReference,
            Phase::TargetResolution,
            format!("coordinates of this picture cannot be used: {why}"),
            format!("take a new screenshot; its id is good for {} s", Screenshot::ID_SECONDS),
        )
        .reason(reason));
    }
    let Some((x, y)) = taken.to_viewport(pixel) else {
        return Err(OpError::invalid(
            format!("the point lies outside the picture of {}×{} pixels", taken.size[0], taken.size[1]),
            "count pixels from the upper left corner of the picture",
        ));
    };
    let [width, height] = now.viewport;
    if x < 0.0 || y < 0.0 || x >= width || y >= height {
        return Err(OpError::invalid(
            "the point of the picture is not in view",
            "scroll there, and take a screenshot of the viewport",
        ));
    }
    Ok((x, y))
}
