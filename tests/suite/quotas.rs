//! What a session may use, what is told, and what is done about one that uses more (contract 11).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{GONE, Running, Who, World, eventually, holds, process};
use nix::sys::signal::Signal;
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(40);

/// The row of this quota, of a session or (with an empty name) of the user.
fn row<'a>(told: &'a Value, session: &str, name: &str) -> &'a Value {
    let rows = told["quotas"].as_array().expect("quotas");
    let of = |row: &&Value| row["session"].as_str().unwrap_or_default() == session && row["quota"] == name;
    rows.iter().find(of).unwrap_or_else(|| panic!("no {name} of {session:?} in {told:#}"))
}

fn by(row: &Value) -> Vec<&str> {
    row["enforcedBy"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

// contract: 11, 7.6 report: 76
#[test]
fn near_its_memory_a_session_is_told_over_it_the_page_ends_and_the_session_lives() {
    let world = World::new().with_config("[limits]\nmemory = \"640MiB\"\n");
    let visit = site().visit();
    visit.serve(
        "eats.html",
        "<!doctype html><title>Eats</title><script>
        const kept = [];
        function eat() { kept.push(new Uint8Array(8 << 20).fill(1)); if (kept.length < 90) setTimeout(eat, 60); }
        </script>",
    );
    world.ok(&["navigate", &visit.url("eats.html")]);
    let daemon = world.daemon();
    let before = world.session();
    let told = world.ok(&["quota"]);
    let memory = row(&told, "default", "memory");
    assert_eq!(
        (memory["limit"].as_u64(), memory["unit"].as_str()),
        (Some(640 << 20), Some("bytes")),
        "{told:#}"
    );
    assert!(memory["used"].as_u64().is_some_and(|used| (50 << 20..640 << 20).contains(&used)), "{memory}");
    assert!(by(memory).contains(&"watchdog") && by(memory).contains(&"rlimit"), "{memory}");
    let cpu = row(&told, "default", "cpu");
    // What cannot be enforced is said.
    assert!(by(cpu) == ["cgroup"] || cpu["detail"].as_str().is_some_and(|why| !why.is_empty()), "{cpu}");
    assert_eq!(row(&told, "", "sessions")["used"], 1, "{told:#}");
    assert_eq!(row(&told, "", "operations")["limit"], 50);
    let alone = world.ok(&["quota", "--session", "default"]);
    assert!(
        alone["quotas"].as_array().is_some_and(|rows| rows.iter().all(|row| row["session"] == "default"))
    );
    world.fails("target_not_found", &["quota", "--session", "nobody"]);
    eventually("the watchdog has looked", LIMIT, || {
        let told = world.ok(&["quota"]);
        ["processes", "spool", "profile"]
            .iter()
            .all(|name| row(&told, "default", name)["used"].is_u64())
            .then_some(())
    });

    world.eval("eat(), 1");
    let events = eventually("the events of the quota", LIMIT, || {
        let events =
            world.ok(&["events", "--kind", "quota"])["events"].as_array().cloned().unwrap_or_default();
        events.iter().any(|event| event["what"] == "renderer_ended").then_some(events)
    });
    let what: Vec<_> = events.iter().map(|event| event["what"].as_str().unwrap_or_default()).collect();
    assert_eq!(what[..2], ["near", "renderer_ended"], "told first: {events:#?}");
    assert!(
        events.iter().all(|event| event["name"] == "memory" && event["used"].as_u64() > Some(500 << 20)),
        "{events:#?}"
    );
    // That page crashed, which the browser tells a little later than the process ends; the browser and its session did not.
    eventually("the crash is told", LIMIT, || {
        let events = world.ok(&["events", "--kind", "crash"])["events"].as_array().cloned();
        events.filter(|events| !events.is_empty())
    });
    world.ok(&["navigate", &visit.url("form.html")]);
    world.ok(&["click", "name=Save"]);
    assert_eq!(world.session().browser, before.browser);
    assert_eq!(world.daemon(), daemon);
}

/// The control group of version 2 that processes of this test are in, as far as it can be given away.
fn a_group() -> Result<PathBuf, String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    let mount =
        mounts.lines().find(|line| line.contains(" - cgroup2 ")).ok_or("no control groups of version 2")?;
    let place = mount.split(' ').nth(4).ok_or("no mount point")?;
    let group = Path::new(place).join(format!("glass-tests-{}", std::process::id()));
    fs::create_dir(&group).map_err(|error| format!("{}: {error}", group.display()))?;
    rustix::fs::setxattr(&group, "user.delegate", b"1", rustix::fs::XattrFlags::empty())
        .map_err(|error| format!("the group cannot be marked as delegated: {error}"))?;
    Ok(group)
}

/// Removes the group when the test ends.
struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        // What is still in it is the test's own.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        for inner in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let _ = fs::remove_dir(inner.path());
        }
        let _ = fs::remove_dir(&self.0);
    }
}

