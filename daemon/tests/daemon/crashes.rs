//! contract: 1.5, 2.6, 12.2 — whatever dies, it is noticed at once, told truly, and nothing is left.

use std::time::{Duration, Instant};

use glass_sandbox::{Pidfd, Signal};

use super::world::{World, eventually, program, told, url};

fn kill(pid: u32) {
    Pidfd::open(pid).unwrap().signal(Signal::SIGKILL).unwrap();
}

fn child(world: &World, name: &str) -> u32 {
    world.processes().into_iter().find(|pid| program(*pid) == name).unwrap()
}

#[tokio::test]
async fn a_browsers_death_after_dispatch_is_unknown_and_the_next_navigate_begins_anew() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let done = world.navigate("default", "/crashes").await;
    assert_eq!(done.told(), told("unknown_outcome", "unknown", "browser_crashed"));
    assert_eq!(world.observe("default").await.told(), told("session_failed", "rejected", "browser_crashed"));
    assert_eq!(world.observe("default").await.told(), told("target_not_found", "rejected", "session_new"));
    let again = world.navigate("default", "/").await.completed();
    assert_eq!(again.started(), "new");
    world.observe("default").await.completed();
}

#[tokio::test]
async fn navigate_right_after_a_crash_just_works() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    kill(child(&world, "glass-worker"));
    eventually("the session failed", || world.log().contains("to=\"failed\"")).await;
    assert_eq!(world.navigate("default", "/").await.completed().started(), "new");
    eventually("only the new session's files are there", || world.session_directories() == 1).await;
}

#[tokio::test]
async fn a_worker_that_dies_before_dispatch_did_nothing() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let done = world.navigate("default", "/dies-early").await;
    assert_eq!(done.told(), told("session_failed", "rejected", "worker_lost"));
}

#[tokio::test]
async fn a_worker_that_dies_before_anybody_hears_of_its_dispatch_leaves_the_outcome_unknown() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let done = world.navigate("default", "/dies-unheard").await;
    assert_eq!(done.told(), told("unknown_outcome", "unknown", "worker_lost"));
}

#[tokio::test]
async fn a_killed_worker_is_noticed_at_once_by_all_who_wait() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let running = world.begin("default", "navigate", &url("/hangs"), "").await;
    let queued = world.begin("default", "observe", "{}", r#"{"timeoutMs":60000}"#).await;
    let begun = Instant::now();
    kill(child(&world, "glass-worker"));
    let (running, queued) = (running.end().await, queued.end().await);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(queued.told(), told("session_failed", "rejected", "worker_lost"));
    let (_, outcome, reason) = running.told();
    assert_eq!(reason, "worker_lost", "{outcome}");
    eventually("no file is left", || world.session_directories() == 0).await;
}

#[tokio::test]
async fn a_killed_daemon_leaves_no_process_and_the_next_one_no_file() {
    let mut world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let left = world.processes();
    assert_eq!(left.len(), 2);
    let mut daemon = world.daemon.take().unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let begun = Instant::now();
    let gone = |pid: &u32| match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')),
        Err(_) => true,
    };
    eventually("its children are gone", || left.iter().all(gone)).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(world.session_directories(), 1);
    world.daemon = Some(world.spawn(&["--from-client"]));
    world.status().await;
    assert_eq!(world.session_directories(), 0);
}

#[tokio::test]
async fn a_killed_proxy_is_replaced_and_sessions_go_on() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let first = child(&world, "glass-egress");
    kill(first);
    eventually("the worker got another endpoint", || world.log().contains("another egress endpoint, 1 desc"))
        .await;
    assert_ne!(child(&world, "glass-egress"), first);
    world.observe("default").await.completed();
    assert!(world.status().await.egress.contains("restarted 1 times"));
}
