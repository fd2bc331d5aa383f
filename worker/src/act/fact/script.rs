//! `js=`: an expression that the browser keeps from having any effect while it is looked at.

use glass_proto::error::{ErrorKind, OpError, Phase};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Seen, Truth};
use crate::context::Context;
use crate::ops::place;
use crate::page::EngineError;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reply {
    result: Remote,
    exception_details: Option<Exception>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remote {
    #[serde(rename = "type", default)]
    kind: String,
    subtype: Option<String>,
    class_name: Option<String>,
    description: Option<String>,
    unserializable_value: Option<String>,
    value: Option<Value>,
}

#[derive(Deserialize)]
struct Exception {
    exception: Option<Remote>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compiled {
    exception_details: Option<serde::de::IgnoredAny>,
}

/// Refuses what the browser cannot parse as an expression. Nothing runs.
///
/// # Errors
/// `evaluation_failed`; what keeps the page from answering.
pub async fn check(context: &Context, expression: &str) -> Result<(), OpError> {
    let (session, _) = place(context)?;
    let pending = context.pages.client().start_call::<_, Compiled>(
        Some(&session),
        "Runtime.compileScript",
        json!({ "expression": whole(expression), "sourceURL": "", "persistScript": false }),
    );
    let compiled = context.pages.or_halt(&context.target, pending).await;
    if compiled.map_err(|error| context.engine(&error, Phase::Preflight))?.exception_details.is_some() {
        return Err(refused("syntax", "the text after js= is no expression", "js= takes one expression"));
    }
    Ok(())
}

/// Whether it is true now.
pub(super) async fn look(context: &Context, expression: &str) -> Result<Seen, OpError> {
    let (session, world) = place(context)?;
    let mut args = json!({ "expression": whole(expression), "silent": true, "throwOnSideEffect": true });
    if let Some(world) = &world {
        args["uniqueContextId"] = world.as_ref().into();
    }
    context.undo(|undo| undo.evaluating = Some(session.clone()));
    let pending = context.pages.client().start_call::<_, Reply>(Some(&session), "Runtime.evaluate", args);
    let reply = context.pages.or_halt(&context.target, pending).await;
    context.undo(|undo| undo.evaluating = None);
    let reply = match reply {
        Ok(reply) => reply,
        Err(EngineError::Gone) => return Ok(Seen::new(Truth::Undecided, json!({ "navigated": true }))),
        Err(error) => return Err(context.engine(&error, Phase::Verification)),
    };
    if let Some(thrown) = reply.exception_details {
        let thrown = thrown.exception.as_ref();
        if thrown.is_some_and(Remote::is_side_effect) {
            return Err(refused(
                "side_effect",
                "the expression would change something, so it was not run to its end",
                "js= may only do what the browser knows to change nothing (querySelector, not getElementById or matches); \
                 do a change with evaluate, then wait",
            ));
        }
        let class = thrown.and_then(|remote| remote.class_name.as_deref());
        let known = ["TypeError", "ReferenceError", "RangeError", "SyntaxError", "DOMException"];
        let class = known.into_iter().find(|known| Some(*known) == class).unwrap_or("an error");
        return Ok(Seen::new(Truth::Fails, json!({ "threw": class })));
    }
    let result = reply.result;
    if result.subtype.as_deref() == Some("promise") {
        return Err(refused(
            "promise",
            "the expression gives a promise, which is neither true nor false",
            "js= takes what is true or false now; keep the result in a variable of the page and look at that",
        ));
    }
    Ok(Seen::new(result.is_true(), json!({ "type": result.kind, "true": result.is_true() })))
}

/// The line break ends a comment on the last line.
fn whole(expression: &str) -> String {
    format!("(\n{expression}\n)")
}

fn refused(reason: &str, message: &str, remedy: &str) -> OpError {
    OpError::rejected(ErrorKind::EvaluationFailed, Phase::Preflight, message, remedy).reason(reason)
}

impl Remote {
    fn is_side_effect(&self) -> bool {
        let text = self.description.as_deref().unwrap_or_default();
        self.class_name.as_deref() == Some("EvalError") && text.contains("side-effect")
    }

    fn is_true(&self) -> bool {
        match (self.kind.as_str(), &self.value) {
            ("undefined", _) => false,
            ("object", _) => self.subtype.as_deref() != Some("null"),
            ("bigint", _) => self.unserializable_value.as_deref() != Some("0n"),
            (_, Some(Value::Bool(value))) => *value,
            (_, Some(Value::Number(value))) => value.as_f64() != Some(0.0),
            (_, Some(Value::String(value))) => !value.is_empty(),
            ("number", None) => !matches!(self.unserializable_value.as_deref(), Some("NaN" | "-0")),
            _ => true,
        }
    }
}
