//! glassd under a service manager: the socket is handed over, readiness is told, and the socket outlives the daemon. The
//! test plays the manager, by systemd's protocol.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::process::{Child, Stdio};
use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{GONE, World, gone, holds, process};
use nix::sys::signal::Signal;

struct Manager {
    listener: UnixListener,
    notified: UnixDatagram,
}

impl Manager {
    fn new(world: &World) -> Self {
        let directory = world.path("run/glass");
        std::fs::create_dir(&directory).expect("the socket's directory");
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700))
            .expect("make it private");
        let listener = UnixListener::bind(directory.join("glassd.sock")).expect("listen");
        let notified = UnixDatagram::bind(world.path("run/notify")).expect("be told");
        notified.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        Self { listener, notified }
    }

    fn start(&self, world: &World, names: &str) -> Child {
        let daemon = world.command("glassd");
        // The pid must be in the variable, and only the process itself knows it before it is glassd.
        let script = format!(
            "exec 3<&0 0</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES={names} exec \"$0\" --foreground"
        );
        let mut command = world.command_at("/bin/sh".as_ref());
        command.args(["-c", &script]).arg(daemon.get_program());
        command.env("NOTIFY_SOCKET", world.path("run/notify"));
        let listener = OwnedFd::from(self.listener.try_clone().expect("another descriptor"));
        command.stdin(Stdio::from(listener)).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("start it")
    }

    fn hears(&self, state: &str) {
        let mut buffer = [0; 256];
        let length = self.notified.recv(&mut buffer).unwrap_or_else(|error| panic!("no {state}: {error}"));
        assert_eq!(std::str::from_utf8(&buffer[..length]), Ok(state));
    }
}

// contract: 12.1
#[test]
fn a_daemon_that_is_activated_serves_its_managers_socket_and_leaves_it() {
    let world = World::new();
    let manager = Manager::new(&world);
    let mut daemon = manager.start(&world, "glassd");
    manager.hears("READY=1");
    assert_eq!(world.daemon(), i32::try_from(daemon.id()).expect("a pid"));
    world.ok(&["navigate", &site().visit().url("form.html")]);
    let session = world.session();
    for variable in ["LISTEN_", "NOTIFY_SOCKET"] {
        let environment = std::fs::read(session.stub.path("environ")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&environment).contains(variable), "a child inherited {variable}");
    }
    world.ask(&["daemon", "stop"]).result();
    manager.hears("STOPPING=1");
    assert_eq!(daemon.wait().expect("it ends").code(), Some(0));
    assert!(world.path("run/glass/glassd.sock").exists(), "the socket is the manager's");

    // As after a crash: who comes in between waits, and is served by the next one.
    let waiting = world.begin(&["daemon", "status", "--no-autostart"]);
    let mut daemon = manager.start(&world, "glassd");
    waiting.answer_within(Duration::from_secs(30)).result();
    manager.hears("READY=1");
    let all = world.remember();
    process::read(world.daemon()).expect("it runs").signal(Signal::SIGTERM);
    gone("the daemon", &all);
    holds("it is reaped", GONE, || daemon.try_wait().expect("it is a child").is_some());
    std::fs::remove_file(world.path("run/glass/glassd.sock")).expect("the manager goes");
}

// contract: 12.1
#[test]
fn a_socket_of_another_name_stops_the_start() {
    let world = World::new();
    let manager = Manager::new(&world);
    let mut daemon = manager.start(&world, "one:glassd:glassd");
    assert_eq!(daemon.wait().expect("it ends").code(), Some(73));
    std::fs::remove_file(world.path("run/glass/glassd.sock")).expect("the manager goes");
}

// contract: 12.5
#[test]
fn without_a_service_manager_a_service_is_unsupported() {
    let world = World::new();
    for command in ["install", "status", "uninstall"] {
        let error = world.fails("unsupported", &["service", command]);
        assert_eq!(
            (error["reason"].as_str(), error["dispatched"].as_str()),
            (Some("no_systemd"), Some("no"))
        );
    }
    assert!(!world.path("config/systemd").exists(), "nothing is written where it is of no use");
}
