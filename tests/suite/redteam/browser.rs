//! A browser that was taken over: a program in Chromium's place that speaks for it, lies, plants links, dials whatever
//! it can reach, and takes what it can get.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use glass_tests::site::site;
use glass_tests::{GONE, Who, World, eventually, gone, holds, process};
use nix::sys::signal::Signal;

use super::{Forbidden, LIMIT, Misbehaving, only_the_site};

/// A world whose browser is the rogue one, with everything that it is told to reach.
struct Stage {
    world: World,
    forbidden: Forbidden,
    rogue: Misbehaving,
    paths: Vec<PathBuf>,
    _host_socket: UnixListener,
}

impl Stage {
    fn new(who: Who, configuration: &str) -> Self {
        let rogue = Misbehaving::new();
        let world = World::of(who).with_config(&rogue.configuration(configuration));
        only_the_site(&world);
        let forbidden = Forbidden::new();
        let key = world.path("home/.ssh/id_ed25519");
        fs::create_dir(world.path("home/.ssh")).expect("a directory");
        fs::write(&key, "the user's own").expect("a key");
        fs::create_dir(world.path("home/victim")).expect("a directory");
        fs::write(world.path("home/victim/precious"), "the user's own").expect("a file");
        for path in ["home/.ssh", "home/.ssh/id_ed25519", "home/victim", "home/victim/precious"] {
            world.give(&world.path(path));
        }
        let socket = world.path("run/agent.sock");
        let host_socket = UnixListener::bind(&socket).expect("a socket of the host");
        world.give(&socket);
        let paths = vec![
            key,
            socket,
            world.path("run/glass/glassd.sock"),
            world.path("state/glass"),
            "/var/run/docker.sock".into(),
            "/run/dbus/system_bus_socket".into(),
            "/etc/shadow".into(),
            "/root/.ssh".into(),
        ];
        let stage = Self { world, forbidden, rogue, paths, _host_socket: host_socket };
        stage.plan(&[i32::try_from(std::process::id()).expect("a pid")]);
        stage
    }

    fn plan(&self, pids: &[i32]) {
        self.rogue.plan(&self.forbidden, &self.paths, pids, &self.world.path("home/victim"));
    }

    fn open(&self, session: &str) {
        self.world.ok(&["navigate", &site().visit().url("form.html"), "--session", session]);
    }

    /// Lets the browser of a session do something, and waits until the command that asks for it is through.
    fn let_it(&self, session: &str, what: &str) -> Option<String> {
        let asked = format!("1 // rogue:{what}");
        // The attempts wait for answers of their own.
        let limit = if what == "attempts" { "60000" } else { "4000" };
        let answer = self.world.ask(&["evaluate", &asked, "--session", session, "--timeout-ms", limit]);
        answer.kind().map(str::to_owned)
    }

    /// A file that it left in its session.
    fn told(&self, file: &str) -> String {
        let sessions = self.world.path("state/glass/sessions");
        let names = self.world.session_directories();
        let found = names.iter().find_map(|name| fs::read_to_string(sessions.join(name).join(file)).ok());
        found.unwrap_or_else(|| panic!("no {file} in {names:?}"))
    }

    /// The daemon answers, and a session of another browser works.
    fn assert_unharmed(&self, daemon: i32) {
        assert_eq!(self.world.daemon(), daemon, "the daemon is the same");
        let answer = self.world.begin(&["session", "list"]).answer_within(LIMIT);
        answer.result();
        self.open("other");
        let clicked = self.world.ask(&["click", "name=Save", "--session", "other"]);
        clicked.result();
        self.world.ok(&["session", "close", "other"]);
        assert_eq!(
            fs::read_to_string(self.world.path("home/victim/precious")).expect("it is there"),
            "the user's own"
        );
        self.forbidden.assert_untouched();
    }
}

