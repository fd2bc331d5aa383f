//! One operation from the request to its outcome.

use std::time::Duration;

use glass_policy::decide::Policy;
use glass_proto::error::{ErrorKind, OpError, Phase as OpPhase};
use glass_proto::op::{AnyOperation, Capability, Effect, Facts, Needs};
use glass_proto::outcome::{Dispatched, Outcome, Progress};
use glass_proto::wire::client::{self, ended, execute_event};
use glass_proto::wire::{Caller, encode_error};
use glass_proto::{ExecutionId, SessionName};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::admit::{self, Checked};
use super::agree::{self, Ask, Staged};
use super::ending::{self, Cause};
use super::executions::{Ending, Execution, Executions, IN_FLIGHT, InFlight, Stage};
use super::permit::{self, Permit, Privates};
use super::rates::Limiters;
use super::record;
use super::relay::{self, Answer, Left, Work};
use super::secrets;
use crate::audit::Audit;
use crate::authority::Authority;
use crate::confirm::{Confirmations, Used};
use crate::peer::Peer;
use crate::session::{Admitted, CloseReason, Job, NoTurn, Registry, Turn, other_policy, quota};
use crate::shutdown::{Phase, Shutdown};

/// How long a client may take to read the last message.
const LAST_WORD: Duration = Duration::from_secs(5);

/// How long an answer waits for its one-off session to close.
const ONE_OFF_CLOSE: Duration = Duration::from_secs(5);

/// What a client asks for.
#[derive(Debug)]
pub struct Call {
    /// The process that asks.
    pub peer: Peer,
    /// Who it says that it is.
    pub caller: Caller,
    /// The session as given: a name, or `new`.
    pub session: String,
    /// The operation's name as given.
    pub operation: String,
    /// Its parameters, JSON.
    pub params: Vec<u8>,
    /// Its options, JSON.
    pub options: Vec<u8>,
    /// What the client wants of the session itself, JSON.
    pub session_options: Vec<u8>,
}

/// The way back to a client. It is closed when the client has gone.
#[derive(Clone, Debug)]
pub struct Events(pub mpsc::Sender<Result<client::ExecuteEvent, Status>>);

impl Events {
    async fn send(&self, kind: execute_event::Kind) {
        // A client that has gone hears nothing; its operation is cancelled by `closed`.
        let _ = self.0.send(Ok(client::ExecuteEvent { kind: Some(kind) })).await;
    }

    pub(super) async fn artifact(&self, piece: client::Artifact) {
        self.send(execute_event::Kind::Artifact(piece)).await;
    }

    pub(super) async fn progress(&self, progress: client::Progress) {
        self.send(execute_event::Kind::Progress(progress)).await;
    }

    /// Waits until the client has gone.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }
}

/// The gate.
#[derive(Clone)]
pub struct Gate {
    pub(super) registry: Registry,
    pub(super) executions: Executions,
    pub(super) shutdown: Shutdown,
    pub(super) authority: Authority,
    pub(super) audit: Audit,
    pub(super) staged: Staged,
    /// What waits for a person.
    pub confirmations: Confirmations,
    /// How often clients may ask.
    pub limiters: Limiters,
    /// Which sessions are whose own.
    pub privates: Privates,
    stopping: CancellationToken,
}

/// How an attempt ended.
pub(super) struct Attempt {
    pub(super) session: client::SessionRef,
    pub(super) outcome: Outcome,
    answer: Answer,
    pub(super) kind: Option<ErrorKind>,
}

impl Gate {
    /// A gate before the sessions of `registry`.
    pub fn new(
        registry: Registry,
        executions: Executions,
        shutdown: Shutdown,
        authority: Authority,
        limiters: Limiters,
        audit: Audit,
        confirmations: Confirmations,
    ) -> Self {
        let stopping = shutdown.token(Phase::Stopping);
        let privates = Privates::default();
        let staged = Staged::default();
        Self {
            registry,
            executions,
            shutdown,
            authority,
            audit,
            staged,
            confirmations,
            limiters,
            privates,
            stopping,
        }
    }

