//! The place where daemon and clients meet, when it is stale, odd, too long, or goes away.

use std::fs;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{World, gone, holds, process};
use nix::sys::signal::Signal;

const LIMIT: Duration = Duration::from_secs(20);

fn directory(world: &World) -> std::path::PathBuf {
    let directory = world.path("run/glass");
    fs::create_dir_all(&directory).expect("the runtime directory");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).expect("make it private");
    directory
}

// contract: 12.1 report: 68
#[test]
fn a_stale_socket_is_replaced() {
    let world = World::new();
    drop(UnixListener::bind(directory(&world).join("glassd.sock")).expect("a socket that nobody listens on"));
    world.ok(&["daemon", "start"]);
    world.daemon();
}

// contract: 12.1 report: 68
#[test]
fn a_killed_daemons_socket_is_no_obstacle() {
    let world = World::new();
    world.ok(&["daemon", "start"]);
    let first = process::read(world.daemon()).expect("it runs");
    first.signal(Signal::SIGKILL);
    gone("the killed daemon", std::slice::from_ref(&first));
    let runs: Vec<_> = (0..20).map(|_| world.begin(&["daemon", "start"])).collect();
    for run in runs {
        run.answer_within(Duration::from_secs(40)).result();
    }
    assert_ne!(world.daemon(), first.pid);
}

// contract: 12.1 report: 68
#[test]
fn what_is_no_socket_is_an_error_that_says_so_and_is_not_deleted() {
    let world = World::new();
    let path = directory(&world).join("glassd.sock");
    fs::write(&path, "mine").expect("a file in its place");
    let answer = world.ask(&["daemon", "start"]);
    assert!(answer.error()["message"].to_string().contains("glassd.sock"), "{}", answer.run);
    assert_eq!(fs::read_to_string(&path).expect("the file is still there"), "mine");
    fs::remove_file(&path).expect("remove it");
    fs::create_dir(&path).expect("a directory in its place");
    world.ask(&["daemon", "start"]).error();
    assert!(path.is_dir());
    fs::remove_dir(&path).expect("remove it");
    world.ok(&["daemon", "start"]);
}

// contract: 12.1 report: 69
#[test]
fn a_runtime_directory_with_a_long_path_works_or_is_refused_clearly() {
    let world = World::new();
    let long = world.path(&format!("run/{}", "d".repeat(120)));
    fs::create_dir(&long).expect("a directory with a long name");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&long, fs::Permissions::from_mode(0o700)).expect("make it private");
    let mut command = world.command("glassctl");
    command.args(["--json", "daemon", "start"]).env("XDG_RUNTIME_DIR", &long);
    let run = glass_tests::Running::start(command, None).finish();
    let answer = glass_tests::Answer::read("daemon", run);
    match answer.kind() {
        Some(_) => assert!(answer.error()["message"].to_string().contains("path"), "{}", answer.run),
        None => {
            let mut command = world.command("glassctl");
            command.args(["daemon", "stop"]).env("XDG_RUNTIME_DIR", &long);
            glass_tests::Running::start(command, None).finish().success();
        }
    }
    assert!(fs::read_dir(world.path("cwd")).expect("the working directory").next().is_none());
}

// report: 70
#[test]
fn a_daemon_whose_directory_goes_away_ends_and_the_next_command_works() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let all = world.remember();
    fs::rename(world.path("run/glass"), world.path("run/moved")).expect("move the runtime directory away");
    let answer = world.ask(&["navigate", &visit.url("form.html")]);
    answer.result();
    gone("the daemon without a directory, and its browser", &all);
    assert_eq!(world.eval("document.title"), "A form");
}

// contract: 12.1, DESIGN 8
#[test]
fn a_second_daemon_on_the_same_state_is_refused_and_names_the_other() {
    let world = World::new();
    world.ok(&["daemon", "start"]);
    let elsewhere = world.path("run/elsewhere");
    fs::create_dir(&elsewhere).expect("another runtime directory");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).expect("make it private");
    let mut command = world.command("glassctl");
    command.args(["--json", "daemon", "start"]).env("XDG_RUNTIME_DIR", &elsewhere);
    let answer = glass_tests::Answer::read("daemon", glass_tests::Running::start(command, None).finish());
    assert!(answer.error().to_string().contains("glassd.sock"), "{}", answer.run);
    world.daemon();
}

// contract: 1.5
#[test]
fn what_a_killed_daemon_left_on_disk_is_swept_by_the_next() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let all = world.remember();
    let old = world.session_directories();
    assert_eq!(old.len(), 1);
    process::read(world.daemon()).expect("it runs").signal(Signal::SIGKILL);
    gone("everything of a killed daemon", &all);
    world.ok(&["daemon", "start"]);
    holds("the old session's directory is swept", LIMIT, || world.session_directories().is_empty());
}

// contract: 12.1
#[test]
fn another_user_is_not_served() {
    if !glass_tests::Who::Ordinary.possible() {
        return;
    }
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    world.ok(&["daemon", "start"]);
    // Even where the file system would let them in.
    for (path, mode) in [("", 0o755), ("run", 0o755), ("run/glass", 0o755), ("run/glass/glassd.sock", 0o666)]
    {
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(mode)).expect("open it");
    }
    let other = World::of(glass_tests::Who::Ordinary);
    let mut command = other.command("glassctl");
    command
        .arg("--json")
        .args(["session", "list", "--no-autostart", "--socket"])
        .arg(world.path("run/glass/glassd.sock"));
    let run = glass_tests::Running::start(command, None).finish();
    assert_ne!(run.code, Some(0), "{run}");
}
