//! `setViewport` and `emulate`: what pages are told of their surroundings.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Emulate, SetViewport};
use glass_proto::result::{Emulated, ViewportSet};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::begin;
use crate::act::{look, view};
use crate::cdp::CdpError;
use crate::context::{Context, halted};
use crate::page::{EngineError, Halt, Size, Step, asked_by};

pub(super) async fn viewport(context: &Context, params: &SetViewport) -> Result<ViewportSet, OpError> {
    begin::page(context)?;
    let fault = |error: EngineError| context.engine(&error, Phase::BrowserEffect);
    let before = look(context, None, false, 1).await?.changes.revision;
    let session = session(context)?;
    context.dispatching().await;
    if let Some(target) = context.pages.state().targets.get_mut(&context.target) {
        target.size = params.width.zip(params.height).map(|(width, height)| Size { width, height });
    }
    for answer in context.pages.emulate_page(&session) {
        // Of all that is sent again only the size can have changed; the page is asked for it below.
        if let Err(error @ EngineError::Halted(_)) = context.pages.or_halt(&context.target, answer).await {
            return Err(fault(error));
        }
    }
    let (key, step) = (view(context).await.map_err(fault)?.0.key, Step("settle", json!({ "frames": 2 })));
    context.pages.run(&key, vec![step]).await.map_err(fault)?;
    let (now, _) = view(context).await.map_err(fault)?;
    let revision = look(context, None, false, 1).await?.changes.revision;
    let side = |length: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a viewport's side")]
        let side = (length * now.zoom).round() as u32;
        side
    };
    Ok(ViewportSet {
        action: "setViewport".to_owned(),
        target_id: context.target.clone(),
        width: side(now.viewport[0]),
        height: side(now.viewport[1]),
        device_scale_factor: now.dpr,
        previous_revision: before,
        revision,
    })
}

pub(super) async fn emulate(context: &Context, params: &Emulate) -> Result<Emulated, OpError> {
    begin::page(context)?;
    let fault = |error: EngineError| context.engine(&error, Phase::BrowserEffect);
    let looked = look(context, None, false, 1).await?;
    let session = session(context)?;
    let old = context.pages.state().emulation.clone();
    let new = old.with(params);
    context.dispatching().await;
    context.pages.state().emulation = new.clone();
    let mut refused = None;
    for answer in context.pages.emulate_page(&session) {
        match context.pages.or_halt(&context.target, answer).await {
            Ok(_) => {}
            Err(error @ (EngineError::Halted(_) | EngineError::Gone)) => return Err(fault(error)),
            Err(error) => {
                tracing::debug!(%error, "something cannot be emulated here");
                if let EngineError::Cdp(CdpError::Protocol { method, .. }) = error {
                    refused = refused.or(asked_by(params, method));
                }
            }
        }
    }
    if let Some(parameter) = refused {
        context.pages.state().emulation = old;
        for answer in context.pages.emulate_page(&session) {
            drop(context.pages.or_halt(&context.target, answer).await);
        }
        return Err(not_taken(parameter));
    }
    if new.geolocation.is_some() != old.geolocation.is_some()
        && let Some(answer) = context.pages.allow_place(new.geolocation.is_some())
    {
        context.pages.or_halt(&context.target, answer).await.map_err(fault)?;
    }
    context.pages.emulate_everywhere(&session);
    let revision = look(context, None, false, 1).await?.changes.revision;
    Ok(Emulated {
        action: "emulate".to_owned(),
        target_id: context.target.clone(),
        device: word(new.device),
        user_agent: new.user_agent,
        locale: new.locale,
        timezone: new.timezone,
        geolocation: new.geolocation.map(|place| [place.latitude, place.longitude, place.accuracy]),
        color_scheme: word(new.color_scheme),
        reduced_motion: word(new.reduced_motion),
        media: word(new.media),
        network: word(new.network),
        cpu_throttle: new.cpu_throttle,
        headers: new.headers.into_iter().map(|header| header.name).collect(),
        previous_revision: looked.changes.revision,
        revision,
    })
}

fn not_taken(parameter: &str) -> OpError {
    let before = "nothing is emulated that was not before";
    if matches!(parameter, "locale" | "timezone") {
        return OpError::failed(
            ErrorKind::InvalidArgument,
            Phase::BrowserEffect,
            format!("the browser does not know this language or time zone; {before}"),
            "use names such as de-DE and Europe/Berlin",
        )
        .reason("unknown_name");
    }
    OpError::failed(
        ErrorKind::Unsupported,
        Phase::BrowserEffect,
        format!("the browser does not take {parameter} here; {before}"),
        "leave it out, or try it on another page",
    )
    .reason("refused_by_browser")
}

/// An enum's name on the wire.
fn word<T: Serialize>(value: Option<T>) -> Option<String> {
    let json = serde_json::to_value(value?).ok()?;
    String::deserialize(json).ok()
}

fn session(context: &Context) -> Result<std::sync::Arc<str>, OpError> {
    let session = context.pages.state().target(&context.target).map(|target| target.session.clone());
    session.ok_or_else(|| halted(&Halt::Closed))
}
