//! Events of the browser, applied to the model. Runs on the reader's task: never waits.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glass_proto::escape::cut;
use glass_proto::result::{DialogSeen, EventKind, EventOf, PopupSeen};

use super::Pages;
use super::log::{Log, Origin};
use super::revision::Revisions;
use super::state::{
    Attached, ClosedTarget, Dialog, Document, Exchange, Frame, Lifecycle, MAX_FRAMES, MAX_TARGETS,
    PendingNavigation, State, Target,
};
use crate::cdp::Event;
use crate::cdp::types::{browser, fetch, input, inspector, log, network, page, runtime, target};
use crate::forward::{FailureKind, hides_failure, hides_socket_failure};
use glass_proto::redact::{MAX_TEXT, address};

/// How much later than the proxy the browser may be read.
const LAG: Duration = Duration::from_secs(10);

/// The name of the isolated world.
pub(super) const WORLD: &str = "glass";
/// The name of the world that captures run in. What happens there is told to nobody.
pub const CAPTURE_WORLD: &str = "glass-capture";

impl Pages {
    pub(super) fn apply(&self, event: &Event) {
        if let Err(error) = self.route(event) {
            // The browser is newer than this build, or lies; what cannot be read is left out.
            tracing::debug!(method = %event.method, %error, "an event that cannot be read");
        }
    }

    fn route(&self, event: &Event) -> serde_json::Result<()> {
        let session = event.session.as_ref();
        match event.method.as_str() {
            target::AttachedToTarget::METHOD => {
                let attached: target::AttachedToTarget = event.params()?;
                self.attached(session, &attached);
            }
            target::DetachedFromTarget::METHOD => {
                let detached: target::DetachedFromTarget = event.params()?;
                self.state().detached(&detached.session_id);
            }
            target::TargetCreated::METHOD => {
                let created: target::TargetCreated = event.params()?;
                self.page_appears(&created.target_info);
            }
            target::TargetDestroyed::METHOD => {
                let destroyed: target::TargetDestroyed = event.params()?;
                self.page_goes(&destroyed.target_id);
            }
            target::TargetInfoChanged::METHOD => {
                let changed: target::TargetInfoChanged = event.params()?;
                self.page_changes(&changed.target_info);
                self.state().info_changed(changed.target_info);
            }
            target::TargetCrashed::METHOD => {
                let crashed: target::TargetCrashed = event.params()?;
                self.state().crashed(&crashed.target_id);
            }
            inspector::TargetCrashed::METHOD => {
                self.state().session_crashed(session);
            }
            page::JavascriptDialogOpening::METHOD => {
                let opening: page::JavascriptDialogOpening = event.params()?;
                self.dialog_opening(session, &opening);
            }
            page::JavascriptDialogClosed::METHOD => {
                let mut state = self.state();
                if let Some(closed) = state.target_of_session(session).and_then(|target| target.dialog.take())
                {
                    let of = EventOf { dialog_id: Some(closed.seen.dialog_id), ..EventOf::default() };
                    state.tell(session, EventKind::Dialog, "closed", of);
                }
            }
            browser::DownloadWillBegin::METHOD => {
                let begin: browser::DownloadWillBegin = event.params()?;
                self.download_begins(begin);
            }
            browser::DownloadProgress::METHOD => {
                let progress: browser::DownloadProgress = event.params()?;
                self.download_goes_on(&progress);
            }
            fetch::RequestPaused::METHOD => {
                let paused: fetch::RequestPaused = event.params()?;
                if let Some(session) = session {
                    self.request_paused(session, &paused);
                }
            }
            fetch::AuthRequired::METHOD => {
                let asked: fetch::AuthRequired = event.params()?;
                if let Some(session) = session {
                    self.auth_required(session, &asked);
                }
            }
            "FedCm.dialogShown" => self.federated_login(session, event)?,
            input::DragIntercepted::METHOD => {
                let drag: input::DragIntercepted = event.params()?;
                if let Some(target) = self.state().target_of_session(session) {
                    target.drag = Some(drag.data.into());
                }
            }
            runtime::BindingCalled::METHOD => {
                let called: runtime::BindingCalled = event.params()?;
                if called.name == crate::injected::REPORT {
                    self.state().guard_reports(session, &called.payload)?;
                }
            }
            runtime::ExecutionContextCreated::METHOD => {
                let created: runtime::ExecutionContextCreated = event.params()?;
                self.state().world_created(session, &created.context);
            }
            runtime::ExecutionContextDestroyed::METHOD => {
                let destroyed: runtime::ExecutionContextDestroyed = event.params()?;
                self.state().world_destroyed(session, &destroyed.execution_context_unique_id);
            }
            runtime::ConsoleApiCalled::METHOD => {
                let called: runtime::ConsoleApiCalled = event.params()?;
                let mut state = self.state();
                if !state.is_untold(session, Some(called.execution_context_id)) {
                    state.tell_log(session, |log, from| log.console(from, &called));
                }
            }
            runtime::ExceptionThrown::METHOD => {
                let thrown: runtime::ExceptionThrown = event.params()?;
                let mut state = self.state();
                if !state.is_untold(session, thrown.exception_details.execution_context_id) {
                    state.tell_log(session, |log, from| log.exception(from, &thrown));
                }
            }
            log::EntryAdded::METHOD => {
                let added: log::EntryAdded = event.params()?;
                self.state().tell_log(session, |log, from| log.noted(from, &added.entry));
            }
            runtime::ExecutionContextsCleared::METHOD => self.state().worlds_cleared(session),
            // The browser tells each page of its own downloads, and nothing is set for that.
            "Page.downloadWillBegin" => self.download_elsewhere(event.params()?),
            "Page.downloadProgress" => self.progress_elsewhere(&event.params()?),
            method if method.starts_with("Page.") => self.page_event(session, event)?,
            network::LoadingFailed::METHOD => {
                let failed: network::LoadingFailed = event.params()?;
                let name = failed.error_text.as_str();
                // Of what is blocked here, documents are by rules; all else is by routes.
                let is_routed = name == "net::ERR_BLOCKED_BY_CLIENT" && failed.kind != "Document";
                if hides_failure(name) && !is_routed {
                    self.name_failure(session, &failed.request_id);
                }
                self.state().network_event(session, event)?;
            }
            "Network.webSocketFrameError" => {
                let failed: network::WebSocketTold = event.params()?;
                if failed.error_message.as_deref().is_some_and(hides_socket_failure) {
                    self.name_failure(session, &failed.request_id);
                }
                self.state().network_event(session, event)?;
            }
            method if method.starts_with("Network.") => self.state().network_event(session, event)?,
            _ => {}
        }
        Ok(())
    }

