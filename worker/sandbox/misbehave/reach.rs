//! What a browser that was taken over can reach: everything in `attempts`, and what belongs to others on this machine.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::attempts;
use crate::rogue::Plan;

/// Where the test finds what came of it.
const TOLD: &str = "/session/told.json";
/// The forwarder, the one way out.
const FORWARDER: (&str, u16) = ("127.0.0.1", 3128);
const ANSWER: Duration = Duration::from_secs(10);

/// Lets a process without threads try everything, because some attempts fork.
pub(crate) fn report(plan: &Plan) -> io::Result<()> {
    let program = std::env::current_exe()?;
    let tried = Command::new(program).args(["reach", &plan.forbidden.to_string()]).output()?;
    fs::write("/session/told.part", &tried.stdout)?;
    fs::rename("/session/told.part", TOLD)
}

/// Every attempt by name, with `ok`, an answer, or the kernel's word.
pub(crate) fn all(plan: &Plan) -> BTreeMap<String, String> {
    let named = attempts::all(plan.forbidden).into_iter();
    let mut answers: BTreeMap<String, String> =
        named.map(|(name, answer)| (name.to_owned(), answer)).collect();
    for path in &plan.paths {
        let shown = path.display();
        answers.insert(format!("open {shown}"), attempts::of(File::open(path).map(drop)));
        answers.insert(format!("dial {shown}"), attempts::of(UnixStream::connect(path).map(drop)));
    }
    for pid in &plan.pids {
        answers.insert(format!("signal {pid}"), named_errno(kill(Pid::from_raw(*pid), None)));
        answers.insert(format!("pidfd {pid}"), open_pidfd(*pid));
    }
    answers.extend(proc_tricks());
    answers.extend(ways_out(plan));
    answers
}

fn named_errno(result: nix::Result<()>) -> String {
    result.map_or_else(|errno| format!("{errno:?}"), |()| "ok".to_owned())
}

fn open_pidfd(pid: i32) -> String {
    // SAFETY: takes two numbers and no pointer.
    named_errno(Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) }).map(drop))
}

fn proc_tricks() -> BTreeMap<String, String> {
    let read = |path: &str| {
        let mut byte = [0];
        let first = File::open(path).and_then(|mut file| file.read(&mut byte));
        (format!("read {path}"), attempts::of(first.map(drop)))
    };
    let write = |path: &str| {
        let opened = OpenOptions::new().write(true).open(path);
        (format!("write {path}"), attempts::of(opened.and_then(|mut file| file.write_all(b"1")).map(drop)))
    };
    let mut answers: BTreeMap<String, String> = [
        "/proc/1/mem",
        "/proc/1/environ",
        "/proc/kcore",
        "/proc/kmsg",
        "/proc/1/root/etc/shadow",
        "/dev/mem",
        "/dev/kmsg",
        "/sys/kernel/notes",
    ]
    .map(read)
    .into();
    answers.extend(
        [
            "/proc/sysrq-trigger",
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/modprobe",
            "/proc/sys/vm/overcommit_memory",
            "/proc/1/oom_score_adj",
            "/sys/fs/cgroup/cgroup.procs",
        ]
        .map(write),
    );
    let fds = fs::read_dir("/proc/1/fd").map(Iterator::count);
    answers.insert("list /proc/1/fd".to_owned(), attempts::of(fds.map(drop)));
    answers
}

/// Asks the forwarder for hosts in every spelling, and hides one request behind another.
fn ways_out(plan: &Plan) -> BTreeMap<String, String> {
    let (forbidden, allowed) = (plan.forbidden, plan.allowed);
    let mut answers = BTreeMap::new();
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "127.1",
        "0177.0.0.1",
        "0x7f.1",
        "2130706433",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "127.0.0.1%00.allowed",
        "user@127.0.0.1",
    ] {
        let to = format!("{host}:{forbidden}");
        answers.insert(
            format!("connect {host}"),
            through(format!("CONNECT {to} HTTP/1.1\r\nHost: 127.0.0.1:{allowed}\r\n\r\n").as_bytes()),
        );
        let get =
            format!("GET http://{to}/ HTTP/1.1\r\nHost: 127.0.0.1:{allowed}\r\nConnection: close\r\n\r\n");
        answers.insert(format!("get {host}"), through(get.as_bytes()));
    }
    let first = format!("GET http://127.0.0.1:{allowed}/ HTTP/1.1\r\nHost: 127.0.0.1:{forbidden}\r\n");
    let hidden = format!("GET http://127.0.0.1:{forbidden}/ HTTP/1.1\r\nHost: 127.0.0.1:{forbidden}\r\n\r\n");
    let both = format!("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}");
    let own = format!("{first}Connection: close\r\n\r\n");
    answers.insert("get the allowed one".to_owned(), through(own.as_bytes()));
    answers.insert("hide a second request".to_owned(), through(format!("{first}\r\n{hidden}").as_bytes()));
    answers.insert("hide one by two lengths".to_owned(), through(format!("{first}{both}").as_bytes()));
    answers.insert("garbage".to_owned(), through(&[0xff; 100_000]));
    answers
}

/// The status of the first answer.
fn through(request: &[u8]) -> String {
    let asked = TcpStream::connect(FORWARDER).and_then(|mut stream| {
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(request)?;
        let mut answer = [0; 64];
        let length = stream.read(&mut answer)?;
        let text = String::from_utf8_lossy(&answer[..length]).into_owned();
        Ok(text.split(' ').nth(1).unwrap_or("nothing").to_owned())
    });
    asked.unwrap_or_else(|error| attempts::of(Err(error)))
}
