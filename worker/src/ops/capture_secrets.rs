//! `captureSecrets`: the caller's code hands texts to `set(name, value)`, and they go to the daemon's vault and nowhere
//! else (contract 10.8).
//!
//! It runs in a world of its own: the page can neither change what it is given nor call `set`, and it cannot reach the
//! page engine. What it writes to the console there, or leaves unhandled, is not told by diagnostics.

use std::sync::Arc;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::CaptureSecrets;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Evidence, SecretsCaptured};
use glass_proto::secret::{LIFETIME, LONGEST, MOST, MOST_BYTES, SecretName};
use glass_proto::wire::worker::Secret;
use serde::Deserialize;
use serde_json::json;

use super::begin;
use super::evaluate::{Exception, Reply, ended, error_class, parsed};
use crate::act::{Before, frame_gone, guard_revision, look, measure};
use crate::cdp::types::page::CreateIsolatedWorld;
use crate::context::{Context, Notice, halted};
use crate::page::{CAPTURE_WORLD, FrameKey, Halt, Target};

/// What the code came to.
#[derive(Deserialize)]
struct Taken {
    /// What was wrong with something that `set` was given.
    fault: Option<String>,
    secrets: Vec<(String, String)>,
}

pub(super) async fn run(context: &Context, params: &CaptureSecrets) -> Result<SecretsCaptured, OpError> {
    begin::page(context)?;
    let (key, session) = place(context)?;
    let source = [source(&params.code)];
    let (looked, source) = tokio::join!(look(context, None, false, 1), parsed(context, &session, source));
    let (looked, source) = (looked?, source?);
    guard_revision(context, context.frame().as_ref(), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let world = world(context, &key, &session).await?;
    context.dispatching().await;
    context.undo(|undo| undo.evaluating = Some(session.clone()));
    let script = context.pages.client().start_call::<_, Reply>(
        Some(&session),
        "Runtime.evaluate",
        json!({
            "expression": source, "contextId": world, "awaitPromise": true, "returnByValue": true, "silent": true,
            "userGesture": false,
        }),
    );
    let reply = ended(context, &session, script).await?.1;
    if let Some(exception) = reply.exception_details {
        return Err(threw(&exception));
    }
    let secrets = read(&reply)?;
    let names = secrets.iter().filter_map(|secret| secret.name.parse().ok()).collect::<Vec<SecretName>>();
    // A receiver that is gone means a cancel, which ends this future at its next await.
    let _ = context.notices.send(Notice::Captured(secrets)).await;
    // What a page shows only once is not lost because the page could not be looked at afterwards.
    let measured = measure(context, &before, None).await;
    let (evidence, revision) = measured.unwrap_or_else(|_| (Evidence::default(), before.revision));
    Ok(SecretsCaptured {
        names,
        expires_in_ms: u64::try_from(LIFETIME.as_millis()).unwrap_or(u64::MAX),
        target_id: context.target.clone(),
        frame_id: (key.label != 0).then(|| format!("f{}", key.label)),
        previous_revision: before.revision,
        revision,
        evidence,
    })
}

/// What the code threw, without any of it.
fn threw(exception: &Exception) -> OpError {
    // Of what a promise was rejected with the browser counts lines from 1, and the code begins on the second.
    let line = exception.line_number.saturating_sub(1).max(1);
    let message = format!("the code threw {} (line {line}); nothing is kept", error_class(exception));
    OpError::failed(ErrorKind::EvaluationFailed, Phase::BrowserEffect, message, "catch it in the code")
        .reason("threw")
}

/// These are the daemon's, and no worker is asked for them.
pub(super) fn of_the_vault() -> OpError {
    OpError::rejected(
        ErrorKind::Unsupported,
        Phase::Preflight,
        "the vault is glassd's, and its worker has none",
        "use the glassd of the same installation",
    )
}

/// The one frame: the one that the call names, else the main one.
fn place(context: &Context) -> Result<(FrameKey, Arc<str>), OpError> {
    let main = || {
        let state = context.pages.state();
        state.target(&context.target).and_then(|target: &Target| target.key(&target.main))
    };
    let key = context.frame().or_else(main).ok_or_else(|| halted(&Halt::Closed))?;
    let session = context.pages.session_of(&key).ok_or_else(|| frame_gone(&key))?;
    Ok((key, session))
}

/// A world for the code in the document that `key` names.
async fn world(context: &Context, key: &FrameKey, session: &str) -> Result<i64, OpError> {
    let made = context.pages.client().start_send(
        Some(session),
        CreateIsolatedWorld {
            frame_id: &key.frame,
            world_name: Some(CAPTURE_WORLD),
            ..CreateIsolatedWorld::default()
        },
    );
    let made = context.pages.or_halt(&context.target, made).await;
    let world = made.map_err(|error| context.engine(&error, Phase::Preflight))?.execution_context_id;
    // Another document may have come in between; the world would be one of it.
    context.pages.session_of(key).map(|_| world).ok_or_else(|| frame_gone(key))
}

/// The code as the body of a function, which begins on the second line. What `set` refused is told as that, whether or
/// not the code caught it.
fn source(code: &str) -> String {
    format!(
        "(async () => {{ const out = new Map(); let fault = null, open = true; \
         const fail = (why) => {{ fault ??= why; throw new TypeError(why); }}; \
         const set = (name, value) => {{ \
         if (!open) throw new TypeError('the capture is over'); \
         if (typeof name !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]{{0,63}}$/.test(name)) fail('name'); \
         if (typeof value !== 'string' || !value.isWellFormed()) fail('value'); \
         if (value.length > {LONGEST}) fail('long'); \
         if (!out.has(name) && out.size >= {MOST}) fail('many'); \
         out.set(name, value); }}; \
         try {{ await (async (set) => {{\n{code}\n}})(set); }} catch (error) {{ if (fault === null) throw error; }} \
         open = false; return {{ fault, secrets: [...out] }}; }})()"
    )
}

/// What `set` was given. Nothing of it stands in an error.
fn read(reply: &Reply) -> Result<Vec<Secret>, OpError> {
    let unreadable = || {
        failed(OpError::failed(
            ErrorKind::EvaluationFailed,
            Phase::Verification,
            "the code ran, and what it gave to set() cannot be read; nothing is kept",
            "give each as set('NAME', text)",
        ))
    };
    let value = reply.result.value.as_deref().ok_or_else(unreadable)?;
    let taken: Taken = serde_json::from_str(value.get()).map_err(|_| unreadable())?;
    match taken.fault.as_deref() {
        None => {}
        Some("name") => {
            return Err(wrong(
                "name",
                "set() was given a name that is none",
                "a name is 1 to 64 of A-Z, a-z, 0-9 and _, and begins with no digit",
            ));
        }
        Some("value") => {
            return Err(wrong("value", "set() was given a value that is no text", "make a string of it"));
        }
        Some("long") => return Err(too_much("bytes a secret", LONGEST)),
        Some("many") => return Err(too_much("secrets", MOST)),
        Some(_) => return Err(unreadable()),
    }
    if taken.secrets.len() > MOST {
        return Err(too_much("secrets", MOST));
    }
    if taken.secrets.iter().map(|(_, value)| value.len()).sum::<usize>() > MOST_BYTES {
        return Err(too_much("bytes of secrets", MOST_BYTES));
    }
    let mut secrets = Vec::with_capacity(taken.secrets.len());
    for (name, value) in taken.secrets {
        let secret = Secret { name, value: value.into_bytes() };
        if secret.name.parse::<SecretName>().is_err() {
            return Err(unreadable());
        }
        if secret.value.len() > LONGEST {
            return Err(too_much("bytes a secret", LONGEST));
        }
        secrets.push(secret);
    }
    Ok(secrets)
}

fn wrong(reason: &str, what: &str, remedy: &str) -> OpError {
    let message = format!("{what}; nothing is kept");
    OpError::failed(ErrorKind::EvaluationFailed, Phase::Verification, message, remedy).reason(reason)
}

fn too_much(quota: &str, limit: usize) -> OpError {
    let message = format!("the code set more than {limit} {quota}; nothing is kept");
    OpError::failed(ErrorKind::QuotaExceeded, Phase::Verification, message, "capture less at a time")
        .detail("quota", quota)
        .detail("limit", limit)
}

/// The code ran, and what it was for did not come about.
fn failed(error: OpError) -> OpError {
    error.ended(Outcome::Failed, Dispatched::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(value: &str) -> Reply {
        serde_json::from_str(&format!(r#"{{"result":{{"type":"object","value":{value}}}}}"#)).unwrap()
    }

    // contract: 10.8, 2.6
    #[test]
    fn what_cannot_be_kept_is_an_error_without_any_of_it() {
        let long = "x".repeat(LONGEST + 1);
        for value in [
            r#"{"fault":"name","secrets":[["A","very-secret"]]}"#,
            r#"{"fault":"very-secret","secrets":[]}"#,
            r#"{"fault":null,"secrets":[["very-secret\u200b","x"]]}"#,
            r#"{"fault":null,"secrets":[["A",{"very-secret":1}]]}"#,
            r#"{"fault":null,"secrets":[["A","\ud800 very-secret"]]}"#,
            r#""very-secret""#,
            &format!(r#"{{"fault":null,"secrets":[["A","{long}"]]}}"#),
        ] {
            let error = read(&reply(value)).unwrap_err();
            assert!(!serde_json::to_string(&error).unwrap().contains("very-secret"), "{error:?}");
            assert_eq!(error.outcome, Outcome::Failed, "{error:?}");
        }
        let secrets = read(&reply(r#"{"fault":null,"secrets":[["A","é\n"]]}"#)).unwrap();
        assert_eq!((secrets[0].name.as_str(), secrets[0].value.as_slice()), ("A", "é\n".as_bytes()));
    }
}
