//! What `navigate`, `back`, `forward` and `reload` share: the state before, the way until the document is shown and has
//! loaded as far as was asked for, and the answer.

use std::time::{Duration, Instant};

use glass_policy::decide::host_denial;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::{cut, visible};
use glass_proto::op::WaitUntil;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Navigated, NavigationSeen};
use url::Url;

use crate::act::{Before, guard_revision, is_broken_off, is_held, loaded_until, look, measure, page_line};
use crate::cdp::types::page;
use crate::context::{Context, dialog_blocked, halted};
use crate::forward::{Failure, FailureKind, hides_failure};
use crate::page::{Changes, EngineError, Halt, State};

/// A navigation as it was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// The operation.
    pub action: &'static str,
    /// Where to.
    pub url: &'a str,
    /// When it counts as loaded.
    pub wait_until: WaitUntil,
    /// Whether an HTTP error is one of the operation.
    pub fail_http: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    /// A new document is shown.
    Document,
    /// The document stayed: its URL changed, or only a frame in it navigated.
    SameDocument,
    /// The page stayed: no content, or a download.
    Kept { status: Option<u16> },
}

/// Refuses what cannot navigate, and takes down the state before.
///
/// # Errors
/// An open dialog, a closed page, a revision that is not the expected one.
pub(super) async fn begin(context: &Context) -> Result<Before, OpError> {
    context.pages.use_target(&context.target);
    let halt = Halt::of(&context.pages.state(), &context.target);
    // A crashed page is left for a new one; a dialog stands in the way.
    match halt {
        Some(Halt::Dialog(dialog)) => return Err(dialog_blocked(&dialog)),
        Some(Halt::Closed) => return Err(halted(&Halt::Closed)),
        Some(Halt::Crashed) | None => {}
    }
    before(context, halt.is_some()).await
}

/// From the commit to the answer.
///
/// # Errors
/// `navigation_failed` where the browser shows its own page for an error; see [`Asked`].
pub(super) async fn arrive(
    context: &Context,
    asked: Asked<'_>,
    before: &Before,
    committed: Committed,
    began: Instant,
) -> Result<Navigated, OpError> {
    match committed {
        Committed::SameDocument => {
            return finish(context, asked, before, true, None, Some(true), began).await;
        }
        Committed::Kept { status } => return kept(context, asked, before, status).await,
        Committed::Document => {}
    }
    let commit_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let loaded = loaded_until(context, asked.wait_until).await?;
    let wanted =
        matches!(asked.wait_until, WaitUntil::DomContentLoaded | WaitUntil::Load | WaitUntil::NetworkIdle);
    if !loaded && wanted && !is_held(context) && !is_broken_off(context) {
        return Err(OpError::failed(
            ErrorKind::VerificationFailed,
            Phase::Verification,
            "the page was reached, and did not come as far as --wait-until asks within the deadline",
            "the page can be used as it is: observe it; or give it longer with --timeout-ms",
        )
        .reason("not_loaded")
        .ended(Outcome::Completed, Dispatched::Yes));
    }
    finish(context, asked, before, loaded, Some(commit_ms), None, began).await
}

async fn before(context: &Context, crashed: bool) -> Result<Before, OpError> {
    if crashed {
        return Ok(Before::of(context, &known(context), None));
    }
    // A page that does not answer can still be left; only a guard needs to know its revision.
    let quick = Duration::from_millis(500).min(context.left());
    let looked = if context.options.expected_revision.is_some() {
        Some(look(context, None, false, 1).await?)
    } else {
        tokio::time::timeout(quick, look(context, None, false, 1)).await.ok().and_then(Result::ok)
    };
    if let Some(looked) = &looked {
        guard_revision(context, None, &looked.changes, None)?;
    }
    match looked {
        Some(looked) => Ok(Before::of(context, &looked.changes, Some(&looked.info))),
        None => Ok(Before::of(context, &known(context), None)),
    }
}

/// What is known of the revision without asking the page.
fn known(context: &Context) -> Changes {
    context.pages.take_reports(&context.target, &[])
}

/// Which document of the main frame is shown.
pub(super) fn generation(state: &State, target: &str) -> u64 {
    state.target(target).and_then(|target| target.main_frame()).map_or(0, |frame| frame.generation)
}

/// The browser shows its own page for an error; the next operation shall find it there.
pub(super) async fn error_page_stands(context: &Context, loader: Option<&str>) {
    let Some(loader) = loader else { return };
    let until = context.soft.min(Instant::now() + Duration::from_millis(500));
    // Where it does not come, the next operation looks again by itself.
    let _ = context
        .pages
        .until(until, |state| {
            let target = state.target(&context.target)?;
            let stands = target.document.loader == loader && target.main_frame()?.lifecycle.dom;
            (stands || target.document.pending.is_none()).then_some(())
        })
        .await;
}

