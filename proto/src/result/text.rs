//! Answers as text: one or two lines a mutation, the outline as it is, an error with what to do next.
//!
//! Everything that comes from a page is escaped here (contract 12.3); the outline was escaped when it was made.

use std::fmt::Write as _;

use super::{
    Acted, After, Batched, Cookie, CookiesAnswered, Delta, Diagnostics, DialogAnswered, DialogSeen, DomRead,
    DownloadEnded, DownloadState, Downloaded, Downloads, Emulated, Evaluated, Events, Evidence, Exported,
    FormFilled, Found, Frames, Inspected, LeftOut, Navigated, NavigationSeen, Observation, PageLine, Pane,
    Preflighted, Reconciled, ReferenceStatus, Shot, StorageMoved, TargetClosed, TargetMade, TargetSelected,
    Targets, TextRead, Uploaded, Verified, ViewportSet, Waited, size,
};
use super::{
    Capabilities, ClipboardAnswered, Health, NetworkBody, Recovered, RouteMade, RouteRemoved, Routes,
    SecretsCaptured, SecretsDeleted, SecretsListed,
};
use crate::error::OpError;
use crate::escape::{quoted, visible};
use crate::op::{AnyOperation, Operation};

/// The answer of any operation, read from its JSON.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Actions on the page.
    Acted(Acted),
    /// A mutation, with what its page shows afterwards.
    Seen(Box<Self>, Box<After>),
    /// `fillForm`.
    Form(FormFilled),
    /// `navigate`, `back`, `forward`, `reload`.
    Navigated(Navigated),
    /// `observe`.
    Observation(Box<Observation>),
    /// `observeDelta`.
    Delta(Box<Delta>),
    /// `reconcileReferences`.
    Reconciled(Reconciled),
    /// `getText`.
    Text(TextRead),
    /// `getDOM`.
    Dom(DomRead),
    /// `find`.
    Found(Found),
    /// `preflight`.
    Preflighted(Preflighted),
    /// `inspect`.
    Inspected(Box<Inspected>),
    /// `evaluate`.
    Evaluated(Evaluated),
    /// `screenshot`.
    Shot(Shot),
    /// `exportPage`.
    Exported(Box<Exported>),
    /// `setViewport`.
    Viewport(ViewportSet),
    /// `emulate`.
    Emulated(Box<Emulated>),
    /// `wait`.
    Waited(Waited),
    /// `batch`, with the answers of its steps.
    Batched(Box<Batched>, Vec<Option<Self>>),
    /// `verify`.
    Verified(Verified),
    /// `acceptDialog`, `dismissDialog`.
    Dialog(DialogAnswered),
    /// `listTargets`.
    Targets(Targets),
    /// `createTarget`.
    Made(TargetMade),
    /// `selectTarget`, `selectFrame`.
    Selected(TargetSelected),
    /// `closeTarget`.
    Closed(TargetClosed),
    /// `listFrames`.
    Frames(Frames),
    /// `route`.
    RouteMade(RouteMade),
    /// `listRoutes`.
    Routes(Routes),
    /// `removeRoute`.
    RouteRemoved(RouteRemoved),
    /// `capabilities`.
    Capabilities(Capabilities),
    /// `health`.
    Health(Health),
    /// `recover`.
    Recovered(Recovered),
    /// `networkBody`.
    Body(NetworkBody),
    /// `events`.
    Events(Events),
    /// `diagnostics`.
    Diagnostics(Diagnostics),
    /// `listDownloads`.
    Downloads(Downloads),
    /// `download`, `retryDownloadCapture`.
    Downloaded(Downloaded),
    /// `cancelDownload`.
    DownloadEnded(DownloadEnded),
    /// `upload`.
    Uploaded(Box<Uploaded>),
    /// `cookies`.
    Cookies(CookiesAnswered),
    /// `clipboard`.
    Clipboard(ClipboardAnswered),
    /// `storageState`.
    Storage(Box<StorageMoved>),
    /// `captureSecrets`.
    SecretsCaptured(Box<SecretsCaptured>),
    /// `listSecrets`.
    Secrets(SecretsListed),
    /// `deleteSecrets`.
    SecretsDeleted(SecretsDeleted),
}

fn read<O: Operation>(json: &[u8]) -> serde_json::Result<O::Output> {
    serde_json::from_slice(json)
}

