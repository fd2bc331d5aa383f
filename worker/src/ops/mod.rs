//! The handlers: one a file, under the name of its definition in `glass_proto::op`.

mod after;
mod at_point;
mod batch;
mod begin;
mod capabilities;
mod capture_secrets;
mod check;
mod clear;
mod click;
mod click_expect_popup;
mod clipboard;
mod cookies;
mod diagnostics;
mod dialog;
mod dismiss_consent;
mod double_click;
mod downloads;
mod drag;
mod elsewhere;
mod emulate;
mod evaluate;
mod events;
mod export_page;
mod fill;
mod fill_form;
mod find;
mod frames;
mod get_dom;
mod get_text;
mod health;
mod history;
mod hold_key;
mod hover;
mod inspect;
mod key;
mod load;
mod navigate;
mod network_body;
mod observe;
mod preflight;
mod reconcile_references;
mod route;
mod screenshot;
mod scroll;
mod select;
mod select_text;
mod storage_state;
mod submit;
mod tap;
mod targets;
mod travel;
mod type_text;
mod upload;
mod verify;
mod wait;
mod write;

use glass_proto::error::OpError;
use glass_proto::op::AnyOperation;
use serde::Serialize;

use crate::context::Context;

pub(crate) use after::{Mark, after};
pub(crate) use elsewhere::{admit, refusal};
pub(crate) use evaluate::{end_script, place};