    /// Asks the forwarder what the proxy said of a request of which the browser knows only that the proxy had no answer.
    /// What a rule denied is an event (contract 7.6).
    fn name_failure(&self, session: Option<&Arc<str>>, request: &str) {
        let Some(session) = session else { return };
        let place = {
            let mut state = self.state();
            let place = state.log(session).and_then(|(log, _)| log.place_of(request));
            place.map(|(url, heard)| (url.to_owned(), heard))
        };
        let Some((page_url, heard)) = place else { return };
        let parsed = url::Url::parse(&page_url).ok();
        let known = parsed.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
        // The proxy may have said it before the browser's word of the request was read.
        let since = heard.checked_sub(LAG).unwrap_or(heard);
        let Some(truth) = known.and_then(|(host, port)| self.inner.forwarder.last_failure(host, port, since))
        else {
            return;
        };
        let mut state = self.state();
        if let Some((log, _)) = state.log(session) {
            log.truth(request, &truth);
        }
        if truth.error == FailureKind::Denied {
            let of = EventOf {
                page_url: Some(page_url),
                name: Some("host".to_owned()),
                rule_id: truth.rule.as_deref().map(|rule| cut(rule, MAX_TEXT).into_owned()),
                ..EventOf::default()
            };
            state.tell(Some(session), EventKind::Denied, "refused", of);
        }
    }