    /// Runs one operation and tells everything about it through `events`; `accepted` first, `ended` last.
    pub async fn execute(&self, call: Call, events: Events) {
        let id = ExecutionId::generate();
        let begun = Instant::now();
        let (attempt, in_flight) = match self.prepare(&call, &id) {
            Ok((in_flight, prepared)) => {
                (self.go_on(&call, &id, &in_flight, prepared, &events, begun).await, Some(in_flight))
            }
            Err(error) => (self.turn_away(&call, &id, *error, &events).await, None),
        };
        self.executions.ended(remembered(&call, &id, begun, &attempt));
        drop(in_flight);
        tracing::info!(
            execution = %id,
            session = attempt.session.name,
            operation = attempt_name(&call.operation),
            client = call.caller.kind,
            outcome = attempt.outcome.name(),
            kind = attempt.kind.map(ErrorKind::name),
            ms = begun.elapsed().as_millis(),
            "an operation ended"
        );
        let answer = match attempt.answer {
            Answer::Result(json) => ended::Answer::ResultJson(json),
            Answer::Error(json) => ended::Answer::ErrorJson(json),
        };
        let last = client::Ended {
            outcome: attempt.outcome.name().to_owned(),
            session: Some(attempt.session),
            execution_id: id.to_string(),
            answer: Some(answer),
        };
        // A client that reads no more has its outcome in the log; nothing waits for it.
        let _ = timeout(LAST_WORD, events.send(execute_event::Kind::Ended(last))).await;
    }

    /// What comes of a call that may go on, once somebody has agreed to it where that is asked for.
    async fn go_on(
        &self,
        call: &Call,
        id: &ExecutionId,
        in_flight: &InFlight,
        prepared: Prepared,
        events: &Events,
        begun: Instant,
    ) -> Attempt {
        let mut prepared = match self.agreed(call, prepared).await {
            Ok(prepared) => prepared,
            Err(error) => return self.turn_away(call, id, *error, events).await,
        };
        let used = prepared.used.take();
        self.audit.note(record::begun(&self.audit, call, id, &prepared, used.as_ref())).await;
        let attempt = self.attempt(call, id, in_flight, prepared, events, begun).await;
        self.audit.note(record::ended(call, id, &attempt, begun.elapsed())).await;
        if let (Outcome::Rejected, Some(used)) = (attempt.outcome, used) {
            self.confirmations.give_back(used);
        }
        attempt
    }

    async fn turn_away(&self, call: &Call, id: &ExecutionId, error: OpError, events: &Events) -> Attempt {
        self.audit.note(record::refused(&self.audit, call, id, &error)).await;
        let session = client::SessionRef { name: shown_name(&call.session), started: String::new() };
        accept(events, id, &session).await;
        failure(session, error, id)
    }

