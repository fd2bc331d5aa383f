//! Another process of the same user. It can use the socket as glassctl does (docs/security.md); it cannot crash, hang or
//! starve the daemon, nor look into it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{Running, Who, World};

use super::{LIMIT, Misbehaving};

/// How a client of HTTP/2 begins.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

fn resident_kib(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.split_whitespace().next().and_then(|size| size.parse().ok()).expect("a number")
}

/// Connects as often as it is let to, and says this on each.
fn hold(world: &World, count: usize, words: &[u8]) -> Vec<UnixStream> {
    let socket = world.path("run/glass/glassd.sock");
    let mut held = Vec::new();
    for _ in 0..count {
        let Ok(mut stream) = UnixStream::connect(&socket) else { continue };
        stream.set_write_timeout(Some(Duration::from_secs(1))).expect("a timeout");
        // One that was ended at once is as good as one that is held.
        let _ = stream.write_all(words);
        held.push(stream);
    }
    held
}

// contract: 11, 12.1
#[test]
fn connections_without_end_half_messages_and_garbage_do_not_starve_others() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let daemon = world.daemon();
    let before = resident_kib(daemon);
    let mut frame = PREFACE.to_vec();
    // Settings, and headers of 16 MiB that never come.
    frame.extend([0, 0, 0, 4, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 1, 4, 0, 0, 0, 1]);
    let resets: Vec<u8> = (0..2000_u32)
        .flat_map(|number| {
            let stream = (number * 2 + 1).to_be_bytes();
            let headers = [&[0, 0, 4, 1, 4][..], &stream, &[0x82, 0x86, 0x84, 0xbf]].concat();
            let reset = [&[0, 0, 4, 3, 0][..], &stream, &[0, 0, 0, 8]].concat();
            [headers, reset].concat()
        })
        .collect();
    let resets = [PREFACE, &[0, 0, 0, 4, 0, 0, 0, 0, 0], &resets].concat();
    for (count, words) in [
        (1000, &b""[..]),
        (300, PREFACE),
        (300, &PREFACE[..10]),
        (300, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        (300, &[0xff; 4096]),
        (300, &frame),
        (100, &resets),
    ] {
        let held = hold(&world, count, words);
        assert!(!held.is_empty());
        let answer = world.begin(&["click", "name=Save"]).answer_within(LIMIT);
        answer.result();
        world.begin(&["session", "list"]).answer_within(LIMIT).result();
        drop(held);
    }
    assert_eq!(visit.clicks().len(), 7);
    assert_eq!(world.daemon(), daemon);
    let grown = resident_kib(daemon).saturating_sub(before);
    assert!(grown < 16 * 1024, "the daemon grew by {grown} KiB");
}

// contract: 10.8 DESIGN 1
#[test]
fn it_can_neither_trace_the_daemon_nor_read_its_memory() {
    if !Who::Ordinary.possible() {
        return;
    }
    let world = World::of(Who::Ordinary);
    world.ok(&["navigate", &site().visit().url("form.html")]);
    let rogue = Misbehaving::new();
    let egress = glass_tests::session_tree::egress(world.daemon()).expect("the daemon has its proxy");
    for pid in [world.daemon(), egress.pid] {
        let mut command = world.command_at(&rogue.program);
        command.args(["pry", &pid.to_string()]);
        let run = Running::start(command, None).finish().success();
        let answers: BTreeMap<String, String> = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(answers.len(), 6);
        for (attempt, answer) in answers {
            assert!(matches!(answer.as_str(), "EACCES" | "EPERM"), "{attempt} of {pid}: {answer}");
        }
    }
    world.ok(&["click", "name=Save"]);
}
