//! contract: 2 — one outcome for every operation, in one shape, within its deadline.

use std::time::{Duration, Instant};

use glass_proto::wire::client as pb;

use super::world::{World, told, url};

#[tokio::test]
async fn navigate_begins_a_session_and_others_go_on_in_it() {
    let world = World::start("").await;
    let first = world.navigate("default", "/").await.completed();
    assert_eq!(first.started(), "new");
    assert_eq!(world.navigate("default", "/").await.completed().started(), "running");
    assert_eq!(world.observe("default").await.completed().started(), "running");
    assert_eq!(world.sessions().await.len(), 1);
}

#[tokio::test]
async fn without_a_page_there_is_nothing_to_work_on() {
    let world = World::start("").await;
    for session in ["default", "new"] {
        let done = world.observe(session).await;
        assert_eq!(done.told(), told("target_not_found", "rejected", "session_new"));
    }
    assert!(world.sessions().await.is_empty());
}

#[tokio::test]
async fn wrong_calls_are_rejected_in_the_one_shape() {
    let world = World::start("").await;
    let cases = [
        ("default", "fly", "{}", "", "invalid_argument"),
        ("default", "observe", "{", "", "invalid_argument"),
        ("Not A Name", "observe", "{}", "", "invalid_argument"),
        ("default", "navigate", r#"{"url":"file:///etc/shadow"}"#, "", "denied"),
        ("default", "observe", "{}", r#"{"idempotencyKey":"k"}"#, "unsupported"),
        ("default", "observe", "{}", r#"{"timeoutMs":300001}"#, "invalid_argument"),
    ];
    for (session, operation, params, options, kind) in cases {
        let done = world.run(session, operation, params, options).await;
        let error = done.error();
        assert_eq!((error.kind.name(), done.ended.outcome.as_str()), (kind, "rejected"), "{operation}");
        assert_eq!(error.execution_id.unwrap().as_str(), done.accepted.execution_id);
    }
}

#[tokio::test]
async fn a_one_off_session_ends_with_its_call() {
    let world = World::start("").await;
    let done = world.navigate("new", "/").await.completed();
    assert_eq!(done.started(), "new");
    assert!(done.accepted.session.unwrap().name.starts_with("new-"));
    assert!(world.sessions().await.is_empty());
    assert_eq!(world.session_directories(), 0);
}

#[tokio::test]
async fn artifacts_come_before_the_end() {
    let world = World::start("").await;
    let done = world.navigate("default", "/artifact").await.completed();
    assert_eq!(done.artifact.len(), 2000);
}

#[tokio::test]
async fn page_operations_queue_and_others_pass() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let busy = world.begin("default", "navigate", &url("/waits"), "").await;
    let waiting = world.begin("default", "wait", r#"{"condition":"text=x"}"#, r#"{"timeoutMs":60000}"#).await;
    let late = world.run("default", "observe", "{}", r#"{"timeoutMs":200}"#).await;
    assert_eq!(late.told(), told("timeout", "rejected", "timeout"));
    let row = &world.sessions().await[0];
    assert_eq!(row.running, "navigate, wait");
    drop((busy, waiting));
    world.observe("default").await.completed();
}

#[tokio::test]
async fn a_cancelled_operation_ends_with_its_true_outcome() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let running = world.begin("default", "navigate", &url("/waits"), "").await;
    let id = running.accepted.execution_id.clone();
    let mut client = world.connected().await;
    let request = pb::CancelRequest { hello: world.hello(), execution_id: id };
    assert!(client.cancel(request.clone()).await.unwrap().into_inner().found);
    let done = running.end().await;
    assert_eq!((done.ended.outcome.as_str(), done.error().kind.name()), ("rejected", "cancelled"));
    assert_eq!(done.error().message, "cancelled in the worker");
    assert!(!client.cancel(request).await.unwrap().into_inner().found);
}

#[tokio::test]
async fn what_a_worker_cannot_account_for_is_unknown() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let begun = Instant::now();
    let done = world.run("default", "navigate", &url("/hangs"), r#"{"timeoutMs":300}"#).await;
    assert_eq!(done.told(), told("unknown_outcome", "unknown", "timeout"));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    world.observe("default").await.completed();
}

#[tokio::test]
async fn a_client_that_goes_leaves_nothing_running() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    for _ in 0..20 {
        drop(world.begin("default", "navigate", &url("/waits"), r#"{"timeoutMs":60000}"#).await);
        world.observe("default").await.completed();
    }
    assert_eq!(world.status().await.running_operations, 0);
}

#[tokio::test]
async fn a_client_has_a_bound_of_operations_in_flight() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let mut held = Vec::new();
    for _ in 0..16 {
        held.push(
            world.begin("default", "wait", r#"{"condition":"text=x"}"#, r#"{"timeoutMs":60000}"#).await,
        );
    }
    let done = world.observe("default").await;
    let error = done.error();
    assert_eq!(error.kind.name(), "quota_exceeded");
    assert_eq!((&error.details["limit"], &error.details["used"]), (&16.into(), &16.into()));
    drop(held);
}
