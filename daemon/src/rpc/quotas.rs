//! What may be used, what is, and who sees to it (contract 11).

use glass_policy::decide::Rates as Share;
use glass_proto::ClientId;
use glass_proto::wire::client as pb;
use glass_proto::wire::worker::HealthRequest;
use glass_sandbox::Mode;
use tokio::time::timeout;

use super::service::View;
use crate::gate::IN_FLIGHT;
use crate::limits;
use crate::session::Info;
use crate::supervise::memory;

/// What holds for the user and for each client of this share.
pub(super) fn of_user(view: &View, client: &ClientId, share: Share) -> Vec<pb::Quota> {
    let rates = view.gate.limiters.rates(share);
    let row = |name: &str, limit: usize, used: Option<usize>, unit: &str| pb::Quota {
        name: name.to_owned(),
        limit: limit as u64,
        used: used.map(|used| used as u64),
        unit: unit.to_owned(),
        enforced_by: vec!["daemon".to_owned()],
        ..pb::Quota::default()
    };
    let starting = view.launcher.starting();
    vec![
        row("sessions", view.registry.max(), Some(view.registry.live()), ""),
        row("sessions_starting", starting.1, Some(starting.0), ""),
        row(IN_FLIGHT, view.executions.limit(), Some(view.executions.of(client)), ""),
        row("operations", rates.operations.get() as usize, None, "per_second"),
        row("operations_at_once", rates.burst.get() as usize, None, ""),
        row("navigations", rates.navigations.get() as usize, None, "per_second"),
    ]
}

/// What holds for one session. Reads the memory of its processes anew.
pub(super) async fn of_session(view: &View, info: Info) -> Vec<pb::Quota> {
    let quotas = view.registry.quotas();
    let has = |controller: &str| {
        view.launcher.cgroups.as_ref().is_ok_and(|all| all.controllers().contains(&controller))
    };
    // Where no browser runs nothing is held back yet, and what would be is told.
    let mode = info.greeting.as_ref().map(|greeting| greeting.mode);
    let namespaces = mode != Some(Mode::LandlockOnly) && mode != Some(Mode::BrowserOnly);
    let memory = match info.pid {
        // Dozens of small files of /proc: too slow for the thread that serves everybody.
        Some(pid) => tokio::task::spawn_blocking(move || memory::of_tree(pid)).await.ok(),
        None => None,
    };
    let targets = match info.client.clone() {
        Some(mut client) => match timeout(limits::HEALTH, client.health(HealthRequest {})).await {
            Ok(Ok(reply)) => Some(reply.into_inner().targets.len() as u64),
            // One that is busy says nothing now.
            Ok(Err(_)) | Err(_) => None,
        },
        None => None,
    };
    let usage = info.usage.unwrap_or_default();
    let row = |name: &str, limit: u64, used: Option<u64>, unit: &str, by: &[(&str, bool)]| pb::Quota {
        session: info.name.clone(),
        name: name.to_owned(),
        limit,
        used,
        unit: unit.to_owned(),
        enforced_by: by.iter().filter(|(_, does)| *does).map(|(who, _)| (*who).to_owned()).collect(),
        detail: String::new(),
    };
    let memory_by = [("cgroup", has("memory")), ("rlimit", true), ("watchdog", true)];
    let processes_by = [("cgroup", has("pids")), ("rlimit", namespaces), ("watchdog", true)];
    let mut cpu = row(
        "cpu",
        quotas.cpu_percent.into(),
        usage.cpu_percent.map(u64::from),
        "percent",
        &[("cgroup", has("cpu"))],
    );
    if cpu.enforced_by.is_empty() {
        cpu.detail = match &view.launcher.cgroups {
            Ok(_) => "the delegated control group has no controller for it".to_owned(),
            Err(why) => why.clone(),
        };
    }
    let mut processes = row("processes", quotas.processes.into(), usage.processes, "", &processes_by);
    processes.detail = format!("and {} threads", quotas.threads());
    vec![
        row("memory", quotas.memory, memory.or(usage.memory), "bytes", &memory_by),
        cpu,
        processes,
        row("spool", quotas.spool, usage.spool, "bytes", &[("worker", true), ("watchdog", true)]),
        row("profile", quotas.profile, usage.profile, "bytes", &[("watchdog", true)]),
        row("targets", info.targets.into(), targets, "", &[("worker", true)]),
        row("operations_queued", quotas.queued.into(), Some(info.queued as u64), "", &[("daemon", true)]),
    ]
}