twice! {
    // contract: 1.6, 10.3, 10.5 DESIGN 4, 5
    fn it_reaches_nothing_of_the_machine_and_no_host_that_no_rule_allows(who: Who) {
        let stage = Stage::new(who, "");
        stage.open("other");
        let daemon = stage.world.daemon();
        let other = stage.world.session();
        let mut pids: Vec<i32> = vec![daemon, other.browser.pid, other.worker.pid, other.stub.pid];
        pids.push(i32::try_from(std::process::id()).expect("a pid"));
        stage.plan(&pids);
        stage.open("rogue");
        assert_eq!(stage.let_it("rogue", "attempts"), None);
        let told = stage.told("told.json");
        let answers: BTreeMap<String, String> = serde_json::from_str(&told).expect("JSON");
        let expected: &[(&str, &[&str])] = &[
            ("list /home", &["glass"]),
            ("read /root/.ssh", &["ENOENT"]),
            ("read /etc/shadow", &["ENOENT"]),
            ("write /usr", &["EROFS", "EACCES"]),
            ("write /etc", &["EROFS", "EACCES"]),
            ("run from /session", &["EACCES"]),
            ("mount", &["EPERM"]),
            ("unmount", &["EPERM"]),
            ("tcp to the host", &["EACCES", "ECONNREFUSED"]),
            ("udp out", &["ENETUNREACH"]),
            ("abstract socket", &["ECONNREFUSED", "EPERM"]),
            ("vsock", &["EPERM"]),
            ("packet socket", &["EPERM"]),
            ("raw socket", &["EPERM"]),
            ("bpf", &["EPERM"]),
            ("io_uring", &["EPERM"]),
            ("ptrace", &["EPERM"]),
            ("process_vm_writev", &["EPERM"]),
            ("setns", &["EPERM"]),
            ("userfaultfd", &["EPERM"]),
            ("become root", &["EINVAL", "EPERM"]),
            ("write to pid 1", &["EACCES", "EPERM"]),
            ("read /proc/1/mem", &["EACCES", "EPERM"]),
            ("read /proc/1/environ", &["EACCES", "EPERM"]),
            ("read /proc/1/root/etc/shadow", &["EACCES", "EPERM"]),
            ("list /proc/1/fd", &["EACCES", "EPERM"]),
            ("read /proc/kcore", &["EACCES", "EPERM", "ENOENT"]),
            ("read /proc/kmsg", &["EACCES", "EPERM", "ENOENT"]),
            ("read /dev/mem", &["ENOENT"]),
            ("read /dev/kmsg", &["ENOENT"]),
            ("read /sys/kernel/notes", &["ENOENT"]),
            ("write /proc/sysrq-trigger", &["EACCES", "EPERM", "ENOENT", "EROFS"]),
            ("write /proc/sys/kernel/core_pattern", &["EACCES", "EPERM", "EROFS"]),
            ("write /proc/sys/kernel/modprobe", &["EACCES", "EPERM", "EROFS", "ENOENT"]),
            ("write /proc/sys/vm/overcommit_memory", &["EACCES", "EPERM", "EROFS"]),
            ("write /proc/1/oom_score_adj", &["EACCES", "EPERM"]),
            ("write /sys/fs/cgroup/cgroup.procs", &["ENOENT"]),
            ("hide a second request", &["200", "404"]),
            ("garbage", &["400", "nothing"]),
        ];
        let mut bad = Vec::new();
        for (attempt, allowed) in expected {
            let answer = answers.get(*attempt).map_or("not tried", String::as_str);
            if !allowed.contains(&answer) {
                bad.push(format!("{attempt}: {answer}, not one of {allowed:?}"));
            }
        }
        for (attempt, answer) in &answers {
            let refused: &[&str] = match attempt.split(' ').next() {
                Some("open" | "dial") => &["ENOENT", "ENXIO", "EACCES"],
                Some("signal" | "pidfd") => &["ESRCH"],
                Some("connect" | "get") if attempt == "get the allowed one" => &["200", "404"],
                Some("connect" | "get") => &["403", "400", "nothing"],
                _ => continue,
            };
            if !refused.contains(&answer.as_str()) {
                bad.push(format!("{attempt}: {answer}, not one of {refused:?}"));
            }
        }
        assert!(bad.is_empty(), "{bad:#?}");
        assert!(answers.len() > 100, "{}", answers.len());
        stage.world.ok(&["session", "close", "rogue"]);
        stage.assert_unharmed(daemon);
    }
}

