//! The methods of the service.

use std::time::{Duration, Instant};

use glass_proto::audit::{Entry, Event};
use glass_proto::paths::Paths;
use glass_proto::version::{CLIENT, PROGRAM};
use glass_proto::wire::client::glass_server::Glass;
use glass_proto::wire::client::{self as pb, Hello};
use glass_proto::wire::{Caller, HelloError, encode_error};
use glass_proto::{ConfirmationId, ExecutionId, SecretName, SessionName};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming};

use super::{executions, quotas, sessions};
use crate::audit::Audit;
use crate::authority::Authority;
use crate::gate::{Call, Events, Execution, Executions, Gate};
use crate::limits;
use crate::peer::Peer;
use crate::session::{CloseReason, Registry};
use crate::shutdown::{Phase, Shutdown};
use crate::supervise::Launcher;

/// Messages on their way to a client that reads slowly.
const BUFFERED: usize = 16;
/// Most bytes of what a session is to try.
const LURES: usize = 16 * 1024;
/// How long a status waits for the sandbox probe, which a client does not wait for.
const PROBE: Duration = Duration::from_millis(50);

/// What the service can see.
#[derive(Clone)]
pub struct View {
    /// The path of every operation.
    pub gate: Gate,
    /// Which policy holds.
    pub authority: Authority,
    /// Where it is written down who asked for what.
    pub audit: Audit,
    /// What runs.
    pub executions: Executions,
    /// The sessions.
    pub registry: Registry,
    /// Starts workers; knows probe and egress.
    pub launcher: std::sync::Arc<Launcher>,
    /// How the daemon ends.
    pub shutdown: Shutdown,
    /// How many sessions the end of the daemon has closed, once it has.
    pub closed: watch::Receiver<Option<u32>>,
    /// Where things lie.
    pub paths: Paths,
    /// Where it logs, unless to standard error.
    pub log: Option<std::path::PathBuf>,
    /// When the daemon began.
    pub begun: Instant,
}

/// The service.
#[derive(Clone)]
pub struct Service(pub View);

fn greet(hello: Option<Hello>) -> Result<Caller, Status> {
    Hello::check(hello).map_err(|error| match error {
        HelloError::Version { .. } => Status::failed_precondition(error.to_string()),
        HelloError::Missing | HelloError::ClientId | HelloError::Policy(_) => {
            Status::invalid_argument(error.to_string())
        }
    })
}

/// The process that sent a request.
fn peer<T>(request: &Request<T>) -> Result<Peer, Status> {
    let peer = request.extensions().get::<Peer>().cloned();
    peer.ok_or_else(|| Status::internal("the connection does not say who is at its other end"))
}

fn session_name(text: &str) -> Result<SessionName, Status> {
    text.parse().map_err(|error| Status::invalid_argument(format!("{error}")))
}

fn confirmation_id(text: &str) -> Result<ConfirmationId, Status> {
    text.parse().map_err(|error| Status::invalid_argument(format!("{error}")))
}

/// For what is no operation, and so has no answer but a status: the error goes along whole.
fn refused(error: &glass_proto::OpError) -> Status {
    Status::with_details(Code::PermissionDenied, error.message.as_str(), encode_error(error).into())
}

fn execution_id(text: &str) -> Result<ExecutionId, Status> {
    text.parse().map_err(|error| Status::invalid_argument(format!("{error}")))
}

impl Service {
    /// Whether this client's policy lets it know of an execution: its own, and those of sessions that it may name.
    fn may_know(&self, caller: &Caller, execution: &Execution) -> Result<(), Status> {
        if execution.client == caller.id {
            return Ok(());
        }
        // One that named no session belongs to none.
        let name = execution.session.parse().unwrap_or_else(|_| Registry::one_off_name());
        self.may_name(caller, &name)
    }

