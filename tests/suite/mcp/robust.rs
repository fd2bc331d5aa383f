//! What becomes of a server when its client, the daemon, the browser or a page misbehaves (user reports 64, 266 to 274).

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use glass_tests::mcp::Mcp;
use glass_tests::site::site;
use glass_tests::{World, holds, process};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::world;

const SOON: Duration = Duration::from_secs(10);

// contract: 12.2, 2.1
#[test]
fn a_daemon_that_is_killed_is_told_and_the_next_call_works_with_a_new_one() {
    let world = World::new();
    let server = Mcp::greeted(&world, &[], "2025-11-25");
    let visit = site().visit();
    server.ok("navigate", &json!({ "url": visit.url("spin.html") }));
    world.remember();
    let id = server.begin("click", &json!({ "target": "Block", "timeoutMs": 60_000 }));
    visit.asked_for("slow/click");
    kill(Pid::from_raw(world.daemon()), Signal::SIGKILL).unwrap();
    let error = server.result(id).fails("unknown_outcome");
    assert_eq!((&error["outcome"], &error["reason"]), (&json!("unknown"), &json!("daemon_lost")), "{error}");
    assert!(error["executionId"].is_string(), "{error}");
    visit.release("click");
    // A page that is gone is not acted on; a new one is opened.
    let error = server.call("click", &json!({ "target": "Block" })).fails("target_not_found");
    assert_eq!(error["reason"], "session_new", "{error}");
    let opened = server.call("navigate", &json!({ "url": visit.url("form.html") })).good();
    assert_eq!(opened.json["structuredContent"]["session"]["started"], "new");
    // A daemon that ends while nothing is asked of it is no news at all.
    world.glassctl(["daemon", "stop"]).success();
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
}

// contract: 7.7, 2.6
#[test]
fn a_browser_that_is_killed_is_told_and_the_next_navigation_works() {
    let world = World::new();
    let server = Mcp::greeted(&world, &[], "2025-11-25");
    let url = site().visit().url("form.html");
    server.ok("navigate", &json!({ "url": url }));
    let tree = world.session();
    kill(Pid::from_raw(tree.browser.pid), Signal::SIGKILL).unwrap();
    holds("the loss is noticed", SOON, || server.call("observe", &json!({})).json["isError"] == true);
    server.ok("navigate", &json!({ "url": url }));
    server.ok("observe", &json!({}));
}

// report: 268, 271, 272
#[test]
fn it_works_when_started_in_the_root_directory_with_next_to_nothing_in_its_environment() {
    let world = World::new();
    let url = site().visit().url("form.html");
    let mut command = world.command("glass");
    command.arg("--mcp").current_dir("/").env_remove("PATH").env_remove("LANG");
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"] {
        command.env(name, "http://127.0.0.1:9");
    }
    let server = Mcp::of(command);
    server.greet("2025-11-25");
    server.ok("navigate", &json!({ "url": url }));
    assert!(server.ok("getText", &json!({})).contains("Sign in"));
    // No tool writes into the root directory.
    let refused = server.call("download", &json!({ "timeoutMs": 2000 })).fails("denied");
    assert!(refused["remedy"].as_str().is_some_and(|remedy| remedy.contains("--file-root")), "{refused}");
    drop(server);
    // Without anything at all there is no place for a daemon: the tool says so, and the list still works.
    let mut command = world.command("glass");
    command.arg("--mcp").env_clear().env("HOME", "/proc/nonexistent").env("GLASS_TEST_WORLD", world.path(""));
    let server = Mcp::of(command);
    server.greet("2025-11-25");
    assert!(server.ask("tools/list", &json!({}))["result"]["tools"].is_array());
    server.call("observe", &json!({})).fails("daemon_unreachable");
}

// report: 273
#[test]
fn it_works_without_a_home_that_can_be_written_and_names_what_it_cannot_do_without() {
    let world = World::new();
    let url = site().visit().url("form.html");
    let mut command = world.command("glass");
    // Not even root can write there.
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env(name, "/proc/none");
    }
    command.arg("--mcp").env_remove("LANG").env_remove("TZ");
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/proc/none/bus");
    let server = Mcp::of(command);
    server.greet("2025-11-25");
    server.ok("navigate", &json!({ "url": url }));
    assert!(server.ok("getText", &json!({})).contains("Sign in"));
    let error = server.call("click", &json!({ "target": "Nothing of that name" })).fails("target_not_found");
    assert!(error.to_string().len() < 2048, "the browser's noise is no part of an error: {error}");
    server.close();
    assert_eq!(server.ended(SOON).code(), Some(0));
    assert_eq!(server.errors(), "");
    world.glassctl(["daemon", "stop"]).success();
    // Without a place for its state there is no daemon: one line names the place.
    let mut command = world.command("glass");
    command.arg("--mcp").env("XDG_STATE_HOME", "/proc/none").env("HOME", "/proc/none");
    let server = Mcp::of(command);
    server.greet("2025-11-25");
    let error = server.call("navigate", &json!({ "url": url })).fails("daemon_unreachable");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("/proc/none") && !message.contains('\n') && message.len() <= 512, "{message}");
}