    fn page_event(&self, session: Option<&Arc<str>>, event: &Event) -> serde_json::Result<()> {
        let mut prime = None;
        {
            let mut state = self.state();
            match event.method.as_str() {
                page::FrameAttached::METHOD => {
                    let attached: page::FrameAttached = event.params()?;
                    state.frame_attached(session, &attached.frame_id, Some(attached.parent_frame_id));
                }
                page::FrameNavigated::METHOD => {
                    let navigated: page::FrameNavigated = event.params()?;
                    let (id, restored) = (navigated.frame.id.clone(), navigated.is_restored());
                    state.frame_navigated(session, navigated.frame);
                    if restored && let Some(target) = state.target_of_session(session) {
                        target.restored(&id);
                    }
                }
                page::FrameDetached::METHOD => {
                    let detached: page::FrameDetached = event.params()?;
                    if detached.reason != page::DetachReason::Swap {
                        state.frame_removed(session, &detached.frame_id);
                    }
                }
                page::NavigatedWithinDocument::METHOD => {
                    let within: page::NavigatedWithinDocument = event.params()?;
                    if let Some(target) = state.target_of_session(session) {
                        if let Some(frame) = target.frames.get_mut(&within.frame_id) {
                            frame.url.clone_from(&within.url);
                        }
                        if within.frame_id == target.main {
                            target.url = within.url;
                            target.document.pending = None;
                            target.document.moves.within += 1;
                            let page_url = Some(address(&target.url));
                            let of = EventOf { page_url, same_document: Some(true), ..EventOf::default() };
                            state.tell(session, EventKind::Navigation, "committed", of);
                        }
                    }
                }
                page::FileChooserOpened::METHOD => {
                    let opened: page::FileChooserOpened = event.params()?;
                    state.chooser_opened(session, &opened);
                }
                page::FrameRequestedNavigation::METHOD => {
                    let requested: page::FrameRequestedNavigation = event.params()?;
                    state.leaves_the_web(session, &requested);
                    if requested.disposition == "download"
                        && let Some(target) = state.target_of_session(session)
                    {
                        target.downloads_asked += 1;
                    }
                }
                page::FrameStartedNavigating::METHOD => {
                    let started: page::FrameStartedNavigating = event.params()?;
                    state.navigation_started(session, started);
                }
                page::FrameStoppedLoading::METHOD => {
                    let stopped: page::FrameStoppedLoading = event.params()?;
                    if let Some(target) = state.target_of_session(session) {
                        target.frame_navigations.remove(&stopped.frame_id);
                        if stopped.frame_id == target.main {
                            target.document.pending = None;
                            target.document.moves.moving = false;
                        }
                    }
                }
                page::LifecycleEvent::METHOD => {
                    let lifecycle: page::LifecycleEvent = event.params()?;
                    prime = state.lifecycle(session, &lifecycle);
                }
                _ => {}
            }
        }
        // At DOM ready rather than at the first look (DESIGN 6).
        if let (Some(session), Some(frame)) = (session, prime) {
            self.prime(session, &frame);
        }
        Ok(())
    }

    fn dialog_opening(&self, session: Option<&Arc<str>>, opening: &page::JavascriptDialogOpening) {
        let Some(session) = session else { return };
        if opening.kind == page::DialogType::Beforeunload {
            // Session option `beforeunload: leave` (contract 5.5).
            drop(self.start(session, page::HandleJavaScriptDialog { accept: true, prompt_text: None }));
            let of = EventOf { dialog_type: Some("beforeunload".to_owned()), ..EventOf::default() };
            self.state().tell(Some(session), EventKind::Dialog, "answered", of);
            return;
        }
        let mut state = self.state();
        state.dialogs += 1;
        let id = format!("d{}", state.dialogs);
        if let Some(target) = state.target_of_session(Some(session)) {
            let kind = match opening.kind {
                page::DialogType::Alert => "alert",
                page::DialogType::Confirm => "confirm",
                page::DialogType::Prompt => "prompt",
                _ => "dialog",
            };
            let seen = DialogSeen {
                target_id: None,
                kind: kind.to_owned(),
                page_message: cut(&opening.message, 1024).into_owned(),
                dialog_id: id,
            };
            let of = EventOf {
                dialog_id: Some(seen.dialog_id.clone()),
                dialog_type: Some(seen.kind.clone()),
                page_message: Some(seen.page_message.clone()),
                ..EventOf::default()
            };
            target.dialog = Some(Dialog { seen, session: session.clone() });
            state.tell(Some(session), EventKind::Dialog, "opened", of);
        }
    }
}

