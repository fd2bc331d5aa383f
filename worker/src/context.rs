//! What a handler works with: its target, its deadline, the mark that says whether anything was sent, and what has
//! to be undone when it does not end by itself.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{CallOptions, Facts};
use glass_proto::outcome::{Dispatched, Progress};
use glass_proto::result::DialogSeen;
use glass_proto::secret::SecretName;
use glass_proto::wire::worker;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::input::Held;
use crate::journal::Journal;
use crate::page::{EngineError, FrameKey, Halt, Pages};

/// What a handler gives beside its result.
#[derive(Debug)]
pub enum Notice {
    /// Something that can have an effect is about to be sent.
    Dispatched,
    /// How far a batch is.
    Progress {
        /// Steps that are done.
        done: u32,
        /// Of how many.
        total: u32,
        /// The operation of the step that runs.
        operation: &'static str,
    },
    /// A piece of a file that belongs to the result, of at most [`glass_proto::wire::CHUNK`] bytes.
    Piece {
        /// The file's name.
        name: String,
        /// Its next bytes.
        data: Vec<u8>,
        /// Whether the file ends here.
        last: bool,
    },
    /// What a capture took. It goes nowhere but to the vault.
    Captured(Vec<worker::Secret>),
    /// A file that belongs to the result.
    Artifact {
        /// Its name.
        name: String,
        /// Its media type.
        media_type: Cow<'static, str>,
        /// Its bytes.
        data: Vec<u8>,
    },
}

/// Values that an operation types without being told them, wiped when it ends.
#[derive(Debug, Default)]
pub struct Secrets(Vec<worker::Secret>);

impl Secrets {
    /// What the daemon gave along.
    pub fn new(given: Vec<worker::Secret>) -> Self {
        Self(given)
    }

    /// The value of that name.
    ///
    /// # Errors
    /// It was not given along.
    pub fn value(&self, name: &SecretName) -> Result<&str, OpError> {
        let given = self.0.iter().find(|secret| secret.name == name.as_str());
        given.and_then(|secret| std::str::from_utf8(&secret.value).ok()).ok_or_else(|| {
            OpError::invalid(format!("there is no secret {name}"), "list-secrets names what there is")
                .reason("no_such_secret")
        })
    }
}

/// One running operation.
#[derive(Debug)]
pub struct Context {
    /// The pages of the session.
    pub pages: Pages,
    /// The target's id.
    pub target: String,
    /// What every operation takes.
    pub options: CallOptions,
    /// Who asks, as far as the daemon tells clients apart. What a client saw last belongs to it.
    pub client: String,
    /// Whether the answer leaves out what fields hold (contract 10.2).
    pub hide_values: bool,
    /// The secrets that it names, for it alone.
    pub secrets: Arc<Secrets>,
    /// The operation's facts.
    pub facts: &'static Facts,
    /// When a handler gives up by itself, to answer with what it knows.
    pub soft: Instant,
    /// When it is cut off.
    pub hard: Instant,
    /// Names this operation in the page's guards.
    pub token: String,
    pub(crate) frame: Arc<Mutex<Option<FrameKey>>>,
    pub(crate) notices: mpsc::Sender<Notice>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) cancel: CancellationToken,
    pub(crate) sent: Arc<AtomicBool>,
    pub(crate) undo: Arc<Mutex<Undo>>,
    pub(crate) end: CancellationToken,
}

/// What must be undone when an operation ends before its time (contract 2.8, 5.7).
#[derive(Debug, Default)]
pub struct Undo {
    /// Buttons and keys held down.
    pub held: Held,
    /// CDP session whose drags the browser tells of instead of beginning them.
    pub drags: Option<Arc<str>>,
    /// CDP session with a composition that has not ended.
    pub composing: Option<Arc<str>>,
    /// Documents whose guard is armed.
    pub armed: Vec<FrameKey>,
    /// Waits in documents.
    pub waits: Vec<(FrameKey, String)>,
    /// CDP session whose script is ours.
    pub evaluating: Option<Arc<str>>,
}

impl Undo {
    /// Notes that a document's guard is armed.
    pub fn arm(&mut self, key: &FrameKey) {
        if !self.armed.contains(key) {
            self.armed.push(key.clone());
        }
    }
}

