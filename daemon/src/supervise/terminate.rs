//! Ends a worker and everything it started, and then its files.
//!
//! Owns the ladder: ask (the worker's own shutdown), SIGTERM (the stub kills its cage and reaps it), SIGKILL. Does
//! not decide when (`session::actor`).
//!
//! Invariant: when `end` has returned, no process of the session is left, and then its directory is removed; if
//! that cannot be had, the log says so, and the directory stays for the next start of a daemon.

use std::time::Instant;

use glass_proto::wire::worker::ShutdownRequest;
use glass_proto::wire::worker::worker_client::WorkerClient;
use glass_sandbox::Signal;
use tokio::time::timeout;
use tonic::transport::Channel;

use super::egress::Egress;
use super::worker::Body;
use crate::limits;

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was gone already.
    AlreadyGone,
    /// It went when it was asked.
    OnAsk,
    /// SIGTERM ended it.
    OnTerm,
    /// SIGKILL ended it.
    OnKill,
    /// It is still there.
    Never,
}

/// Ends the session's processes, then its egress and its files. `client` asks first; without one, signals begin.
pub async fn end(body: Body, client: Option<WorkerClient<Channel>>, egress: &Egress) -> Ended {
    let begun = Instant::now();
    let ended = end_processes(&body, client).await;
    if let Some(group) = &body.group {
        // What no signal reached before, in one stroke.
        group.kill();
    }
    let Body { id, init, files, group, .. } = body;
    let mut all_gone = ended != Ended::Never;
    if let Some(init) = init
        && timeout(limits::KILL, init.gone()).await.is_err()
    {
        all_gone = false;
        tracing::error!(session = id, "pid 1 of a cage does not end");
    }
    egress.remove(&id).await;
    if !all_gone {
        // A browser that still writes must not do so in a tree that is being taken apart.
        tracing::error!(session = id, "a session's files are left, as a process of it may still use them");
        return ended;
    }
    if let Some(group) = group {
        group.remove();
    }
    let removed = tokio::task::spawn_blocking(move || files.remove()).await;
    match removed {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(session = id, %error, "a session's files could not be removed"),
        Err(error) => tracing::error!(session = id, %error, "the removal of a session's files broke off"),
    }
    tracing::info!(session = id, ?ended, ms = begun.elapsed().as_millis(), "a session's processes ended");
    ended
}

async fn end_processes(body: &Body, client: Option<WorkerClient<Channel>>) -> Ended {
    if body.stub.exited_within(std::time::Duration::ZERO).await.is_some() {
        return Ended::AlreadyGone;
    }
    if let Some(mut client) = client {
        let ask = async {
            // An answer that never comes is what the limit is for; the exit is what counts.
            let _ = client.shutdown(ShutdownRequest {}).await;
            body.stub.exited().await
        };
        if timeout(limits::GRACE, ask).await.is_ok() {
            return Ended::OnAsk;
        }
    }
    body.stub.signal(Signal::SIGTERM);
    if body.stub.exited_within(limits::GRACE).await.is_some() {
        return Ended::OnTerm;
    }
    body.stub.signal(Signal::SIGKILL);
    if body.stub.exited_within(limits::KILL).await.is_some() {
        return Ended::OnKill;
    }
    tracing::error!(session = body.id, pid = body.stub.pid(), "a worker does not end");
    Ended::Never
}