// contract: 1.5, 1.6, 2.7
#[test]
fn what_it_says_over_the_pipe_ends_its_own_session_at_most() {
    let stage = Stage::new(Who::Current, "");
    stage.open("other");
    let daemon = stage.world.daemon();
    for what in ["lies", "pages", "download", "garble", "silent", "deaf", "endless"] {
        stage.open("rogue");
        stage.world.remember();
        let told = stage.let_it("rogue", what);
        let speaks = !matches!(what, "garble" | "silent" | "deaf");
        assert!(speaks || told.is_some(), "{what}: nothing that it could say is an answer");
        // Whatever its own session answers, it answers in time and in the one shape.
        for operation in [
            &["observe", "--session", "rogue", "--timeout-ms", "1500"][..],
            &["list-downloads", "--session", "rogue", "--timeout-ms", "1500"],
            &["list-targets", "--session", "rogue", "--timeout-ms", "1500"],
            &["session", "show", "rogue"],
        ] {
            let answer = stage.world.begin(operation).answer_within(LIMIT);
            assert!(answer.run.code != Some(2), "{what}: {}", answer.run);
        }
        let answer = stage.world.begin(&["session", "close", "rogue"]).answer_within(LIMIT);
        assert!(answer.kind().is_none(), "{what}: {}", answer.run);
        assert_eq!(stage.world.session_directories().len(), 1, "{what}: only the other session is left");
    }
    stage.world.ok(&["session", "close", "other"]);
    stage.assert_unharmed(daemon);
}

// contract: 1.5, 7.4, 10.5
#[test]
fn what_it_plants_is_neither_followed_nor_left() {
    let stage = Stage::new(Who::Current, "");
    stage.open("rogue");
    let daemon = stage.world.daemon();
    assert_eq!(stage.let_it("rogue", "plants"), None);
    stage.let_it("rogue", "download");
    let listed = stage.world.ok(&["list-downloads", "--session", "rogue"]);
    for download in listed["downloads"].as_array().into_iter().flatten() {
        let id = download["downloadId"].as_str().expect("an id");
        let answer =
            stage.world.ask(&["download", "--download-id", id, "--session", "rogue", "--timeout-ms", "3000"]);
        assert!(answer.kind().is_some(), "a planted link was saved as a download: {}", answer.run);
    }
    let saved: Vec<_> = fs::read_dir(stage.world.path("cwd")).expect("a directory").flatten().collect();
    assert!(saved.is_empty(), "{saved:?}");
    // What hides from being counted may be taken for too much before it is through.
    stage.let_it("rogue", "hides");
    stage.world.ask(&["session", "close", "rogue"]);
    holds("the planted tree is gone", GONE, || stage.world.session_directories().is_empty());
    // A daemon that was killed leaves it to the next, which must not wait for what lies in a lock's place.
    stage.open("rogue");
    assert_eq!(stage.let_it("rogue", "plants"), None);
    stage.let_it("rogue", "hides");
    let all = stage.world.remember();
    process::read(daemon).expect("it runs").signal(Signal::SIGKILL);
    gone("everything of a killed daemon", &all);
    stage.world.begin(&["daemon", "start"]).answer_within(LIMIT).result();
    holds("the planted tree is swept", GONE, || stage.world.session_directories().is_empty());
    stage.assert_unharmed(stage.world.daemon());
}

// contract: 11, 1.6
#[test]
fn what_it_takes_of_the_machine_ends_its_session_with_the_reason_and_no_other() {
    let limits = "[limits]\nmemory = \"640MiB\"\nprocesses = 200\nspool = \"64MiB\"\nprofile = \"256MiB\"\n";
    let stage = Stage::new(Who::Current, limits);
    stage.open("other");
    let daemon = stage.world.daemon();
    for (what, quota) in [("fork-bomb", "processes"), ("memory-bomb", "memory"), ("disk-bomb", "spool")] {
        stage.open("rogue");
        stage.world.remember();
        stage.let_it("rogue", what);
        eventually(&format!("the end of the session by {what}"), LIMIT, || {
            let shown = stage.world.ask(&["session", "show", "rogue"]);
            (shown.kind().is_none() && shown.result()["session"]["state"] == "failed").then_some(())
        });
        let error = stage.world.fails("session_failed", &["observe", "--session", "rogue"]);
        assert_eq!(error["reason"], "quota_exceeded", "{what}: {error:#}");
        let details = &error["details"];
        assert_eq!(details["quota"], quota, "{what}: {error:#}");
        assert!(details["used"].as_u64() > details["limit"].as_u64(), "{what}: {error:#}");
        holds("nothing of it is left", GONE, || stage.world.session_directories().len() == 1);
        stage.world.ok(&["click", "name=Save", "--session", "other"]);
    }
    stage.world.ok(&["session", "close", "other"]);
    stage.assert_unharmed(daemon);
}
