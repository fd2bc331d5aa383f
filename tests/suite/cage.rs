//! The cage of a running session, as `/proc` shows it from outside: not what Glass says of it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use glass_tests::process::Process;
use glass_tests::session_tree::{self, SessionTree};
use glass_tests::site::site;
use glass_tests::{Who, World, can_look_inside, holds};

fn running(world: &World) -> SessionTree {
    world.ok(&["navigate", &site().visit().url("form.html")]);
    world.session()
}

fn here(kind: &str) -> String {
    let link = fs::read_link(format!("/proc/self/ns/{kind}")).expect("this process has namespaces");
    link.to_string_lossy().into_owned()
}

/// The path of a file as a process of the cage would open it.
fn within(process: &Process, path: &Path) -> std::path::PathBuf {
    process.path("root").join(path.strip_prefix("/").expect("an absolute path"))
}

twice! {
    // contract: 1.6, DESIGN 4 report: 87
    fn every_renderer_runs_under_seccomp_in_namespaces_of_its_own(who: Who) {
        if !can_look_inside() {
            return;
        }
        let world = World::of(who);
        let session = running(&world);
        let renderers = session.renderers();
        assert!(!renderers.is_empty(), "{session:#?}");
        for renderer in renderers {
            assert_eq!(renderer.status("Seccomp").as_deref(), Some("2"), "{renderer:?}");
            assert_eq!(renderer.status("NoNewPrivs").as_deref(), Some("1"), "{renderer:?}");
            for kind in ["user", "pid", "net"] {
                let own = renderer.namespace(kind);
                assert_ne!(own, session.browser.namespace(kind), "{kind} of the renderer and the browser");
                assert_ne!(own, here(kind), "{kind} of the renderer and this machine");
            }
        }
    }

    // contract: 1.6, DESIGN 4
    fn the_browser_is_nobody_and_can_become_nobody_else(who: Who) {
        if !can_look_inside() {
            return;
        }
        let world = World::of(who);
        let session = running(&world);
        for process in &session.all {
            let uids = process.uids().expect("it runs");
            assert!(!uids.contains(&0), "{process:?} runs as uid 0");
            if who == Who::Current && world.uid() == 0 {
                assert!(uids.iter().all(|uid| *uid >= 1_000_000), "{process:?} has {uids:?}");
            }
            if process.arguments.iter().any(|argument| argument == "--type=zygote") {
                // Chromium's own zygote keeps what it needs to cage renderers, in a user namespace of its own.
                continue;
            }
            for set in ["CapEff", "CapPrm", "CapInh", "CapAmb"] {
                let value = process.status(set).expect("it runs");
                let own_user_namespace = process.namespace("user") != session.browser.namespace("user");
                assert!(value.chars().all(|digit| digit == '0') || own_user_namespace, "{set} of {process:?} is {value}");
            }
            assert_eq!(process.status("NoNewPrivs").as_deref(), Some("1"), "{process:?}");
        }
        for process in [&session.worker, &session.browser] {
            assert_eq!(process.status("Seccomp").as_deref(), Some("2"), "{process:?}");
            assert_eq!(process.status("CapBnd").map(|set| set.chars().all(|digit| digit == '0')), Some(true), "{process:?}");
        }
        let arguments = session.browser.arguments.join(" ");
        assert!(!arguments.contains("--no-sandbox") && !arguments.contains("--disable-setuid-sandbox"), "{arguments}");
        assert!(!arguments.contains("remote-debugging-port"), "{arguments}");
    }

    // contract: 1.6, DESIGN 4
    fn the_cage_has_namespaces_of_its_own_and_no_network(who: Who) {
        if !can_look_inside() {
            return;
        }
        let world = World::of(who);
        let session = running(&world);
        for kind in ["user", "mnt", "pid", "net", "ipc", "uts"] {
            assert_ne!(session.worker.namespace(kind), here(kind), "{kind}");
            assert_eq!(session.browser.namespace(kind), session.worker.namespace(kind), "{kind}");
        }
        let interfaces = fs::read_to_string(session.worker.path("net/dev")).expect("the cage's interfaces");
        let names: Vec<_> = interfaces.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim).collect();
        assert_eq!(names, ["lo"]);
        let routes = fs::read_to_string(session.worker.path("net/route")).unwrap_or_default();
        assert_eq!(routes.lines().skip(1).count(), 0, "{routes}");
    }

    // contract: 1.6, 10.5, DESIGN 4
    fn neither_home_nor_other_files_of_the_user_are_there(who: Who) {
        if !can_look_inside() {
            return;
        }
        let world = World::of(who);
        let secret = world.path("home/secret");
        fs::write(&secret, "mine").expect("a file in the home directory");
        world.give(&secret);
        let session = running(&world);
        for process in [&session.worker, &session.browser] {
            for path in [
                secret.as_path(),
                &world.path("state/glass"),
                &world.path("run/glass/glassd.sock"),
                &world.path("cwd"),
                Path::new("/root"),
                Path::new("/etc/shadow"),
                Path::new("/var/lib"),
                Path::new("/var/run/docker.sock"),
                Path::new("/sys/kernel"),
            ] {
                let inside = within(process, path);
                let there = fs::symlink_metadata(&inside).is_ok() && !is_empty_directory(&inside);
                assert!(!there, "{} is visible in the cage", path.display());
            }
        }
        let homes = fs::read_dir(within(&session.browser, Path::new("/home"))).map(|entries| {
            entries.flatten().map(|entry| entry.file_name()).collect::<Vec<_>>()
        });
        assert!(homes.unwrap_or_default().iter().all(|name| name == "glass"), "only the cage's own home");
        let mounts = fs::read_to_string(session.browser.path("mountinfo")).expect("the cage's mounts");
        assert!(!mounts.contains("home/secret"), "{mounts}");
        let writable: Vec<_> = mounts.lines().filter(|line| {
            let mut words = line.split(' ');
            let point = words.clone().nth(4).unwrap_or_default();
            let options = words.nth(5).unwrap_or_default();
            let own = ["/session", "/tmp", "/dev", "/run", "/proc", "/home/glass"].iter().any(|own| point.starts_with(own));
            options.split(',').any(|option| option == "rw") && !own
        }).collect();
        assert!(writable.is_empty(), "writable in the cage: {writable:#?}");
    }

    // contract: 1.6, DESIGN 4
    fn no_process_of_the_machine_is_visible(who: Who) {
        if !can_look_inside() {
            return;
        }
        let world = World::of(who);
        let session = running(&world);
        let entries = fs::read_dir(within(&session.browser, Path::new("/proc"))).expect("the cage's /proc");
        let pids: HashSet<i32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        // A proc mount shows its own pid namespace, whoever looks at it.
        assert!(pids.contains(&1) && pids.len() <= session.all.len() + 5, "{pids:?}");
        assert!(!pids.contains(&world.daemon()) || session.all.len() > 1000);
    }

    // contract: 12.5, 1.6
    fn show_tells_the_layers_that_are_there(who: Who) {
        let world = World::of(who);
        running(&world);
        let shown = world.ok(&["session", "show", "default"]);
        let text = shown.to_string();
        assert!(text.contains("namespaces"), "{shown}");
        let layers = find_layers(&shown).expect("layers");
        assert!(layers.len() >= 4, "{layers:?}");
        assert!(layers.iter().all(|layer| layer["state"] != "missing"), "{layers:?}");
    }
}

