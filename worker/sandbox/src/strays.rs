//! Reaps what was orphaned inside the cage: pid 1 inherits it, and must not let it pile up.

use std::fs;

use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

/// Reaps every exited child of this process that is not in `known`, and says how many there were.
///
/// `known` are the children that somebody else waits for. Call it on SIGCHLD; it does not block.
pub fn reap_strays(known: &[u32]) -> usize {
    children().into_iter().filter(|pid| !known.contains(pid) && reap(*pid)).count()
}

/// The children of all threads: an orphan goes to any of them.
pub(crate) fn children() -> Vec<u32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

fn reap(pid: u32) -> bool {
    let Ok(number) = i32::try_from(pid) else { return false };
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG;
    loop {
        match waitid(Id::Pid(Pid::from_raw(number)), flags) {
            Err(Errno::EINTR) => {}
            Ok(status) => return status.pid().is_some(),
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pidfd;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    #[expect(clippy::zombie_processes, reason = "reaped by the function under test")]
    fn an_exited_child_is_reaped_unless_it_is_known() {
        let child = Command::new("true").spawn().unwrap();
        let held = Pidfd::open(child.id()).unwrap();
        assert!(held.wait_timeout(Duration::from_secs(10)).unwrap());
        assert!(reap(child.id()));
        assert!(!reap(child.id()));
    }
}
