//! Which process of a daemon is which: egress, and of each session the stub, the worker, the browser and its renderers.
//!
//! They are told apart by what the kernel says of them (descent, pid namespace), not by what Glass says.

use crate::process::{self, Process};

/// The processes of one session.
#[derive(Clone, Debug)]
pub struct SessionTree {
    /// Outside the cage; the daemon's child.
    pub stub: Process,
    /// Pid 1 of the cage.
    pub worker: Process,
    /// The main process of Chromium.
    pub browser: Process,
    /// All of the session, these three included.
    pub all: Vec<Process>,
}

impl SessionTree {
    /// Its renderers, as far as they have begun.
    pub fn renderers(&self) -> Vec<&Process> {
        self.all.iter().filter(|process| has(process, "--type=renderer")).collect()
    }

    /// Its GPU process.
    pub fn gpu(&self) -> Option<&Process> {
        self.all.iter().find(|process| has(process, "--type=gpu-process"))
    }
}

fn has(process: &Process, argument: &str) -> bool {
    process.arguments.iter().any(|one| one == argument)
}

/// The sessions of a daemon that have a browser.
pub fn sessions(daemon: i32) -> Vec<SessionTree> {
    let children: Vec<Process> =
        process::all().into_iter().filter(|process| process.parent == daemon).collect();
    children.into_iter().filter_map(session).collect()
}

fn session(child: Process) -> Option<SessionTree> {
    let all = process::tree(child.pid);
    let outer = child.pids().len();
    let pid_one = |process: &&Process| process.pids().len() == outer + 1 && process.pids().last() == Some(&1);
    // Without a pid namespace of its own it is the stub's child of its name; those of Chromium's sandbox lie deeper.
    let by_name = |process: &&Process| process.parent == child.pid && process.name == "glass-worker";
    let worker = all.iter().find(by_name).or_else(|| all.iter().find(pid_one))?.clone();
    let is_browser = |process: &&Process| {
        process.parent == worker.pid
            && process.name.starts_with("chrom")
            && !process.arguments.iter().any(|argument| argument.starts_with("--type="))
    };
    let browser = all.iter().find(is_browser)?.clone();
    Some(SessionTree { stub: child, worker, browser, all })
}

/// The daemon's proxy.
pub fn egress(daemon: i32) -> Option<Process> {
    process::all().into_iter().find(|process| {
        process.parent == daemon
            && process.arguments.first().is_some_and(|name| name.ends_with("glass-egress"))
    })
}