fn find_layers(value: &serde_json::Value) -> Option<Vec<serde_json::Value>> {
    match value {
        serde_json::Value::Object(map) => match map.get("layers") {
            Some(layers) => layers.as_array().cloned(),
            None => map.values().find_map(find_layers),
        },
        _ => None,
    }
}

fn is_empty_directory(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

// contract: 1.6, DESIGN 4
#[test]
fn two_sessions_share_neither_uid_nor_namespaces_nor_directory() {
    if !can_look_inside() {
        return;
    }
    let world = World::new();
    let visit = site().visit();
    for session in ["one", "two"] {
        world.ok(&["navigate", &visit.url("form.html"), "--session", session]);
    }
    let sessions = session_tree::sessions(world.daemon());
    assert_eq!(sessions.len(), 2);
    if world.uid() == 0 {
        assert_ne!(sessions[0].browser.uids(), sessions[1].browser.uids());
    }
    for kind in ["user", "mnt", "pid", "net", "ipc"] {
        assert_ne!(sessions[0].browser.namespace(kind), sessions[1].browser.namespace(kind), "{kind}");
    }
    let marks: Vec<_> = sessions
        .iter()
        .map(|session| {
            fs::metadata(within(&session.browser, Path::new("/session"))).map(|meta| inode(&meta)).ok()
        })
        .collect();
    assert_ne!(marks[0], marks[1]);
}

fn inode(meta: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (meta.dev(), meta.ino())
}

// contract: 1.5, 1.6
#[test]
fn a_closed_sessions_uid_runs_nothing_any_more() {
    let world = World::new();
    let session = running(&world);
    let uid = session.browser.uids().expect("it runs")[0];
    world.ok(&["session", "close", "default"]);
    if world.uid() == 0 {
        holds("nothing runs under the session's uid", glass_tests::GONE, || {
            glass_tests::process::of_user(uid).is_empty()
        });
    }
}