// report: 274
#[test]
fn nothing_of_a_session_stays_in_the_table_of_processes() {
    let world = World::new();
    let server = Mcp::greeted(&world, &[], "2025-11-25");
    let url = site().visit().url("form.html");
    for round in 0..6 {
        server.ok("navigate", &json!({ "url": url }));
        let tree = world.session();
        if round % 2 == 0 {
            // Which of them the page has is the browser's affair.
            tree.renderers().iter().for_each(|renderer| renderer.signal(Signal::SIGKILL));
            holds("the page is told as crashed or gone", SOON, || {
                server.call("getText", &json!({ "timeoutMs": 2000 })).json["isError"] == true
            });
        }
        server.ok("closeSession", &json!({}));
        holds("nothing of the session is left, the dead included", SOON, || {
            process::zombies(world.daemon()).is_empty() && !tree.all.iter().any(process::Process::alive)
        });
    }
    if !nix::unistd::geteuid().is_root() {
        // A container that has a cage in it is for root to make.
        return;
    }
    // As the first process of a container, which inherits whatever processes leave behind.
    let world = World::new();
    let mut command = world.command_at(Path::new("/usr/bin/unshare"));
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "--"]);
    command.arg(world.command("glassd").get_program());
    let mut container =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let parent = i32::try_from(container.id()).unwrap();
    let first = glass_tests::eventually("glassd listens", SOON, || {
        let all = process::all().into_iter();
        let mut children = all.filter(|process| process.parent == parent && process.name == "glassd");
        children.next().filter(|_| world.path("run/glass/glassd.sock").exists())
    });
    assert_eq!(first.pids().last(), Some(&1), "it is the first process");
    for _ in 0..3 {
        let mut command = world.command_at(Path::new("/usr/bin/nsenter"));
        command.args(["-t", &first.pid.to_string(), "-p", "-m", "--"]);
        command.arg(world.command("glassctl").get_program());
        command.args(["--no-autostart", "--session", "new", "navigate", &url]);
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
        holds("it has no dead child", SOON, || process::zombies(first.pid).is_empty());
    }
    first.signal(Signal::SIGTERM);
    container.wait().unwrap();
}

// contract: 9.9 report: 266, 64
#[test]
fn a_client_that_dies_in_mid_call_leaves_nothing_behind() {
    let world = World::new();
    let visit = site().visit();
    let server = Mcp::greeted(&world, &[], "2025-11-25");
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
    world.remember();
    server.begin("wait", &json!({ "condition": "text=never there", "timeoutMs": 120_000 }));
    // Input ends; output is still read: what was accepted gets its five seconds.
    let begun = Instant::now();
    server.close();
    assert_eq!(server.ended(Duration::from_secs(30)).code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert!(world.session_directories().is_empty());
    // Both ends are gone, as when a client is killed.
    let mut command = world.command("glass");
    command.arg("--mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "navigate", "arguments": { "url": visit.url("slow/never"), "timeoutMs": 60_000 } } }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    visit.asked_for("slow/never");
    world.remember();
    let begun = Instant::now();
    drop((input, output));
    holds("glass has ended", SOON, || child.try_wait().unwrap().is_some());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    holds("its session is gone", SOON, || world.session_directories().is_empty());
}

// contract: 9.3 report: 64, 81
#[test]
fn a_client_that_floods_and_does_not_read_is_held_back_and_loses_nothing() {
    let world = World::new();
    let mut command = world.command("glass");
    command.arg("--mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let count = 20_000;
    let writer = std::thread::spawn(move || {
        for id in 0..count {
            writeln!(input, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}").unwrap();
        }
    });
    let pid = child.id();
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    holds("it waits for its reader", SOON, || {
        std::thread::park_timeout(Duration::from_millis(50));
        resident() > 0
    });
    assert!(resident() < 64 * 1024, "{} KiB", resident());
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    writer.join().unwrap();
    assert_eq!(text.lines().count(), count);
    assert!(child.wait().unwrap().success());
}

// contract: 9.5, 9.6
#[test]
fn what_a_page_says_never_breaks_the_wire() {
    let world = world();
    let server = world.server();
    let visit = site().visit();
    visit.serve(
        "odd.html",
        "<title>x</title><p id=p>A\u{202e}B\u{200b}C</p><script>document.title = '\\ud800 half';</script>",
    );
    server.ok("navigate", &json!({ "url": visit.url("odd.html") }));
    let text = server.ok("observe", &json!({}));
    assert!(text.contains("\\u{202e}") && !text.contains('\u{202e}'), "{text}");
    let half = server.call("evaluate", &json!({ "expression": "'\\ud800 half'" }));
    assert!(half.json["content"][0]["text"].is_string());
    // A value of a megabyte is linked, and can be read whole.
    let long = server.call("evaluate", &json!({ "expression": "'x'.repeat(1000000)" })).good();
    assert!(long.json.to_string().len() < 40_000);
    let uri = long.json["content"][1]["uri"].clone();
    let read = server.ask("resources/read", &json!({ "uri": uri }));
    assert_eq!(read["result"]["contents"][0]["text"].as_str().map(str::len), Some(1_000_000));
    server.call("evaluate", &json!({ "expression": "'x'.repeat(3000000)" })).fails("result_too_large");
    server.ok("evaluate", &json!({ "expression": "1" }));
}

// report: 270
#[test]
fn a_client_that_gave_up_without_a_word_gets_its_next_call_answered_in_turn() {
    let world = world();
    let server = world.server();
    let visit = site().visit();
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
    let slow = server.begin("navigate", &json!({ "url": visit.url("slow/page"), "timeoutMs": 30_000 }));
    visit.asked_for("slow/page");
    // It sends the next call although the first was not answered.
    let next = server.begin("evaluate", &json!({ "expression": "location.pathname", "timeoutMs": 30_000 }));
    visit.release("page");
    server.answer(slow);
    assert!(server.result(next).text(0).contains("slow/page"));
}

// report: 266
#[test]
fn many_starts_end_quickly_and_leave_no_process() {
    let world = World::new();
    let begun = Instant::now();
    for _ in 0..25 {
        let mut command = world.command("glass");
        command.arg("--mcp").stdin(Stdio::null()).stdout(Stdio::null());
        assert!(command.status().unwrap().success());
    }
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
}
