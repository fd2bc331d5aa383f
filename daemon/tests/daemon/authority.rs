//! contract: 10 — what one client's policy says of a session that another began.

use glass_policy::layer::Given;
use glass_policy::{Capability, Preset};
use glass_proto::wire::client as pb;
use tonic::Code;

use super::world::{World, eventually, told, url};

// contract: 10.3
#[tokio::test]
async fn a_session_that_turns_out_to_be_advisory_runs_nothing_of_a_policy_that_requires_more() {
    let world = World::start("").await;
    // Both come before the worker has told what its cage is, and in between the policy asks for more.
    let open = world.begin("advisory", "navigate", &url("/"), "").await;
    std::fs::write(world.root().join("policy.toml"), "require_egress = true\n").unwrap();
    let request = pb::PolicyRequest { hello: world.hello(), items: Vec::new() };
    world.connected().await.policy(request).await.unwrap();
    let narrow = world.begin("advisory", "observe", "{}", "").await;
    let row = &world.sessions().await[0];
    assert_eq!((row.egress.as_str(), row.state.as_str()), ("", "starting"), "nothing is promised yet");
    let sessions = world.state().join("sessions");
    let profile = || Some(std::fs::read_dir(&sessions).ok()?.next()?.ok()?.path().join("profile"));
    eventually("the worker's directory", || profile().is_some_and(|profile| profile.join("used").exists()))
        .await;
    std::fs::write(profile().unwrap().join("go"), "").unwrap();
    assert_eq!(narrow.end().await.told(), told("invalid_configuration", "rejected", "egress_advisory"));
    open.end().await.completed();
    assert_eq!(world.sessions().await[0].egress, "advisory");
    assert_eq!(
        world.observe("advisory").await.told(),
        told("invalid_configuration", "rejected", "egress_advisory")
    );
}

// contract: 10.1, 12.1
#[tokio::test]
async fn a_client_that_may_not_have_a_sessions_options_does_not_use_it() {
    let world = World::start("").await;
    let request = pb::ExecuteRequest {
        hello: world.hello(),
        session: "default".into(),
        operation: "navigate".into(),
        params_json: url("/").into_bytes(),
        session_json: br#"{"ignoreCertificateErrors":true}"#.to_vec(),
        ..pb::ExecuteRequest::default()
    };
    world.send(request).await.end().await.completed();
    let without = Given { deny: vec![Capability::IgnoreCertificateErrors], ..Given::default() };
    let denied = world.begin_as(world.under(&without), "default", "observe", "{}", "").await.end().await;
    assert_eq!(denied.told(), told("denied", "rejected", "session_options"));
    assert_eq!(denied.error().details["ruleId"], "client/deny/ignore_certificate_errors");
    let asking = Given { confirm: vec![Capability::IgnoreCertificateErrors], ..Given::default() };
    let denied = world.begin_as(world.under(&asking), "default", "observe", "{}", "").await.end().await;
    assert_eq!(denied.told(), told("denied", "rejected", "session_options"), "nobody was asked");
    let other = Given { deny: vec![Capability::HttpCredentials], ..Given::default() };
    world.begin_as(world.under(&other), "default", "observe", "{}", "").await.end().await.completed();
    world.observe("default").await.completed();
}

// contract: 1.1, 10.2
#[tokio::test]
async fn nobody_makes_a_session_of_others_private_by_attending_it() {
    let world = World::start("").await;
    world.navigate("default", "/").await.completed();
    let untrusted = world.under(&Given { preset: Some(Preset::UntrustedMcp), ..Given::default() });
    let attend = async |hello: &Option<pb::Hello>, name: &str| {
        let request = pb::AttendRequest { hello: hello.clone(), private_session: name.into() };
        world.connected().await.attend(request).await.map(tonic::Response::into_inner)
    };
    for name in ["default", "work", "mcp-1"] {
        assert_eq!(attend(&untrusted, name).await.unwrap_err().code(), Code::PermissionDenied, "{name}");
    }
    let own = "mcp-0123456789ab";
    let old = attend(&untrusted, own).await.unwrap();
    // It comes again over another connection before the daemon has heard of the end of the first.
    let new = attend(&untrusted, own).await.unwrap();
    drop(old);
    let shows = async || {
        let request = pb::ShowSessionRequest { hello: untrusted.clone(), name: own.into() };
        world.connected().await.show_session(request).await.map(|_| ()).unwrap_err().code()
    };
    // Its name is its own still: there is no such session, instead of none that it may ask for.
    assert_eq!(shows().await, Code::NotFound);
    world.navigate(own, "/").await.completed();
    let other = world.under(&Given::default());
    assert_eq!(attend(&other, own).await.unwrap_err().code(), Code::PermissionDenied);
    drop(new);
    let mut left = 0;
    while left != 1 {
        left = world.sessions().await.len();
        tokio::task::yield_now().await;
    }
    world.observe("default").await.completed();
}

// contract: 11
#[tokio::test]
async fn the_steps_of_a_batch_are_operations() {
    let world = World::start("[limits]\noperations_per_second = 1\noperations_at_once = 10\n").await;
    world.navigate("default", "/").await.completed();
    let batch = |steps: usize| {
        let steps = vec![r#"{"operation":"observe"}"#; steps].join(",");
        format!(r#"{{"steps":[{steps}]}}"#)
    };
    let large = world.run("default", "batch", &batch(11), "").await;
    assert_eq!(large.error().kind.name(), "quota_exceeded");
    assert!(large.error().remedy.contains("split the batch"), "{:?}", large.error());
    world.run("default", "batch", &batch(7), "").await.completed();
    let soon = world.run("default", "batch", &batch(7), "").await.error();
    assert_eq!(soon.kind.name(), "quota_exceeded");
    assert!(soon.details["retryAfterMs"].as_u64().is_some_and(|wait| wait > 0), "{soon:?}");
}