impl State {
    pub(super) fn add_target(&mut self, session: Arc<str>, info: &target::TargetInfo) {
        let number = self.begun;
        self.begun += 1;
        let id = info.target_id.clone();
        if let Some(opener) = info.opener_id.as_ref().and_then(|opener| self.targets.get_mut(opener)) {
            opener.unreported.push(PopupSeen {
                target_id: id.clone(),
                opener_id: info.opener_id.clone(),
                page_url: (!info.url.is_empty()).then(|| cut(&info.url, 4096).into_owned()),
                closed: false,
                reason: None,
            });
            let opener = opener.id.clone();
            let of = EventOf {
                popup_id: Some(id.clone()),
                page_url: (!info.url.is_empty()).then(|| address(&info.url)),
                ..EventOf::default()
            };
            self.news.add(EventKind::Popup, "opened", Some(&opener), of);
        }
        let mut target = Target {
            id: id.clone(),
            session: session.clone(),
            size: None,
            url: info.url.clone(),
            title: info.title.clone(),
            opener: info.opener_id.clone(),
            crashed: false,
            // A page's main frame has the page's id.
            main: id.clone(),
            frames: HashMap::new(),
            dialog: None,
            waits_for: None,
            document: Document::default(),
            asked: None,
            log: Log::default(),
            inflight: HashMap::new(),
            quiet_since: Instant::now(),
            frame_navigations: HashMap::new(),
            frames_begun: 0,
            downloads_asked: 0,
            choosers: Vec::new(),
            frames_over: 0,
            labels: 0,
            next_ref: 1,
            generations: 0,
            revisions: Revisions::default(),
            number,
            unreported: Vec::new(),
            observed: super::state::Observed::default(),
            memory: super::memory::Memory::default(),
            drag: None,
            device: crate::input::Device::default(),
            used: Instant::now(),
            printing: false,
            dormant: false,
        };
        target.frames.insert(id.clone(), new_frame(None, session.clone(), info.url.clone()));
        target.new_document(&id);
        // A target that is attached once more is the same one; what its old session says no longer counts.
        self.sessions.retain(|_, other| other.target != id);
        self.sessions.insert(session, Attached { target: id.clone(), root: id.clone() });
        if !self.elsewhere {
            self.first.get_or_insert_with(|| id.clone());
        }
        if self.targets.insert(id.clone(), target).is_none() {
            self.order.push(id);
        }
    }

    /// Notes a target that is closed at once, since there are as many as may be.
    pub(super) fn refuse_target(&mut self, info: &target::TargetInfo) {
        let of = EventOf { name: Some("targets".to_owned()), ..EventOf::default() };
        self.news.add(EventKind::Quota, "refused", info.opener_id.as_deref(), of);
        if self.closed.len() >= MAX_TARGETS {
            self.closed.pop_front();
        }
        self.closed.push_back(ClosedTarget {
            id: info.target_id.clone(),
            opener: info.opener_id.clone(),
            url: info.url.clone(),
            number: self.begun,
            refused: true,
        });
        self.begun += 1;
    }

    pub(super) fn add_frame_session(
        &mut self,
        parent: Option<&Arc<str>>,
        session: Arc<str>,
        info: &target::TargetInfo,
    ) {
        let Some(owner) = parent.and_then(|parent| self.sessions.get(parent)).cloned() else { return };
        let id = info.target_id.clone();
        self.sessions.insert(session.clone(), Attached { target: owner.target.clone(), root: id.clone() });
        let Some(target) = self.targets.get_mut(&owner.target) else { return };
        if target.frames.len() >= MAX_FRAMES && !target.frames.contains_key(&id) {
            target.frames_over += 1;
            return;
        }
        let frame = target.frames.entry(id.clone()).or_insert_with(|| {
            new_frame(info.parent_frame_id.clone().or(Some(owner.root)), session.clone(), String::new())
        });
        frame.session = session;
        frame.world = None;
        frame.page_world = None;
        target.new_document(&id);
    }

