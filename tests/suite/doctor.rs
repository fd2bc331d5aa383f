//! `glassctl doctor`, `glassctl logs` and `glassctl status`: what they find, that they never hang, and what they mend.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{Who, World, eventually, process};
use nix::sys::signal::Signal;
use serde_json::Value;

/// What user report 88 asks for.
const LIMIT: Duration = Duration::from_secs(15);

/// Asks the doctor; its answer and its exit code.
fn doctor(world: &World, arguments: &[&str]) -> (Value, i32) {
    let arguments = [&["doctor", "--json"], arguments].concat();
    let run = world.start(&arguments).within(LIMIT);
    let code = run.code.expect("it ends by itself");
    let json: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
    assert_eq!(json["schema"], 1, "{json}");
    (json["result"].clone(), code)
}

fn check<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let checks = answer["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("no {name} in {answer:#}"))
}

twice! {
    // contract: 12.5
    fn a_good_installation_is_good_and_starts_nothing(who: Who) {
        let world = World::of(who);
        let (answer, code) = doctor(&world, &[]);
        assert_eq!((answer["verdict"].as_str(), code), (Some("good"), 0), "{answer:#}");
        for name in [
            "configuration", "state-directory", "runtime-directory", "disk", "socket", "state-lock", "left-over",
            "programs", "browser", "sandbox.unshare", "sandbox.seccomp", "sandbox.landlock", "cage", "daemon",
        ] {
            assert_eq!(check(&answer, name)["verdict"], "good", "{answer:#}");
        }
        assert!(check(&answer, "daemon")["detail"].as_str().expect("text").contains("not running"));
        assert!(!world.path("state/glass").exists() && !world.path("run/glass").exists(), "it made something");
        world.assert_nothing_left();

        world.ok(&["navigate", &site().visit().url("form.html")]);
        let (answer, code) = doctor(&world, &[]);
        assert_eq!(code, 0, "{answer:#}");
        let pid = world.daemon().to_string();
        assert!(check(&answer, "daemon")["detail"].as_str().expect("text").contains(&pid), "{answer:#}");
        assert_eq!(check(&answer, "session.default")["verdict"], "good");
    }
}

twice! {
    // contract: 12.5 DESIGN 4
    fn the_deep_look_starts_a_session_reaches_nothing_and_leaves_nothing(who: Who) {
        let world = World::of(who);
        let run = world.start(["doctor", "--deep", "--json"]).within(Duration::from_secs(60));
        let json: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
        let answer = &json["result"];
        for name in [
            "home", "ssh", "passwords", "system", "tcp", "udp", "internet", "socket", "abstract-socket", "vsock", "signal",
            "memory", "mount", "layer.namespaces", "layer.network", "layer.seccomp", "layer.browser", "layer.renderers",
        ] {
            let found = check(answer, &format!("deep.{name}"));
            assert_eq!(found["verdict"], "good", "{found:#}");
            assert!(found["detail"].as_str().is_some_and(|text| text.contains(": ")), "what was tried, and what came: {found}");
        }
        assert_eq!(run.code, Some(0), "{answer:#}");
        assert_eq!(world.session_directories(), Vec::<String>::new());
    }
}

// report: 88
#[test]
fn a_daemon_that_is_stopped_does_not_stop_the_doctor() {
    let world = World::new();
    world.ok(&["daemon", "start"]);
    let daemon = process::read(world.daemon()).expect("the daemon runs");
    daemon.signal(Signal::SIGSTOP);
    let (answer, code) = doctor(&world, &[]);
    daemon.signal(Signal::SIGCONT);
    assert_eq!((check(&answer, "daemon")["verdict"].as_str(), code), (Some("broken"), 10), "{answer:#}");
    assert!(check(&answer, "daemon")["remedy"].is_string());
    assert_eq!(check(&answer, "browser")["verdict"], "good", "the rest is looked at all the same");
}

// report: 88
#[test]
fn a_browser_that_sleeps_does_not_stop_the_doctor_and_does_not_survive_it() {
    let world = World::new();
    let browser = world.path("home/chrome/chrome");
    fs::create_dir_all(browser.parent().expect("a parent")).expect("its directory");
    fs::write(&browser, "#!/bin/sh\nsleep 1000\nsleep 1000\n").expect("a browser that sleeps");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("make it a program");
    let world = world.with_config(&format!("[browser]\npath = \"{}\"\n", browser.display()));
    for place in ["home", "home/chrome", ""] {
        // As root another uid runs it.
        fs::set_permissions(world.path(place), fs::Permissions::from_mode(0o755)).expect("let it be found");
    }
    let (answer, code) = doctor(&world, &[]);
    assert_eq!((check(&answer, "browser")["verdict"].as_str(), code), (Some("broken"), 10), "{answer:#}");
    assert!(check(&answer, "browser")["remedy"].is_string());
    assert_eq!(check(&answer, "cage")["verdict"], "good", "the rest is looked at all the same");
    world.assert_nothing_left();
}

// contract: 12.5
#[test]
fn a_broken_configuration_is_named_with_its_place() {
    let world = World::new().with_config("[daemon]\nidle_exit = 10\n");
    let (answer, code) = doctor(&world, &[]);
    assert_eq!(code, 10);
    let found = check(&answer, "configuration");
    assert!(found["detail"].as_str().expect("text").contains("config.toml:2:13"), "{found}");
}

// contract: 12.5 report: 68
#[test]
fn what_a_killed_daemon_left_is_found_and_mended_and_open_directories_are_closed() {
    let world = World::new();
    world.ok(&["navigate", &site().visit().url("form.html")]);
    let all = world.remember();
    process::read(world.daemon()).expect("the daemon runs").signal(Signal::SIGKILL);
    glass_tests::gone("everything of a killed daemon", &all);
    fs::set_permissions(world.path("state/glass"), fs::Permissions::from_mode(0o777)).expect("open it");

    let (answer, code) = doctor(&world, &[]);
    assert_eq!(code, 10, "{answer:#}");
    assert_eq!(check(&answer, "left-over")["verdict"], "degraded");
    assert_eq!(check(&answer, "state-directory")["verdict"], "broken");
    assert_eq!(world.session_directories().len(), 1, "looking removes nothing");

    let (answer, code) = doctor(&world, &["--fix"]);
    assert_eq!(code, 0, "{answer:#}");
    for name in ["left-over", "state-directory", "socket"] {
        assert!(check(&answer, name)["mended"].is_string(), "{answer:#}");
    }
    assert_eq!(world.session_directories(), Vec::<String>::new());
    assert_eq!(fs::metadata(world.path("state/glass")).expect("the directory").mode() & 0o777, 0o700);
    assert!(!world.path("run/glass/glassd.sock").exists());
    world.ok(&["navigate", &site().visit().url("form.html")]);
}

// report: 272
#[test]
fn a_daemon_that_another_environment_started_is_named() {
    let world = World::new();
    world.ok(&["daemon", "start"]);
    let mut command = world.command("glassctl");
    command.args(["doctor", "--json"]).env_remove("XDG_RUNTIME_DIR");
    let run = glass_tests::Running::start(command, None).within(LIMIT);
    let json: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let found = check(&json["result"], "state-lock");
    assert_eq!((found["verdict"].as_str(), run.code), (Some("broken"), Some(10)), "{json:#}");
    let socket = world.path("run/glass/glassd.sock").display().to_string();
    assert!(found["detail"].as_str().expect("text").contains(&socket), "{found}");
}

// contract: 12.5
#[test]
fn logs_are_bounded_kept_apart_by_session_and_followed() {
    let world = World::new();
    assert!(world.ok(&["logs"])["lines"].as_array().expect("lines").is_empty(), "there is none yet");
    let visit = site().visit();
    for session in ["shop", "shopping"] {
        world.ok(&["navigate", &visit.url("form.html"), "--session", session]);
    }
    let lines = |arguments: &[&str]| -> Vec<String> {
        let answer = world.ok(&[&["logs"], arguments].concat());
        let lines = answer["lines"].as_array().expect("lines").iter();
        lines.map(|line| line.as_str().expect("a line").to_owned()).collect()
    };
    assert!(lines(&[])[0].contains("glassd listens"));
    assert_eq!(lines(&["--lines", "1"]).len(), 1);
    let shop = lines(&["--session", "shop"]);
    assert!(
        shop.iter().any(|line| line.contains("is up")) && shop.iter().any(|line| line.contains("navigate"))
    );
    assert!(!shop.iter().any(|line| line.contains("shopping")), "{shop:#?}");
    world.fails("invalid_argument", &["logs", "--follow"]);

    let mut command = world.command("glassctl");
    command.args(["daemon", "logs", "--follow", "--lines", "0", "--session", "shop"]);
    let file = world.path("cwd/followed");
    command.stdout(fs::File::create(&file).expect("a file")).stderr(std::process::Stdio::null());
    let mut following = command.spawn().expect("start it");
    eventually("the follower prints what comes", Duration::from_secs(30), || {
        world.ok(&["get-text", "--session", "shop"]);
        let text = fs::read_to_string(&file).expect("the file");
        text.contains("getText").then_some(())
    });
    let pid = nix::unistd::Pid::from_raw(i32::try_from(following.id()).expect("a pid"));
    nix::sys::signal::kill(pid, Signal::SIGINT).expect("Ctrl-C");
    assert_eq!(following.wait().expect("it ends").code(), Some(130));
    assert!(!fs::read_to_string(&file).expect("the file").contains("shopping"));
}

// contract: 1.4, 12.5
#[test]
fn status_names_sessions_and_warns_before_one_closes() {
    let world = World::new().with_config("[sessions]\nidle_timeout = \"10m\"\n");
    world.ok(&["navigate", &site().visit().url("form.html")]);
    let status = world.ok(&["status"]);
    assert_eq!(status["sessionRows"][0]["name"], "default", "{status:#}");
    assert_eq!(status["sessionRows"][0]["cage"], "namespaces");
    assert!(status["sessionRows"][0]["closesInMs"].as_u64().expect("a time") <= 600_000);
    assert!(status["warnings"][0].as_str().expect("a warning").contains("default"), "{status:#}");
    assert_eq!(status["version"], status["clientVersion"]);
    assert!(status["logFile"].as_str().expect("a path").ends_with("glassd.log"));
}