impl Answer {
    /// Reads the answer of `operation`.
    pub fn decode(operation: &AnyOperation, json: &[u8]) -> serde_json::Result<Self> {
        use crate::op;
        let answer = match operation {
            AnyOperation::Navigate(_) => Self::Navigated(read::<op::Navigate>(json)?),
            AnyOperation::Back(_) => Self::Navigated(read::<op::Back>(json)?),
            AnyOperation::Forward(_) => Self::Navigated(read::<op::Forward>(json)?),
            AnyOperation::Reload(_) => Self::Navigated(read::<op::Reload>(json)?),
            AnyOperation::Observe(_) => Self::Observation(Box::new(read::<op::Observe>(json)?)),
            AnyOperation::ObserveDelta(_) => Self::Delta(Box::new(read::<op::ObserveDelta>(json)?)),
            AnyOperation::ReconcileReferences(_) => Self::Reconciled(read::<op::ReconcileReferences>(json)?),
            AnyOperation::GetText(_) => Self::Text(read::<op::GetText>(json)?),
            AnyOperation::GetDom(_) => Self::Dom(read::<op::GetDom>(json)?),
            AnyOperation::Find(_) => Self::Found(read::<op::Find>(json)?),
            AnyOperation::Preflight(_) => Self::Preflighted(read::<op::Preflight>(json)?),
            AnyOperation::Inspect(_) => Self::Inspected(Box::new(read::<op::Inspect>(json)?)),
            AnyOperation::Click(_) => Self::Acted(read::<op::Click>(json)?),
            AnyOperation::ClickExpectPopup(_) => Self::Acted(read::<op::ClickExpectPopup>(json)?),
            AnyOperation::DoubleClick(_) => Self::Acted(read::<op::DoubleClick>(json)?),
            AnyOperation::Hover(_) => Self::Acted(read::<op::Hover>(json)?),
            AnyOperation::Drag(_) => Self::Acted(read::<op::Drag>(json)?),
            AnyOperation::ClickAt(_) => Self::Acted(read::<op::ClickAt>(json)?),
            AnyOperation::MoveMouse(_) => Self::Acted(read::<op::MoveMouse>(json)?),
            AnyOperation::Tap(_) => Self::Acted(read::<op::Tap>(json)?),
            AnyOperation::SelectText(_) => Self::Acted(read::<op::SelectText>(json)?),
            AnyOperation::Submit(_) => Self::Acted(read::<op::Submit>(json)?),
            AnyOperation::KeyDown(_) => Self::Acted(read::<op::KeyDown>(json)?),
            AnyOperation::KeyUp(_) => Self::Acted(read::<op::KeyUp>(json)?),
            AnyOperation::Shortcut(_) => Self::Acted(read::<op::Shortcut>(json)?),
            AnyOperation::FillForm(_) => Self::Form(read::<op::FillForm>(json)?),
            AnyOperation::Scroll(_) => Self::Acted(read::<op::Scroll>(json)?),
            AnyOperation::Fill(_) => Self::Acted(read::<op::Fill>(json)?),
            AnyOperation::Type(_) => Self::Acted(read::<op::Type>(json)?),
            AnyOperation::Clear(_) => Self::Acted(read::<op::Clear>(json)?),
            AnyOperation::Check(_) => Self::Acted(read::<op::Check>(json)?),
            AnyOperation::Uncheck(_) => Self::Acted(read::<op::Uncheck>(json)?),
            AnyOperation::Select(_) => Self::Acted(read::<op::Select>(json)?),
            AnyOperation::Key(_) => Self::Acted(read::<op::Key>(json)?),
            AnyOperation::Evaluate(_) => Self::Evaluated(read::<op::Evaluate>(json)?),
            AnyOperation::Screenshot(_) => Self::Shot(read::<op::Screenshot>(json)?),
            AnyOperation::ExportPage(_) => Self::Exported(Box::new(read::<op::ExportPage>(json)?)),
            AnyOperation::SetViewport(_) => Self::Viewport(read::<op::SetViewport>(json)?),
            AnyOperation::Emulate(_) => Self::Emulated(Box::new(read::<op::Emulate>(json)?)),
            AnyOperation::Wait(_) => Self::Waited(read::<op::Wait>(json)?),
            AnyOperation::Verify(_) => Self::Verified(read::<op::Verify>(json)?),
            AnyOperation::DismissConsent(_) => Self::Acted(read::<op::DismissConsent>(json)?),
            AnyOperation::Batch(batch) => {
                let batched = read::<op::Batch>(json)?;
                let answers = batched.steps.iter().zip(&batch.steps).map(|(done, step)| {
                    let Some(result) = &done.result else { return Ok(None) };
                    let (operation, _) = step.decode().map_err(serde::de::Error::custom)?;
                    Self::decode(&operation, result.to_string().as_bytes()).map(Some)
                });
                let answers = answers.collect::<serde_json::Result<_>>()?;
                Self::Batched(Box::new(batched), answers)
            }
            AnyOperation::AcceptDialog(_) => Self::Dialog(read::<op::AcceptDialog>(json)?),
            AnyOperation::DismissDialog(_) => Self::Dialog(read::<op::DismissDialog>(json)?),
            AnyOperation::ListTargets(_) => Self::Targets(read::<op::ListTargets>(json)?),
            AnyOperation::CreateTarget(_) => Self::Made(read::<op::CreateTarget>(json)?),
            AnyOperation::SelectTarget(_) => Self::Selected(read::<op::SelectTarget>(json)?),
            AnyOperation::CloseTarget(_) => Self::Closed(read::<op::CloseTarget>(json)?),
            AnyOperation::ListFrames(_) => Self::Frames(read::<op::ListFrames>(json)?),
            AnyOperation::SelectFrame(_) => Self::Selected(read::<op::SelectFrame>(json)?),
            AnyOperation::Route(_) => Self::RouteMade(read::<op::Route>(json)?),
            AnyOperation::ListRoutes(_) => Self::Routes(read::<op::ListRoutes>(json)?),
            AnyOperation::RemoveRoute(_) => Self::RouteRemoved(read::<op::RemoveRoute>(json)?),
            AnyOperation::Capabilities(_) => Self::Capabilities(read::<op::Capabilities>(json)?),
            AnyOperation::Health(_) => Self::Health(read::<op::Health>(json)?),
            AnyOperation::Recover(_) => Self::Recovered(read::<op::Recover>(json)?),
            AnyOperation::NetworkBody(_) => Self::Body(read::<op::NetworkBody>(json)?),
            AnyOperation::Events(_) => Self::Events(read::<op::Events>(json)?),
            AnyOperation::Diagnostics(_) => Self::Diagnostics(read::<op::Diagnostics>(json)?),
            AnyOperation::ListDownloads(_) => Self::Downloads(read::<op::ListDownloads>(json)?),
            AnyOperation::Download(_) => Self::Downloaded(read::<op::Download>(json)?),
            AnyOperation::CancelDownload(_) => Self::DownloadEnded(read::<op::CancelDownload>(json)?),
            AnyOperation::Upload(_) => Self::Uploaded(Box::new(read::<op::Upload>(json)?)),
            AnyOperation::Cookies(_) => Self::Cookies(read::<op::Cookies>(json)?),
            AnyOperation::Clipboard(_) => Self::Clipboard(read::<op::Clipboard>(json)?),
            AnyOperation::StorageState(_) => Self::Storage(Box::new(read::<op::StorageState>(json)?)),
            AnyOperation::CaptureSecrets(_) => {
                Self::SecretsCaptured(Box::new(read::<op::CaptureSecrets>(json)?))
            }
            AnyOperation::ListSecrets(_) => Self::Secrets(read::<op::ListSecrets>(json)?),
            AnyOperation::DeleteSecrets(_) => Self::SecretsDeleted(read::<op::DeleteSecrets>(json)?),
            AnyOperation::RetryDownloadCapture(_) => {
                Self::Downloaded(read::<op::RetryDownloadCapture>(json)?)
            }
        };
        if !operation.facts().leaves_page() {
            return Ok(answer);
        }
        let after: After = serde_json::from_slice(json)?;
        let seen = after.observation.is_some() || after.unobserved.is_some() || after.expected.is_some();
        Ok(if seen { Self::Seen(Box::new(answer), Box::new(after)) } else { answer })
    }

