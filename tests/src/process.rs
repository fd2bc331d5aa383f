//! The table of processes, read from `/proc`. A process is its pid and its start time: pids are used again.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

/// One process as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its pid as this process sees it.
    pub pid: i32,
    /// Its parent.
    pub parent: i32,
    /// Clock ticks between boot and its start.
    pub started: u64,
    /// The name of its program, at most 15 bytes.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Every process that is no zombie.
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("/proc is there");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter_map(read).collect()
}

/// The process with this pid, unless it is gone or a zombie.
pub fn read(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses too.
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        name,
        // Chromium writes its title over its arguments, with spaces between them.
        arguments: arguments
            .split(|byte| matches!(byte, 0 | b' '))
            .filter(|part| !part.is_empty())
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect(),
    })
}

/// `root` and everything that descends from it.
pub fn tree(root: i32) -> Vec<Process> {
    let all = all();
    let mut known: HashSet<i32> = HashSet::from([root]);
    loop {
        let before = known.len();
        let more: Vec<i32> =
            all.iter().filter(|process| known.contains(&process.parent)).map(|process| process.pid).collect();
        known.extend(more);
        if known.len() == before {
            return all.into_iter().filter(|process| known.contains(&process.pid)).collect();
        }
    }
}

/// Zombies that `root` or what descends from it should have waited for.
pub fn zombies(root: i32) -> Vec<i32> {
    let parents: HashSet<i32> = tree(root).into_iter().map(|process| process.pid).collect();
    let entries = fs::read_dir("/proc").expect("/proc is there");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, tail)| tail).split_whitespace().collect();
        let parent = fields.get(1).and_then(|parent| parent.parse().ok());
        fields.first() == Some(&"Z") && parent.is_some_and(|parent| parents.contains(&parent))
    })
    .collect()
}

/// Processes whose environment holds `marker`. Those of another user, and those that hide theirs, are not seen.
pub fn marked(marker: &str) -> Vec<Process> {
    let holds = |process: &Process| {
        fs::read(format!("/proc/{}/environ", process.pid))
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|one| one == marker.as_bytes()))
    };
    all().into_iter().filter(holds).collect()
}

/// Processes that run under this uid.
pub fn of_user(uid: u32) -> Vec<Process> {
    all().into_iter().filter(|process| process.uids().is_some_and(|uids| uids.contains(&uid))).collect()
}

impl Process {
    /// Whether this very process still runs.
    pub fn alive(&self) -> bool {
        read(self.pid).is_some_and(|now| now.started == self.started)
    }

    /// A line of `/proc/PID/status`.
    pub fn status(&self, key: &str) -> Option<String> {
        let text = fs::read_to_string(self.path("status")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(|value| value.trim().to_owned())
    }

    /// Real, effective, saved and file system uid.
    pub fn uids(&self) -> Option<Vec<u32>> {
        self.status("Uid")?.split_whitespace().map(|uid| uid.parse().ok()).collect()
    }

    /// A file of its directory in `/proc`.
    pub fn path(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.pid))
    }

    /// The identity of one of its namespaces, for example `pid:[4026531836]`.
    pub fn namespace(&self, kind: &str) -> String {
        let link = fs::read_link(self.path(&format!("ns/{kind}"))).expect("read a namespace of a process");
        link.to_string_lossy().into_owned()
    }

    /// Its pids from the outermost pid namespace to its own.
    pub fn pids(&self) -> Vec<i32> {
        let line = self.status("NSpid").unwrap_or_default();
        line.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Sends a signal to it. One that has ended meanwhile is no error.
    pub fn signal(&self, signal: Signal) {
        if self.alive() {
            // Between the look and the signal it may end; then there is nothing to end any more.
            let _ = signal::kill(Pid::from_raw(self.pid), signal);
        }
    }
}