#[expect(clippy::print_stderr, reason = "libtest shows it with the test")]
fn say(text: &str) {
    eprintln!("{text}");
}

fn sessions_of(group: &Path) -> Vec<String> {
    let names = fs::read_dir(group)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with("s-")).collect()
}

// contract: 11, 1.5
#[test]
fn where_a_control_group_is_delegated_each_session_has_one_of_its_own() {
    if !Who::Ordinary.possible() {
        return;
    }
    let group = match a_group() {
        Ok(group) => Group(group),
        Err(why) => return say(&format!("not tested: {why}")),
    };
    let world = World::of(Who::Ordinary);
    let uid = world.uid();
    for file in ["", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"] {
        std::os::unix::fs::chown(group.0.join(file), Some(uid), Some(uid)).expect("give it to the user");
    }
    let start = || {
        let inner = world.command("glassctl");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo $$ > \"$0\" && exec setpriv --reuid \"$1\" --regid \"$1\" --clear-groups \"$2\" daemon start"]);
        command.arg(group.0.join("cgroup.procs")).arg(uid.to_string()).arg(inner.get_program()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(world.path("cwd"));
        Running::start(command, None).finish().success();
    };
    start();
    world.ok(&["navigate", &site().visit().url("form.html")]);
    let own = sessions_of(&group.0);
    assert_eq!(own.len(), 1, "{own:?}");
    let ends = format!("/{}", own[0]);
    for process in &world.session().all {
        let of = fs::read_to_string(format!("/proc/{}/cgroup", process.pid)).unwrap_or_default();
        let of = of.lines().find(|line| line.starts_with("0::")).unwrap_or_default().to_owned();
        assert!(of.is_empty() || of.ends_with(&ends), "{process:?} is in {of}");
    }
    let daemon = fs::read_to_string(format!("/proc/{}/cgroup", world.daemon())).expect("it runs");
    assert!(daemon.lines().any(|line| line.starts_with("0::") && line.ends_with("/daemon")), "{daemon}");
    let there = fs::read_to_string(group.0.join("cgroup.controllers")).unwrap_or_default();
    let told = world.ok(&["quota"]);
    for (controller, name) in [("memory", "memory"), ("pids", "processes"), ("cpu", "cpu")] {
        let has = there.split_whitespace().any(|one| one == controller);
        if !has {
            say(&format!("not tested: this machine's version 2 has no controller {controller}"));
        }
        assert_eq!(by(row(&told, "default", name)).contains(&"cgroup"), has, "{name}: {told:#}");
    }
    world.ok(&["session", "close", "default"]);
    assert_eq!(sessions_of(&group.0), Vec::<String>::new());
    // What a killed daemon left, the next one removes.
    world.ok(&["navigate", &site().visit().url("form.html")]);
    let all = world.remember();
    process::read(world.daemon()).expect("it runs").signal(Signal::SIGKILL);
    glass_tests::gone("everything of a killed daemon", &all);
    start();
    holds("its groups are gone", GONE, || sessions_of(&group.0).is_empty());
    world.end();
}