    /// The answer for a person or a model. Ends without a line break.
    ///
    /// What cannot be seen is escaped, whichever field of whichever answer it came in.
    pub fn text(&self) -> String {
        visible(&self.words(), true).into_owned()
    }

    /// The same in two parts: what the operation itself answers, and what the options of its call add to that.
    pub fn parts(&self) -> (String, String) {
        match self {
            Self::Seen(answer, after) => {
                let added = added_text(answer, after);
                (answer.text(), visible(&added, true).into_owned())
            }
            other => (other.text(), String::new()),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Acted(acted) => acted_text(acted),
            Self::Seen(answer, after) => answer.words() + &added_text(answer, after),
            Self::Form(form) => form_text(form),
            Self::Navigated(navigated) => navigated_text(navigated),
            Self::Observation(observation) => observation_text(observation),
            Self::Delta(delta) => delta.outline.clone(),
            Self::Reconciled(reconciled) => reconciled_text(reconciled),
            Self::Text(text) => text_read(text),
            Self::Dom(dom) => dom_text(&dom.dom, &dom.incomplete),
            Self::Found(found) => found_text(found),
            Self::Preflighted(preflighted) => preflighted_text(preflighted),
            Self::Inspected(inspected) => inspected_text(inspected),
            Self::Evaluated(evaluated) => evaluated_text(evaluated),
            Self::Exported(exported) => exported_text(exported),
            Self::Viewport(set) => format!(
                "viewport {} × {} · {} device pixels a CSS pixel · r{} → r{}",
                set.width, set.height, set.device_scale_factor, set.previous_revision, set.revision
            ),
            Self::Emulated(emulated) => match emulated.words() {
                words if words.is_empty() => "nothing is emulated".to_owned(),
                words => format!("emulated: {}", visible(&words.join(" · "), false)),
            },
            Self::Shot(shot) => shot_text(shot),
            Self::Waited(waited) => {
                format!("{} after {} ms · {}", waited.condition, waited.waited_ms, page_line(&waited.page))
            }
            Self::Batched(batched, answers) => batched_text(batched, answers),
            Self::Verified(verified) => {
                let parts = verified.parts.len();
                let parts = if parts > 1 { format!(" · {parts} parts") } else { String::new() };
                format!("holds after {} ms{parts} · {}", verified.waited_ms, page_line(&verified.page))
            }
            Self::Dialog(answered) => {
                let dialog = &answered.dialog;
                let closed = if answered.closed { "" } else { " · the browser has not said that it closed" };
                let navigated = matched_text(answered.navigation.as_ref());
                let message = quoted(&dialog.page_message);
                format!("{} {} {message}{closed}{navigated}", past(&answered.action), dialog.kind)
            }
            Self::Targets(targets) => targets_text(targets),
            Self::Made(made) => made_text(made),
            Self::Selected(selected) => selected_text(selected),
            Self::Closed(closed) => closed_text(closed),
            Self::Frames(frames) => frames_text(frames),
            Self::RouteMade(made) => super::routes::made_text(made),
            Self::Routes(routes) => super::routes::list_text(routes),
            Self::RouteRemoved(removed) => super::routes::removed_text(removed),
            Self::Capabilities(told) => super::capabilities::text(told),
            Self::Health(health) => super::health::text(health),
            Self::Recovered(recovered) => super::health::recovered_text(recovered),
            Self::Body(body) => super::network::text(body),
            Self::Events(told) => super::events::text(told),
            Self::Diagnostics(told) => super::diagnostics::text(told),
            Self::Downloads(downloads) => downloads_text(downloads),
            Self::Downloaded(downloaded) => downloaded_text(downloaded),
            Self::Uploaded(uploaded) => uploaded_text(uploaded),
            Self::Cookies(cookies) => cookies_text(cookies),
            Self::Storage(moved) => storage_text(moved),
            Self::SecretsCaptured(captured) => captured_text(captured),
            Self::Secrets(listed) => secrets_text(listed),
            Self::SecretsDeleted(gone) => deleted_text(gone),
            Self::Clipboard(answered) => clipboard_text(answered),
            Self::DownloadEnded(ended) => {
                format!("download {} is {}", ended.download_id, download_state(ended.state))
            }
        }
    }
}

fn past(action: &str) -> &str {
    match action {
        "click" | "clickExpectPopup" => "clicked",
        "doubleClick" => "double-clicked",
        "hover" => "hovered over",
        "scroll" => "scrolled",
        "drag" => "dragged",
        "clickAt" => "clicked at a point of",
        "moveMouse" => "moved the pointer over",
        "tap" => "tapped",
        "selectText" => "selected text in",
        "submit" => "submitted",
        "keyDown" => "holds keys down in",
        "keyUp" => "let go of a key in",
        "shortcut" => "pressed a shortcut in",
        "fillForm" => "filled fields of",
        "fill" => "filled",
        "type" => "typed into",
        "clear" => "cleared",
        "check" => "checked",
        "uncheck" => "unchecked",
        "select" => "selected in",
        "key" => "pressed keys in",
        "acceptDialog" => "accepted",
        "dismissDialog" => "dismissed",
        "dismissConsent" => "answered the consent dialog of",
        other => other,
    }
}

