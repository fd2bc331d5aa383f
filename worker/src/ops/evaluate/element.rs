//! A script that is given an element or arguments: it runs in the world of the page that the element's frame shows.

use std::sync::Arc;

use glass_proto::error::{OpError, Phase};
use glass_proto::op::Evaluate;
use serde_json::{Value, json};

use super::files::{around, keeps};
use super::{GROUP, MAX_DEPTH, Ran, ended, parsed, release};
use crate::act::{Before, find, guard_revision, look};
use crate::context::Context;
use crate::page::EngineError;

pub(super) async fn run(
    context: &Context,
    main: &Arc<str>,
    world: Option<&str>,
    params: &Evaluate,
) -> Result<Ran, OpError> {
    let fault = |error: EngineError| context.engine(&error, Phase::TargetResolution);
    let (found, looked) = match &params.target {
        Some(locator) => find(context, locator).await.map(|(found, looked)| (Some(found), looked))?,
        None => (None, look(context, None, false, 1).await?),
    };
    let function = function(context, main, &params.expression, found.is_some(), keeps(params)).await?;
    guard_revision(context, found.as_ref().map(|found| &found.key), &looked.changes, None)?;
    let (session, handle) = match &found {
        Some(found) => context.pages.page_handle(&found.key, found.node, GROUP).await.map_err(fault)?,
        None => (main.clone(), global(context, main, world).await?),
    };
    let element = found.is_some().then(|| json!({ "objectId": handle }));
    let values = params.values().map_err(|wrong| OpError::invalid(wrong.to_string(), "give each as JSON"))?;
    let rest = values.into_iter().map(|value| json!({ "value": value }));
    let arguments: Vec<Value> = element.into_iter().chain(rest).collect();
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    context.dispatching().await;
    context.undo(|undo| undo.evaluating = Some(session.clone()));
    let script = context.pages.client().start_call(
        Some(&session),
        "Runtime.callFunctionOn",
        json!({
            "functionDeclaration": function, "objectId": handle, "arguments": arguments, "awaitPromise": true,
            "userGesture": false, "objectGroup": GROUP, "silent": true,
            "serializationOptions": { "serialization": "deep", "maxDepth": MAX_DEPTH },
        }),
    );
    let reply = ended(context, &session, script).await?.1;
    drop(release(context, &session));
    Ok(Ran { before, reply, fresh: None })
}

/// The text as a function of the element and the arguments: what it gives when it is an expression (called, when that
/// is a function), else its own body.
async fn function(
    context: &Context,
    session: &str,
    text: &str,
    with_element: bool,
    keeps: bool,
) -> Result<String, OpError> {
    let names = if with_element { "element, ...args" } else { "...args" };
    // In brackets it is an expression, which the browser takes as a function's declaration too.
    let forms = [
        format!(
            "(async function ({names}) {{ const it = (\n{text}\n); return typeof it === 'function' ? it({names}) : it; }})"
        ),
        format!("(async function ({names}) {{\n{text}\n}})"),
    ];
    // Where the script keeps files it runs in a scope with what keeps them.
    let forms = if keeps { forms.map(|form| around(&form)) } else { forms };
    parsed(context, session, forms).await
}

#[derive(serde::Deserialize)]
struct Evaluated {
    result: Handle,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Handle {
    object_id: Option<String>,
}

/// A handle of the global object of that world (the main document's when none is named), to call a function on.
async fn global(context: &Context, session: &str, world: Option<&str>) -> Result<String, OpError> {
    let mut params = json!({ "expression": "globalThis", "objectGroup": GROUP, "silent": true });
    if let Some(world) = world {
        params["uniqueContextId"] = world.into();
    }
    let pending =
        context.pages.client().start_call::<_, Evaluated>(Some(session), "Runtime.evaluate", params);
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let reply = context.pages.or_halt(&context.target, pending).await.map_err(fault)?;
    reply.result.object_id.ok_or_else(|| fault(EngineError::Gone))
}
