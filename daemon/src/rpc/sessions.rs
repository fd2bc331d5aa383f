//! A session as lists and `session show` tell of it.

use std::time::Duration;

use glass_proto::redact;
use glass_proto::wire::client as pb;
use glass_proto::wire::worker::HealthRequest;
use tokio::time::timeout;

use crate::limits;
use crate::session::Info;
use crate::supervise::{Egress, memory};
use crate::vault;

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// A row of a list.
    Row,
    /// Everything: the pages and the layers too.
    Full,
}

/// Milliseconds, as far as they fit.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A count, as far as it fits.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Puts a session into words; asks its worker for its pages, within a bounded time.
pub(super) async fn describe(info: Info, depth: Depth, proxy: &Egress) -> pb::SessionInfo {
    let asked = info.greeting.is_some() && depth == Depth::Full;
    let traffic = async { if asked { proxy.counters(&info.id).await } else { None } };
    let (targets, traffic) = tokio::join!(pages(&info), traffic);
    let traffic = traffic.map(|counted| pb::Traffic {
        bytes_sent: counted.bytes_up,
        bytes_received: counted.bytes_down,
        requests: counted.requests,
        connections: counted.connections,
        denied: counted.denied,
        failed: counted.failed,
    });
    let memory_bytes = match info.pid.filter(|_| depth == Depth::Full) {
        // Dozens of small files of /proc: too slow for the thread that serves everybody.
        Some(pid) => tokio::task::spawn_blocking(move || memory::of_tree(pid)).await.unwrap_or(0),
        None => 0,
    };
    let egress = match &info.greeting {
        Some(greeting) if greeting.enforces_egress() => "enforced",
        Some(_) => "advisory",
        None => "",
    };
    let browser = info.greeting.as_ref().map(|greeting| greeting.browser_version.clone());
    let (mode, layers) = match (&info.greeting, depth) {
        (Some(greeting), Depth::Full) => (greeting.mode.name(), layers(&greeting.layers)),
        (Some(greeting), Depth::Row) => (greeting.mode.name(), Vec::new()),
        (None, _) => ("", Vec::new()),
    };
    pb::SessionInfo {
        name: info.name,
        id: info.id,
        kind: if info.attached { "attached" } else { "ephemeral" }.to_owned(),
        options: info.options,
        state: info.state.to_owned(),
        reason: info.reason,
        age_ms: millis(info.age),
        idle_ms: millis(info.idle),
        targets: number(targets.len()),
        queued: number(info.queued),
        running: info.running.join(", "),
        layers,
        target_rows: if depth == Depth::Full { targets } else { Vec::new() },
        operations: info.tally.operations,
        completed: info.tally.completed,
        failed: info.tally.failed,
        rejected: info.tally.rejected,
        unknown: info.tally.unknown,
        mode: mode.to_owned(),
        memory_bytes,
        uid: info.uid.unwrap_or_default(),
        // One that is due now is told as such, not as one that never closes.
        closes_in_ms: info.closes_in.map_or(0, |left| millis(left).max(1)),
        browser_version: browser.unwrap_or_default(),
        egress: egress.to_owned(),
        traffic,
        upstream_proxy: proxy.upstream().filter(|_| info.greeting.is_some()).unwrap_or_default(),
    }
}

fn layers(seen: &[(String, String, String)]) -> Vec<pb::Layer> {
    let layer = |(name, state, detail): &(String, String, String)| pb::Layer {
        name: name.clone(),
        state: state.clone(),
        detail: detail.clone(),
    };
    seen.iter().map(layer).collect()
}

async fn pages(info: &Info) -> Vec<pb::TargetInfo> {
    let Some(mut client) = info.client.clone() else { return Vec::new() };
    match timeout(limits::HEALTH, client.health(HealthRequest {})).await {
        Ok(Ok(reply)) => {
            let kept = info.vault.as_ref().map(|vault| vault.all()).unwrap_or_default();
            let secrets = vault::texts(&kept);
            let page = |target: glass_proto::wire::worker::Target| pb::TargetInfo {
                id: target.id,
                url: redact::secrets_in(target.url, &secrets),
                title: redact::secrets_in(target.title, &secrets),
            };
            reply.into_inner().targets.into_iter().map(page).collect()
        }
        // A worker that is going away, or too busy to say: the list does not wait for it.
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}
