//! Ends a world when the test process that made it is gone, however it went.
//!
//! `leash GLASSCTL` runs in the world's environment and reads pids of daemons from its standard input, one a line. When
//! that ends it asks the daemon to stop, and then kills what is left: those daemons (their sessions die with them) and
//! everything that carries the world's mark. It proves nothing; worlds that end well have proved it before.

#![forbid(unsafe_code)]

use std::io::BufRead as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use glass_tests::process::{self, Process};
use nix::sys::signal::Signal;

fn main() {
    let Some(glassctl) = std::env::args_os().nth(1) else { return };
    let mut daemons: Vec<Process> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        daemons.extend(line.trim().parse().ok().and_then(process::read));
    }
    let mut stop = Command::new(glassctl);
    stop.args(["daemon", "stop", "--no-autostart"]);
    stop.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(child) = stop.spawn() {
        let run = glass_tests::process::read(child.id().try_into().unwrap_or(i32::MAX));
        let end = std::time::Instant::now() + Duration::from_secs(15);
        while run.as_ref().is_some_and(Process::alive) && std::time::Instant::now() < end {
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
    for daemon in daemons {
        daemon.signal(Signal::SIGKILL);
    }
    if let Some(world) = std::env::var_os("GLASS_TEST_WORLD").map(PathBuf::from) {
        let this = i32::try_from(std::process::id()).unwrap_or(0);
        for process in process::marked(&format!("GLASS_TEST_WORLD={}", world.display())) {
            if process.pid != this {
                process.signal(Signal::SIGKILL);
            }
        }
        // The world removes its directory itself when it ends well; then this finds nothing.
        let _ = std::fs::remove_dir_all(world);
    }
}
