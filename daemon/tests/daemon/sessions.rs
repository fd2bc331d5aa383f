//! contract: 1 — sessions begin, are listed, are bounded and close, and what does not start says why.

use super::world::{World, eventually, told};
use glass_proto::wire::client as pb;

#[tokio::test]
async fn a_session_is_listed_with_what_it_is() {
    let world = World::start("").await;
    world.navigate("work", "/").await.completed();
    let request = pb::ShowSessionRequest { hello: world.hello(), name: "work".into() };
    let info = world.connected().await.show_session(request).await.unwrap().into_inner().session.unwrap();
    assert_eq!((info.name.as_str(), info.state.as_str(), info.kind.as_str()), ("work", "ready", "ephemeral"));
    assert_eq!((info.targets, info.operations, info.completed), (1, 1, 1));
    assert_eq!(info.mode, "namespaces");
    assert!(info.layers.iter().any(|layer| layer.name == "seccomp" && layer.state == "active"));
    assert!(info.memory_bytes > 0);
    let status = world.status().await;
    assert_eq!((status.sessions, status.mode.as_str()), (1, "namespaces"));
    assert!(status.egress.starts_with("running"), "{}", status.egress);
    assert!(status.probe.iter().all(|step| step.ok), "{:?}", status.probe);
}

#[tokio::test]
async fn closing_leaves_no_process_and_no_file() {
    let world = World::start("").await;
    world.navigate("one", "/").await.completed();
    world.navigate("two", "/").await.completed();
    assert_eq!((world.session_directories(), world.processes().len()), (2, 3));
    let mut client = world.connected().await;
    let close = |name: &str, all| pb::CloseSessionRequest { hello: world.hello(), name: name.into(), all };
    let reply = client.close_session(close("one", false)).await.unwrap().into_inner();
    assert_eq!(reply.closed, ["one"]);
    assert_eq!((world.session_directories(), world.processes().len()), (1, 2));
    assert_eq!(client.close_session(close("one", false)).await.unwrap_err().code(), tonic::Code::NotFound);
    client.close_session(close("", true)).await.unwrap();
    assert_eq!((world.session_directories(), world.processes().len()), (0, 1));
    let done = world.observe("two").await;
    assert_eq!(done.told(), told("target_not_found", "rejected", "session_new"));
}

#[tokio::test]
async fn a_worker_that_ignores_everything_is_gone_all_the_same() {
    let world = World::start("").await;
    world.navigate("stubborn", "/").await.completed();
    let request = pb::CloseSessionRequest { hello: world.hello(), name: "stubborn".into(), all: false };
    world.connected().await.close_session(request).await.unwrap();
    assert_eq!((world.session_directories(), world.processes().len()), (0, 1));
    assert!(world.log().contains("ended=OnKill"), "{}", world.log());
}

#[tokio::test]
async fn a_session_that_does_not_start_says_why_and_leaves_nothing() {
    let world = World::start("").await;
    let cases = [
        ("start-refused", "start_failed"),
        ("start-dies", "start_failed"),
        ("greet-fails", "browser_not_started"),
        ("weak", "sandbox_too_weak"),
        ("from-the-future", "sandbox_too_weak"),
    ];
    for (name, reason) in cases {
        let done = world.navigate(name, "/").await;
        assert_eq!(done.told(), told("session_failed", "rejected", reason), "{name}");
        let error = done.error();
        match name {
            "start-refused" => {
                assert_eq!(
                    (&error.details["step"], &error.details["errno"]),
                    (&"uid_map".into(), &"EPERM".into())
                );
                assert_eq!(error.remedy, "allow user namespaces");
            }
            "weak" => assert!(error.message.contains("seccomp"), "{}", error.message),
            _ => {}
        }
    }
    eventually("nothing is left", || world.session_directories() == 0 && world.processes().len() <= 1).await;
    let states: Vec<_> = world.sessions().await.into_iter().map(|row| row.state).collect();
    assert_eq!(states, ["failed"; 5]);
}

#[tokio::test]
async fn a_start_that_hangs_is_bounded_by_the_call_and_can_be_closed() {
    let world = World::start("").await;
    let done = world.run("start-hangs", "navigate", r#"{"url":"x.test"}"#, r#"{"timeoutMs":300}"#).await;
    assert_eq!(done.told(), told("timeout", "rejected", "timeout"));
    assert_eq!(world.sessions().await[0].state, "starting");
    let request = pb::CloseSessionRequest { hello: world.hello(), name: "start-hangs".into(), all: false };
    world.connected().await.close_session(request).await.unwrap();
    assert_eq!((world.session_directories(), world.processes().len()), (0, 1));
}

#[tokio::test]
async fn there_is_a_bound_of_sessions() {
    let world = World::start("[sessions]\nmax = 2").await;
    world.navigate("a", "/").await.completed();
    world.navigate("b", "/").await.completed();
    let error = world.navigate("c", "/").await.error();
    assert_eq!((error.kind.name(), &error.details["quota"]), ("quota_exceeded", &"sessions".into()));
}

#[tokio::test]
async fn an_idle_session_is_closed() {
    let world = World::start("[sessions]\nidle_timeout = \"300ms\"").await;
    world.navigate("default", "/").await.completed();
    eventually("the session's files are gone", || world.session_directories() == 0).await;
    let done = world.observe("default").await;
    assert_eq!(done.told(), told("target_not_found", "rejected", "session_new"));
    assert_eq!(world.navigate("default", "/").await.completed().started(), "new");
}