    /// Whether this client's policy lets it see and close a session of this name.
    fn may_name(&self, caller: &Caller, name: &SessionName) -> Result<(), Status> {
        let policy = self.0.authority.policy(&caller.policy).map_err(|error| refused(&error))?;
        self.0.gate.privates.check(&policy, &caller.id, name).map_err(|error| refused(&error))
    }
}

#[tonic::async_trait]
impl Glass for Service {
    type ExecuteStream = ReceiverStream<Result<pb::ExecuteEvent, Status>>;
    type AttendStream = ReceiverStream<Result<pb::Attending, Status>>;

    async fn execute(
        &self,
        request: Request<pb::ExecuteRequest>,
    ) -> Result<Response<Self::ExecuteStream>, Status> {
        let peer = peer(&request)?;
        let request = request.into_inner();
        let call = Call {
            peer,
            caller: greet(request.hello)?,
            session: request.session,
            operation: request.operation,
            params: request.params_json,
            options: request.options_json,
            session_options: request.session_json,
        };
        let (sender, receiver) = mpsc::channel(BUFFERED);
        let gate = self.0.gate.clone();
        self.0.shutdown.spawn("operation", async move { gate.execute(call, Events(sender)).await });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn stage_file(
        &self,
        request: Request<Streaming<pb::StageFileRequest>>,
    ) -> Result<Response<pb::StageFileReply>, Status> {
        use pb::stage_file_reply::Answer;
        use pb::stage_file_request::Kind;
        let peer = peer(&request)?;
        let mut pieces = request.into_inner();
        let Some(pb::StageFileRequest { kind: Some(Kind::Begin(begin)) }) = pieces.message().await? else {
            return Err(Status::invalid_argument("the first message says which file it is"));
        };
        let caller = greet(begin.hello.clone())?;
        let answer = match self.0.gate.stage(&caller, &peer, begin, pieces).await {
            Ok(reply) => return Ok(Response::new(reply)),
            Err(error) => Answer::ErrorJson(encode_error(&error)),
        };
        Ok(Response::new(pb::StageFileReply { answer: Some(answer) }))
    }

    async fn cancel(&self, request: Request<pb::CancelRequest>) -> Result<Response<pb::CancelReply>, Status> {
        let peer = peer(&request)?;
        let request = request.into_inner();
        let caller = greet(request.hello)?;
        let id = execution_id(&request.execution_id)?;
        if let Some(execution) = self.0.executions.find(&id) {
            self.may_know(&caller, &execution)?;
        }
        let found = self.0.executions.cancel(&id);
        if found {
            let client = Some(peer.told(&caller.kind));
            let execution_id = Some(id.to_string());
            self.0.audit.note(Entry { client, execution_id, ..Entry::new(Event::Cancelled) }).await;
        }
        Ok(Response::new(pb::CancelReply { found }))
    }

    async fn show_execution(
        &self,
        request: Request<pb::ShowExecutionRequest>,
    ) -> Result<Response<pb::ShowExecutionReply>, Status> {
        let request = request.into_inner();
        let caller = greet(request.hello)?;
        let id = execution_id(&request.execution_id)?;
        let known = &self.0.executions;
        if let Some(execution) = known.find(&id) {
            self.may_know(&caller, &execution)?;
        }
        let limit = Duration::from_millis(request.wait_ms.into());
        tokio::select! {
            // One that goes on is told as it is.
            _ = tokio::time::timeout(limit, known.over(&id)) => {}
            // The end of the daemon does not wait for those who wait.
            () = self.0.shutdown.reached(Phase::Draining) => {}
        }
        let execution = known.find(&id).map(executions::describe);
        Ok(Response::new(pb::ShowExecutionReply { execution }))
    }

    async fn status(&self, request: Request<pb::StatusRequest>) -> Result<Response<pb::StatusReply>, Status> {
        greet(request.into_inner().hello)?;
        let view = &self.0;
        let probed = view.launcher.probe.known(PROBE).await;
        let steps = probed.iter().flat_map(|probed| &probed.steps).map(|(name, ok, detail)| pb::ProbeStep {
            name: name.clone(),
            ok: *ok,
            detail: detail.clone(),
        });
        let mut probe: Vec<_> = steps.collect();
        let found = probed.as_ref().map(|probed| &probed.mode);
        let why = match found {
            Some(Err(why)) => Some(why),
            _ => probed.as_ref().and_then(|probed| probed.why_weaker.as_ref()),
        };
        if let Some(why) = why {
            probe.push(pb::ProbeStep { name: "mode".to_owned(), ok: false, detail: why.clone() });
        }
        Ok(Response::new(pb::StatusReply {
            program_version: PROGRAM.to_owned(),
            pid: std::process::id(),
            phase: view.shutdown.phase().name().to_owned(),
            uptime_ms: sessions::millis(view.begun.elapsed()),
            socket: view.paths.socket.display().to_string(),
            state_directory: view.paths.state_dir.display().to_string(),
            sessions: sessions::number(view.registry.live()),
            running_operations: sessions::number(view.executions.count()),
            mode: found
                .and_then(|mode| mode.as_ref().ok())
                .map(|mode| mode.name().to_owned())
                .unwrap_or_default(),
            probe,
            major: CLIENT.major,
            minor: CLIENT.minor,
            egress: view.launcher.egress.state().to_string(),
            log_file: view.log.as_ref().map(|log| log.display().to_string()).unwrap_or_default(),
        }))
    }

    async fn list_sessions(
        &self,
        request: Request<pb::ListSessionsRequest>,
    ) -> Result<Response<pb::ListSessionsReply>, Status> {
        let caller = greet(request.into_inner().hello)?;
        let policy = self.0.authority.policy(&caller.policy).map_err(|error| refused(&error))?;
        let mut infos = self.0.registry.list().await;
        let may_name = |name: &SessionName| self.0.gate.privates.check(&policy, &caller.id, name).is_ok();
        infos.retain(|info| info.name.parse().is_ok_and(|name| may_name(&name)));
        let proxy = &self.0.launcher.egress;
        let rows = infos.into_iter().map(|info| sessions::describe(info, sessions::Depth::Row, proxy));
        Ok(Response::new(pb::ListSessionsReply { sessions: futures_util::future::join_all(rows).await }))
    }

    async fn show_session(
        &self,
        request: Request<pb::ShowSessionRequest>,
    ) -> Result<Response<pb::ShowSessionReply>, Status> {
        let request = request.into_inner();
        let caller = greet(request.hello)?;
        let name = session_name(&request.name)?;
        self.may_name(&caller, &name)?;
        let info = self.0.registry.show(&name).await;
        let info = info.ok_or_else(|| Status::not_found(format!("there is no session `{name}`")))?;
        let session = sessions::describe(info, sessions::Depth::Full, &self.0.launcher.egress).await;
        Ok(Response::new(pb::ShowSessionReply { session: Some(session) }))
    }

    async fn close_session(
        &self,
        request: Request<pb::CloseSessionRequest>,
    ) -> Result<Response<pb::CloseSessionReply>, Status> {
        let peer = peer(&request)?;
        let request = request.into_inner();
        let caller = greet(request.hello)?;
        let client = Some(peer.told(&caller.kind));
        let noted = Entry { client, ..Entry::new(Event::SessionClosed) };
        if request.all {
            self.may_name(&caller, &Registry::one_off_name())?;
            self.0.audit.note(noted.detail("all", true)).await;
            let closed = self.0.registry.close_all(CloseReason::Asked).await;
            return Ok(Response::new(pb::CloseSessionReply { closed }));
        }
        let name = session_name(&request.name)?;
        self.may_name(&caller, &name)?;
        self.0.audit.note(Entry { session: Some(name.to_string()), ..noted }).await;
        if !self.0.registry.close(&name, CloseReason::Asked).await {
            return Err(Status::not_found(format!("there is no session `{name}`")));
        }
        Ok(Response::new(pb::CloseSessionReply { closed: vec![name.into()] }))
    }

    async fn attend(
        &self,
        request: Request<pb::AttendRequest>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let request = request.into_inner();
        let caller = greet(request.hello)?;
        let private = match request.private_session.as_str() {
            "" => None,
            name => Some(session_name(name)?),
        };
        let own = match &private {
            Some(name) => {
                let policy = self.0.authority.policy(&caller.policy).map_err(|error| refused(&error))?;
                let exists = self.0.registry.is_taken(name);
                let entered = self.0.gate.privates.enter(&policy, &caller.id, name, exists);
                Some(entered.map_err(|error| refused(&error))?)
            }
            None => None,
        };
        let (sender, receiver) = mpsc::channel(1);
        // There is room for the first message.
        let _ = sender.try_send(Ok(pb::Attending {}));
        let (registry, shutdown) = (self.0.registry.clone(), self.0.shutdown.clone());
        let (confirmations, client) = (self.0.gate.confirmations.clone(), caller.id.clone());
        self.0.shutdown.spawn("attendance", async move {
            tokio::select! {
                () = sender.closed() => {}
                // Sessions close with the daemon anyway, and its end must not wait for a client that stays.
                () = shutdown.reached(Phase::Draining) => return,
            }
            confirmations.forget(&client);
            // A client that has come again goes on with its session. The name is its own until the session is gone.
            if let (Some(name), Some(own)) = (private, own)
                && own.is_left()
            {
                registry.close(&name, CloseReason::ClientGone).await;
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn policy(&self, request: Request<pb::PolicyRequest>) -> Result<Response<pb::PolicyReply>, Status> {
        let request = request.into_inner();
        let caller = greet(request.hello)?;
        if request.items.len() > glass_proto::authority::MAX_ITEMS {
            return Err(Status::invalid_argument("that is asked about too many things at one time"));
        }
        self.0.authority.look_until_settled().await;
        let told = self.0.authority.tell(&caller.policy, &request.items).map_err(|error| refused(&error))?;
        let told_json = serde_json::to_vec(&told).map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(pb::PolicyReply { told_json }))
    }

    async fn confirmations(
        &self,
        request: Request<pb::ConfirmationsRequest>,
    ) -> Result<Response<pb::ConfirmationsReply>, Status> {
        let peer = peer(&request)?;
        let request = request.into_inner();
        greet(request.hello)?;
        let confirmations = &self.0.gate.confirmations;
        let told = match request.confirmation_id.as_str() {
            "" => serde_json::to_vec(&confirmations.open()),
            id => {
                let shown = confirmations.show(&confirmation_id(id)?, &peer).await;
                serde_json::to_vec(&shown.map_err(|error| refused(&error))?)
            }
        };
        let told_json = told.map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(pb::ConfirmationsReply { told_json }))
    }

    async fn decide(&self, request: Request<pb::DecideRequest>) -> Result<Response<pb::DecideReply>, Status> {
        let peer = peer(&request)?;
        let request = request.into_inner();
        greet(request.hello)?;
        let id = confirmation_id(&request.confirmation_id)?;
        let confirmations = &self.0.gate.confirmations;
        let decided = match request.grant {
            true => {
                let secret = Some(request.secret).filter(|secret| !secret.is_empty());
                confirmations.grant(&id, &peer, secret).await
            }
            false => confirmations.deny(&id, &peer).await,
        };
        let decided = decided.map_err(|error| refused(&error))?;
        let decided_json =
            serde_json::to_vec(&decided).map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(pb::DecideReply { decided_json }))
    }

    async fn reach(&self, request: Request<pb::ReachRequest>) -> Result<Response<pb::ReachReply>, Status> {
        let pb::ReachRequest { hello, session, lures_json } = request.into_inner();
        let caller = greet(hello)?;
        let name = session_name(&session)?;
        self.may_name(&caller, &name)?;
        if lures_json.len() > LURES {
            return Err(Status::invalid_argument("that is too much to be tried"));
        }
        let worker = self.0.registry.show(&name).await.and_then(|info| info.client);
        let mut worker =
            worker.ok_or_else(|| Status::not_found(format!("the session `{name}` is not open")))?;
        let asked = worker.reach(glass_proto::wire::worker::ReachRequest { lures_json });
        match timeout(limits::GRACE, asked).await {
            Ok(Ok(reply)) => {
                Ok(Response::new(pb::ReachReply { attempts_json: reply.into_inner().attempts_json }))
            }
            Ok(Err(_)) => Err(Status::unavailable("the session's worker did not answer")),
            Err(_) => Err(Status::deadline_exceeded("the session's worker did not answer in time")),
        }
    }

    async fn quotas(&self, request: Request<pb::QuotasRequest>) -> Result<Response<pb::QuotasReply>, Status> {
        let request = request.into_inner();
        let caller = greet(request.hello)?;
        let view = &self.0;
        let policy = view.authority.policy(&caller.policy).map_err(|error| refused(&error))?;
        let (mut rows, infos) = match request.session.as_str() {
            "" => {
                let mut infos = view.registry.list().await;
                infos
                    .retain(|info| info.name.parse().is_ok_and(|name| self.may_name(&caller, &name).is_ok()));
                (quotas::of_user(view, &caller.id, policy.rates()), infos)
            }
            name => {
                let name = session_name(name)?;
                self.may_name(&caller, &name)?;
                let info = view.registry.show(&name).await;
                (
                    Vec::new(),
                    vec![info.ok_or_else(|| Status::not_found(format!("there is no session `{name}`")))?],
                )
            }
        };
        for info in infos {
            rows.extend(quotas::of_session(view, info).await);
        }
        Ok(Response::new(pb::QuotasReply { quotas: rows }))
    }

    async fn export_secrets(
        &self,
        request: Request<pb::ExportSecretsRequest>,
    ) -> Result<Response<pb::ExportSecretsReply>, Status> {
        let peer = peer(&request)?;
        let request = request.into_inner();
        let caller = greet(request.hello)?;
        let name = session_name(&request.session)?;
        self.may_name(&caller, &name)?;
        let names =
            request.names.iter().map(|name| name.parse::<SecretName>()).collect::<Result<Vec<_>, _>>();
        let names = names.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let exported = self.0.gate.export(&caller, &peer, &name, &names);
        let entry = Entry {
            client: Some(peer.told(&caller.kind)),
            session: Some(name.to_string()),
            ..Entry::new(Event::SecretsExported)
        };
        let entry = match &exported {
            Ok(secrets) => {
                let names: Vec<_> = secrets.iter().map(|secret| secret.name.as_str()).collect();
                Entry { outcome: Some("completed".to_owned()), ..entry.detail("names", names) }
            }
            Err(error) => Entry {
                outcome: Some("rejected".to_owned()),
                kind: Some(error.kind.name().to_owned()),
                reason: error.reason.clone(),
                ..entry
            },
        };
        self.0.audit.note(entry).await;
        let secrets = exported.map_err(|error| refused(&error))?;
        Ok(Response::new(pb::ExportSecretsReply { secrets }))
    }

    async fn stop(&self, request: Request<pb::StopRequest>) -> Result<Response<pb::StopReply>, Status> {
        let peer = peer(&request)?;
        let caller = greet(request.into_inner().hello)?;
        let client = Some(peer.told(&caller.kind));
        self.0.audit.note(Entry { client, ..Entry::new(Event::StopAsked) }).await;
        self.0.shutdown.advance(Phase::Draining, "a client asked for it");
        let mut closed = self.0.closed.clone();
        let sessions_closed = match closed.wait_for(Option::is_some).await {
            Ok(count) => count.unwrap_or_default(),
            // The daemon ended before it could count them.
            Err(_) => 0,
        };
        Ok(Response::new(pb::StopReply { pid: std::process::id(), sessions_closed }))
    }
}
