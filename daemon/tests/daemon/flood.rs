//! Many clients that ask far too often: each is told so by itself, and the daemon's memory does not grow.

use std::collections::HashMap;

use glass_proto::ClientId;
use glass_proto::error::OpError;
use glass_proto::wire::client as pb;
use pb::ended::Answer;
use pb::execute_event::Kind;
use pb::glass_client::GlassClient;
use tonic::transport::Channel;

use crate::world::World;

const CLIENTS: usize = 50;
const CALLS: usize = 200;
/// What the daemon may grow by.
const GROWTH_KIB: u64 = 16 * 1024;

/// Calls an operation of a session that is not there, and answers the kind of error.
async fn call(client: &mut GlassClient<Channel>, id: &ClientId) -> String {
    let request = pb::ExecuteRequest {
        hello: Some(pb::Hello::new("test", id)),
        session: "absent".to_owned(),
        operation: "observe".to_owned(),
        params_json: b"{}".to_vec(),
        options_json: Vec::new(),
        session_json: Vec::new(),
    };
    let mut stream = client.execute(request).await.unwrap().into_inner();
    loop {
        let Some(Kind::Ended(ended)) = stream.message().await.unwrap().unwrap().kind else { continue };
        let Some(Answer::ErrorJson(json)) = ended.answer else { panic!("it succeeded") };
        let error: OpError = serde_json::from_slice(&json).unwrap();
        if error.kind == glass_proto::ErrorKind::QuotaExceeded {
            assert!(error.details["retryAfterMs"].as_u64().is_some_and(|wait| wait > 0), "{error:?}");
        }
        return error.kind.name().to_owned();
    }
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

// contract: 11
#[tokio::test]
async fn ten_thousand_calls_of_fifty_clients_are_answered_one_by_one_and_keep_no_memory() {
    let world = World::start("").await;
    let mut first = world.connected().await;
    call(&mut first, &ClientId::generate()).await;
    let pid = world.status().await.pid;
    let before = resident_kib(pid);
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        let mut client = world.connected().await;
        clients.spawn(async move {
            let id = ClientId::generate();
            let mut kinds: HashMap<String, usize> = HashMap::new();
            for _ in 0..CALLS {
                *kinds.entry(call(&mut client, &id).await).or_default() += 1;
            }
            kinds
        });
    }
    let mut all: HashMap<String, usize> = HashMap::new();
    while let Some(kinds) = clients.join_next().await {
        for (kind, count) in kinds.unwrap() {
            *all.entry(kind).or_default() += count;
        }
    }
    assert_eq!(all.values().sum::<usize>(), CLIENTS * CALLS, "{all:?}");
    assert!(all.keys().all(|kind| kind == "target_not_found" || kind == "quota_exceeded"), "{all:?}");
    assert!(all["target_not_found"] >= CLIENTS * 100, "each had its own share: {all:?}");
    let grown = resident_kib(pid).saturating_sub(before);
    assert!(grown <= GROWTH_KIB, "the daemon grew by {grown} KiB");
}

// contract: 11
#[tokio::test]
async fn rates_are_settings_and_another_client_keeps_its_own() {
    let world = World::start("[limits]\noperations_per_second = 1\noperations_at_once = 3\n").await;
    let mut client = world.connected().await;
    let (one, two) = (ClientId::generate(), ClientId::generate());
    for _ in 0..3 {
        assert_eq!(call(&mut client, &one).await, "target_not_found");
    }
    assert_eq!(call(&mut client, &one).await, "quota_exceeded");
    assert_eq!(call(&mut client, &two).await, "target_not_found");
}
