//! Setting up every attached target before its first script runs (DESIGN 6, 7).

use std::sync::Arc;

use glass_proto::escape::cut;

use super::Pages;
use super::emulation::Part;
use super::events::{WORLD, new_frame};
use super::state::MAX_FRAMES;
use crate::cdp::CdpError;
use crate::cdp::types::{accessibility, browser, emulation, log, network, page, runtime, target};
use crate::chromium::Browser;
use crate::injected;
use crate::spool::Spool;

/// What the browser keeps of bodies for each CDP session: enough for those that are asked for soon.
const BODIES: network::Enable = network::Enable {
    max_total_buffer_size: Some(32 * 1024 * 1024),
    max_resource_buffer_size: Some(8 * 1024 * 1024),
    max_post_data_size: Some(0),
};

/// Only pages are attached at the browser's level; frames and workers come through their page.
pub(super) const PAGES: &[target::FilterEntry<'static>] = &[
    target::FilterEntry { kind: Some("page"), exclude: false },
    target::FilterEntry { kind: None, exclude: true },
];

/// Through it guards say what they saw, before the page can go away.
pub(super) const BINDING: runtime::AddBinding<'static> =
    runtime::AddBinding { name: injected::REPORT, execution_context_name: Some(WORLD) };

impl Pages {
    /// Attaches to every page that is there or comes, and waits until the first one is set up.
    ///
    /// # Errors
    /// The browser's own, when it goes or refuses.
    pub async fn begin(&self, browser: Arc<Browser>, spool: &str) -> Result<(), CdpError> {
        if self.inner.browser.set(browser).is_err() {
            return Ok(());
        }
        match Spool::open(std::path::Path::new(spool)) {
            Ok(directory) => {
                drop(self.inner.spool.set(directory));
                self.inner.uploads.lie_in(std::path::Path::new(spool).join("uploads"));
            }
            // Downloads are told all the same; taking one fails, and says so.
            Err(error) => tracing::warn!(%error, "the spool cannot be opened"),
        }
        let client = self.client();
        client
            .send(
                None,
                browser::SetDownloadBehavior {
                    behavior: browser::DownloadBehavior::AllowAndName,
                    browser_context_id: None,
                    download_path: Some(spool),
                    events_enabled: true,
                },
            )
            .await?;
        self.grant().await?;
        client.send(None, target::SetDiscoverTargets { discover: true, filter: Some(PAGES) }).await?;
        client
            .send(
                None,
                target::SetAutoAttach {
                    auto_attach: true,
                    wait_for_debugger_on_start: true,
                    flatten: true,
                    filter: Some(PAGES),
                },
            )
            .await?;
        let mut moved = self.inner.moved.subscribe();
        loop {
            let first = self.state().order.first().cloned();
            if first.is_some_and(|id| self.state().is_ready(&id)) {
                return Ok(());
            }
            tokio::select! {
                _ = moved.changed() => {}
                gone = client.closed() => return Err(CdpError::Closed(gone)),
            }
        }
    }

    pub(super) fn attached(&self, parent: Option<&Arc<str>>, attached: &target::AttachedToTarget) {
        let session: Arc<str> = attached.session_id.as_str().into();
        match attached.target_info.kind.as_str() {
            "page" => {
                let full = {
                    let mut state = self.state();
                    let full = state.targets.len() >= self.max_targets();
                    if !full {
                        state.add_target(session.clone(), &attached.target_info);
                    }
                    full
                };
                if full {
                    // Over its bound a new target is closed (contract 7.1).
                    tracing::warn!(limit = self.max_targets(), "a page was closed: too many targets");
                    self.state().refuse_target(&attached.target_info);
                    // Whoever opened it stands still until it may go on.
                    drop(self.start(&session, runtime::RunIfWaitingForDebugger {}));
                    if let Some(browser) = self.browser() {
                        let client = browser.client();
                        if browser.is_elsewhere() {
                            let detach = target::DetachFromTarget { session_id: Some(&session) };
                            drop(client.start_send(None, detach));
                        } else {
                            let close = target::CloseTarget { target_id: &attached.target_info.target_id };
                            drop(client.start_send(None, close));
                        }
                    }
                    return;
                }
                self.begin_with(&session, Part::Page);
            }
            "iframe" => {
                self.state().add_frame_session(parent, session.clone(), &attached.target_info);
                self.begin_with(&session, Part::Frame);
            }
            // A page aside is set up by who made it.
            "other" if parent.is_none() => {}
            // Workers are not driven; they are told what pages are told, and must not wait for us.
            _ => {
                {
                    let mut state = self.state();
                    let owner =
                        parent.and_then(|parent| state.sessions.get(parent)).map(|of| of.target.clone());
                    state.workers.insert(session.clone(), owner.unwrap_or_default());
                }
                drop(self.start(&session, runtime::Enable {}));
                drop(self.start(&session, log::Enable {}));
                drop(self.start(&session, BODIES));
                drop(self.emulate_in(&session, Part::Worker, false));
                self.stop_requests(&session);
                drop(self.start(&session, runtime::RunIfWaitingForDebugger {}));
            }
        }
    }

    /// Sets up what was attached just now. A page of somebody else's browser has its frames already, and they must be known
    /// before their worlds are told.
    fn begin_with(&self, session: &str, part: Part) {
        if !self.is_elsewhere() {
            return self.set_up(session, part);
        }
        drop(self.start(session, page::Enable {}));
        let Some(tree) = self.start(session, page::GetFrameTree {}) else { return };
        let (pages, session) = (self.clone(), Arc::<str>::from(session));
        tokio::spawn(async move {
            if let Ok(reply) = tree.await {
                pages.state().known_frames(&session, reply.frame_tree, true);
            }
            pages.set_up(&session, part);
        });
    }