fn page_line(page: &PageLine) -> String {
    let status = page.http_status.map_or(String::new(), |status| format!(" {status}"));
    let error = page.net_error.as_ref().map_or(String::new(), |error| format!(" {}", visible(error, false)));
    let frame = page.frame_id.as_ref().map_or(String::new(), |frame| format!(" frame {frame}"));
    format!(
        "r{}{frame} {} {}{status}{error} {}",
        page.revision,
        quoted(&page.title),
        visible(&page.url, false),
        page.ready_state
    )
}

fn dialog_text(dialog: &DialogSeen) -> String {
    let of = dialog.target_id.as_ref().map_or(String::new(), |target| format!(" of target {target}"));
    format!("{} {} open [{}]{of}", dialog.kind, quoted(&dialog.page_message), dialog.dialog_id)
}

fn evidence_text(out: &mut String, evidence: &Evidence) {
    if let Some(url) = &evidence.page_url {
        let _ = write!(out, " · url now {}", visible(url, false));
    }
    if evidence.document_changed == Some(true) && evidence.page_url.is_none() {
        out.push_str(" · new document");
    }
    if let Some(status) = evidence.navigation.as_ref().and_then(|n| n.status) {
        let _ = write!(out, " · HTTP {status}");
    }
    if let Some(error) = evidence.navigation.as_ref().and_then(|n| n.net_error.as_ref()) {
        let _ = write!(out, " · navigation failed: {}", visible(error, false));
    }
    out.push_str(matched_text(evidence.navigation.as_ref()));
    if let Some(dialog) = &evidence.dialog {
        let _ = write!(out, " · {}", dialog_text(dialog));
    }
    for popup in &evidence.popups {
        let _ = write!(out, " · opened target {}", popup.target_id);
        if popup.closed {
            out.push_str(", closed again");
        }
        if popup.reason.is_some() {
            out.push_str(" (the session has as many targets as it may)");
        }
    }
    for chooser in &evidence.choosers {
        let _ = write!(out, " · file chooser open [{}]", chooser.chooser_id);
    }
    for download in &evidence.downloads {
        let _ = write!(out, " · download {}", quoted(&download.page_file_name));
    }
    if evidence.target_closed == Some(true) {
        out.push_str(" · the page closed");
    }
    if evidence.pressed_only == Some(true) {
        out.push_str(" · the element answered to the press itself; no click reached it");
    }
    if !evidence.held_keys.is_empty() {
        let _ = write!(out, " · down: {}", evidence.held_keys.join(", "));
    }
    if let Some(moved) = &evidence.scrolled {
        out.push_str(&scrolled_text(moved));
    }
    for pane in &evidence.panes {
        let _ = write!(out, "\n  {} can scroll", pane_text(pane));
    }
    if let Some(consent) = &evidence.consent {
        let pressed: Vec<_> = consent
            .pressed
            .iter()
            .map(|target| format!("{} [{}]", visible(&target.label, false), target.reference))
            .collect();
        let _ = write!(out, " · {} {} by {}", consent.vendor, consent.choice.name(), pressed.join(", then "));
    }
    if evidence.already == Some(true) {
        out.push_str(" · it was so already; nothing was sent");
    }
    if evidence.native_setter == Some(true) {
        out.push_str(" · set by the native setter");
    }
}

fn matched_text(navigation: Option<&NavigationSeen>) -> &'static str {
    match navigation.and_then(|navigation| Some((navigation.matched?, navigation.loaded))) {
        Some((true, Some(false))) => " · it navigated as expected, and its page did not come as far as asked",
        Some((true, _)) => " · it navigated as expected",
        Some((false, _)) => " · the navigation that was expected did not come in time",
        None => "",
    }
}

fn pane_text(pane: &Pane) -> String {
    match &pane.reference {
        Some(reference) => format!("{} {} [{reference}]", pane.role, quoted(&pane.label)),
        None => "the document".to_owned(),
    }
}

fn scrolled_text(moved: &[Pane]) -> String {
    if moved.is_empty() {
        return " · nothing moved".to_owned();
    }
    let panes = moved.iter().map(|pane| {
        let mut out = format!(" · {}", pane_text(pane));
        let axes = [
            ("x", pane.from.x, pane.at.x, pane.end.x, "right"),
            ("y", pane.from.y, pane.at.y, pane.end.y, "below"),
        ];
        for (axis, from, at, end, side) in axes {
            if from.round() != at.round() {
                let left = (end - at).max(0.0).round();
                let _ = write!(out, " {axis} {} → {}, {left} left {side}", from.round(), at.round());
            }
        }
        out
    });
    panes.collect()
}

fn acted_text(acted: &Acted) -> String {
    if acted.action == "dismissConsent" && acted.evidence.consent.is_none() {
        return format!("no known consent dialog is shown; nothing was pressed · r{}", acted.revision);
    }
    let mut out = past(&acted.action).to_owned();
    match &acted.target {
        Some(target) => {
            let _ = write!(out, " {} [{}]", visible(&target.label, false), target.reference);
        }
        None => out.push_str(" the page"),
    }
    let _ = if acted.previous_revision == acted.revision {
        write!(out, " · r{} unchanged", acted.revision)
    } else {
        write!(out, " · r{} → r{}", acted.previous_revision, acted.revision)
    };
    if let Some(diff) =
        acted.evidence.semantic_diff.filter(|diff| diff.added + diff.removed + diff.changed > 0)
    {
        let _ = write!(out, " (+{} -{} ~{})", diff.added, diff.removed, diff.changed);
    }
    if let (None, Some(hit)) = (&acted.target, &acted.evidence.hit_target) {
        let _ = write!(out, " · on {} {} [{}]", hit.role, quoted(&hit.label), hit.reference);
    }
    evidence_text(&mut out, &acted.evidence);
    out
}

/// Begins with what separates it from the answer.
fn added_text(answer: &Answer, after: &After) -> String {
    let mut out = String::new();
    if let Some(expected) = &after.expected {
        // The value of a script may end in any words.
        let apart = if matches!(answer, Answer::Evaluated(_)) { "\n" } else { " · " };
        let _ = write!(out, "{apart}as expected after {} ms", expected.waited_ms);
    }
    if let Some(observation) = &after.observation {
        let _ = write!(out, "\n{}", observation.outline);
    }
    if let Some(why) = after.unobserved {
        let _ = write!(out, "\nnot observed: {}", why.text());
    }
    out
}

