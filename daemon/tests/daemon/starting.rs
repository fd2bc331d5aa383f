//! contract: 12.1 — one daemon whatever the race, and honest words where there is none.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use super::world::{World, children, eventually, wait};
use glass_proto::wire::client as pb;

fn message(child: &mut Child) -> String {
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn of_twenty_that_start_at_once_one_serves_and_the_others_leave_quietly() {
    let mut world = World::bare("");
    let mut all: Vec<Child> = (0..20).map(|_| world.spawn(&["--from-client"])).collect();
    world.connected().await;
    eventually("all but one have left", || {
        all.iter_mut().filter_map(|child| child.try_wait().unwrap()).count() == 19
    })
    .await;
    for mut child in all {
        match child.try_wait().unwrap() {
            None => world.daemon = Some(child),
            Some(status) => {
                assert_eq!(status.code(), Some(0));
                assert_eq!(message(&mut child), "");
            }
        }
    }
    assert_eq!(world.status().await.pid, world.daemon.as_ref().unwrap().id());
}

#[tokio::test]
async fn a_killed_daemon_is_replaced_although_its_socket_is_there() {
    let mut world = World::start("").await;
    let mut first = world.daemon.take().unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(world.socket().exists());
    world.daemon = Some(world.spawn(&["--from-client"]));
    let pid = world.daemon.as_ref().unwrap().id();
    assert_eq!(world.status().await.pid, pid);
}

#[tokio::test]
async fn a_second_daemon_by_hand_is_told_who_serves() {
    let world = World::start("").await;
    let mut second = world.spawn(&[]);
    assert_eq!(wait(&mut second).await.code(), Some(69));
    assert!(message(&mut second).contains("serves"));
}

#[tokio::test]
async fn one_state_directory_has_one_daemon() {
    let world = World::start("").await;
    let mut second = Command::new(env!("CARGO_BIN_EXE_glassd"));
    second.args(["--from-client", "--socket"]).arg(world.root().join("other/glassd.sock"));
    let mut second = second.arg("--state-dir").arg(world.state()).stderr(Stdio::piped()).spawn().unwrap();
    assert_eq!(wait(&mut second).await.code(), Some(69));
    let text = message(&mut second);
    assert!(text.contains(&world.socket().display().to_string()), "{text}");
}

#[tokio::test]
async fn what_is_no_socket_stays_and_stops_the_start() {
    let world = World::bare("");
    std::fs::create_dir_all(world.socket().parent().unwrap()).unwrap();
    std::fs::write(world.socket(), "").unwrap();
    let mut daemon = world.spawn(&["--from-client"]);
    assert_eq!(wait(&mut daemon).await.code(), Some(73));
    assert!(message(&mut daemon).contains("is no socket"));
    assert!(world.socket().is_file());
}

#[tokio::test]
async fn a_broken_configuration_stops_the_start_with_its_place() {
    let world = World::bare("[daemon]\nidle_exit = \"soon\"");
    let mut daemon = world.spawn(&["--from-client"]);
    assert_eq!(wait(&mut daemon).await.code(), Some(78));
    let text = message(&mut daemon);
    assert!(text.contains("config.toml:2:13:"), "{text}");
}

#[tokio::test]
async fn wrong_arguments_are_usage() {
    let world = World::bare("");
    let mut daemon = world.spawn(&["--colour"]);
    assert_eq!(wait(&mut daemon).await.code(), Some(64));
}

#[tokio::test]
async fn the_daemon_holds_nothing_of_its_client_and_is_private() {
    let mut world = World::start("").await;
    let daemon = world.daemon.as_mut().unwrap();
    let pid = daemon.id();
    // The end of the pipe: the daemon has let go of it.
    assert_eq!(message(daemon), "");
    let link = |name: &str| std::fs::read_link(format!("/proc/{pid}/{name}"));
    if nix::unistd::geteuid().is_root() {
        for (name, target) in
            [("fd/0", "/dev/null"), ("fd/1", "/dev/null"), ("fd/2", "/dev/null"), ("cwd", "/")]
        {
            assert_eq!(link(name).unwrap(), std::path::Path::new(target), "{name}");
        }
    } else {
        assert!(link("fd/0").is_err(), "a process of the same user can look into the daemon");
    }
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.socket()), 0o600);
    assert_eq!(mode(world.socket().parent().unwrap()), 0o700);
    assert_eq!(mode(&world.state().join("sessions")), 0o700);
    assert_eq!(mode(&world.state().join("logs/glassd.log")), 0o600);
    // The sandbox's probe is its only child, and short-lived.
    eventually("the probe ends", || children(pid).is_empty()).await;
}

#[tokio::test]
async fn a_client_of_another_major_version_is_told_what_to_do() {
    let world = World::start("").await;
    let mut hello = world.hello().unwrap();
    hello.major += 1;
    let request = pb::StatusRequest { hello: Some(hello) };
    let status = world.connected().await.status(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition);
    assert!(status.message().contains("glassctl daemon stop"), "{}", status.message());
}
