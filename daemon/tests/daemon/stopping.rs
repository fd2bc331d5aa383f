//! contract: 12.2 — stopping is orderly, bounded, and leaves nothing.

use std::time::Instant;

use glass_proto::wire::client as pb;
use glass_sandbox::{Pidfd, Signal};

use super::world::{LONG, World, told, url};

fn signal(world: &World, signal: Signal) {
    Pidfd::open(world.daemon.as_ref().unwrap().id()).unwrap().signal(signal).unwrap();
}

#[tokio::test]
async fn stop_closes_everything_and_says_how_many() {
    let mut world = World::start("").await;
    world.navigate("one", "/").await.completed();
    world.navigate("two", "/").await.completed();
    let request = pb::StopRequest { hello: world.hello() };
    let reply = world.connected().await.stop(request).await.unwrap().into_inner();
    assert_eq!((reply.pid, reply.sessions_closed), (world.daemon.as_ref().unwrap().id(), 2));
    assert_eq!(world.session_directories(), 0);
    assert_eq!(world.ended().await.code(), Some(0));
    assert!(!world.socket().exists());
}

#[tokio::test]
async fn a_signal_refuses_what_is_new_and_lets_running_operations_end() {
    let mut world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let running = world.begin("default", "navigate", &url("/hangs"), r#"{"timeoutMs":60000}"#).await;
    let begun = Instant::now();
    signal(&world, Signal::SIGTERM);
    while world.status().await.phase == "serving" {}
    let refused = world.observe("default").await;
    assert_eq!(refused.told(), told("daemon_unreachable", "rejected", "daemon_stopping"));
    let done = running.end().await;
    assert_eq!(done.told(), told("unknown_outcome", "unknown", "daemon_lost"));
    assert_eq!(world.ended().await.code(), Some(0));
    assert!(begun.elapsed() < LONG);
    assert_eq!(world.session_directories(), 0);
}

#[tokio::test]
async fn a_second_signal_is_quicker() {
    let mut world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let running = world.begin("default", "navigate", &url("/waits"), r#"{"timeoutMs":60000}"#).await;
    signal(&world, Signal::SIGTERM);
    while world.status().await.phase == "serving" {}
    let begun = Instant::now();
    signal(&world, Signal::SIGINT);
    assert_eq!(running.end().await.ended.outcome, "rejected");
    assert_eq!(world.ended().await.code(), Some(0));
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_daemon_whose_socket_vanishes_ends_with_its_sessions() {
    let mut world = World::start("").await;
    world.navigate("default", "/").await.completed();
    std::fs::rename(world.socket().parent().unwrap(), world.root().join("away")).unwrap();
    let mut next = world.spawn(&["--from-client"]);
    assert_eq!(world.ended().await.code(), Some(0));
    let pid = next.id();
    assert_eq!(world.status().await.pid, pid);
    assert_eq!(world.session_directories(), 0);
    next.kill().unwrap();
    next.wait().unwrap();
}

#[tokio::test]
async fn an_idle_daemon_of_a_client_ends() {
    let mut world = World::start("[daemon]\nidle_exit = \"200ms\"").await;
    assert_eq!(world.ended().await.code(), Some(0));
}
