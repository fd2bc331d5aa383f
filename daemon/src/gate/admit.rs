//! What is refused before a session hears of it: calls that are wrong in themselves, and what policy forbids.

use std::sync::Arc;

use glass_policy::navigation;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{AnyOperation, CallOptions, DecodeError, InvalidParams, OPERATIONS, Step};
use glass_proto::session::SessionOptions;

/// A call that may go on.
#[derive(Debug)]
pub(super) struct Checked {
    /// The operation.
    pub operation: AnyOperation,
    /// Its options.
    pub options: CallOptions,
    /// What its client wants of the session itself. What policy has to allow: [`SessionOptions::capabilities`].
    pub session: Arc<SessionOptions>,
}

/// Reads and checks a call.
///
/// # Errors
/// What is wrong with it, or which rule forbids it.
pub(super) fn check(
    operation: &str,
    params: &[u8],
    options: &[u8],
    session: &[u8],
) -> Result<Checked, Box<OpError>> {
    let session = SessionOptions::decode(session).map_err(|error| {
        OpError::invalid(error.to_string(), "see the options of the client's command line")
    })?;
    let mut decoded = AnyOperation::decode(operation, params).map_err(|error| undecodable(&error))?;
    let options = CallOptions::decode(options).map_err(|error| undecodable(&error))?;
    decoded.check_options(&options).map_err(|error| OpError::invalid(error.to_string(), "leave it out"))?;
    if options.idempotency_key.is_some() {
        return Err(OpError::rejected(
            ErrorKind::Unsupported,
            Phase::Preflight,
            "this build keeps no receipts, so it takes no idempotency key",
            "call without the key; after an unknown outcome, look at the page first",
        )
        .into());
    }
    if let AnyOperation::Batch(batch) = &mut decoded {
        for (number, step) in (1..).zip(&mut batch.steps) {
            admit_step(step).map_err(|error| of_step(number, *error))?;
        }
    }
    let url = match &mut decoded {
        AnyOperation::Navigate(navigate) => Some(&mut navigate.url),
        AnyOperation::CreateTarget(create) => create.url.as_mut(),
        _ => None,
    };
    if let Some(url) = url {
        let name = operation;
        *url = admissible(url).map_err(|error| error.detail("operation", name))?;
    }
    Ok(Checked { operation: decoded, options, session: session.into() })
}

/// The refusal of a batch for one of its steps.
pub(super) fn of_step(number: u32, mut error: OpError) -> Box<OpError> {
    let message = format!("step {number}: {}; no step was run", error.message);
    error.message = glass_proto::escape::cut(&message, glass_proto::error::MAX_TEXT).into_owned();
    error.detail("step", number).into()
}

/// Each step of a batch passes the same door as an operation by itself, all of them before the first is run.
fn admit_step(step: &mut Step) -> Result<(), Box<OpError>> {
    let unwritable = |_| OpError::invalid("the step cannot be passed on", "report this as a bug");
    let wrong = |error: InvalidParams| OpError::invalid(error.to_string(), "see the operation's help");
    let (operation, options) = step.decode().map_err(wrong)?;
    let params = operation.encode().map_err(unwritable)?;
    let checked = check(operation.name(), &params, &options.encode().map_err(unwritable)?, b"")?;
    *step = Step::of(&checked.operation, &checked.options).map_err(unwritable)?;
    Ok(())
}

/// The URL that is gone to, completed by the rules of contract 12.3.
fn admissible(text: &str) -> Result<String, Box<OpError>> {
    let url = navigation::normalise(text).map_err(|error| {
        OpError::invalid(error.to_string(), "give a whole URL, like https://example.com/path")
    })?;
    match navigation::admit(&url) {
        Ok(()) => Ok(url.into()),
        Err(refusal) => {
            let error = OpError::rejected(ErrorKind::Denied, Phase::Policy, &refusal.reason, refusal.remedy);
            let error = error.reason("scheme").detail("scheme", refusal.scheme);
            Err(error.detail("ruleId", "schemes").detail("overridePossible", false).into())
        }
    }
}

