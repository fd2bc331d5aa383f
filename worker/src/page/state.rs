//! The model itself: plain data, changed only by events.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use glass_proto::escape::cut;
use glass_proto::op::Ref;
use glass_proto::result::{DialogSeen, DownloadState, PopupSeen};
use serde_json::Value;

use super::revision::Revisions;

/// Most targets of a session (contract 7.1).
pub(crate) const MAX_TARGETS: usize = 32;
/// What the URL of a part of the browser's own begins with.
const VIEWER: &str = "chrome-extension:";
/// Most frames of a target (contract 7.1).
pub(super) const MAX_FRAMES: usize = 128;

/// Everything known of the browser's pages.
#[derive(Debug, Default)]
pub struct State {
    /// Targets by id.
    pub targets: HashMap<String, Target>,
    /// Ids in the order of their beginning.
    pub order: Vec<String>,
    /// The target that the session began with.
    pub first: Option<String>,
    /// The browser is somebody else's.
    pub(super) elsewhere: bool,
    /// Pages of it were seen to have Chromium's getters for roles and names.
    pub(super) getters: bool,
    /// Its pages, and whose they are.
    pub claims: super::claims::Claims,
    /// CDP sessions: which target and which frame they are the root of.
    pub(super) sessions: HashMap<Arc<str>, Attached>,
    /// What happened.
    pub news: super::news::News,
    /// Downloads, newest last.
    pub downloads: VecDeque<Download>,
    /// Downloads begun so far.
    pub downloads_begun: u64,
    /// Downloads ended so far.
    pub downloads_ended: u64,
    pub(super) dialogs: u64,
    /// File choosers opened so far.
    pub choosers_begun: u64,
    /// What each client selected.
    pub(super) selections: super::selection::Selections,
    /// Targets that were closed, newest last.
    pub(super) closed: VecDeque<ClosedTarget>,
    /// What all pages are told of their surroundings.
    pub emulation: super::emulation::Emulation,
    /// What is wanted of requests.
    pub(super) fetch: super::fetch::Wanted,
    /// Rules for requests.
    pub routes: super::routes::Routes,
    /// Origins that were shown.
    pub visited: super::visited::Visited,
    /// CDP sessions of workers, with the target that each belongs to.
    pub(super) workers: HashMap<Arc<str>, String>,
    /// Pictures that were taken.
    pub(super) shots: super::shots::Shots,
    /// Worlds that captures run in, by their unique ids: their CDP session and their number there.
    pub(super) untold: HashMap<Arc<str>, (Arc<str>, i64)>,
    /// Where the mouse was sent last, by CDP session, in CSS pixels of the viewport.
    pub(super) pointers: HashMap<String, (f64, f64)>,
    /// What guards said through the binding, newest last: token and what was hit.
    pub(super) reports: VecDeque<(String, Value)>,
    /// Counts targets, so that an operation can tell which began after it.
    pub(super) begun: u64,
}