    fn detached(&mut self, session: &str) {
        self.workers.remove(session);
        let Some((key, attached)) = self.sessions.remove_entry(session) else { return };
        self.pointers.remove(&*key);
        self.untold.retain(|_, (of, _)| *of != key);
        if attached.root == attached.target {
            self.sessions.retain(|_, other| other.target != attached.target);
            self.workers.retain(|_, target| *target != attached.target);
            if let Some(gone) = self.targets.remove(&attached.target) {
                if self.closed.len() >= MAX_TARGETS {
                    self.closed.pop_front();
                }
                if let Some(opener) = &gone.opener {
                    let of = EventOf { popup_id: Some(gone.id.clone()), ..EventOf::default() };
                    self.news.add(EventKind::Popup, "closed", Some(opener), of);
                }
                let (opener, number) = (gone.opener, gone.number);
                self.closed.push_back(ClosedTarget {
                    id: gone.id,
                    opener,
                    url: gone.url,
                    number,
                    refused: false,
                });
            }
            self.order.retain(|id| *id != attached.target);
            return;
        }
        if let Some(target) = self.targets.get_mut(&attached.target) {
            target.frames.retain(|_, frame| frame.session != key);
        }
    }

    fn info_changed(&mut self, info: target::TargetInfo) {
        if let Some(target) = self.targets.get_mut(&info.target_id) {
            target.url = info.url;
            target.title = info.title;
        }
    }

    fn crashed(&mut self, id: &str) {
        let Some(target) = self.targets.get_mut(id) else { return };
        target.dialog = None;
        // It is told twice.
        if !std::mem::replace(&mut target.crashed, true) {
            self.news.add(EventKind::Crash, "crashed", Some(id), EventOf::default());
        }
    }

    /// A renderer died: the page's own, or that of some of its frames.
    fn session_crashed(&mut self, session: Option<&Arc<str>>) {
        let Some(attached) = session.and_then(|session| self.sessions.get(session)).cloned() else { return };
        if attached.root == attached.target {
            return self.crashed(&attached.target);
        }
        if let Some(target) = self.targets.get_mut(&attached.target) {
            for frame in target.frames.values_mut().filter(|frame| Some(&frame.session) == session) {
                frame.world = None;
                frame.mute = true;
            }
            let of = EventOf { name: Some("frame".to_owned()), ..EventOf::default() };
            self.news.add(EventKind::Crash, "crashed", Some(&attached.target), of);
        }
    }

    fn frame_attached(&mut self, session: Option<&Arc<str>>, id: &str, parent: Option<String>) {
        let Some(session) = session.cloned() else { return };
        let Some(target) = self.target_of_session(Some(&session)) else { return };
        if target.frames.contains_key(id) {
            return;
        }
        if target.frames.len() >= MAX_FRAMES {
            target.frames_over += 1;
            return;
        }
        target.frames.insert(id.to_owned(), new_frame(parent, session, String::new()));
        target.new_document(id);
    }

    fn frame_navigated(&mut self, session: Option<&Arc<str>>, frame: page::Frame) {
        let Some(session) = session.cloned() else { return };
        self.visited.note(&frame.url);
        let Some(target) = self.target_of_session(Some(&session)) else { return };
        let url = frame.url + frame.url_fragment.as_deref().unwrap_or_default();
        if !target.frames.contains_key(&frame.id) {
            if target.frames.len() >= MAX_FRAMES {
                return;
            }
            target
                .frames
                .insert(frame.id.clone(), new_frame(frame.parent_id.clone(), session.clone(), String::new()));
        }
        // A new document takes the frames of the old one with it.
        let below: Vec<String> = target
            .frames
            .keys()
            .filter(|id| **id != frame.id && target.chain(id).contains(&frame.id))
            .cloned()
            .collect();
        for id in below {
            target.frames.remove(&id);
        }
        target.frame_navigations.remove(&frame.id);
        if frame.id == target.main {
            target.frame_navigations.clear();
            target.frames_over = 0;
        }
        target.new_document(&frame.id);
        if let Some(found) = target.frames.get_mut(&frame.id) {
            found.session = session;
            found.loader.clone_from(&frame.loader_id);
            found.url.clone_from(&url);
            found.name = cut(frame.name.as_deref().unwrap_or_default(), 256).into_owned();
        }
        if frame.id == target.main {
            target.crashed = false;
            target.dialog = None;
            target.url = url;
            let document = &mut target.document;
            let response = document.exchange(&frame.loader_id).cloned();
            document.status = response.as_ref().map(|response| response.status);
            document.redirects = response.as_ref().map_or(0, |response| response.redirects);
            document.moves.moving = false;
            if document
                .pending
                .as_ref()
                .is_none_or(|pending| pending.loader == frame.loader_id || pending.loader.is_empty())
            {
                document.pending = None;
            }
            document.loader = frame.loader_id;
            target.inflight.clear();
            target.quiet_since = Instant::now();
            let page_url = Some(address(&target.url));
            let (id, of) =
                (target.id.clone(), EventOf { page_url, same_document: Some(false), ..EventOf::default() });
            self.news.add(EventKind::Navigation, "committed", Some(&id), of);
        }
    }

