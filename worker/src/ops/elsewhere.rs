//! What is not done in somebody else's browser (contract 1.2): whatever would stay in it, end it, or need its files.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{AnyOperation, CookieAction, RecoverMethod, StorageAction};

use crate::context::Context;
use crate::page::{ClaimError, is_internal};

/// What is never done there, whatever it is asked for.
pub(super) const NEVER: [&str; 4] = ["download", "retryDownloadCapture", "upload", "clipboard"];

/// Refuses an operation that an attached session does not do, or not on the page that is shown.
///
/// # Errors
/// `unsupported` with the reason `attached`, `denied` with `internal_page`.
pub(crate) fn admit(context: &Context, operation: &AnyOperation) -> Result<(), OpError> {
    if !context.pages.is_elsewhere() {
        return Ok(());
    }
    let why = match operation {
        AnyOperation::Download(_) | AnyOperation::RetryDownloadCapture(_) => {
            "its downloads lie where it stores them itself, and not in this session's spool"
        }
        AnyOperation::Upload(_) => "it could not read the files of this session",
        AnyOperation::Clipboard(_) => "its clipboard is that of its user",
        AnyOperation::Cookies(cookies) if cookies.action != CookieAction::Get => {
            "its cookies are its user's: they can be read, and what is changed would stay"
        }
        AnyOperation::StorageState(state) if state.action != StorageAction::Save => {
            "what sites have stored in it is its user's, and what is changed would stay"
        }
        AnyOperation::Emulate(emulate) if emulate.geolocation.is_some() => {
            "pages would have to be allowed to know the place, which holds for all of the browser"
        }
        AnyOperation::Recover(recover) if recover.method == RecoverMethod::RestartBrowser => {
            "Glass never ends it"
        }
        _ => return internal(context),
    };
    Err(OpError::rejected(
        ErrorKind::Unsupported,
        Phase::Preflight,
        format!("the session is attached to somebody else's browser: {why}"),
        "use a session with a browser of its own",
    )
    .reason("attached"))
}

fn internal(context: &Context) -> Result<(), OpError> {
    let state = context.pages.state();
    let shown = state.target(&context.target).filter(|_| context.facts.targeted);
    match shown.is_some_and(|target| is_internal(&target.url)) {
        true => Err(refusal(&ClaimError::Internal)),
        false => Ok(()),
    }
}

/// Why a page of the browser is not this session's, as the error of an operation.
pub(crate) fn refusal(error: &ClaimError) -> OpError {
    let (kind, phase, reason) = match error {
        ClaimError::NoTarget => (ErrorKind::TargetNotFound, Phase::TargetResolution, "target"),
        ClaimError::Held => (ErrorKind::TargetNotFound, Phase::TargetResolution, "claimed"),
        ClaimError::Internal => (ErrorKind::Denied, Phase::Policy, "internal_page"),
        ClaimError::Full(_) => (ErrorKind::QuotaExceeded, Phase::Policy, "targets"),
        ClaimError::Silent | ClaimError::Cdp(_) => (ErrorKind::Transport, Phase::Transport, "claim"),
    };
    OpError::rejected(kind, phase, error.to_string(), error.remedy()).reason(reason)
}

/// A page that is its user's is not closed (contract 13.9).
pub(super) fn closes(context: &Context, id: &str) -> Result<(), OpError> {
    if !context.pages.is_elsewhere() || context.pages.state().claims.is_made(id) {
        return Ok(());
    }
    Err(OpError::rejected(
        ErrorKind::Denied,
        Phase::Policy,
        "that page is not Glass's own: pages of somebody else's browser are never closed",
        "leave it open; close-target closes what create-target opened",
    )
    .reason("not_ours"))
}