/// A target that is gone.
#[derive(Clone, Debug)]
pub(super) struct ClosedTarget {
    pub(super) id: String,
    pub(super) opener: Option<String>,
    pub(super) url: String,
    pub(super) number: u64,
    /// Closed at once, since there were as many as may be.
    pub(super) refused: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Attached {
    pub(super) target: String,
    pub(super) root: String,
}

/// One page.
#[derive(Debug)]
pub struct Target {
    /// CDP's id, which is also what clients see.
    pub id: String,
    /// CDP session of the page itself.
    pub session: Arc<str>,
    /// The size that it was given by itself.
    pub size: Option<super::emulation::Size>,
    /// URL as the browser last said.
    pub url: String,
    /// Title as the browser last said.
    pub title: String,
    /// The target that opened it.
    pub opener: Option<String>,
    /// Its renderer died.
    pub crashed: bool,
    /// Id of the main frame.
    pub main: String,
    /// Frames by id.
    pub frames: HashMap<String, Frame>,
    /// The open dialog.
    pub dialog: Option<Dialog>,
    /// The dialog of another page that this one was found to wait for.
    pub(super) waits_for: Option<String>,
    /// The document of the main frame.
    pub document: Document,
    /// Since when it owes an answer to the question whether it lives.
    pub asked: Option<Instant>,
    /// Its console, errors and requests.
    pub log: super::log::Log,
    /// Requests under way: URLs by id.
    pub(super) inflight: HashMap<String, String>,
    /// When the set of requests last became empty, or last was not.
    pub(super) quiet_since: Instant,
    /// Navigations of child frames under way, by frame, with their number.
    pub(super) frame_navigations: HashMap<String, u64>,
    /// Navigations of child frames begun so far.
    pub frames_begun: u64,
    /// File choosers that it opened, the newest last.
    pub(super) choosers: Vec<super::choosers::Chooser>,
    /// Downloads that the page asked for so far; they begin once the server answers.
    pub downloads_asked: u64,
    /// Frames that were left out since there were too many.
    pub frames_over: u64,
    pub(super) labels: u32,
    pub(super) next_ref: u32,
    pub(super) generations: u64,
    /// Revisions seen so far.
    pub revisions: Revisions,
    /// Order among all targets.
    pub(super) number: u64,
    /// Popups that no observation has told of yet.
    pub unreported: Vec<PopupSeen>,
    /// What its clients saw of it last.
    pub observed: Observed,
    /// Rows that were told of it, for refs whose document went.
    pub memory: super::memory::Memory,
    /// What a drag carries that the browser told of and did not begin itself.
    pub drag: Option<Arc<serde_json::value::RawValue>>,
    /// Which keys are down.
    pub device: crate::input::Device,
    /// Last use by an operation.
    pub(super) used: Instant,
    /// Glass itself prints it.
    pub printing: bool,
    /// The accessibility cache is switched off until the next use.
    pub(super) dormant: bool,
}

/// The rows of each client's last observation of a target.
#[derive(Debug, Default)]
pub struct Observed(VecDeque<(String, Vec<Ref>)>);

impl Observed {
    /// Clients whose last observation is kept.
    const CLIENTS: usize = 16;

    /// Notes what a client sees now.
    pub fn note(&mut self, client: &str, rows: Vec<Ref>) {
        self.0.retain(|(known, _)| known != client);
        if self.0.len() >= Self::CLIENTS {
            self.0.pop_front();
        }
        self.0.push_back((client.to_owned(), rows));
    }

    /// The rows of a client's last observation, in its order.
    pub fn rows(&self, client: &str) -> Option<&[Ref]> {
        self.0.iter().find(|(known, _)| known == client).map(|(_, rows)| rows.as_slice())
    }
}

/// The document of a main frame.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// CDP's loader id.
    pub loader: String,
    /// HTTP status of its response.
    pub status: Option<u16>,
    /// Redirects before it.
    pub redirects: u32,
    /// A navigation that has begun and not committed: loader and URL.
    pub pending: Option<PendingNavigation>,
    /// How documents were asked for and answered, the newest last; also those that did not commit (204, downloads).
    pub(super) exchanges: VecDeque<Exchange>,
    /// The network error that a loader ended with, by its true name, and the loader.
    pub(super) true_failure: Option<(String, String)>,
    /// Failures of loaders, the newest last.
    pub(super) failures: VecDeque<(String, String)>,
    /// Navigations to other documents begun so far.
    pub begun: u64,
    /// Navigations of every kind.
    pub moves: Moves,
}

/// How a document was asked for, and the answer.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    /// CDP's loader id.
    pub loader: String,
    /// The HTTP method of the last request, after redirects; empty when the request was not seen.
    pub method: String,
    /// The URL of the last request, after redirects; empty when the request was not seen.
    pub url: String,
    /// HTTP status; 0 while there is none.
    pub status: u16,
    /// Redirects on the way.
    pub redirects: u32,
    /// The browser's cache answered.
    pub cached: bool,
    /// Media type of the answer.
    pub media_type: String,
}

/// Navigations of a main frame of every kind, also those that keep the document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moves {
    /// Begun so far.
    pub begun: u64,
    /// One is under way.
    pub moving: bool,
    /// Changes of the URL within a document so far.
    pub within: u64,
}

/// A navigation under way.
#[derive(Clone, Debug)]
pub struct PendingNavigation {
    /// CDP's loader id.
    pub loader: String,
    /// Where to.
    pub url: String,
}