    /// Queues everything in one go; the browser runs it in this order before the page's first script.
    fn set_up(&self, session: &str, part: Part) {
        drop(self.start(session, page::Enable {}));
        drop(self.start(session, page::SetLifecycleEventsEnabled { enabled: true }));
        drop(self.start(session, page::SetInterceptFileChooserDialog { enabled: true }));
        drop(self.start(session, BINDING));
        drop(self.start(
            session,
            page::AddScriptToEvaluateOnNewDocument {
                source: injected::ENGINE,
                world_name: Some(WORLD),
                run_immediately: true,
                include_command_line_api: false,
            },
        ));
        drop(self.start(session, runtime::Enable {}));
        drop(self.start(session, log::Enable {}));
        drop(self.start(session, BODIES));
        // Where a person sits, prompts are theirs.
        if !self.is_elsewhere() {
            self.deny_prompts(session);
        }
        drop(self.emulate_in(session, part, false));
        self.stop_requests(session);
        drop(self.start(session, emulation::SetFocusEmulationEnabled { enabled: true }));
        if self.is_elsewhere() {
            self.learn_getters(session);
        } else {
            drop(self.start(session, accessibility::Enable {}));
        }
        drop(self.start(
            session,
            target::SetAutoAttach {
                auto_attach: true,
                wait_for_debugger_on_start: true,
                flatten: true,
                filter: None,
            },
        ));
        drop(self.start(session, runtime::RunIfWaitingForDebugger {}));
        self.learn_frames(session);
    }

    /// Frames that were there before we attached.
    fn learn_frames(&self, session: &str) {
        let Some(tree) = self.start(session, page::GetFrameTree {}) else { return };
        let (pages, session) = (self.clone(), Arc::<str>::from(session));
        tokio::spawn(async move {
            if let Ok(reply) = tree.await {
                pages.state().known_frames(&session, reply.frame_tree, false);
                pages.inner.moved.send_modify(|count| *count += 1);
            }
        });
    }

    /// Whether somebody else's browser has the getters for roles and names; without them no cache is of use.
    fn learn_getters(&self, session: &str) {
        let asked = runtime::Evaluate {
            expression: "'computedRole' in Element.prototype",
            silent: true,
            return_by_value: true,
            ..runtime::Evaluate::default()
        };
        let Some(asked) = self.start(session, asked) else { return };
        let (pages, session) = (self.clone(), session.to_owned());
        tokio::spawn(async move {
            let answer = asked.await.ok().and_then(|answer| answer.result.value);
            if answer.is_some_and(|value| value.get() == "true") {
                pages.state().getters = true;
                drop(pages.start(&session, accessibility::Enable {}));
                drop(pages.start(&session, accessibility::GetRootAXNode { frame_id: None }));
            }
        });
    }

    /// Whether the accessibility cache is of use.
    pub(super) fn uses_cache(&self) -> bool {
        !self.is_elsewhere() || self.state().getters
    }

    /// Builds the accessibility cache of one document, without which roles and names cost a tree each (DESIGN 6).
    pub(super) fn prime(&self, session: &str, frame: &str) {
        if !self.uses_cache() {
            return;
        }
        drop(self.start(session, accessibility::GetRootAXNode { frame_id: Some(frame) }));
    }
}

impl super::State {
    /// Whether the engine of the target's main frame can be called.
    pub(crate) fn is_ready(&self, id: &str) -> bool {
        self.target(id).and_then(|t| t.main_frame()).is_some_and(|frame| frame.world.is_some())
    }

    /// Takes what the browser says of the frames of a session, and with `all` those that no event told of.
    fn known_frames(&mut self, session: &Arc<str>, tree: page::FrameTree, all: bool) {
        let Some(attached) = self.sessions.get(session) else { return };
        let is_page = attached.root == attached.target;
        let Some(target) = self.targets.get_mut(&attached.target) else { return };
        // A page that was prerendered keeps the id of its tab, and has another main frame.
        if is_page && tree.frame.id != target.main && tree.frame.parent_id.is_none() {
            if let Some(frame) = target.frames.remove(&target.main) {
                target.frames.entry(tree.frame.id.clone()).or_insert(frame);
            }
            target.main.clone_from(&tree.frame.id);
        }
        let mut open = vec![tree];
        while let Some(tree) = open.pop() {
            let id = &tree.frame.id;
            if all && !target.frames.contains_key(id) && target.frames.len() < MAX_FRAMES {
                let frame = new_frame(tree.frame.parent_id.clone(), session.clone(), String::new());
                target.frames.insert(id.clone(), frame);
                target.new_document(id);
            }
            // Events that came meanwhile know better.
            if let Some(frame) = target.frames.get_mut(&tree.frame.id)
                && frame.loader.is_empty()
            {
                frame.loader = tree.frame.loader_id.clone();
                frame.url = tree.frame.url.clone();
                frame.name = cut(tree.frame.name.as_deref().unwrap_or_default(), 256).into_owned();
                if tree.frame.parent_id.is_some() {
                    frame.parent.clone_from(&tree.frame.parent_id);
                }
                if target.main == tree.frame.id {
                    target.document.loader = tree.frame.loader_id;
                }
            }
            open.extend(tree.child_frames.into_iter().rev());
        }
    }
}