fn form_text(form: &FormFilled) -> String {
    let mut out = format!("filled {} fields", form.fields.len());
    let _ = if form.previous_revision == form.revision {
        write!(out, " · r{} unchanged", form.revision)
    } else {
        write!(out, " · r{} → r{}", form.previous_revision, form.revision)
    };
    evidence_text(&mut out, &form.evidence);
    for field in &form.fields {
        let _ = write!(out, "\n  {} [{}]", visible(&field.target.label, false), field.target.reference);
        if field.already == Some(true) {
            out.push_str(" was so already");
        }
    }
    out
}

fn navigated_text(navigated: &Navigated) -> String {
    let mut out = page_line(&navigated.page);
    if navigated.evidence.navigation.as_ref().and_then(|n| n.same_document) == Some(true) {
        out.push_str(" · same document");
    }
    if navigated.evidence.navigation.as_ref().and_then(|n| n.from_cache) == Some(true) {
        out.push_str(" · from the cache");
    }
    if !navigated.loaded {
        out.push_str(" · still loading");
        if let Some(pending) = navigated.pending {
            let _ = write!(out, ", {pending} pending");
        }
    }
    let rest =
        Evidence { page_url: None, navigation: None, document_changed: None, ..navigated.evidence.clone() };
    evidence_text(&mut out, &rest);
    if let Some(warning) = &navigated.warning {
        let _ = write!(out, "\nwarning: {}", visible(warning, false));
    }
    out
}

fn text_read(read: &TextRead) -> String {
    let mut out = visible(&read.text, true).into_owned();
    if read.left_out > 0 {
        let _ = write!(out, "\n[left out: {} of {} bytes]", read.left_out, read.text_bytes);
    }
    if let Some(frames) = read.frames_unread {
        let _ = write!(out, "\n[left out: {frames} frames, which did not answer in time]");
    }
    out
}

fn observation_text(observation: &Observation) -> String {
    let mut out = observation.outline.clone();
    if let Some(dom) = &observation.dom {
        let _ = write!(out, "\ndom {}:\n{}", size(dom.len() as u64), visible(dom, true));
    }
    if let Some(shot) = &observation.screenshot {
        let _ = write!(out, "\n{}", shot_text(shot));
    }
    out
}

fn dom_text(dom: &str, incomplete: &[LeftOut]) -> String {
    let mut out = visible(dom, true).into_owned();
    for left in incomplete {
        let _ = write!(out, "\n{}", left.line());
    }
    out
}

fn reconciled_text(reconciled: &Reconciled) -> String {
    let mut out = page_line(&reconciled.page);
    for one in &reconciled.references {
        let _ = write!(out, "\n  {} ", one.from);
        let label = one.label.as_deref().map_or(String::new(), quoted_label);
        let now = one.reference.as_deref().unwrap_or_default();
        let role = visible(one.role.as_deref().unwrap_or_default(), false);
        let _ = match one.status {
            ReferenceStatus::Preserved => write!(out, "preserved · {role}{label} [{now}]"),
            ReferenceStatus::Relocated => {
                let by = one.matched_by.as_deref().unwrap_or_default();
                write!(out, "relocated · {role}{label} [{now}] by {by}")
            }
            ReferenceStatus::Lost => write!(out, "lost · {}", one.reason.as_deref().unwrap_or_default()),
        };
    }
    out
}

fn quoted_label(label: &str) -> String {
    format!(" {}", quoted(label))
}

fn found_text(found: &Found) -> String {
    let mut out = format!("{} found", found.total);
    if found.hidden > 0 {
        let _ = write!(out, ", {} hidden", found.hidden);
    }
    for candidate in &found.matches {
        let _ = write!(out, "\n{}", candidate_text(candidate));
    }
    let more = found.total.saturating_sub(found.matches.len() as u64);
    if more > 0 {
        let _ = write!(out, "\n[left out: {more}; --limit lists up to 100]");
    }
    if let Some(unread) = found.frames_unread {
        let _ = write!(out, "\n[frames that did not answer: {unread}; find again]");
    }
    out
}

fn candidate_text(candidate: &crate::error::Candidate) -> String {
    let mut out = format!("  {} {} [{}]", candidate.role, quoted(&candidate.label), candidate.reference);
    if let Some(reason) = &candidate.reason {
        let _ = write!(out, " {reason}");
    }
    out
}

fn cookies_text(answered: &CookiesAnswered) -> String {
    let count = answered.cookies.len() as u64 + answered.left_out;
    let cookies = |word: &str| format!("{word}{count} cookie{}", if count == 1 { "" } else { "s" });
    let mut out = match answered.action.as_str() {
        "set" => "set".to_owned(),
        "delete" | "clear" => cookies("deleted "),
        _ => cookies(""),
    };
    for cookie in &answered.cookies {
        let _ = write!(out, "\n  {}", cookie_text(cookie));
    }
    if answered.left_out > 0 {
        let _ = write!(out, "\n[left out: {}; a name, --domain or --url narrow it]", answered.left_out);
    }
    out
}

fn storage_text(moved: &StorageMoved) -> String {
    let mut out = match (moved.action.as_str(), &moved.path) {
        ("save", Some(path)) => format!("saved to {}", visible(path, false)),
        ("save", None) => "saved".to_owned(),
        _ => "loaded".to_owned(),
    };
    let _ = write!(out, " · {} cookies", moved.cookies);
    for origin in &moved.origins {
        let _ = write!(out, "\n  {}", visible(&origin.origin, false));
        for (what, count) in [
            ("localStorage", origin.local_storage),
            ("sessionStorage", origin.session_storage),
            ("IndexedDB records", origin.indexed_db),
        ] {
            if count > 0 {
                let _ = write!(out, " · {count} {what}");
            }
        }
    }
    if moved.refused_total > 0 {
        let word = if moved.action == "save" { "not saved" } else { "not taken" };
        let _ = write!(out, "\n{word}: {}", moved.refused_total);
    }
    for refused in &moved.refused {
        let count = refused.count.map_or(String::new(), |count| format!(" × {count}"));
        let name =
            if refused.name.is_empty() { String::new() } else { format!(" {}", quoted(&refused.name)) };
        let _ = write!(
            out,
            "\n  {}{name}{count} of {}: {}",
            refused.what,
            visible(&refused.place, false),
            refused.reason
        );
    }
    out
}