    /// What can be refused without a session.
    fn prepare(&self, call: &Call, id: &ExecutionId) -> Result<(InFlight, Prepared), Box<OpError>> {
        // Entered first: whoever drains sets the phase and then waits for those that are in flight.
        let in_flight = self.executions.enter(&call.caller.id, id).map_err(|used| {
            let message = format!("this client has {used} operations in flight, which is as many as it may");
            quota(IN_FLIGHT, self.executions.limit(), used, message)
        })?;
        if self.shutdown.phase() > Phase::Serving {
            let message = "the daemon is stopping and takes no more operations";
            let remedy = "call it again; the next command starts a new daemon";
            return Err(OpError::rejected(ErrorKind::DaemonUnreachable, OpPhase::Transport, message, remedy)
                .reason("daemon_stopping")
                .into());
        }
        let one_off = call.session == "new";
        let name = if one_off {
            Registry::one_off_name()
        } else {
            let remedy =
                "name it like `default` or `work-2`, or use `new` for a session that ends with the call";
            call.session.parse().map_err(|error| OpError::invalid(format!("{error}"), remedy))?
        };
        let policy = self.authority.policy(&call.caller.policy)?;
        let client = client_key(&call.caller, &call.session);
        self.limiters.count(policy.rates(), &client, navigates_to(&call.operation))?;
        let mut checked = admit::check(&call.operation, &call.params, &call.options, &call.session_options)?;
        if let AnyOperation::Batch(batch) = &checked.operation {
            let navigations = batch.steps.iter().filter(|step| navigates_to(step.name())).count();
            self.limiters.count_steps(policy.rates(), &client, batch.steps.len(), navigations)?;
        }
        if !one_off {
            self.privates.check(&policy, &call.caller.id, &name)?;
        }
        let mut asked = permit::operation(&policy, &mut checked.operation, &checked.options)?;
        let wanted = checked.session.capabilities();
        permit::capabilities(&policy, checked.operation.name(), &wanted)?;
        asked.push(wanted);
        let asks = agree::asks(&policy, &asked);
        let mut needs: Vec<Capability> = Vec::new();
        for need in asked.into_iter().flatten() {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        let rule = policy.all(&needs).map(|ruling| ruling.rule()).unwrap_or_default();
        let permit = permit::permit(&policy, &needs, self.registry.quotas());
        permit::session(&permit, &checked.session)?;
        in_flight.is(name.as_str(), checked.operation.name());
        Ok((in_flight, Prepared { name, one_off, checked, policy, permit, needs, rule, asks, used: None }))
    }

    async fn attempt(
        &self,
        call: &Call,
        id: &ExecutionId,
        in_flight: &InFlight,
        prepared: Prepared,
        events: &Events,
        begun: Instant,
    ) -> Attempt {
        let Prepared { name, one_off, checked, policy, permit, .. } = prepared;
        let facts = checked.operation.facts();
        let limits = Limits {
            deadline: begun + checked.options.timeout(checked.operation.timeout()),
            in_flight,
            events,
            stopping: &self.stopping,
            can_have_effect: facts.effect == Effect::Mutation,
        };
        let mut session = client::SessionRef { name: name.to_string(), started: String::new() };
        let job = Job {
            execution: id.clone(),
            operation: facts.name,
            lane: facts.lane,
            // Somebody else's browser has pages, so there is something to look at from the beginning.
            starts: checked.operation.needs() == Needs::StartsSession || checked.session.attach.is_some(),
            by_person: call.caller.is_person(),
            terms: permit.terms,
            policy,
            session: checked.session.clone(),
        };
        let submitted = tokio::select! {
            submitted = self.registry.submit(&name, &job) => submitted,
            cause = limits.interrupted() => Err(limits.before_dispatch(&cause)),
        };
        if let Ok(submitted) = &submitted {
            session.started = if submitted.admitted.began { "new" } else { "running" }.to_owned();
        }
        accept(events, id, &session).await;
        let result = match submitted {
            Ok(submitted) => {
                self.in_turn(call, id, &checked, permit.hide_values, submitted.admitted, &limits).await
            }
            Err(error) => Err(error),
        };
        if one_off {
            // It goes on without us; the caller has waited long enough for its answer.
            let _ = timeout(ONE_OFF_CLOSE, self.registry.close(&name, CloseReason::OneOff)).await;
        }
        match result {
            Ok((outcome, answer)) => Attempt { session, outcome, answer, kind: None },
            Err(error) => failure(session, *error, id),
        }
    }

    /// Waits for the turn and uses it.
    async fn in_turn(
        &self,
        call: &Call,
        id: &ExecutionId,
        checked: &Checked,
        hide_values: bool,
        admitted: Admitted,
        limits: &Limits<'_>,
    ) -> Result<(Outcome, Answer), Box<OpError>> {
        let mut turn = wait(admitted, limits).await?;
        limits.in_flight.runs();
        let vault = turn.vault.clone();
        if let Some(answer) = secrets::answer(&checked.operation, &vault) {
            turn.ended(if answer.is_ok() { Outcome::Completed } else { Outcome::Rejected });
            return answer.map(|answer| (Outcome::Completed, answer));
        }
        let along = secrets::along(&checked.operation, &vault)?;
        let encoded = encode(&checked.operation, checked)?;
        let work = Work {
            execution: id,
            client: call.caller.viewer(),
            operation: checked.operation.name(),
            params: encoded.0,
            options: encoded.1,
            deadline: limits.deadline,
            can_have_effect: limits.can_have_effect,
            hide_values,
            secrets: along,
        };
        let mut captured = Vec::new();
        let left =
            relay::run(&mut turn, work, limits.events, limits.in_flight, limits.stopping, &mut captured)
                .await;
        match left {
            Left::Ended(outcome, answer) => {
                let kept = match checked.operation {
                    AnyOperation::CaptureSecrets(_) => secrets::keep(&vault, captured, outcome, answer),
                    _ => Ok(answer),
                };
                turn.ended(kept.as_ref().map_or_else(|error| error.outcome, |_| outcome));
                Ok((outcome, secrets::hide(&vault, kept?)))
            }
            Left::Interrupted(cause, progress) => {
                let error = ending::error(&cause, progress, limits.can_have_effect);
                turn.ended(error.outcome);
                Err(error.into())
            }
        }
    }
}

/// Whether an operation of that name counts as a navigation.
fn navigates_to(name: &str) -> bool {
    Facts::of(name).is_some_and(|facts| facts.capability == Capability::Navigate)
}

/// An operation that may go on to its session.
pub(super) struct Prepared {
    policy: Policy,
    pub(super) name: SessionName,
    pub(super) one_off: bool,
    pub(super) checked: Checked,
    permit: Permit,
    /// What policy was asked for.
    pub(super) needs: Vec<Capability>,
    /// The rule that let it through.
    pub(super) rule: String,
    /// What a person is asked about.
    pub(super) asks: Vec<Ask>,
    /// What it uses up of what a person agreed to.
    pub(super) used: Option<Used>,
}

/// What bounds an operation, from its request to its end.
struct Limits<'a> {
    deadline: Instant,
    in_flight: &'a InFlight,
    events: &'a Events,
    stopping: &'a CancellationToken,
    can_have_effect: bool,
}