/// Runs an operation. A match, so that an operation without a handler does not compile.
///
/// # Errors
/// The handler's.
pub async fn run(context: &Context, operation: &AnyOperation) -> Result<Vec<u8>, OpError> {
    match operation {
        AnyOperation::Navigate(params) => encode(navigate::run(context, params).await?),
        AnyOperation::Back(params) => encode(history::back(context, params).await?),
        AnyOperation::Forward(params) => encode(history::forward(context, params).await?),
        AnyOperation::Reload(params) => encode(history::reload(context, params).await?),
        AnyOperation::Observe(params) => encode(observe::run(context, params).await?),
        AnyOperation::ObserveDelta(params) => encode(observe::delta(context, params).await?),
        AnyOperation::ReconcileReferences(params) => {
            encode(reconcile_references::run(context, params).await?)
        }
        AnyOperation::GetText(params) => encode(get_text::run(context, params).await?),
        AnyOperation::GetDom(params) => encode(get_dom::run(context, params).await?),
        AnyOperation::Find(params) => encode(find::run(context, params).await?),
        AnyOperation::Preflight(params) => encode(preflight::run(context, params).await?),
        AnyOperation::Inspect(params) => encode(inspect::run(context, params).await?),
        AnyOperation::Click(params) => encode(click::run(context, params).await?),
        AnyOperation::ClickExpectPopup(params) => encode(click_expect_popup::run(context, params).await?),
        AnyOperation::DoubleClick(params) => encode(double_click::run(context, params).await?),
        AnyOperation::Hover(params) => encode(hover::run(context, params).await?),
        AnyOperation::Drag(params) => encode(drag::run(context, params).await?),
        AnyOperation::ClickAt(params) => encode(at_point::click(context, params).await?),
        AnyOperation::MoveMouse(params) => encode(at_point::move_mouse(context, params).await?),
        AnyOperation::Tap(params) => encode(tap::run(context, params).await?),
        AnyOperation::Scroll(params) => encode(scroll::run(context, params).await?),
        AnyOperation::Fill(params) => encode(fill::run(context, params).await?),
        AnyOperation::Type(params) => encode(type_text::run(context, params).await?),
        AnyOperation::Clear(params) => encode(clear::run(context, params).await?),
        AnyOperation::Check(params) => encode(check::check(context, params).await?),
        AnyOperation::Uncheck(params) => encode(check::uncheck(context, params).await?),
        AnyOperation::Select(params) => encode(select::run(context, params).await?),
        AnyOperation::FillForm(params) => encode(fill_form::run(context, params).await?),
        AnyOperation::SelectText(params) => encode(select_text::run(context, params).await?),
        AnyOperation::Submit(params) => encode(submit::run(context, params).await?),
        AnyOperation::KeyDown(params) => encode(hold_key::down(context, params).await?),
        AnyOperation::KeyUp(params) => encode(hold_key::up(context, params).await?),
        AnyOperation::Shortcut(params) => encode(hold_key::shortcut(context, params).await?),
        AnyOperation::Key(params) => encode(key::run(context, params).await?),
        AnyOperation::Evaluate(params) => encode(evaluate::run(context, params).await?),
        AnyOperation::Screenshot(params) => encode(screenshot::run(context, params).await?),
        AnyOperation::ExportPage(params) => encode(export_page::run(context, params).await?),
        AnyOperation::SetViewport(params) => encode(emulate::viewport(context, params).await?),
        AnyOperation::Emulate(params) => encode(emulate::emulate(context, params).await?),
        AnyOperation::Wait(params) => encode(wait::run(context, params).await?),
        AnyOperation::Verify(params) => encode(verify::run(context, params).await?),
        AnyOperation::Batch(params) => encode(batch::run(context, params).await?),
        AnyOperation::AcceptDialog(params) => encode(dialog::accept(context, params).await?),
        AnyOperation::DismissDialog(params) => encode(dialog::dismiss(context, params).await?),
        AnyOperation::DismissConsent(params) => encode(dismiss_consent::run(context, params).await?),
        AnyOperation::ListTargets(_) => encode(targets::list(context).await),
        AnyOperation::CreateTarget(params) => encode(targets::create(context, params).await?),
        AnyOperation::SelectTarget(params) => encode(targets::select(context, params)?),
        AnyOperation::CloseTarget(params) => encode(targets::close(context, params).await?),
        AnyOperation::ListFrames(_) => encode(frames::list(context)?),
        AnyOperation::SelectFrame(params) => encode(frames::select(context, params)?),
        AnyOperation::NetworkBody(params) => encode(network_body::run(context, params).await?),
        AnyOperation::Route(params) => encode(route::add(context, params).await?),
        AnyOperation::ListRoutes(_) => encode(route::list(context)),
        AnyOperation::RemoveRoute(params) => encode(route::remove(context, params).await?),
        AnyOperation::Capabilities(_) => encode(capabilities::run(context)?),
        AnyOperation::Health(_) => encode(health::health(context).await?),
        AnyOperation::Recover(params) => encode(health::recover(context, params).await?),
        AnyOperation::Events(params) => encode(events::run(context, params).await?),
        AnyOperation::Diagnostics(params) => encode(diagnostics::run(context, params).await?),
        AnyOperation::ListDownloads(_) => encode(downloads::list(context)),
        AnyOperation::Download(params) => encode(downloads::download(context, params).await?),
        AnyOperation::CancelDownload(params) => encode(downloads::cancel(context, params).await?),
        AnyOperation::Upload(params) => encode(upload::run(context, params).await?),
        AnyOperation::Cookies(params) => encode(cookies::run(context, params).await?),
        AnyOperation::Clipboard(params) => encode(clipboard::run(context, params).await?),
        AnyOperation::StorageState(params) => encode(storage_state::run(context, params).await?),
        AnyOperation::CaptureSecrets(params) => encode(capture_secrets::run(context, params).await?),
        AnyOperation::ListSecrets(_) | AnyOperation::DeleteSecrets(_) => Err(capture_secrets::of_the_vault()),
        AnyOperation::RetryDownloadCapture(params) => encode(downloads::retry(context, params).await?),
    }
}

/// A result as JSON.
///
/// # Errors
/// See [`unwritable`].
pub(crate) fn encode(output: impl Serialize) -> Result<Vec<u8>, OpError> {
    serde_json::to_vec(&output).map_err(|error| unwritable(&error))
}

/// A result that is no JSON: a fault of ours.
pub(crate) fn unwritable(error: &serde_json::Error) -> OpError {
    tracing::error!(%error, "a result that is no JSON");
    OpError::rejected(
        glass_proto::ErrorKind::Transport,
        glass_proto::Phase::Transport,
        "the result cannot be written as JSON",
        "report this with the operation's name",
    )
}