fn captured_text(captured: &SecretsCaptured) -> String {
    let mut out = match captured.names.as_slice() {
        [] => "the code set nothing".to_owned(),
        names => format!("kept {} for {} min", joined(names), captured.expires_in_ms.div_ceil(60_000)),
    };
    let _ = if captured.previous_revision == captured.revision {
        write!(out, " · r{} unchanged", captured.revision)
    } else {
        write!(out, " · r{} → r{}", captured.previous_revision, captured.revision)
    };
    evidence_text(&mut out, &captured.evidence);
    out
}

fn secrets_text(listed: &SecretsListed) -> String {
    if listed.secrets.is_empty() {
        return "no secrets".to_owned();
    }
    let rows = listed
        .secrets
        .iter()
        .map(|row| format!("{} · kept for {} s", row.name, row.expires_in_ms.div_ceil(1000)));
    rows.collect::<Vec<_>>().join("\n")
}

fn deleted_text(gone: &SecretsDeleted) -> String {
    let mut out = match gone.deleted.as_slice() {
        [] => "deleted nothing".to_owned(),
        names => format!("deleted {}", joined(names)),
    };
    if !gone.absent.is_empty() {
        let _ = write!(out, " · not there: {}", joined(&gone.absent));
    }
    out
}

fn joined(names: &[crate::secret::SecretName]) -> String {
    names.iter().map(crate::secret::SecretName::as_str).collect::<Vec<_>>().join(", ")
}

fn clipboard_text(answered: &ClipboardAnswered) -> String {
    match (&answered.page_text, answered.action.as_str()) {
        (_, "write") => format!("the session's clipboard holds {} characters", answered.characters),
        (None, _) if answered.types.iter().all(|form| form == "text/plain") => {
            "the session's clipboard is empty".to_owned()
        }
        (None, _) => format!("no text, but {}", visible(&answered.types.join(", "), false)),
        (Some(text), _) if answered.truncated => {
            format!("{}\n[left out: of {} characters]", visible(text, true), answered.characters)
        }
        (Some(text), _) => visible(text, true).into_owned(),
    }
}

fn cookie_text(cookie: &Cookie) -> String {
    let mut out = visible(&cookie.name, false).into_owned();
    if let Some(value) = &cookie.value {
        let _ = write!(out, "={}", visible(value, false));
    }
    let _ = write!(out, "; Domain={}; Path={}", visible(&cookie.domain, false), visible(&cookie.path, false));
    if let Some(expires) = cookie.expires {
        let _ = write!(out, "; Expires={expires:.0}");
    }
    for (word, is) in [("HttpOnly", cookie.http_only), ("Secure", cookie.secure)] {
        if is {
            let _ = write!(out, "; {word}");
        }
    }
    if let Some(same_site) = cookie.same_site {
        let _ = write!(out, "; SameSite={}", same_site.name());
    }
    if let Some(partition) = &cookie.partition {
        let _ = write!(out, "; Partitioned below {}", visible(&partition.top_level_site, false));
    }
    out
}

fn batched_text(batched: &Batched, answers: &[Option<Answer>]) -> String {
    let done = batched.steps.iter().filter(|step| step.error.is_none()).count();
    let mut out = format!("{done} of {} steps completed", batched.steps.len() + batched.not_run.len());
    for (step, answer) in batched.steps.iter().zip(answers) {
        let text = match (&step.error, answer, step.left_out) {
            (Some(error), ..) => format!("{} · {}", step.outcome.name(), error_text(error)),
            (_, Some(answer), _) => answer.text(),
            (.., Some(bytes)) => format!("completed; its result of {bytes} bytes is left out"),
            (.., None) => step.outcome.name().to_owned(),
        };
        let _ = write!(out, "\n{} {}: {text}", step.step, visible(&step.operation, false));
    }
    if !batched.not_run.is_empty() {
        let numbers: Vec<String> = batched.not_run.iter().map(ToString::to_string).collect();
        let _ = write!(out, "\nnot run: {}", numbers.join(", "));
    }
    out
}

fn preflighted_text(seen: &Preflighted) -> String {
    let mut out = match (&seen.target, seen.actionable) {
        (Some(target), true) => {
            format!("{} [{}] can be acted on", visible(&target.label, false), target.reference)
        }
        (Some(target), false) => format!("{} [{}] cannot", visible(&target.label, false), target.reference),
        (None, _) => format!("{} found, {} hidden", seen.total, seen.hidden),
    };
    let _ = write!(out, " · {}", seen.action);
    if let Some(reason) = &seen.reason {
        let _ = write!(out, " · {reason}");
    }
    if seen.needs_scroll {
        out.push_str(" · the action would scroll to it first");
    }
    if let Some(rect) = &seen.rect {
        let _ = write!(out, " · box {}", rect_text(rect));
    }
    for candidate in &seen.candidates {
        let _ = write!(out, "\n{}", candidate_text(candidate));
    }
    out
}

fn rect_text([x, y, width, height]: &[f64; 4]) -> String {
    format!("{x:.0},{y:.0} {width:.0}×{height:.0}")
}

