//! Cages without namespaces (DESIGN 4, modes B and C): chosen only where the full one is refused, told as what they are,
//! and holding what they promise.
//!
//! The machine is made to refuse by a mount over a file of /proc, as containers have it: the kernel then allows no new
//! /proc in a namespace, and Chromium's own sandbox, which needs none, still works. Only root can make that, for a
//! daemon of an ordinary user.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use glass_tests::session_tree::SessionTree;
use glass_tests::site::site;
use glass_tests::{GONE, Run, Running, Who, World, gone, holds, process};
use nix::sys::signal::Signal;
use serde_json::Value;

/// A world of an ordinary user whose daemon, once started by `start`, cannot have a /proc of its own.
fn world(configuration: &str) -> Option<World> {
    Who::Ordinary.possible().then(|| World::of(Who::Ordinary).with_config(configuration))
}

/// Runs glassctl where /proc is covered in part; a daemon that it starts stays there.
fn covered(world: &World, arguments: &[&str]) -> Run {
    let inner = world.command("glassctl");
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["--mount", "--propagation", "private", "/bin/sh", "-c"]);
    command.arg("mount --bind /dev/null /proc/cmdline && exec setpriv --reuid \"$0\" --regid \"$0\" --clear-groups \"$@\"");
    command.arg(world.uid().to_string()).arg(inner.get_program()).args(arguments).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(world.path("cwd"));
    Running::start(command, None).finish()
}

fn layer<'a>(shown: &'a Value, name: &str) -> &'a Value {
    let layers = shown["session"]["details"]["layers"].as_array().expect("layers");
    layers.iter().find(|layer| layer["name"] == name).unwrap_or_else(|| panic!("no {name} in {shown:#}"))
}

fn running(world: &World) -> SessionTree {
    covered(world, &["daemon", "start"]).success();
    world.ok(&["navigate", &site().visit().url("form.html")]);
    world.session()
}

// DESIGN 4 report: 87, 275
#[test]
fn where_namespaces_are_refused_landlock_and_seccomp_hold_and_it_is_said() {
    let Some(world) = world("") else { return };
    let session = running(&world);
    world.ok(&["fill", "label=Name", "Ann"]);
    let shown = world.ok(&["session", "show", "default"]);
    assert_eq!(shown["session"]["details"]["mode"], "landlock", "{shown:#}");
    for name in ["uid", "capabilities", "no-new-privs", "seccomp", "landlock", "browser", "renderers"] {
        assert_eq!(layer(&shown, name)["state"], "active", "{shown:#}");
    }
    for name in ["root", "processes", "namespaces", "sockets"] {
        assert_eq!(layer(&shown, name)["state"], "missing", "what it lacks is said: {shown:#}");
    }
    assert_eq!(layer(&shown, "network")["state"], "degraded");
    assert_eq!(shown["session"]["details"]["egress"], "enforced", "no UDP, and TCP to the forwarder alone");
    // A browser that was taken over could reach sockets of its own user.
    let strict = world.fails(
        "invalid_configuration",
        &[
            "navigate",
            "--session",
            "strict",
            "--policy",
            "hardened",
            "--policy-allow-host",
            "127.0.0.1",
            &site().visit().url("form.html"),
        ],
    );
    assert_eq!(strict["reason"], "egress_advisory", "{strict:#}");
    let status = world.ok(&["status"]);
    assert!(status["warnings"].to_string().contains("landlock"), "{status:#}");
    for process in std::iter::once(&session.browser).chain(session.gpu()) {
        assert_eq!(process.status("Seccomp").as_deref(), Some("2"), "{process:?}");
        assert_eq!(process.status("NoNewPrivs").as_deref(), Some("1"), "{process:?}");
    }
    // The doctor stands where the daemon stands.
    let run = covered(&world, &["doctor", "--deep", "--json"]).exits(1);
    let json: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let checks = json["result"]["checks"].as_array().expect("checks");
    let cage = checks.iter().find(|check| check["check"] == "cage").expect("the cage");
    assert_eq!(cage["verdict"], "degraded", "{json:#}");
    assert!(cage["detail"].to_string().contains("/proc"), "it says why: {cage}");
    let deep = |name: &str| {
        let name = format!("deep.{name}");
        checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("no {name} in {json:#}"))
    };
    for name in ["home", "tcp", "udp", "internet", "vsock", "memory", "mount"] {
        assert_eq!(deep(name)["verdict"], "good", "{:#}", deep(name));
    }
    // What this cage does not keep away is said, with what to do.
    assert_eq!(deep("socket")["verdict"], "degraded", "{:#}", deep("socket"));
    assert!(deep("socket")["remedy"].is_string());
}

