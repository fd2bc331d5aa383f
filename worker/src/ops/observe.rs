//! `observe`: each frame's rows in parallel, stitched into one outline within its bound (contract 3.1).

mod outline;
mod stitch;

use glass_proto::error::{OpError, Phase};
use glass_proto::op::Observe;
use glass_proto::result::{LeftOut, Observation};
use serde_json::{Value, json};

use crate::act::{Found, find, line, look};
use crate::context::{Context, halted};
use crate::page::{EngineError, FrameKey, Halt, Step};
use stitch::Seen;

/// Lines of an outline (contract 3.1).
const MAX_ROWS: usize = 400;
/// Visible text in an observation (contract 3.1).
const MAX_TEXT: usize = 16 * 1024;
/// Part of the time that asking for closed roots and listeners may take.
const REVEAL: f64 = 0.3;

pub(super) async fn run(context: &Context, params: &Observe) -> Result<Observation, OpError> {
    context.pages.use_target(&context.target);
    let halt = Halt::of(&context.pages.state(), &context.target);
    match halt {
        // With a dialog open the page cannot be asked; the dialog is the answer (contract 5.5).
        Some(Halt::Dialog(dialog)) => return Ok(outline::dialog_only(context, dialog)),
        Some(halt) => return Err(halted(&halt)),
        None => {}
    }
    let scope = match &params.scope {
        Some(locator) => Some(find(context, locator).await?),
        None => None,
    };
    context.pages.place_frames(&context.target).await;
    context.pages.reveal(&context.target, context.left().mul_f64(REVEAL)).await;
    let changes = match &scope {
        Some((_, looked)) => looked.changes.clone(),
        None => look(context, None, false, 1).await?.changes,
    };
    let scope = scope.map(|(found, _)| found);
    let mut rows = MAX_ROWS;
    loop {
        let (seen, missing) = match frames(context, params, scope.as_ref(), rows).await {
            Ok(seen) => seen,
            Err(EngineError::Halted(Halt::Dialog(dialog))) => {
                return Ok(outline::dialog_only(context, dialog));
            }
            Err(error) => return Err(context.engine(&error, Phase::Preflight)),
        };
        let Some(main) = seen.first() else {
            return Err(context.engine(&EngineError::Gone, Phase::Preflight));
        };
        let page = line(context, changes.revision, &main.url, &main.title, &main.ready_state);
        let built = outline::build(context, params, page, &seen, missing, rows);
        // Too long for its bound: fewer rows, chosen by the page engine so that what matters stays.
        if built.outline.len() <= params.max_bytes as usize || rows <= 8 {
            let told = context.pages.take_unreported(&context.target);
            return Ok(Observation { popups: told, ..built });
        }
        rows = (rows.min(built.nodes.len()) * params.max_bytes as usize / built.outline.len())
            .saturating_sub(2)
            .clamp(8, rows - 1);
    }
}

/// Every frame's rows, the main one (or the scope's) first, and what did not answer.
async fn frames(
    context: &Context,
    params: &Observe,
    scope: Option<&Found>,
    rows: usize,
) -> Result<(Vec<Seen>, Vec<LeftOut>), EngineError> {
    let keys: Vec<FrameKey> = {
        let state = context.pages.state();
        let Some(target) = state.target(&context.target) else {
            return Err(EngineError::Halted(Halt::Closed));
        };
        match scope {
            None => target.keys(),
            // The scope's frame, and the frames below it; which of them lie in the scope the stitching finds.
            Some(found) => {
                let below = target.keys().into_iter().filter(|key| {
                    key.frame != found.key.frame && target.chain(&key.frame).contains(&found.key.frame)
                });
                std::iter::once(found.key.clone()).chain(below).collect()
            }
        }
    };
    let reads = keys.iter().enumerate().map(|(at, key)| {
        let mut args = json!({
            "maxRows": rows, "maxText": MAX_TEXT, "interactive": params.interactive, "depth": params.depth,
        });
        if let (0, Some(found)) = (at, scope) {
            args["scopeRef"] = found.node.into();
        }
        async move { context.pages.look(key, vec![Step("observe", args)]).await?.take::<Value>() }
    });
    let limit = context.left().mul_f64(if keys.len() > 1 { 0.8 } else { 1.0 });
    let reads = reads.map(|read| async move { tokio::time::timeout(limit, read).await });
    let mut seen = Vec::new();
    let mut missing = Vec::new();
    for (at, (key, read)) in keys.iter().zip(futures_util::future::join_all(reads).await).enumerate() {
        match read {
            Ok(Ok(answer)) => seen.push(Seen::read(key.clone(), answer)?),
            Ok(Err(error)) if at == 0 => return Err(error),
            Ok(Err(EngineError::Gone)) => missing.push(unavailable(key, "it was replaced while it was read")),
            Ok(Err(_)) => missing.push(unavailable(key, "it could not be read")),
            Err(_) if at == 0 => return Err(EngineError::Silent),
            Err(_) => missing.push(unavailable(key, "it did not answer in time")),
        }
    }
    Ok((seen, missing))
}

fn unavailable(key: &FrameKey, reason: &str) -> LeftOut {
    LeftOut {
        kind: "frame".to_owned(),
        reference: Some(format!("f{}", key.label)),
        reason: Some(reason.to_owned()),
        hint: Some("observe again".to_owned()),
        ..LeftOut::default()
    }
}