    fn frame_removed(&mut self, session: Option<&Arc<str>>, id: &str) {
        let Some(target) = self.target_of_session(session) else { return };
        let gone: Vec<String> =
            target.frames.keys().filter(|f| target.chain(f).iter().any(|c| c == id)).cloned().collect();
        for frame in gone {
            if frame != target.main {
                target.frame_navigations.remove(&frame);
                target.frames.remove(&frame);
            }
        }
    }

    fn navigation_started(&mut self, session: Option<&Arc<str>>, started: page::FrameStartedNavigating) {
        let Some(target) = self.target_of_session(session) else { return };
        if started.frame_id == target.main {
            target.document.moves.begun += 1;
            target.document.moves.moving = true;
        }
        if started.navigation_type.to_lowercase().contains("samedocument") {
            return;
        }
        if started.frame_id == target.main {
            target.document.begun += 1;
            target.document.pending = Some(PendingNavigation { loader: started.loader_id, url: started.url });
        } else {
            target.frame_navigations.insert(started.frame_id, target.frames_begun);
            target.frames_begun += 1;
        }
    }

    /// Answers the frame to prime, when this is DOM ready.
    fn lifecycle(&mut self, session: Option<&Arc<str>>, event: &page::LifecycleEvent) -> Option<String> {
        let target = self.target_of_session(session)?;
        let frame = target.frames.get_mut(&event.frame_id)?;
        match event.name.as_str() {
            // `document.open` begins the same document again.
            "init" if frame.loader == event.loader_id => frame.lifecycle = Lifecycle::default(),
            "DOMContentLoaded" => {
                frame.lifecycle.dom = true;
                if !frame.primed {
                    frame.primed = true;
                    return Some(event.frame_id.clone());
                }
            }
            "load" => frame.lifecycle.load = true,
            _ => {}
        }
        None
    }

    fn world_created(&mut self, session: Option<&Arc<str>>, context: &runtime::ExecutionContext) {
        let Some(aux) = context.aux_data.as_ref() else { return };
        let Some(frame_id) = aux.frame_id.clone() else { return };
        if let (CAPTURE_WORLD, Some(session), false) = (context.name.as_str(), session, aux.is_default) {
            self.untold.insert(context.unique_id.as_str().into(), (session.clone(), context.id));
        }
        if context.name != WORLD && !aux.is_default {
            return;
        }
        let Some(target) = self.target_of_session(session) else { return };
        if let Some(frame) = target.frames.get_mut(&frame_id)
            && Some(&frame.session) == session
        {
            if context.name != WORLD {
                frame.page_world = Some(context.unique_id.as_str().into());
                return;
            }
            frame.world = Some(context.unique_id.as_str().into());
            frame.world_number = Some(context.id);
            frame.begun = false;
            frame.mute = false;
        }
    }

    /// Whether that context is a capture's.
    fn is_untold(&self, session: Option<&Arc<str>>, context: Option<i64>) -> bool {
        let (Some(session), Some(context)) = (session, context) else { return false };
        self.untold.values().any(|(of, number)| of == session && *number == context)
    }

    fn world_destroyed(&mut self, session: Option<&Arc<str>>, unique: &str) {
        self.untold.remove(unique);
        let Some(target) = self.target_of_session(session) else { return };
        for frame in target.frames.values_mut() {
            if frame.world.as_deref() == Some(unique) {
                frame.world = None;
            }
            if frame.page_world.as_deref() == Some(unique) {
                frame.page_world = None;
            }
        }
    }

    fn worlds_cleared(&mut self, session: Option<&Arc<str>>) {
        let Some(session) = session.cloned() else { return };
        self.untold.retain(|_, (of, _)| *of != session);
        let Some(target) = self.target_of_session(Some(&session)) else { return };
        for frame in target.frames.values_mut().filter(|frame| frame.session == session) {
            frame.world = None;
            frame.page_world = None;
        }
    }