// DESIGN 4
#[test]
fn a_minimum_is_kept_and_the_refusal_says_what_to_do() {
    let Some(world) = world("[sandbox]\nminimum = \"namespaces\"\n") else { return };
    covered(&world, &["daemon", "start"]).success();
    let error = world.fails("session_failed", &["navigate", &site().visit().url("form.html")]);
    assert_eq!(
        (error["reason"].as_str(), error["dispatched"].as_str()),
        (Some("sandbox_unavailable"), Some("no"))
    );
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("namespaces") && message.contains("/proc"), "{error:#}");
    assert!(error["remedy"].is_string());
    assert_eq!(world.session_directories(), Vec::<String>::new());
}

// contract: 10.3 DESIGN 5
#[test]
fn only_the_sessions_own_user_gets_through_its_forwarder() {
    let Some(world) = world("") else { return };
    let session = running(&world);
    let port =
        session.browser.arguments.iter().find_map(|argument| {
            argument.strip_prefix("--proxy-server=http://127.0.0.1:")?.parse::<u16>().ok()
        });
    let mut stranger =
        TcpStream::connect(("127.0.0.1", port.expect("the proxy's port"))).expect("it listens");
    stranger.set_read_timeout(Some(GONE)).expect("a limit");
    // This test runs as root, which is another user than the session's.
    let _ = stranger.write_all(b"GET http://127.0.0.1:1/ HTTP/1.1\r\nhost: 127.0.0.1:1\r\n\r\n");
    let mut answer = String::new();
    let read = stranger.read_to_string(&mut answer);
    assert!(read.is_err() || answer.is_empty(), "a stranger was answered: {answer}");
    world.ok(&["navigate", &site().visit().url("form.html")]);
}

/// A world whose browser first does, as a process of the session, what a browser that was taken over would do: reads a
/// file of the user, and leaves a process that set itself apart.
fn taken_over() -> Option<World> {
    if !Who::Ordinary.possible() {
        return None;
    }
    let world = World::of(Who::Ordinary);
    let secret = world.path("home/secret.txt");
    fs::write(&secret, "geheim").expect("a file of the user");
    let browser = world.path("home/browser/chrome");
    fs::create_dir(browser.parent().expect("a parent")).expect("its directory");
    let script = format!(
        "#!/bin/sh\ncat '{}' > \"$HOME/seen\" 2>&1\n(setsid sleep 4321 >/dev/null 2>&1 &)\nexec /usr/lib/chromium/chromium \"$@\"\n",
        secret.display()
    );
    fs::write(&browser, script).expect("the browser");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("make it a program");
    for path in [&secret, &browser, &world.path("home/browser")] {
        world.give(path);
    }
    let configuration = format!("[browser]\npath = \"{}\"\n", browser.display());
    Some(world.with_config(&configuration))
}

// contract: 1.5, 1.6
#[test]
fn files_of_the_user_are_out_of_reach_and_what_sets_itself_apart_ends_with_the_session() {
    let Some(world) = taken_over() else { return };
    let session = running(&world);
    let directories = world.session_directories();
    let seen = world.path("state/glass/sessions").join(&directories[0]).join("home/seen");
    let seen = fs::read_to_string(seen).expect("what it saw");
    assert!(seen.contains("Permission denied") && !seen.contains("geheim"), "{seen}");
    let apart = |all: &[process::Process]| all.iter().filter(|one| one.name == "sleep").count();
    assert!(apart(&session.all) > 0, "it is a descendant of the stub: {:#?}", session.all);
    world.ask(&["session", "close", "default"]).result();
    gone("the closed session", &session.all);

    world.ok(&["navigate", &site().visit().url("form.html")]);
    let session = world.session();
    assert!(apart(&session.all) > 0);
    session.worker.signal(Signal::SIGKILL);
    gone("the session whose worker was killed", &session.all);
}

// contract: 1.5
#[test]
fn whoever_is_killed_nothing_of_the_session_is_left() {
    for victim in ["worker", "stub", "browser", "daemon"] {
        let Some(world) = world("") else { return };
        let session = running(&world);
        let daemon = process::read(world.daemon()).expect("the daemon runs");
        let all = session.all.clone();
        match victim {
            "worker" => session.worker.signal(Signal::SIGKILL),
            "stub" => session.stub.signal(Signal::SIGKILL),
            "browser" => session.browser.signal(Signal::SIGKILL),
            _ => daemon.signal(Signal::SIGKILL),
        }
        gone(&format!("the session whose {victim} was killed"), &all);
        if victim == "daemon" {
            covered(&world, &["daemon", "start"]).success();
        }
        holds("its directory is removed", GONE, || world.session_directories().is_empty());
        assert_eq!(
            world.ask(&["navigate", &site().visit().url("form.html")]).json["session"]["started"],
            "new"
        );
    }
}

// DESIGN 4
#[test]
fn the_strongest_cage_is_used_also_where_less_would_do() {
    let Some(world) = world("[sandbox]\nminimum = \"browser\"\n") else { return };
    running(&world);
    let shown = world.ok(&["session", "show", "default"]);
    assert_eq!(shown["session"]["details"]["mode"], "landlock", "{shown:#}");
}