fn inspected_text(inspected: &Inspected) -> String {
    let element = &inspected.element;
    let mut out =
        format!("{} {} [{}]", visible(&element.role, false), quoted(&element.name), inspected.reference);
    let _ = write!(out, " <{}>", visible(&element.tag, false));
    for state in &element.states {
        let _ = write!(out, " {}", visible(state, false));
    }
    let _ = write!(out, "\nbox {}", rect_text(&element.rect));
    let flags = [
        (element.visible, "visible", "hidden"),
        (element.in_viewport, "in view", "out of view"),
        (element.enabled, "enabled", "disabled"),
        (element.editable, "editable", ""),
        (element.focused, "focused", ""),
    ];
    for (on, yes, no) in flags {
        let word = if on { yes } else { no };
        if !word.is_empty() {
            let _ = write!(out, " · {word}");
        }
    }
    if let Some(reason) = &element.reason {
        let _ = write!(out, " · {reason}");
    }
    if element.protected {
        out.push_str("\nvalue is never shown");
    }
    if let Some(value) = &element.value {
        let _ = write!(out, "\nvalue {}", quoted(value));
    }
    if let Some(length) = element.value_length {
        let _ = write!(out, " ({length} characters)");
    }
    if let Some(validation) = &element.validation {
        let _ = write!(out, "\ninvalid {}", quoted(validation));
    }
    for removed in &element.removed {
        let _ = write!(
            out,
            "\nthe name has {} × {}, which comparisons pass over",
            removed.count, removed.character
        );
    }
    if element.recomposed {
        out.push_str("\nthe name is compared in another Unicode normal form than it is written in");
    }
    for attribute in &element.attributes {
        let _ = write!(out, "\n  @{}", visible(&attribute.name, false));
        if let Some(value) = &attribute.value {
            let _ = write!(out, " = {}", quoted(value));
        }
        if let Some(length) = attribute.length {
            let _ = write!(out, " ({length} characters)");
        }
    }
    for relation in &inspected.element.relations {
        let hidden = if relation.visible { "" } else { " hidden" };
        let _ = write!(
            out,
            "\n  {} → {} {} [{}]{hidden}",
            visible(&relation.by, false),
            visible(&relation.role, false),
            quoted(&relation.label),
            relation.reference
        );
    }
    for option in &element.options {
        let _ = write!(out, "\n  option {}", quoted(&option.label));
        if let Some(value) = &option.value {
            let _ = write!(out, " = {}", quoted(value));
        }
        if option.selected {
            out.push_str(" selected");
        }
        if option.disabled {
            out.push_str(" disabled");
        }
    }
    if inspected.left_out > 0 {
        let _ = write!(out, "\n[left out: {} attributes, relations or options]", inspected.left_out);
    }
    out
}

fn evaluated_text(evaluated: &Evaluated) -> String {
    let value = match &evaluated.value {
        serde_json::Value::String(text) => visible(text, true).into_owned(),
        value => visible(&value.to_string(), true).into_owned(),
    };
    let mut extra = String::new();
    evidence_text(&mut extra, &evaluated.evidence);
    for kept in &evaluated.artifacts {
        let place = kept.path.as_deref().unwrap_or(&kept.page_name);
        let _ = write!(
            extra,
            "\nkept {} · {} · {} bytes",
            quoted(place),
            visible(&kept.media_type, false),
            kept.bytes
        );
    }
    value + &extra
}

fn shot_text(shot: &Shot) -> String {
    let path = shot.path.as_deref().map_or("screenshot".into(), |path| visible(path, false));
    let mut out = format!("{path} · {} × {} {} · {} bytes", shot.width, shot.height, shot.format, shot.bytes);
    if let Some(cut) = shot.cut_height {
        let _ = write!(out, " · {cut} pixels of the page's height left out");
    }
    let _ = write!(out, " · {} · pointer {}", shot.screenshot_id, shot.pointer);
    if shot.fonts_pending {
        out.push_str(" · fonts still loading");
    }
    for mark in &shot.marks {
        let [x, y, width, height] = mark.area;
        let _ = write!(
            out,
            "\n{} {} [{}] {x},{y} {width}×{height}",
            visible(&mark.role, false),
            quoted(&mark.name),
            mark.reference
        );
    }
    if let Some(left) = shot.marks_left_out {
        let _ = write!(out, "\n[left out: {left} elements, which may be in the picture]");
    }
    out
}

fn exported_text(exported: &Exported) -> String {
    if exported.assets.is_empty() && exported.format == "assets" && exported.bytes == 0 {
        return "nothing that the page loaded is known".to_owned();
    }
    let rows = exported.assets.iter().map(|asset| {
        let size = asset.bytes.map_or(String::new(), |bytes| format!(" {bytes} bytes"));
        let kind = visible(&asset.kind, false);
        format!("{kind} {}{size} {}", visible(&asset.media_type, false), visible(&asset.page_url, false))
    });
    let mut out = rows.collect::<Vec<_>>().join("\n");
    if let Some(left) = exported.assets_left_out {
        let _ = write!(out, "\n[left out: {left}]");
    }
    if let Some(path) = &exported.path {
        let _ = write!(out, "{} · {} · {} bytes", visible(path, false), exported.format, exported.bytes);
    }
    if let Some(frames) = exported.frames_left_out {
        let _ = write!(out, " · {frames} frames are not in it");
    }
    if let Some(requests) = exported.requests {
        let _ = write!(out, " · {requests} requests");
    }
    if let Some(gone) = exported.requests_gone.filter(|gone| *gone > 0) {
        let _ = write!(out, " · {gone} older entries had to make room or were forgotten");
    }
    if let Some(bodies) = exported.bodies_left_out.filter(|bodies| *bodies > 0) {
        let _ = write!(out, " · {bodies} bodies are not in it");
    }
    if let Some(completeness) = &exported.completeness {
        let _ = write!(out, " · completeness {completeness}");
    }
    out
}