impl Context {
    /// Marks that something with an effect goes out now, where it survives this process, and lets the news leave first.
    ///
    /// The news passes three tasks before it is on the socket: the operation's, the stream's, the connection's.
    pub async fn dispatching(&self) {
        if self.facts.targeted {
            self.pages.state().news.begins(&self.target, self.execution());
        }
        if !self.sent.swap(true, Ordering::AcqRel) {
            if let Err(error) = self.journal.note(self.execution()) {
                tracing::error!(%error, "an execution could not be noted before it was sent");
            }
            // A receiver that is gone means a cancel, which ends this future at its next await.
            let _ = self.notices.send(Notice::Dispatched).await;
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Tells whoever waits for a batch how far it is.
    pub(crate) async fn step_begins(&self, done: u32, total: u32, operation: &'static str) {
        // A receiver that is gone means a cancel, which ends the step.
        let _ = self.notices.send(Notice::Progress { done, total, operation }).await;
    }

    /// Sends a file that belongs to the result.
    pub(crate) async fn send_file(
        &self,
        name: &str,
        media_type: impl Into<Cow<'static, str>>,
        data: Vec<u8>,
    ) {
        let notice = Notice::Artifact { name: self.file_name(name), media_type: media_type.into(), data };
        // A receiver that is gone means a cancel, which ends this future at its next await.
        let _ = self.notices.send(notice).await;
    }

    /// Under which name a file travels: that of a step of a batch begins with the step's number.
    pub(crate) fn file_name(&self, name: &str) -> String {
        self.token.split_once('.').map_or_else(|| name.to_owned(), |(_, step)| format!("{step}/{name}"))
    }

    /// The attempt that it is, or is a step of: a step's token is that of its batch with a number.
    pub(crate) fn execution(&self) -> &str {
        self.token.split_once('.').map_or(self.token.as_str(), |(whole, _)| whole)
    }

    /// The frame's document that this operation is confined to (contract 7.1). `None`: locators look into every frame.
    pub fn frame(&self) -> Option<FrameKey> {
        self.frame.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_frame(&self, frame: Option<FrameKey>) {
        *self.frame.lock().unwrap_or_else(PoisonError::into_inner) = frame;
    }

    /// Whether locators look into this frame.
    pub fn looks_into(&self, key: &FrameKey) -> bool {
        self.frame().is_none_or(|frame| frame == *key)
    }

    /// The frames that are read: all, or the one that this operation is confined to with those in it.
    pub fn readable(&self) -> Vec<FrameKey> {
        let state = self.pages.state();
        let Some(target) = state.target(&self.target) else { return Vec::new() };
        let mut keys = target.keys();
        if let Some(frame) = self.frame() {
            keys.retain(|key| *key != frame && target.chain(&key.frame).contains(&frame.frame));
            keys.insert(0, frame);
        }
        keys
    }

    /// The same operation at work on another target: its deadline, its mark, its undoing.
    pub(crate) fn of_target(&self, target: &str) -> Self {
        Self {
            pages: self.pages.clone(),
            target: target.to_owned(),
            client: self.client.clone(),
            hide_values: self.hide_values,
            secrets: self.secrets.clone(),
            options: self.options.clone(),
            facts: self.facts,
            soft: self.soft,
            hard: self.hard,
            token: self.token.clone(),
            frame: Arc::default(),
            notices: self.notices.clone(),
            journal: self.journal.clone(),
            cancel: self.cancel.clone(),
            sent: self.sent.clone(),
            undo: self.undo.clone(),
            end: self.end.clone(),
        }
    }

    /// The same operation at the whole page of a target: no frame, no container, no guard.
    pub(crate) fn whole_page(&self, target: &str) -> Self {
        let options = CallOptions {
            expected_revision: None,
            guard_scope: None,
            scope: None,
            frame: Vec::new(),
            frame_id: None,
            ..self.options.clone()
        };
        Self { options, ..self.of_target(target) }
    }

    /// The same operation with another time to give up.
    pub(crate) fn lasting(&self, soft: Instant) -> Self {
        Self { soft, frame: self.frame.clone(), ..self.of_target(&self.target) }
    }

    /// The same operation without its revision guard, for what follows its own first effect.
    pub(crate) fn unguarded(&self) -> Self {
        let options = CallOptions { expected_revision: None, guard_scope: None, ..self.options.clone() };
        Self { options, frame: self.frame.clone(), ..self.of_target(&self.target) }
    }

    /// Whether anything with an effect was sent.
    pub fn is_dispatched(&self) -> bool {
        self.sent.load(Ordering::Acquire)
    }

    /// How far the operation is.
    pub fn progress(&self) -> Progress {
        if self.is_dispatched() { Progress::Dispatched } else { Progress::BeforeDispatch }
    }

    /// Changes what has to be undone.
    pub fn undo<T>(&self, change: impl FnOnce(&mut Undo) -> T) -> T {
        change(&mut self.undo.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Time left until [`Self::soft`].
    pub fn left(&self) -> Duration {
        self.soft.saturating_duration_since(Instant::now())
    }

    /// An engine's failure as an error of this operation, before anything was sent.
    pub fn engine(&self, error: &EngineError, phase: Phase) -> OpError {
        let error = match error {
            EngineError::Gone => OpError::rejected(
                ErrorKind::TargetNotFound,
                phase,
                "the document was replaced while it was looked at",
                "observe again; the page navigated",
            )
            .reason("navigated"),
            EngineError::Silent => OpError::rejected(
                ErrorKind::TargetNotFound,
                phase,
                "the frame of the element does not answer",
                "observe again; the frame may be busy or show nothing that can be read",
            )
            .reason("frame_unavailable"),
            EngineError::Halted(halt) => halted(halt),
            EngineError::Engine { kind, .. }
                if ["stale", "unknown_ref", "unknown_frame"].contains(&kind.as_str()) =>
            {
                OpError::rejected(
                    ErrorKind::StaleReference,
                    phase,
                    "the element became another one or left the page meanwhile",
                    "observe gives the refs of what is there now",
                )
                .reason("changed")
            }
            EngineError::Engine { kind, .. } if kind == "no_engine" => {
                tracing::warn!("the page has no engine");
                OpError::rejected(
                    ErrorKind::Transport,
                    phase,
                    "the page engine is not in this page: the browser did not run it, or is older than it can work with",
                    "try again; glassctl doctor names the browser, Glass is tested with Chromium 148 and newer",
                )
                .reason(kind.clone())
            }
            EngineError::Engine { kind, answer } => {
                let at = answer.get("at").and_then(|at| at.as_str());
                tracing::warn!(%kind, at, "the page engine failed");
                OpError::rejected(
                    ErrorKind::Transport,
                    phase,
                    "the page engine could not read this page",
                    "try again; if it fails again, report it with the page's structure",
                )
                .reason(kind.clone())
            }
            EngineError::Cdp(error) => {
                tracing::debug!(%error, "the browser refused or went");
                if error.is_closed() {
                    OpError::rejected(
                        ErrorKind::BrowserCrashed,
                        phase,
                        "the browser is gone",
                        "navigate begins anew",
                    )
                } else {
                    OpError::rejected(
                        ErrorKind::Transport,
                        phase,
                        "the browser refused a command",
                        "try again",
                    )
                }
            }
            EngineError::Shape(error) => {
                tracing::warn!(%error, "an engine answer of another shape");
                OpError::rejected(
                    ErrorKind::Transport,
                    phase,
                    "the page engine's answer cannot be read",
                    "try again",
                )
            }
        };
        self.sent_or_not(error)
    }

    /// A refusal that came after something was sent: what was sent had no effect that was wanted.
    pub fn sent(&self, error: OpError) -> OpError {
        if self.is_dispatched() {
            let mut error = error.ended(glass_proto::Outcome::Failed, Dispatched::Yes);
            error.message = error.message.replace("; nothing was sent", "");
            return error;
        }
        error
    }

    /// The same error for an operation that may have been sent.
    pub fn sent_or_not(&self, error: OpError) -> OpError {
        if !self.is_dispatched() || self.facts.effect == glass_proto::op::Effect::Read {
            return error;
        }
        let reason = match error.kind {
            ErrorKind::BrowserCrashed => "browser_crashed",
            ErrorKind::DialogBlocked => "dialog",
            _ => "transport",
        };
        let mut unknown = OpError::unknown(
            reason,
            format!("it was sent, and what became of it is not known: {}", error.message),
            "observe the page before doing it again",
        );
        unknown.details = error.details;
        unknown.ended(glass_proto::Outcome::Unknown, Dispatched::Yes)
    }
}

/// The error of a page that cannot go on.
pub fn halted(halt: &Halt) -> OpError {
    match halt {
        Halt::Dialog(dialog) => dialog_blocked(dialog),
        Halt::Crashed => OpError::rejected(
            ErrorKind::BrowserCrashed,
            Phase::Preflight,
            "the page's renderer crashed",
            "navigate loads a page anew in this target",
        )
        .reason("target_crashed"),
        Halt::Closed => OpError::rejected(
            ErrorKind::NoTargetSelected,
            Phase::Preflight,
            "the page is closed",
            "list-targets shows what is open; name one with --target-id",
        ),
    }
}

/// A dialog is open, and the page stands still until it is answered (contract 5.5).
pub fn dialog_blocked(dialog: &DialogSeen) -> OpError {
    let (message, remedy) = match &dialog.target_id {
        None => (
            format!("a dialog ({}) is open and blocks the page", dialog.kind),
            "answer it with accept-dialog or dismiss-dialog".to_owned(),
        ),
        Some(other) => (
            format!("a dialog ({}) of another page is open and blocks this one with it", dialog.kind),
            format!("answer it with accept-dialog or dismiss-dialog --target-id {other}"),
        ),
    };
    OpError::rejected(ErrorKind::DialogBlocked, Phase::Preflight, message, remedy)
        .detail("dialog", serde_json::to_value(dialog).unwrap_or_default())
}
