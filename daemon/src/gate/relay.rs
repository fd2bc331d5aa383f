//! One operation in the worker: sends it, passes on what comes back, and finds out the truth when it is interrupted.

use glass_proto::ExecutionId;
use glass_proto::outcome::{Outcome, Progress};
use glass_proto::secret;
use glass_proto::wire::client;
use glass_proto::wire::worker::worker_client::WorkerClient;
use glass_proto::wire::worker::{self, ended, execute_event};
use tokio::time::{Duration, Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use super::ending::Cause;
use super::executions::InFlight;
use super::run::Events;
use crate::limits;
use crate::session::{CloseReason, Turn};
use crate::supervise::Lost;

/// How often a worker is asked for the truth of a cancelled operation.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// How long the reason may come after the channel to a worker broke.
const REASON: Duration = Duration::from_millis(700);

/// What the worker is to do.
pub(super) struct Work<'a> {
    pub execution: &'a ExecutionId,
    pub client: String,
    pub operation: &'a str,
    pub params: Vec<u8>,
    pub options: Vec<u8>,
    pub deadline: Instant,
    pub can_have_effect: bool,
    pub hide_values: bool,
    pub secrets: Vec<worker::Secret>,
}

/// How an operation left the worker.
pub(super) enum Left {
    /// The worker says how it ended.
    Ended(Outcome, Answer),
    /// It was interrupted, and this is how far it had come.
    Interrupted(Cause, Progress),
}

/// The worker's result or error, as it came.
pub(super) enum Answer {
    Result(Vec<u8>),
    Error(Vec<u8>),
}

/// Runs `work` in its turn, and collects what a capture takes, until it ends, its client cancels it or goes, or the daemon stops.
pub(super) async fn run(
    turn: &mut Turn,
    work: Work<'_>,
    events: &Events,
    in_flight: &InFlight,
    stopping: &CancellationToken,
    captured: &mut Vec<worker::Secret>,
) -> Left {
    let remaining = work.deadline.saturating_duration_since(Instant::now());
    let request = worker::ExecuteRequest {
        execution_id: work.execution.to_string(),
        operation: work.operation.to_owned(),
        params_json: work.params,
        options_json: work.options,
        deadline_ms: u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX).max(1),
        client_id: work.client,
        hide_values: work.hide_values,
        secrets: work.secrets,
    };
    let mut progress = Progress::BeforeDispatch;
    let effect = work.can_have_effect;
    // The worker keeps the deadline itself and says what came of it; this is for one that does not.
    let overtime = work.deadline + limits::OVERTIME;
    let mut client = turn.client.clone();
    let interrupted = {
        let dispatched = || {
            if effect {
                in_flight.dispatched()
            }
        };
        let talk = talk(turn.client.clone(), request, events, &mut progress, dispatched, captured);
        tokio::pin!(talk);
        let cause = tokio::select! {
            biased;
            left = &mut talk => match left {
                Ok((outcome, answer)) => return Left::Ended(outcome, answer),
                Err(status) => Interrupted::Over(match timeout(REASON, turn.lost.reason()).await {
                    Ok(reason) => Cause::Lost(reason),
                    Err(_) => Cause::Broken(describe(&status)),
                }),
            },
            reason = turn.lost.reason() => Interrupted::Ending(Cause::Lost(reason)),
            () = turn.closing.cancelled() => Interrupted::Ending(Cause::Closed(CloseReason::Asked)),
            () = in_flight.cancel.cancelled() => Interrupted::Running(Cause::Cancelled),
            () = events.closed() => Interrupted::Running(Cause::Cancelled),
            () = stopping.cancelled() => Interrupted::Running(Cause::Stopping),
            () = tokio::time::sleep_until(overtime) => Interrupted::Running(Cause::Deadline),
        };
        // What a worker sent before its end is still on its way, and may be the outcome.
        if matches!(cause, Interrupted::Ending(_))
            && let Ok(Ok((outcome, answer))) = timeout(REASON, talk).await
        {
            return Left::Ended(outcome, answer);
        }
        cause
    };
    match interrupted {
        Interrupted::Over(cause) | Interrupted::Ending(cause) => {
            // What the worker said may have died with it; what it wrote has not.
            let noted = progress == Progress::BeforeDispatch && turn.journal.has(work.execution);
            Left::Interrupted(cause, if noted { Progress::Dispatched } else { progress })
        }
        // Whatever came of one that only reads, nothing was done.
        Interrupted::Running(cause) if !work.can_have_effect => Left::Interrupted(cause, progress),
        Interrupted::Running(cause) => truth(&mut client, work.execution, cause, progress, &turn.lost).await,
    }
}