/// The server took the connection and did not answer in time. The tab stays as it was (report 42).
pub(super) async fn no_answer(context: &Context, session: &str, before: u64) -> OpError {
    let stopped = context.pages.client().start_send(Some(session), page::StopLoading {});
    // The reply comes after the stop, and after whatever was committed before it.
    let _ = tokio::time::timeout(Duration::from_millis(500), stopped).await;
    if generation(&context.pages.state(), &context.target) != before {
        return OpError::unknown(
            "timeout",
            "the deadline passed while the page was being replaced",
            "observe the page before doing it again",
        );
    }
    OpError::failed(
        ErrorKind::NavigationFailed,
        Phase::BrowserEffect,
        "the server did not answer within the deadline; the navigation was stopped and the page is as it was",
        "try again later, or give it longer with --timeout-ms",
    )
    .reason("timeout")
}

/// The error that ended a navigation, by the name that the egress proxy would have hidden.
pub(super) fn net_failure(
    context: &Context,
    url: &str,
    loader: Option<&str>,
    error: &str,
    status: Option<u16>,
    began: Instant,
) -> OpError {
    let mut name = error.to_owned();
    if hides_failure(error) {
        // The last place on the way, where a redirect led there, and the one that was asked for.
        let last = context
            .pages
            .state()
            .target(&context.target)
            .and_then(|target| target.document.last_exchange().map(|exchange| exchange.url.clone()));
        let places = [last.as_deref().unwrap_or_default(), url];
        if let Some(failure) = places.into_iter().find_map(|place| refused_at(context, place, began)) {
            if failure.error == FailureKind::Denied {
                return denied(context, failure);
            }
            failure.net_error().clone_into(&mut name);
        }
    }
    if let (Some(loader), Some(target)) = (loader, context.pages.state().targets.get_mut(&context.target)) {
        target.document.note_failure(loader, plain_name(&name));
    }
    navigation_failed(&name, status)
}

/// What the proxy said of a URL's host since the navigation began.
fn refused_at(context: &Context, url: &str, began: Instant) -> Option<Failure> {
    let url = Url::parse(url).ok()?;
    context.pages.forwarder().last_failure(url.host_str()?, url.port_or_known_default()?, began)
}

/// A rule forbids the page, or one that it redirects to (contract 10.3, 10.6).
fn denied(context: &Context, failure: Failure) -> OpError {
    let denial = host_denial(failure.rule.unwrap_or_default(), String::new());
    let message = "the policy does not allow the host of this page, or of one that it redirects to";
    OpError::failed(ErrorKind::Denied, Phase::Policy, message, denial.remedy)
        .reason("host")
        .detail("pageHost", cut(&visible(&failure.host, false), 256))
        .detail("operation", context.facts.name)
        .detail("ruleId", denial.rule)
        .detail("overridePossible", denial.override_possible)
}

/// Only names of Chromium's own list go into a message.
fn plain_name(name: &str) -> &str {
    let plain = name.starts_with("net::")
        && name.len() < 64
        && name.bytes().all(|c| c.is_ascii_uppercase() || b"net:_0123456789".contains(&c));
    if plain { name } else { "net::ERR_FAILED" }
}

fn navigation_failed(name: &str, status: Option<u16>) -> OpError {
    let (what, remedy) = match name {
        "net::ERR_CONNECTION_REFUSED" => {
            ("nothing listens there", "check the host and the port, and that the server runs")
        }
        "net::ERR_NAME_NOT_RESOLVED" => ("the host name is not known", "check the spelling of the host"),
        "net::ERR_CONNECTION_TIMED_OUT" | "net::ERR_TIMED_OUT" => {
            ("the server did not answer", "try again later")
        }
        "net::ERR_TOO_MANY_REDIRECTS" => ("the server redirects in circles", "look at its redirects"),
        "net::ERR_ABORTED" => {
            ("the navigation was aborted", "observe the page; something else may have navigated it")
        }
        "net::ERR_CACHE_MISS" => (
            "the page is the answer to a sent form and was not kept; the form was not sent again",
            "--resubmit sends the form again; navigate loads the URL without it",
        ),
        "net::ERR_EMPTY_RESPONSE" => {
            ("the server closed the connection without an answer", "try again later")
        }
        "net::ERR_SSL_CLIENT_AUTH_CERT_NEEDED" | "net::ERR_BAD_SSL_CLIENT_AUTH_CERT" => (
            "the server wants a client certificate, and a session has none",
            "use another way to log in, if the site has one",
        ),
        "net::ERR_PROXY_CONNECTION_FAILED" => (
            "the upstream proxy did not take the connection",
            "check egress.proxy and egress.credentials in the configuration, and ask whoever runs that proxy",
        ),
        name if name.starts_with("net::ERR_CERT") => (
            "the server's certificate is not valid",
            "check the host; a session that is started with --ignore-certificate-errors takes it all the same",
        ),
        _ => ("the page could not be loaded", "check the URL and the server"),
    };
    let name = plain_name(name);
    let mut error = OpError::failed(
        ErrorKind::NavigationFailed,
        Phase::BrowserEffect,
        format!("{what} ({name})"),
        remedy,
    )
    .reason(name.trim_start_matches("net::").to_lowercase())
    .detail("netError", name);
    if let Some(status) = status.filter(|status| *status != 0) {
        error = error.detail("httpStatus", status);
    }
    error
}