/// One frame.
#[derive(Debug)]
pub struct Frame {
    pub(super) parent: Option<String>,
    /// CDP session that its document lives in.
    pub(super) session: Arc<str>,
    /// URL of its document.
    pub url: String,
    /// Its name attribute.
    pub name: String,
    pub(super) loader: String,
    /// Grows with every document of the target.
    pub generation: u64,
    /// Number in refs: 0 for the main frame; a new one for every document of a child frame.
    pub label: u32,
    /// Unique id of the isolated world's context.
    pub(super) world: Option<Arc<str>>,
    /// The same context's number, which is unique in its process only.
    pub(super) world_number: Option<i64>,
    /// Unique id of the page's own context.
    pub(super) page_world: Option<Arc<str>>,
    /// The engine was told its first ref.
    pub(super) begun: bool,
    /// First ref of this document.
    pub(super) base: u32,
    pub(super) primed: bool,
    /// The parent's engine knows which element holds this frame.
    pub(super) placed: bool,
    /// An element in it has a role by its internals alone, so that the browser must be asked for its states.
    pub(super) internals: bool,
    /// No world came in time; it is not waited for again.
    pub(super) mute: bool,
    /// How far the document has come.
    pub lifecycle: Lifecycle,
}

/// What a frame that cannot be read is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blank {
    /// Its first document has been asked for and has not come.
    Loading,
    /// Nothing was asked for: a lazy frame that was never near the viewport.
    NotLoaded,
    /// Its document could not be had, and the browser shows an error in its place.
    Failed,
    /// The browser's own viewer is in it, which is no page: of a PDF.
    Viewer,
    /// It does not answer.
    Silent,
    /// It shows another document by now, or went.
    Replaced,
}

/// How far a document has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    /// DOMContentLoaded.
    pub dom: bool,
    /// load.
    pub load: bool,
}

/// An open dialog.
#[derive(Clone, Debug)]
pub struct Dialog {
    /// What clients see.
    pub seen: DialogSeen,
    /// CDP session that it was told on.
    pub session: Arc<str>,
}

/// A download.
#[derive(Clone, Debug)]
pub struct Download {
    /// CDP's id.
    pub id: String,
    /// The target whose frame began it.
    pub target: Option<String>,
    /// The name that the site suggests.
    pub name: String,
    /// Where it comes from.
    pub url: String,
    /// How it stands.
    pub state: DownloadState,
    /// Why it failed, where that is known.
    pub reason: Option<&'static str>,
    /// Bytes so far.
    pub received: u64,
    /// Bytes that the site announces; 0 when it does not.
    pub total: u64,
    /// A client has taken it.
    pub taken: bool,
    /// We told the browser to give it up.
    pub(super) given_up: bool,
    /// Order among all that began.
    pub number: u64,
    /// Order among all that ended.
    pub ended: Option<u64>,
}

/// Names one document of one frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FrameKey {
    /// The target.
    pub target: String,
    /// The frame.
    pub frame: String,
    /// Its document.
    pub generation: u64,
    /// Its number in refs.
    pub label: u32,
}

impl State {
    /// The target of that id.
    pub fn target(&self, id: &str) -> Option<&Target> {
        self.targets.get(id)
    }

    /// Whether there is a target of that id, or was one of late.
    pub fn knows_target(&self, id: &str) -> bool {
        self.targets.contains_key(id) || self.closed.iter().any(|gone| gone.id == id)
    }

    pub(super) fn target_of_session(&mut self, session: Option<&Arc<str>>) -> Option<&mut Target> {
        let attached = self.sessions.get(session?)?;
        self.targets.get_mut(&attached.target)
    }

    /// What is kept of the target of a CDP session, and whether that is a worker's.
    pub(super) fn log(&mut self, session: &Arc<str>) -> Option<(&mut super::log::Log, bool)> {
        let worker = self.workers.get(session);
        let target = worker.or_else(|| self.sessions.get(session).map(|attached| &attached.target))?;
        self.targets.get_mut(target).map(|target| (&mut target.log, worker.is_some()))
    }