    fn guard_reports(&mut self, session: Option<&Arc<str>>, payload: &str) -> serde_json::Result<()> {
        const REMEMBERED: usize = 32;
        let mut report: serde_json::Value = serde_json::from_str(payload)?;
        if report.get("print").is_some() {
            if self.target_of_session(session).is_some_and(|target| !target.printing) {
                self.tell(session, EventKind::Print, "asked", EventOf::default());
            }
            return Ok(());
        }
        let token = report.get("token").and_then(|token| token.as_str()).unwrap_or_default().to_owned();
        if self.reports.len() >= REMEMBERED {
            self.reports.pop_front();
        }
        let hit = report.get_mut("hit").map(serde_json::Value::take).unwrap_or_default();
        // A ref that was first given out here is one of the document's, which may be about to go.
        if let (Some(node), Some(target)) =
            (hit.get("ref").and_then(serde_json::Value::as_u64), self.target_of_session(session))
        {
            let next = u32::try_from(node.saturating_add(1)).unwrap_or(u32::MAX);
            target.next_ref = target.next_ref.max(next);
        }
        self.reports.push_back((token, hit));
        Ok(())
    }

    fn tell_log(&mut self, session: Option<&Arc<str>>, tell: impl FnOnce(&mut Log, Origin<'_>)) {
        let Some(session) = session else { return };
        if let Some((log, worker)) = self.log(session) {
            tell(log, Origin { session, worker });
        }
    }

    fn network_event(&mut self, session: Option<&Arc<str>>, event: &Event) -> serde_json::Result<()> {
        match event.method.as_str() {
            network::RequestWillBeSent::METHOD => {
                let sent: network::RequestWillBeSent = event.params()?;
                if sent.request.url.starts_with("data:") {
                    return Ok(());
                }
                self.tell_log(session, |log, from| log.asked(from, &sent));
                let Some(target) = self.target_of_session(session) else { return Ok(()) };
                if sent.kind.as_deref() == Some("Document") && sent.frame_id.as_deref() == Some(&target.main)
                {
                    let redirected = sent.redirect_response.is_some();
                    let asked = &sent.request;
                    target.document.asked(&sent.request_id, &asked.method, &asked.url, redirected);
                }
                // Streams never end; a page is quiet with them (report 43).
                if sent.kind.as_deref() == Some("EventSource") {
                    return Ok(());
                }
                target.inflight.insert(sent.request_id, sent.request.url);
            }
            network::ResponseReceived::METHOD => {
                let received: network::ResponseReceived = event.params()?;
                self.tell_log(session, |log, _| log.answered(&received.request_id, &received.response));
                let Some(target) = self.target_of_session(session) else { return Ok(()) };
                if received.kind == "Document" && received.frame_id.as_deref() == Some(&target.main) {
                    target.document.answered(&received.request_id, &received.response);
                }
            }
            network::LoadingFinished::METHOD => {
                let finished: network::LoadingFinished = event.params()?;
                let (id, at, bytes) =
                    (&finished.request_id, finished.timestamp, finished.encoded_data_length);
                self.tell_log(session, |log, from| log.finished(from, id, at, Some(bytes)));
                let Some(target) = self.target_of_session(session) else { return Ok(()) };
                target.request_ended(&finished.request_id);
            }
            network::LoadingFailed::METHOD => {
                let failed: network::LoadingFailed = event.params()?;
                self.tell_log(session, |log, from| log.failed(from, &failed));
                let Some(target) = self.target_of_session(session) else { return Ok(()) };
                if failed.kind == "Document" {
                    target.document.failed(&failed.request_id, failed.error_text);
                }
                target.request_ended(&failed.request_id);
            }
            network::DataReceived::METHOD => {
                let part: network::DataReceived = event.params()?;
                self.tell_log(session, |log, from| log.came(from, &part));
            }
            network::RequestServedFromCache::METHOD => {
                let served: network::RequestServedFromCache = event.params()?;
                self.tell_log(session, |log, _| log.remembered(&served.request_id));
            }
            network::WebSocketCreated::METHOD => {
                let created: network::WebSocketCreated = event.params()?;
                self.tell_log(session, |log, from| log.socket_begins(from, &created));
            }
            "Network.webSocketWillSendHandshakeRequest" => {
                let asks: network::WebSocketTold = event.params()?;
                self.tell_log(session, |log, _| log.socket_asks(&asks));
            }
            "Network.webSocketHandshakeResponseReceived" => {
                let answered: network::WebSocketTold = event.params()?;
                self.tell_log(session, |log, _| log.socket_answered(&answered));
            }
            "Network.webSocketFrameError" => {
                let failed: network::WebSocketTold = event.params()?;
                self.tell_log(session, |log, _| log.socket_failed(&failed));
            }
            "Network.webSocketClosed" => {
                let closed: network::WebSocketTold = event.params()?;
                self.tell_log(session, |log, from| log.socket_closed(from, &closed));
            }
            _ => {}
        }
        Ok(())
    }
}

pub(super) fn new_frame(parent: Option<String>, session: Arc<str>, url: String) -> Frame {
    Frame {
        parent,
        session,
        url,
        loader: String::new(),
        generation: 0,
        label: 0,
        name: String::new(),
        world: None,
        world_number: None,
        page_world: None,
        begun: false,
        base: 1,
        primed: false,
        placed: false,
        internals: false,
        mute: false,
        lifecycle: Lifecycle::default(),
    }
}

impl Target {
    /// A document came back from the back/forward cache: whole, and it will not load again.
    fn restored(&mut self, frame: &str) {
        if let Some(frame) = self.frames.get_mut(frame) {
            frame.lifecycle = Lifecycle { dom: true, load: true };
        }
    }