fn undecodable(error: &DecodeError) -> Box<OpError> {
    let remedy = match error {
        DecodeError::Unknown => {
            let names: Vec<_> = OPERATIONS.iter().map(|facts| facts.name).collect();
            format!("use one of {}", names.join(", "))
        }
        _ => "see the operation's help for its parameters".to_owned(),
    };
    OpError::invalid(error.to_string(), remedy).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(operation: &str, params: &str, options: &str) -> ErrorKind {
        check(operation, params.as_bytes(), options.as_bytes(), b"").unwrap_err().kind
    }

    #[test]
    fn a_url_is_completed_before_it_is_judged() {
        let checked = check("navigate", br#"{"url":"localhost:8080/x"}"#, b"", b"").unwrap();
        assert!(matches!(checked.operation, AnyOperation::Navigate(n) if n.url == "http://localhost:8080/x"));
    }

    #[test]
    fn options_that_would_do_nothing_are_refused() {
        let guard = br#"{"expectedRevision":3}"#;
        let error = check("observe", b"{}", guard, b"").unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidArgument);
        assert_eq!(
            (&*error.message, &*error.remedy),
            ("this operation takes no expectedRevision", "leave it out")
        );
        assert!(check("click", br#"{"target":"e1"}"#, guard, b"").is_ok());
        let target = br#"{"targetId":"T"}"#;
        assert_eq!(check("listTargets", b"{}", target, b"").unwrap_err().kind, ErrorKind::InvalidArgument);
        assert!(check("observe", b"{}", target, b"").is_ok());
        let frame = br#"{"frame":"f2"}"#;
        assert_eq!(
            check("navigate", br#"{"url":"about:blank"}"#, frame, b"").unwrap_err().kind,
            ErrorKind::InvalidArgument
        );
        assert!(check("observe", b"{}", frame, b"").is_ok());
    }

    // contract: 6
    #[test]
    fn every_step_of_a_batch_is_judged_before_the_first() {
        let batch = |steps: &str| check("batch", format!(r#"{{"steps":{steps}}}"#).as_bytes(), b"", b"");
        let admitted =
            batch(r#"[{"operation":"navigate","url":"localhost:1/x"},{"operation":"back"}]"#).unwrap();
        let AnyOperation::Batch(admitted) = admitted.operation else { panic!("another operation") };
        assert_eq!(admitted.steps[0].arguments["url"], "http://localhost:1/x");
        let error =
            batch(r#"[{"operation":"back"},{"operation":"navigate","url":"file:///etc"}]"#).unwrap_err();
        assert_eq!((error.kind, &error.details["step"]), (ErrorKind::Denied, &2.into()));
        let error = batch(r#"[{"operation":"back","idempotencyKey":"k"}]"#).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
    }

    #[test]
    fn forbidden_schemes_and_wrong_calls_are_told_apart() {
        assert_eq!(refused("navigate", r#"{"url":"file:///etc/passwd"}"#, ""), ErrorKind::Denied);
        let error = check("navigate", br#"{"url":"file:///etc/passwd"}"#, b"", b"").unwrap_err();
        let told: [(&str, serde_json::Value); 3] = [
            ("operation", "navigate".into()),
            ("ruleId", "schemes".into()),
            ("overridePossible", false.into()),
        ];
        for (key, value) in told {
            assert_eq!(error.details[key], value, "contract 10.6");
        }
        assert_eq!(refused("createTarget", r#"{"url":"file:///etc/passwd"}"#, ""), ErrorKind::Denied);
        assert_eq!(refused("navigate", r#"{"url":"java\nscript:alert(1)"}"#, ""), ErrorKind::Denied);
        assert_eq!(refused("navigate", r#"{"url":""}"#, ""), ErrorKind::InvalidArgument);
        assert_eq!(refused("fly", "{}", ""), ErrorKind::InvalidArgument);
        assert_eq!(refused("observe", "{}", r#"{"timeoutMs":0}"#), ErrorKind::InvalidArgument);
        assert_eq!(refused("observe", "{}", r#"{"idempotencyKey":"k"}"#), ErrorKind::Unsupported);
    }
}