impl Limits<'_> {
    async fn interrupted(&self) -> Cause {
        tokio::select! {
            () = self.in_flight.cancel.cancelled() => Cause::Cancelled,
            () = self.events.closed() => Cause::Cancelled,
            () = self.stopping.cancelled() => Cause::Stopping,
            () = sleep_until(self.deadline) => Cause::Deadline,
        }
    }

    fn before_dispatch(&self, cause: &Cause) -> Box<OpError> {
        ending::error(cause, Progress::BeforeDispatch, self.can_have_effect).into()
    }
}

async fn wait(admitted: Admitted, limits: &Limits<'_>) -> Result<Turn, Box<OpError>> {
    let answer = tokio::select! {
        answer = admitted.turn => answer,
        cause = limits.interrupted() => return Err(limits.before_dispatch(&cause)),
    };
    match answer {
        Ok(Ok(turn)) => Ok(turn),
        Ok(Err(NoTurn::NotStarted(error))) => Err(error.to_op_error().into()),
        Ok(Err(NoTurn::Closed(why))) => Err(limits.before_dispatch(&Cause::Closed(why))),
        Ok(Err(NoTurn::Unfit(unfit))) => Err(other_policy(unfit)),
        Ok(Err(NoTurn::Lost(reason))) => Err(limits.before_dispatch(&Cause::Lost(reason))),
        Err(_) => Err(limits.before_dispatch(&Cause::Broken("the session's task ended".to_owned()))),
    }
}

fn encode(operation: &AnyOperation, checked: &Checked) -> Result<(Vec<u8>, Vec<u8>), Box<OpError>> {
    let encoded = operation.encode().and_then(|params| Ok((params, checked.options.encode()?)));
    encoded.map_err(|_| OpError::invalid("the parameters cannot be passed on", "report this as a bug").into())
}

fn failure(session: client::SessionRef, error: OpError, id: &ExecutionId) -> Attempt {
    let error = error.of(id);
    Attempt {
        session,
        outcome: error.outcome,
        kind: Some(error.kind),
        answer: Answer::Error(encode_error(&error)),
    }
}

async fn accept(events: &Events, id: &ExecutionId, session: &client::SessionRef) {
    let accepted = client::Accepted { execution_id: id.to_string(), session: Some(session.clone()) };
    events.send(execute_event::Kind::Accepted(accepted)).await;
}

/// What is remembered of an attempt.
fn remembered(call: &Call, id: &ExecutionId, begun: Instant, attempt: &Attempt) -> Execution {
    let error = match &attempt.answer {
        Answer::Error(json) => serde_json::from_slice::<Box<OpError>>(json).ok(),
        Answer::Result(_) => None,
    };
    let facts = Facts::of(&call.operation);
    let dispatched = match &error {
        Some(error) => error.dispatched,
        None if facts.is_some_and(|facts| facts.effect == Effect::Mutation) => Dispatched::Yes,
        None => Dispatched::No,
    };
    Execution {
        id: id.clone(),
        client: call.caller.id.clone(),
        session: attempt.session.name.clone(),
        operation: attempt_name(&call.operation),
        took: begun.elapsed(),
        stage: Stage::Ended(Ending {
            outcome: attempt.outcome,
            dispatched,
            error,
            at: std::time::Instant::now(),
        }),
    }
}

/// Whose rate a call counts towards. Commands of a shell live for one call each: those for one session are one client.
pub(super) fn client_key(caller: &Caller, session: &str) -> String {
    match caller.viewer() {
        viewer if viewer.is_empty() => format!("glassctl {}", shown_name(session)),
        viewer => viewer,
    }
}

/// The name in an answer to a call that came to no session: only what could be one is repeated.
pub(super) fn shown_name(given: &str) -> String {
    given.parse::<SessionName>().map(String::from).unwrap_or_default()
}

/// The name in the log: only what is one is written down.
pub(super) fn attempt_name(given: &str) -> &'static str {
    Facts::of(given).map_or("unknown", |facts| facts.name)
}