/// What happened to the stream of an operation before its outcome came.
enum Interrupted {
    /// It is over.
    Over(Cause),
    /// It is going to be over, by the end of its worker.
    Ending(Cause),
    /// It was dropped by us while the worker lives.
    Running(Cause),
}

/// Sends the request and passes on the answer's pieces until its end.
async fn talk(
    mut client: WorkerClient<Channel>,
    request: worker::ExecuteRequest,
    events: &Events,
    progress: &mut Progress,
    dispatched: impl Fn(),
    captured: &mut Vec<worker::Secret>,
) -> Result<(Outcome, Answer), Status> {
    let mut stream: Streaming<worker::ExecuteEvent> = client.execute(request).await?.into_inner();
    while let Some(event) = stream.message().await? {
        match event.kind {
            Some(execute_event::Kind::Dispatched(_)) => {
                *progress = Progress::Dispatched;
                dispatched();
            }
            Some(execute_event::Kind::Artifact(piece)) => events.artifact(artifact(piece)).await,
            Some(execute_event::Kind::Progress(progress)) => {
                let worker::Progress { done, total, operation } = progress;
                events.progress(client::Progress { done, total, operation }).await;
            }
            Some(execute_event::Kind::Captured(mut taken)) => {
                // A worker may be anything; the vault has bounds of its own for what is kept.
                if captured.len() + taken.secrets.len() > secret::MOST {
                    return Err(Status::internal("it took more secrets than there may be"));
                }
                captured.append(&mut taken.secrets);
            }
            Some(execute_event::Kind::Ended(ended)) => return read(ended),
            None => {}
        }
    }
    Err(Status::internal("it ended without an outcome"))
}

fn artifact(piece: worker::Artifact) -> client::Artifact {
    let worker::Artifact { name, media_type, data, last } = piece;
    client::Artifact { name, media_type, data, last }
}

fn read(ended: worker::Ended) -> Result<(Outcome, Answer), Status> {
    let outcome = Outcome::from_name(&ended.outcome);
    match (outcome, ended.answer) {
        (Some(outcome), Some(ended::Answer::ResultJson(json))) => Ok((outcome, Answer::Result(json))),
        (Some(outcome), Some(ended::Answer::ErrorJson(json))) => Ok((outcome, Answer::Error(json))),
        _ => Err(Status::internal("it ended without an outcome")),
    }
}

/// Asks what became of an operation whose stream was dropped. The worker stops it and writes down the outcome; one that
/// cannot say leaves the operation as far as it was seen to come, and one that has no record of it at all leaves it
/// unknown.
async fn truth(
    client: &mut WorkerClient<Channel>,
    execution: &ExecutionId,
    cause: Cause,
    progress: Progress,
    lost: &Lost,
) -> Left {
    let until = Instant::now() + limits::TRUTH;
    loop {
        let asked = tokio::select! {
            asked = timeout_at(until, client.outcomes(worker::OutcomesRequest {})) => asked,
            _ = lost.reason() => return Left::Interrupted(cause, Progress::Dispatched),
        };
        match asked {
            Ok(Ok(reply)) => {
                let past = reply.into_inner().outcomes.into_iter().rev();
                let found = past.into_iter().find(|past| past.execution_id == execution.as_str());
                if let Some(Ok((outcome, answer))) = found.and_then(|past| past.ended).map(read) {
                    return Left::Ended(outcome, answer);
                }
            }
            Ok(Err(status)) if status.code() == Code::Unimplemented => {
                return Left::Interrupted(cause, progress);
            }
            Ok(Err(_)) | Err(_) => return Left::Interrupted(cause, Progress::Dispatched),
        }
        if Instant::now() + ASK_EVERY >= until {
            return Left::Interrupted(cause, Progress::Dispatched);
        }
        sleep(ASK_EVERY).await;
    }
}

fn describe(status: &Status) -> String {
    glass_proto::escape::cut(status.message(), 200).into_owned()
}
