//! Follows one operation from its request to its end, and cancels it when the caller gives up (contract 2.8).
//!
//! The same for every client: one command of glassctl, and the calls of `glass --mcp`.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use glass_proto::op::{AnyOperation, Batch, CallOptions, Effect, Evaluate, ExportPage};
use glass_proto::wire::client as pb;
use glass_proto::{ErrorKind, ExecutionId, OpError, Phase};
use pb::execute_event::Kind;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::client::Client;
use crate::error::{self, Sent};
use crate::files::Incoming;
use crate::output::SessionSeen;

/// How much longer than the operation's own deadline the daemon may take to answer: it ends what runs over.
const GRACE: Duration = Duration::from_secs(10);
/// How long a cancelled operation's outcome is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes of a file that are collected: an exported page is the largest.
const MAX_FILE: usize = ExportPage::MAX_BYTES + 4 * 1024 * 1024;
/// Most files of an answer: a batch of scripts that each keep as many as they may.
const MAX_FILES: usize = Batch::MAX_STEPS * Evaluate::MAX_ARTIFACTS;

/// How far an operation of several steps is, for whoever waits for its end. Clones tell the same.
#[derive(Clone, Debug, Default)]
pub struct News(Arc<Mutex<Option<pb::Progress>>>);

impl News {
    fn tell(&self, progress: pb::Progress) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }

    /// In words, where it has steps: `step 2 of 5, click`.
    pub fn text(&self) -> Option<String> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pb::Progress { done, total, operation } = told.as_ref()?;
        Some(format!("step {} of {total}, {operation}", done + 1))
    }
}

/// What an operation has said of itself so far.
#[derive(Debug, Default)]
pub struct Seen {
    /// The attempt, once the daemon has accepted it.
    pub execution: Option<ExecutionId>,
    /// When that was.
    pub accepted: Option<std::time::Instant>,
    /// The session that it runs in.
    pub session: Option<SessionSeen>,
    /// How far it is, for an operation of several steps.
    pub progress: News,
    /// The files that belong to the result, as far as they have come.
    pub files: Vec<Came>,
    /// Where files go that are too large to be held, by the step of a batch that they are of; of anything else it is 0.
    pub incoming: HashMap<u32, Incoming>,
    /// Whether the names of files begin with the number of their step.
    pub(crate) steps: bool,
}

/// A file that belongs to a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// The step of a batch that it is of; of anything else it is 0.
    pub step: u32,
    /// Its name, as the session calls it.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its bytes.
    pub data: Vec<u8>,
    /// Nothing more of it comes.
    pub(crate) whole: bool,
}

impl Seen {
    /// The bytes of the file that belongs to the result; nothing where there is none.
    pub fn file(&self) -> &[u8] {
        self.files.first().map_or(&[], |file| &file.data)
    }

    /// The files of a step.
    pub fn files_of(&self, step: u32) -> impl Iterator<Item = &Came> {
        self.files.iter().filter(move |file| file.step == step)
    }

    /// Takes the files of a step out.
    pub fn take_files(&mut self, step: u32) -> impl Iterator<Item = Vec<u8>> {
        let (of, others) = std::mem::take(&mut self.files).into_iter().partition(|file| file.step == step);
        self.files = others;
        let of: Vec<Came> = of;
        of.into_iter().map(|file| file.data)
    }

    fn piece(&mut self, artifact: pb::Artifact) -> Result<(), OpError> {
        let (step, name) = match artifact.name.split_once('/').filter(|_| self.steps) {
            Some((step, name)) => (step.parse().unwrap_or(0), name.to_owned()),
            None => (0, artifact.name.clone()),
        };
        if let Some(incoming) = self.incoming.get_mut(&step) {
            return incoming.take(&artifact.data);
        }
        // The daemon bounds it; this bounds the daemon.
        let most = if self.steps { Batch::MAX_FILES } else { MAX_FILE };
        let held: usize = self.files.iter().map(|file| file.data.len()).sum();
        if held + artifact.data.len() > most || self.files.len() > MAX_FILES {
            return Err(OpError::failed(
                ErrorKind::ResultTooLarge,
                Phase::Transport,
                "the files of the answer are larger than their bound",
                "ask for a smaller part of the page, or for less at a time",
            ));
        }
        let goes_on = |file: &Came| !file.whole && file.step == step && file.name == name;
        match self.files.last_mut().filter(|file| goes_on(file)) {
            Some(file) => {
                file.data.extend_from_slice(&artifact.data);
                file.whole = artifact.last;
            }
            None => {
                let pb::Artifact { media_type, data, last, .. } = artifact;
                self.files.push(Came { step, name, media_type, data, whole: last });
            }
        }
        Ok(())
    }

    fn take(&mut self, event: pb::ExecuteEvent) -> Result<Option<pb::Ended>, OpError> {
        match event.kind {
            Some(Kind::Accepted(accepted)) => {
                self.accepted.get_or_insert_with(std::time::Instant::now);
                self.note(&accepted.execution_id, accepted.session);
            }
            Some(Kind::Artifact(artifact)) => self.piece(artifact)?,
            Some(Kind::Ended(ended)) => {
                self.note(&ended.execution_id, ended.session.clone());
                return Ok(Some(ended));
            }
            Some(Kind::Progress(progress)) => self.progress.tell(progress),
            // Something that a newer daemon of this protocol tells beside.
            None => {}
        }
        Ok(None)
    }

    fn note(&mut self, execution: &str, session: Option<pb::SessionRef>) {
        // An answer without an id leaves the one that is known.
        self.execution = execution.parse().ok().or(self.execution.take());
        if let Some(session) = session {
            self.session = Some(SessionSeen { name: session.name, started: session.started });
        }
    }
}