fn targets_text(targets: &Targets) -> String {
    if targets.targets.is_empty() {
        return "no page is open".to_owned();
    }
    let rows = targets.targets.iter().map(|row| {
        let mark = if row.selected { "*" } else { " " };
        let mut out = format!("{mark} {} {} {}", row.id, quoted(&row.title), visible(&row.url, false));
        if row.kind != "page" {
            let _ = write!(out, " {}", row.kind);
        }
        if let Some(claimed) = row.claimed {
            let _ = write!(out, " of {}{}", row.owner, if claimed { ", claimed" } else { "" });
        }
        if row.responsive == Some(false) {
            out.push_str(" unresponsive");
        }
        if row.dialog {
            out.push_str(" dialog open");
        }
        if let Some(opener) = &row.opener {
            let closed = if row.opener_closed { " (closed)" } else { "" };
            let _ = write!(out, " opened by {opener}{closed}");
        }
        out
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn made_text(made: &TargetMade) -> String {
    let went = Navigated {
        action: made.action.clone(),
        page: made.page.clone(),
        previous_revision: made.page.revision,
        loaded: made.loaded,
        pending: made.pending,
        warning: made.warning.clone(),
        evidence: made.evidence.clone(),
    };
    format!("created target {} · {}", made.target_id, navigated_text(&went))
}

fn selected_text(selected: &TargetSelected) -> String {
    let frame = selected.frame_id.as_ref().map_or(String::new(), |frame| format!(" frame {frame} of"));
    let title = quoted(&selected.page_title);
    format!("selected{frame} target {} {title} {}", selected.target_id, visible(&selected.page_url, false))
}

fn closed_text(closed: &TargetClosed) -> String {
    let none = if closed.was_selected { " · none is selected now" } else { "" };
    format!("closed target {} · {} left{none}", closed.target_id, closed.left)
}

fn frames_text(frames: &Frames) -> String {
    let rows = frames.frames.iter().map(|row| {
        let mark = if row.selected { "*" } else { " " };
        let mut out = format!("{mark} {} {} {}", row.id, visible(&row.url, false), row.ready_state);
        if !row.name.is_empty() {
            let _ = write!(out, " name {}", quoted(&row.name));
        }
        if let Some(parent) = row.parent.as_ref().filter(|parent| *parent != "main") {
            let _ = write!(out, " in {parent}");
        }
        if row.silent {
            out.push_str(" does not answer");
        }
        out
    });
    let mut rows: Vec<_> = rows.collect();
    if frames.left_out > 0 {
        rows.push(format!("[left out: {} frames over the bound of 128]", frames.left_out));
    }
    rows.join("\n")
}

fn uploaded_text(uploaded: &Uploaded) -> String {
    let names: Vec<_> =
        uploaded.files.iter().map(|file| format!("{} ({} bytes)", quoted(&file.name), file.size)).collect();
    let to = match (&uploaded.target, &uploaded.chooser_id) {
        (Some(target), _) => format!("{} [{}]", visible(&target.label, false), target.reference),
        (None, Some(chooser)) => format!("file chooser [{chooser}]"),
        (None, None) => "the page".to_owned(),
    };
    let mut out = format!(
        "gave {} to {to} · r{} → r{}",
        names.join(", "),
        uploaded.previous_revision,
        uploaded.revision
    );
    evidence_text(&mut out, &uploaded.evidence);
    if let Some(warning) = &uploaded.warning {
        let _ = write!(out, "\nwarning: {}", visible(warning, false));
    }
    out
}

pub(super) fn download_state(state: DownloadState) -> &'static str {
    match state {
        DownloadState::InProgress => "in progress",
        DownloadState::Completed => "completed",
        DownloadState::Failed => "failed",
        DownloadState::Canceled => "canceled",
        DownloadState::CaptureFailed => "kept, and could not be handed out",
    }
}

fn downloads_text(downloads: &Downloads) -> String {
    let rows = downloads.downloads.iter().map(|row| {
        let mut out =
            format!("{} {} {}", row.download_id, download_state(row.state), quoted(&row.page_file_name));
        let _ = match row.total_bytes {
            Some(total) if total != row.bytes => write!(out, " {} of {total} bytes", row.bytes),
            _ => write!(out, " {} bytes", row.bytes),
        };
        if let Some(reason) = &row.reason {
            let _ = write!(out, " ({})", visible(reason, false));
        }
        if row.taken {
            out.push_str(" taken");
        }
        let _ = write!(out, " {}", visible(&row.page_url, false));
        out
    });
    let mut rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        rows.push("no downloads".to_owned());
    }
    if downloads.forgotten > 0 {
        rows.push(format!("[left out: {} older ones that are no longer known]", downloads.forgotten));
    }
    rows.join("\n")
}

fn downloaded_text(downloaded: &Downloaded) -> String {
    let name = quoted(&downloaded.page_file_name);
    match &downloaded.path {
        Some(path) => format!(
            "{} · {} bytes · sha256 {}",
            visible(path, false),
            downloaded.bytes,
            downloaded.sha256.as_deref().unwrap_or("not known")
        ),
        None => {
            let why = downloaded
                .reason
                .as_deref()
                .map_or(String::new(), |why| format!(" ({})", visible(why, false)));
            format!("warning: download {name} {}{why}; there is no file", download_state(downloaded.state))
        }
    }
}

/// An error for a person: what happened, candidates as rows, what to do next.
pub fn error_text(error: &OpError) -> String {
    visible(&error_words(error), true).into_owned()
}

fn error_words(error: &OpError) -> String {
    let reason = error.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    let mut out = format!("{}{reason}: {}", error.kind.name(), visible(&error.message, false));
    for candidate in &error.candidates {
        let _ = write!(out, "\n{}", candidate_text(candidate));
    }
    for part in error.details.get("seen").and_then(serde_json::Value::as_array).into_iter().flatten() {
        let name = part["part"].as_str().unwrap_or_default();
        let holds = part["holds"]
            .as_bool()
            .map_or("undecided", |holds| if holds { "holds" } else { "does not hold" });
        let _ = write!(
            out,
            "\n  {} {holds}: {}",
            visible(name, false),
            visible(&part["seen"].to_string(), false)
        );
    }
    if let Some(last) = error.details.get("last").filter(|last| !last.is_null()) {
        let _ = write!(out, "\nlast seen: {}", visible(&last.to_string(), false));
    }
    if !error.remedy.is_empty() {
        let _ = write!(out, "\nhint: {}", visible(&error.remedy, false));
    }
    out
}