    /// The size that the page of a CDP session was given by itself.
    pub(super) fn own_size(&self, session: &str) -> Option<super::emulation::Size> {
        self.sessions.get(session).and_then(|attached| self.targets.get(&attached.target)?.size)
    }

    /// Notes where the mouse is sent on a CDP session.
    pub fn note_pointer(&mut self, session: &str, at: (f64, f64)) {
        self.pointers.insert(session.to_owned(), at);
    }

    /// Notes that nobody can say where the page sees the mouse.
    pub fn lose_pointer(&mut self, session: &str) {
        self.pointers.remove(session);
    }

    /// Where the mouse was sent last on a CDP session; nowhere yet, or not known.
    pub fn pointer(&self, session: &str) -> Option<(f64, f64)> {
        self.pointers.get(session).copied()
    }

    /// The keys of a target.
    pub fn device(&mut self, id: &str) -> Option<&mut crate::input::Device> {
        self.targets.get_mut(id).map(|target| &mut target.device)
    }

    /// What a guard let through first, as it said when it happened. The answer outlives the document.
    pub fn reported(&self, token: &str) -> Option<&Value> {
        self.reports.iter().rev().find(|(of, hit)| of == token && !hit.is_null()).map(|(_, hit)| hit)
    }

    /// The number that the next target will get.
    pub fn mark(&self) -> u64 {
        self.begun
    }

    /// Open targets that `opener` opened since `mark`, itself or by way of one that it opened, and those without an
    /// opener: a link that a person opens beside has none.
    pub fn popups_since(&self, opener: &str, mark: u64) -> Vec<&Target> {
        let opened = self.opened_since(opener, mark);
        opened.iter().filter_map(|popup| self.targets.get(&popup.target_id)).collect()
    }

    /// The same with those that are closed again, in the order of their beginning.
    pub fn opened_since(&self, opener: &str, mark: u64) -> Vec<PopupSeen> {
        let open = self
            .targets
            .values()
            .map(|target| (target.number, &target.id, &target.opener, &target.url, None));
        let closed = self
            .closed
            .iter()
            .map(|gone| (gone.number, &gone.id, &gone.opener, &gone.url, Some(gone.refused)));
        let mut all: Vec<_> = open.chain(closed).filter(|(number, ..)| *number >= mark).collect();
        all.sort_unstable_by_key(|(number, ..)| *number);
        let mut found: Vec<PopupSeen> = Vec::new();
        for (_, id, by, url, closed) in all {
            let ours = by
                .as_deref()
                .is_none_or(|by| by == opener || found.iter().any(|popup| popup.target_id == by));
            if ours {
                found.push(PopupSeen {
                    target_id: id.clone(),
                    opener_id: by.clone(),
                    page_url: (!url.is_empty()).then(|| cut(url, 4096).into_owned()),
                    closed: closed.is_some(),
                    reason: (closed == Some(true)).then(|| "target_limit".to_owned()),
                });
            }
        }
        found
    }
}

impl Frame {
    /// The frame that it lies in.
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// CDP session that its document lives in.
    pub fn session(&self) -> &Arc<str> {
        &self.session
    }

    /// Unique id of the page's own context, once it is made.
    pub fn page_world(&self) -> Option<&Arc<str>> {
        self.page_world.as_ref()
    }

    /// No world came in time; it is not waited for again.
    pub fn is_mute(&self) -> bool {
        self.mute
    }
}

impl Target {
    /// The main frame.
    pub fn main_frame(&self) -> Option<&Frame> {
        self.frames.get(&self.main)
    }

    /// Key of a frame's present document.
    pub fn key(&self, frame: &str) -> Option<FrameKey> {
        self.frames.get(frame).map(|found| FrameKey {
            target: self.id.clone(),
            frame: frame.to_owned(),
            generation: found.generation,
            label: found.label,
        })
    }

    /// Keys of all frames, the main one first, then in the order of their labels.
    pub fn keys(&self) -> Vec<FrameKey> {
        let mut keys: Vec<_> = self.frames.keys().filter_map(|id| self.key(id)).collect();
        keys.sort_by_key(|key| key.label);
        keys
    }