/// One operation under way.
#[derive(Debug)]
pub struct Following {
    client: Client,
    name: &'static str,
    sent: Sent,
    deadline: Instant,
    /// What it has said so far.
    pub seen: Seen,
}

impl Following {
    /// An operation that `client` is about to ask for.
    pub fn new(client: Client, operation: &AnyOperation, options: &CallOptions) -> Self {
        let facts = operation.facts();
        Self {
            client,
            name: facts.name,
            sent: if facts.effect == Effect::Read { Sent::Harmless } else { Sent::MayHaveEffect },
            deadline: Instant::now() + options.timeout(operation.timeout()) + GRACE,
            seen: Seen { steps: facts.name == "batch", ..Seen::default() },
        }
    }

    /// Asks for it, and follows it to its end; `cancel` ends when the caller gives up.
    ///
    /// # Errors
    /// What the way to the daemon came to. The operation's own error is in what `Ok` holds.
    pub async fn run(
        &mut self,
        session: String,
        params: Vec<u8>,
        options: Vec<u8>,
        cancel: impl Future<Output = ()>,
    ) -> Result<pb::Ended, OpError> {
        let mut cancel = pin!(cancel);
        let mut stream = tokio::select! {
            opened = self.client.execute(session, self.name, params, options) => {
                opened.map_err(|status| error::from_status(&status, self.sent))?
            }
            () = &mut cancel => return Err(self.gave_up()),
            () = sleep_until(self.deadline) => return Err(self.ran_over()),
        };
        let mut patience = None;
        loop {
            tokio::select! {
                biased;
                event = stream.message() => match event {
                    Ok(Some(event)) => {
                        if let Some(ended) = self.seen.take(event)? {
                            return Ok(ended);
                        }
                    }
                    Ok(None) => return Err(self.broke()),
                    Err(status) => return Err(error::from_status(&status, self.sent)),
                },
                () = &mut cancel, if patience.is_none() => {
                    let Some(id) = &self.seen.execution else { return Err(self.gave_up()) };
                    let until = Instant::now() + PATIENCE;
                    patience = Some(until);
                    // Whatever this answers, the operation's own stream says how it ended; and if that breaks
                    // off, leaving it cancels the operation too.
                    let _ = timeout_at(until, self.client.cancel(id.to_string())).await;
                }
                () = sleep_until(patience.unwrap_or(self.deadline)) => {
                    return Err(if patience.is_some() { self.gave_up() } else { self.ran_over() });
                }
            }
        }
    }

    fn gave_up(&self) -> OpError {
        error::lost(
            self.sent,
            "cancelled",
            ErrorKind::Cancelled,
            "cancelled before the operation's end was known",
        )
    }

    fn ran_over(&self) -> OpError {
        error::lost(
            self.sent,
            "timeout",
            ErrorKind::Timeout,
            "glassd did not answer, also not some seconds after the operation's deadline",
        )
    }

    fn broke(&self) -> OpError {
        error::lost(
            self.sent,
            "daemon_lost",
            ErrorKind::Transport,
            "glassd ended the connection before it said how the operation ended",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_daemon_tells_is_kept() {
        let mut seen = Seen::default();
        let id = ExecutionId::generate();
        let session = Some(pb::SessionRef { name: "s".into(), started: "new".into() });
        let accepted = pb::Accepted { execution_id: id.to_string(), session };
        let event = |kind| pb::ExecuteEvent { kind: Some(kind) };
        assert!(seen.take(event(Kind::Accepted(accepted))).unwrap().is_none());
        let ended = pb::Ended { outcome: "completed".into(), ..pb::Ended::default() };
        // An end that repeats neither the id nor the session takes nothing away.
        assert!(seen.take(event(Kind::Ended(ended))).unwrap().is_some());
        assert_eq!(seen.execution, Some(id));
        assert_eq!(seen.session.map(|session| session.started).as_deref(), Some("new"));
    }

    #[test]
    fn a_file_without_bound_is_not_collected() {
        let mut seen = Seen::default();
        let piece = pb::Artifact { data: vec![0; MAX_FILE / 2], ..pb::Artifact::default() };
        assert_eq!(seen.file(), b"");
        let mut take = || seen.take(pb::ExecuteEvent { kind: Some(Kind::Artifact(piece.clone())) });
        assert!(take().is_ok() && take().is_ok());
        assert_eq!(take().unwrap_err().kind, ErrorKind::ResultTooLarge);
    }

    // contract: 6
    #[test]
    fn files_of_steps_are_told_apart_and_pieces_of_one_are_joined() {
        let mut seen = Seen { steps: true, ..Seen::default() };
        let mut take = |name: &str, data: &[u8], last| {
            let piece = pb::Artifact { name: name.into(), media_type: "a/b".into(), data: data.into(), last };
            seen.take(pb::ExecuteEvent { kind: Some(Kind::Artifact(piece)) }).unwrap();
        };
        take("2/a/b", b"on", false);
        take("2/a/b", b"e", true);
        take("2/a/b", b"two", true);
        take("3/a", b"", true);
        let of =
            |step| seen.files_of(step).map(|file| (file.name.clone(), file.data.clone())).collect::<Vec<_>>();
        assert_eq!(of(2), [("a/b".to_owned(), b"one".to_vec()), ("a/b".to_owned(), b"two".to_vec())]);
        assert_eq!(of(3), [("a".to_owned(), Vec::new())]);
        assert_eq!(of(1), []);
    }
}
