//! What others hold of a session: an inbox to its actor, and the turns that it gives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use glass_policy::Stance;
use glass_policy::decide::Policy;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::Lane;
use glass_proto::session::SessionOptions;
use glass_proto::wire::worker::worker_client::WorkerClient;
use glass_proto::{ExecutionId, Outcome};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;

use super::info::Info;
use super::phase::CloseReason;
use crate::authority::refusal;
use crate::supervise::{Journal, Lost, StartError, Terms, Worker};
use crate::vault::Vault;

/// An operation that wants its turn.
#[derive(Clone, Debug)]
pub struct Job {
    /// The attempt.
    pub execution: ExecutionId,
    /// The operation's name.
    pub operation: &'static str,
    /// Where it runs.
    pub lane: Lane,
    /// Whether it may begin the session's browser.
    pub starts: bool,
    /// Whether somebody at a shell may have asked for it.
    pub by_person: bool,
    /// What its client's policy asks of the session.
    pub terms: Arc<Terms>,
    /// What its client may do.
    pub policy: Policy,
    /// What its client wants of the session itself.
    pub session: Arc<SessionOptions>,
}

/// An operation that waits for its turn.
#[derive(Debug)]
pub struct Admitted {
    /// Whether this operation began the session's browser.
    pub began: bool,
    /// The turn, when it comes.
    pub turn: oneshot::Receiver<Result<Turn, NoTurn>>,
}

/// The right to run one operation in a session. The session's next page operation waits until it is dropped.
#[derive(Debug)]
pub struct Turn {
    /// The channel to the worker.
    pub client: WorkerClient<Channel>,
    /// Told when the worker is gone unasked.
    pub lost: Lost,
    /// What the worker was about to send; for when it is gone.
    pub journal: Arc<Journal>,
    /// The session's secrets.
    pub vault: Arc<Vault>,
    /// Cancelled when the session closes.
    pub closing: CancellationToken,
    pub(super) execution: ExecutionId,
    pub(super) outcome: Outcome,
    pub(super) inbox: mpsc::UnboundedSender<Note>,
}

impl Turn {
    /// Gives the turn back and says how the operation ended.
    pub fn ended(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // An actor that has gone counts no more.
        let _ = self.inbox.send(Note::Done { execution: self.execution.clone(), outcome: self.outcome });
    }
}

/// Why an operation gets no turn.
#[derive(Clone, Debug)]
pub enum NoTurn {
    /// The session did not start.
    NotStarted(Arc<StartError>),
    /// It was closed before the turn came.
    Closed(CloseReason),
    /// Its worker was lost before the turn came.
    Lost(crate::supervise::LossReason),
    /// It began, and is not what the client's policy asks for.
    Unfit(Unfit),
}

/// Why an operation was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmitError {
    /// The session has no page yet, and this operation does not open one.
    NotOpen,
    /// As many operations wait as may.
    Full,
    /// The session runs with other options than the client wants; which.
    Differs(Vec<&'static str>),
    /// The session has ended or is ending; [`SessionHandle::gone`] tells when its name is free.
    Ending,
}

/// What clients ask of a session's actor.
#[derive(Debug)]
pub(super) enum Ask {
    Submit { job: Job, reply: oneshot::Sender<Result<Admitted, SubmitError>> },
    Close { why: CloseReason, reply: oneshot::Sender<()> },
    Info { reply: oneshot::Sender<Info> },
}

/// What the actor's own helpers tell it. Unbounded: each comes at most once for something that was bounded before.
#[derive(Debug)]
pub(super) enum Note {
    Started(Box<Result<Worker, StartError>>),
    Lost(crate::supervise::LossReason),
    Reaped,
    Done { execution: ExecutionId, outcome: Outcome },
}

/// Why a session cannot be used under a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It was begun under other host rules, and its browser goes by those.
    Hosts,
    /// Nobody enforces its network rules.
    Advisory,
    /// Its browser is somebody else's.
    Attached,
}

/// The way to a session's actor.
#[derive(Clone, Debug)]
pub struct SessionHandle {
    /// The session's opaque id.
    pub id: Arc<str>,
    /// What it was begun under.
    pub terms: Arc<Terms>,
    /// What it was begun with.
    pub(super) options: Arc<SessionOptions>,
    /// Whether its network rules turned out to be advice.
    pub(super) advisory: Arc<AtomicBool>,
    /// Its secrets.
    pub vault: Arc<Vault>,
    pub(super) asks: mpsc::Sender<Ask>,
    pub(super) gone: CancellationToken,
}

impl SessionHandle {
    /// What keeps a client of this policy from using the session.
    pub fn unfit_for(&self, terms: &Terms) -> Option<Unfit> {
        if !terms.client.is_open() && terms.client != self.terms.client {
            return Some(Unfit::Hosts);
        }
        if self.options.attach.is_some() && !terms.attach {
            return Some(Unfit::Attached);
        }
        (terms.requires_egress && self.advisory.load(Ordering::Relaxed)).then_some(Unfit::Advisory)
    }

    /// Asks the policy of whoever uses the session about what it was begun with: it acts by that as well.
    ///
    /// # Errors
    /// Which rule forbids it.
    pub fn permits(&self, job: &Job) -> Result<(), Box<OpError>> {
        let named = job.session.capabilities();
        for capability in self.options.capabilities() {
            let ruling = job.policy.capability(capability);
            if let Some(denial) = ruling.denial() {
                return Err(refusal(job.operation, denial, "session_options"));
            }
            // A call that names the option itself comes this far with a person's word alone.
            if ruling.says.stance == Stance::Confirm && !named.contains(&capability) {
                let message = format!(
                    "the session was begun with {capability}, and this policy asks a person about that each time"
                );
                let remedy = "give the same option of the session with the call, so that a person is asked";
                return Err(OpError::rejected(ErrorKind::Denied, Phase::Policy, message, remedy)
                    .reason("session_options")
                    .detail("operation", job.operation)
                    .detail("ruleId", ruling.rule())
                    .detail("overridePossible", false)
                    .into());
            }
        }
        Ok(())
    }

    /// Asks for a turn.
    ///
    /// # Errors
    /// Why the operation is not taken.
    pub async fn submit(&self, job: Job) -> Result<Admitted, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(Ask::Submit { job, reply }).await.map_err(|_| SubmitError::Ending)?;
        answer.await.unwrap_or(Err(SubmitError::Ending))
    }

    /// Closes the session and waits until nothing is left of it.
    pub async fn close(&self, why: CloseReason) {
        let (reply, answer) = oneshot::channel();
        if self.asks.send(Ask::Close { why, reply }).await.is_ok() {
            // An actor that ends without an answer has cleaned up too.
            let _ = answer.await;
        }
    }

    /// What the session is doing; `None` when it has just ended.
    pub async fn info(&self) -> Option<Info> {
        let (reply, answer) = oneshot::channel();
        // It ended in this moment, before or after it was asked.
        self.asks.send(Ask::Info { reply }).await.ok()?;
        answer.await.ok()
    }

    /// Waits until the registry has forgotten this session or marked it as failed.
    pub async fn gone(&self) {
        self.gone.cancelled().await;
    }
}
