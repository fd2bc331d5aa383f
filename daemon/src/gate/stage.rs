//! A file on its way into a session, for `upload` (contract 7.4): passed on in pieces, kept nowhere in between.

use std::sync::Arc;
use std::time::Duration;

use glass_policy::Capability;
use glass_proto::audit::{Entry, Event};
use glass_proto::error::{ErrorKind, OpError, Phase as OpPhase};
use glass_proto::op::Lane;
use glass_proto::wire::client::{StageFileBegin, StageFileReply, StageFileRequest, stage_file_reply};
use glass_proto::wire::{CHUNK, Caller, client, worker};
use glass_proto::{ExecutionId, Outcome, SessionName};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::agree::content;
use super::executions::IN_FLIGHT;
use super::permit;
use super::run::{Gate, client_key};
use crate::peer::Peer;
use crate::session::{Job, NoTurn, other_policy, quota};
use crate::shutdown::Phase;

/// How long the next piece may take to come.
const PIECE: Duration = Duration::from_secs(10);
/// How long all of them may take.
const WHOLE: Duration = Duration::from_secs(300);
/// Pieces on their way to a worker that writes slowly.
const BUFFERED: usize = 2;

impl Gate {
    /// Puts one file into a session that is open.
    ///
    /// # Errors
    /// Why it is not taken, in the shape of every error.
    pub async fn stage(
        &self,
        caller: &Caller,
        peer: &Peer,
        begin: StageFileBegin,
        pieces: Streaming<StageFileRequest>,
    ) -> Result<StageFileReply, Box<OpError>> {
        let id = ExecutionId::generate();
        let noted = Entry {
            execution_id: Some(id.to_string()),
            client: Some(peer.told(&caller.kind)),
            session: begin.session.parse::<SessionName>().ok().map(String::from),
            operation: Some("upload".to_owned()),
            ..Entry::new(Event::Staged).detail("bytes", begin.size)
        };
        let staged = self.put_in(caller, id, begin, pieces).await;
        let (outcome, kind) = match &staged {
            Ok(reply) => match &reply.answer {
                Some(stage_file_reply::Answer::ErrorJson(_)) | None => (Outcome::Failed, None),
                Some(stage_file_reply::Answer::Staged(_)) => (Outcome::Completed, None),
            },
            Err(error) => (error.outcome, Some(error.kind.name().to_owned())),
        };
        self.audit.note(Entry { outcome: Some(outcome.name().to_owned()), kind, ..noted }).await;
        staged
    }

    async fn put_in(
        &self,
        caller: &Caller,
        id: ExecutionId,
        begin: StageFileBegin,
        pieces: Streaming<StageFileRequest>,
    ) -> Result<StageFileReply, Box<OpError>> {
        let _in_flight = self.executions.enter(&caller.id, &id).map_err(|used| {
            let message = format!("this client has {used} operations in flight, which is as many as it may");
            quota(IN_FLIGHT, self.executions.limit(), used, message)
        })?;
        if self.shutdown.phase() > Phase::Serving {
            return Err(broken("the daemon is stopping and takes no more files").into());
        }
        let name: SessionName = begin
            .session
            .parse()
            .map_err(|error| OpError::invalid(format!("{error}"), "name an open session, like `default`"))?;
        let policy = self.authority.policy(&caller.policy)?;
        self.limiters.count(policy.rates(), &client_key(caller, &begin.session), false)?;
        self.privates.check(&policy, &caller.id, &name)?;
        permit::capabilities(&policy, "upload", &[Capability::Upload])?;
        let terms = permit::permit(&policy, &[], self.registry.quotas()).terms;
        let job = Job {
            execution: id,
            operation: "upload",
            lane: Lane::Watch,
            starts: false,
            by_person: caller.is_person(),
            terms,
            policy,
            session: Arc::default(),
        };
        let until = Instant::now() + WHOLE;
        let submitted = timeout_at(until, self.registry.submit(&name, &job)).await;
        let submitted = submitted.map_err(|_| broken("the session did not answer in time"))??;
        let turn = match timeout_at(until, submitted.admitted.turn).await {
            Ok(Ok(Ok(turn))) => turn,
            Ok(Ok(Err(NoTurn::NotStarted(error)))) => return Err(error.to_op_error().into()),
            Ok(Ok(Err(NoTurn::Unfit(unfit)))) => return Err(other_policy(unfit)),
            _ => return Err(broken("the session ended before the file came to it").into()),
        };
        let (sender, receiver) = mpsc::channel(BUFFERED);
        let staged_name = begin.name.clone();
        let first = worker::StageFileBegin { name: begin.name, size: begin.size };
        let passing = pass(first, pieces, sender);
        let mut worker = turn.client.clone();
        let (passed, reply) =
            tokio::join!(passing, timeout_at(until, worker.stage_file(ReceiverStream::new(receiver))));
        let reply = match (passed, reply) {
            (_, Ok(Ok(reply))) => reply.into_inner(),
            (Err(why), _) => return Err(broken(why).into()),
            (Ok(()), _) => return Err(broken("the session did not take the file").into()),
        };
        turn.ended(Outcome::Completed);
        let answer = reply.answer.map(|answer| match answer {
            worker::stage_file_reply::Answer::Staged(staged) => {
                let worker::StagedFile { file_id, size, sha256 } = staged;
                self.staged.note(&name, &file_id, content(&staged_name, size, &sha256));
                stage_file_reply::Answer::Staged(client::StagedFile { file_id, size, sha256 })
            }
            worker::stage_file_reply::Answer::ErrorJson(json) => stage_file_reply::Answer::ErrorJson(json),
        });
        Ok(StageFileReply { answer })
    }
}

async fn pass(
    begin: worker::StageFileBegin,
    mut pieces: Streaming<StageFileRequest>,
    to: mpsc::Sender<worker::StageFileRequest>,
) -> Result<(), &'static str> {
    use client::stage_file_request::Kind;
    use worker::stage_file_request::Kind as Out;
    let mut next = Some(Out::Begin(begin));
    while let Some(kind) = next {
        // A worker that has said no takes no more; its answer says why.
        if to.send(worker::StageFileRequest { kind: Some(kind) }).await.is_err() {
            return Ok(());
        }
        let piece = timeout(PIECE, pieces.message()).await;
        next = match piece.map_err(|_| "the file stopped coming")?.map_err(|_| "the client went away")? {
            None => None,
            Some(StageFileRequest { kind: Some(Kind::Data(data)) }) if data.len() <= CHUNK => {
                Some(Out::Data(data))
            }
            Some(_) => return Err("a piece of the file makes no sense"),
        };
    }
    Ok(())
}

fn broken(why: &str) -> OpError {
    OpError::rejected(ErrorKind::Transport, OpPhase::Transport, why, "upload the file again")
}