    /// The frame itself and those that it lies in, innermost first.
    pub fn chain(&self, frame: &str) -> Vec<String> {
        let mut chain = vec![frame.to_owned()];
        while let Some(parent) =
            chain.last().and_then(|id| self.frames.get(id)).and_then(|f| f.parent.clone())
        {
            if chain.contains(&parent) || chain.len() > MAX_FRAMES {
                break;
            }
            chain.push(parent);
        }
        chain
    }

    /// Labels of the frames among `labels` and of all that lie in them.
    pub fn with_inner(&self, labels: &HashSet<u32>) -> HashSet<u32> {
        let is_in = |id: &String| {
            self.chain(id)
                .iter()
                .any(|outer| self.frames.get(outer).is_some_and(|f| labels.contains(&f.label)))
        };
        let found = self.frames.iter().filter(|(id, _)| is_in(id));
        found.map(|(_, frame)| frame.label).collect()
    }

    /// The frame that a frame lies in.
    pub fn frame_above(&self, frame: &str) -> Option<&str> {
        self.frames.get(frame)?.parent()
    }

    /// Whether the frame is the browser's own viewer, or lies in it.
    pub fn in_viewer(&self, frame: &str) -> bool {
        let own = |id: &String| self.frames.get(id).is_some_and(|frame| frame.url.starts_with(VIEWER));
        self.chain(frame).iter().any(own)
    }

    /// What a frame that cannot be read is doing.
    pub fn blank(&self, key: &FrameKey) -> Blank {
        match self.frames.get(&key.frame) {
            Some(frame) if frame.generation == key.generation => {
                if self.in_viewer(&key.frame) {
                    Blank::Viewer
                } else if self.frame_navigations.contains_key(&key.frame) {
                    Blank::Loading
                } else if frame.url.is_empty() {
                    Blank::NotLoaded
                } else if frame.url.starts_with("chrome-error:") {
                    Blank::Failed
                } else {
                    Blank::Silent
                }
            }
            _ => Blank::Replaced,
        }
    }

    /// Whether it is known which element of its parent holds the frame of that label.
    pub fn is_placed(&self, label: u32) -> bool {
        self.frames.values().any(|frame| frame.label == label && frame.placed)
    }

    /// Label of the frame that the one of this label lies in.
    pub fn parent_label(&self, label: u32) -> Option<u32> {
        let inner = self.frames.values().find(|frame| frame.label == label)?;
        self.frames.get(inner.parent.as_ref()?).map(|outer| outer.label)
    }

    /// Whether a child frame's navigation that began at or after `mark` has not committed.
    pub fn frame_navigates_since(&self, mark: u64) -> bool {
        self.frame_navigations.values().any(|number| *number >= mark)
    }

    /// The first ref of a frame's present document.
    pub fn first_ref(&self, frame: &str) -> u32 {
        self.frames.get(frame).map_or(1, |frame| frame.base)
    }

    /// Since when no request has been under way. None while one is.
    pub fn quiet_since(&self) -> Option<Instant> {
        self.inflight.is_empty().then_some(self.quiet_since)
    }

    /// URLs of the requests under way.
    pub fn open_requests(&self) -> impl Iterator<Item = &str> {
        self.inflight.values().map(String::as_str)
    }

    /// Requests under way.
    pub fn pending(&self) -> usize {
        self.inflight.len()
    }

    /// A new document in a frame: what was known of the old one no longer holds.
    pub(super) fn new_document(&mut self, frame: &str) {
        self.generations += 1;
        let generation = self.generations;
        let next_ref = self.next_ref;
        let is_main = frame == self.main;
        if !is_main {
            self.labels += 1;
        }
        let label = if is_main { 0 } else { self.labels };
        if let Some(found) = self.frames.get_mut(frame) {
            found.generation = generation;
            found.label = label;
            found.begun = false;
            // Numbers of a main frame's refs go on from document to document, so that a ref of an old one can
            // never name a node of a new one. A child frame has a new label instead.
            found.base = if is_main { next_ref } else { 1 };
            found.primed = false;
            found.placed = false;
            found.internals = false;
            found.mute = false;
            found.lifecycle = Lifecycle::default();
        }
    }
}