/// The page stayed as it was: 204, or a download.
async fn kept(
    context: &Context,
    asked: Asked<'_>,
    before: &Before,
    status: Option<u16>,
) -> Result<Navigated, OpError> {
    let until = context.soft.min(Instant::now() + Duration::from_millis(200));
    let _ = context
        .pages
        .until(until, |state| state.downloads.iter().any(|d| before.began(context, d)).then_some(()))
        .await;
    let (mut evidence, revision) = measure(context, before, None).await?;
    evidence.navigation = Some(NavigationSeen {
        requested_url: Some(cut(asked.url, 4096).into_owned()),
        status: status.filter(|status| *status != 0),
        ..NavigationSeen::default()
    });
    let page =
        page_line(context, revision).await.map_err(|error| context.engine(&error, Phase::Verification))?;
    let warning = match status {
        Some(204 | 205) => "the server sent no content; the page is as it was",
        _ if !evidence.downloads.is_empty() => "the URL is a download; the page is as it was",
        _ => "no page came of it, and the page is as it was; list-downloads shows whether a download began",
    };
    Ok(Navigated {
        action: asked.action.to_owned(),
        page,
        previous_revision: before.revision,
        loaded: true,
        pending: None,
        warning: Some(warning.to_owned()),
        evidence,
    })
}

async fn finish(
    context: &Context,
    asked: Asked<'_>,
    before: &Before,
    loaded: bool,
    commit_ms: Option<u64>,
    same_document: Option<bool>,
    began: Instant,
) -> Result<Navigated, OpError> {
    let (mut evidence, revision) = measure(context, before, None).await?;
    let (status, redirects, pending, shown, title, failure, cached, loader) = {
        let state = context.pages.state();
        let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
        let failure = target.document.failure_of(&target.document.loader).map(str::to_owned);
        let status = target.document.status.filter(|status| *status != 0);
        (
            status,
            target.document.redirects,
            target.pending(),
            target.url.clone(),
            target.title.clone(),
            failure,
            target.document.exchange(&target.document.loader).is_some_and(|exchange| exchange.cached),
            target.document.loader.clone(),
        )
    };
    if let (None, Some(error), None) = (status, &failure, same_document) {
        return Err(net_failure(context, asked.url, Some(&loader), error, None, began));
    }
    let broken = if same_document.is_none() { failure } else { None };
    if let (true, Some(status)) = (asked.fail_http, status.filter(|status| *status >= 400)) {
        return Err(OpError::failed(
            ErrorKind::NavigationFailed,
            Phase::Verification,
            format!("the server answered with HTTP status {status}"),
            "without --fail-http such a page is a completed navigation",
        )
        .reason("http_status")
        .detail("httpStatus", status)
        .ended(Outcome::Completed, Dispatched::Yes));
    }
    evidence.navigation = Some(NavigationSeen {
        requested_url: Some(cut(asked.url, 4096).into_owned()),
        final_url: Some(cut(&shown, 4096).into_owned()),
        status: if same_document.is_some() { None } else { status },
        redirects: same_document.is_none().then_some(redirects),
        commit_ms,
        same_document,
        from_cache: (cached && same_document.is_none()).then_some(true),
        net_error: broken.clone(),
        ..NavigationSeen::default()
    });
    let page = match page_line(context, revision).await {
        Ok(page) => page,
        // An alert during load: the page cannot be asked until it is answered.
        Err(EngineError::Halted(Halt::Dialog(_))) => {
            crate::act::line(context, revision, &shown, &title, "loading")
        }
        Err(error) => return Err(context.engine(&error, Phase::Verification)),
    };
    let warning = match (status, &broken) {
        (_, Some(error)) => {
            Some(format!("the response broke off before it was whole ({error}); the page shows what came"))
        }
        (Some(401), None) if same_document.is_none() => Some(
            "the server answered with HTTP status 401: it asks who you are; a session that is started with \
             --http-credentials tells it"
                .to_owned(),
        ),
        (Some(status), None) if status >= 400 && same_document.is_none() => {
            Some(format!("the server answered with HTTP status {status}"))
        }
        _ => None,
    };
    Ok(Navigated {
        action: asked.action.to_owned(),
        page,
        previous_revision: before.revision,
        loaded,
        pending: (!loaded).then_some(pending as u64),
        warning,
        evidence,
    })
}