    fn request_ended(&mut self, id: &str) {
        if self.inflight.remove(id).is_some() && self.inflight.is_empty() {
            self.quiet_since = Instant::now();
        }
    }
}

impl Document {
    const REMEMBERED: usize = 8;

    /// The main document is asked for: at first, or again after a redirect.
    fn asked(&mut self, request: &str, method: &str, url: &str, redirected: bool) {
        let known = match self.exchanges.iter().rposition(|known| known.loader == request) {
            Some(at) => at,
            None => {
                if self.exchanges.len() >= Self::REMEMBERED {
                    self.exchanges.pop_front();
                }
                self.exchanges.push_back(Exchange { loader: request.to_owned(), ..Exchange::default() });
                self.exchanges.len() - 1
            }
        };
        let known = &mut self.exchanges[known];
        method.clone_into(&mut known.method);
        url.clone_into(&mut known.url);
        known.redirects += u32::from(redirected);
    }

    fn answered(&mut self, request: &str, response: &network::Response) {
        let status = u16::try_from(response.status).unwrap_or(0);
        if self.exchange(request).is_none() {
            self.asked(request, "", "", false);
        }
        if let Some(known) = self.exchanges.iter_mut().rev().find(|known| known.loader == request) {
            known.status = status;
            known.cached = response.from_disk_cache;
            known.media_type = cut(&response.mime_type, 128).into_owned();
            // The response can be told after the commit.
            if self.loader == request {
                self.status = Some(status);
                self.redirects = known.redirects;
            }
        }
    }

    fn failed(&mut self, request: &str, error: String) {
        if self.failures.len() >= Self::REMEMBERED {
            self.failures.pop_front();
        }
        self.failures.push_back((request.to_owned(), error));
    }

    /// How a loader's document was asked for and answered, whether it committed or not.
    pub fn exchange(&self, loader: &str) -> Option<&Exchange> {
        self.exchanges.iter().rev().find(|known| known.loader == loader)
    }

    /// The newest of them.
    pub fn last_exchange(&self) -> Option<&Exchange> {
        self.exchanges.back()
    }

    /// The network error that ended the shown document's own response.
    pub fn broken_off(&self) -> Option<&str> {
        self.failure_of(&self.loader)
    }

    /// Notes the true name of the network error that a loader ended with: the browser may know another.
    pub fn note_failure(&mut self, loader: &str, name: &str) {
        self.true_failure = Some((loader.to_owned(), name.to_owned()));
    }

    /// Why the browser shows its own page for an error, where that is known for certain.
    pub fn shown_failure(&self) -> Option<&str> {
        let noted = self.true_failure.as_ref().filter(|(loader, _)| *loader == self.loader);
        noted.map(|(_, name)| name.as_str())
    }

    /// The network error of a loader.
    pub fn failure_of(&self, loader: &str) -> Option<&str> {
        self.failures.iter().rev().find(|(l, _)| l == loader).map(|(_, error)| error.as_str())
    }
}
