//! Whether somebody at a terminal is asking, and whether that is somebody else than the client that waits for the answer
//! (contract 10.4).
//!
//! Asked of the kernel about the process at the other end of the connection, never of the process itself: its controlling
//! terminal, whether it is in the foreground there, whether its standard input is that terminal; who its ancestors are.
//! A client that can start processes can make itself a terminal all the same: this is told, and a secret or an approver is
//! for it.

use std::os::unix::fs::{FileTypeExt, MetadataExt};

use nix::sys::stat::{major, minor};

use crate::peer::Peer;

/// As deep as any process tree; one that goes deeper wants to hide.
const DEPTH: usize = 256;

/// Why a process may not speak for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAPerson {
    /// It has no terminal that it is in the foreground of, or its standard input is another thing.
    #[error(
        "this is asked on a terminal, and there is none: standard input is no terminal that the command runs on"
    )]
    NoTerminal,
    /// It belongs to whoever asked for the confirmation.
    #[error("this command runs below the program that asked for the confirmation, or on its terminal")]
    OfTheClient,
    /// Its process could not be looked at.
    #[error("the process that asks cannot be looked at, or is gone")]
    Unseen,
}

/// A process by its number and the moment that it began, which together mean one process only.
type Id = (i32, u64);

/// A process as the kernel tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    id: Id,
    parent: i32,
    group: i32,
    session: i32,
    terminal: u64,
    foreground: i32,
}

/// The client that asked, with the programs that it runs for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asker {
    processes: Vec<Id>,
    sessions: Vec<i32>,
}

impl Asker {
    /// The process at the other end of a connection, and its ancestors up to the one that leads its terminal's session, or,
    /// without a terminal, as far as they are in its control group. The first process is nobody's program.
    pub(crate) fn of(peer: &Peer) -> Self {
        let mut asker = Self::default();
        let Ok(mut at) = i32::try_from(peer.pid) else { return asker };
        let own = control_group(at);
        for step in 0..DEPTH {
            let Some(process) = look(at) else { return asker };
            // Its starter is part of it wherever that lies: a shell, a host that runs it in a group of its own.
            if step > 1 && (at == 1 || control_group(at) != own) {
                return asker;
            }
            if at > 1 {
                asker.processes.push(process.id);
                asker.sessions.extend(Some(process.session).filter(|session| *session > 1));
            }
            let leads_terminal = process.terminal != 0 && process.session == at;
            if leads_terminal || process.parent <= 0 {
                return asker;
            }
            at = process.parent;
        }
        asker
    }
}

/// Whether the process at the other end of a connection speaks for a person, and for another one than `asker`.
///
/// # Errors
/// Why it does not.
pub(super) fn person(peer: &Peer, asker: &Asker) -> Result<(), NotAPerson> {
    on_terminal(peer)?;
    let mut at = i32::try_from(peer.pid).map_err(|_| NotAPerson::Unseen)?;
    let own = look(at).ok_or(NotAPerson::Unseen)?;
    if asker.sessions.contains(&own.session) {
        return Err(NotAPerson::OfTheClient);
    }
    for _ in 0..DEPTH {
        let process = look(at).ok_or(NotAPerson::Unseen)?;
        if asker.processes.contains(&process.id) {
            return Err(NotAPerson::OfTheClient);
        }
        if process.parent <= 0 {
            // All of it was about the same process, which still lives.
            return if peer.lives() { Ok(()) } else { Err(NotAPerson::Unseen) };
        }
        at = process.parent;
    }
    Err(NotAPerson::Unseen)
}

/// Whether the process at the other end of a connection is in the foreground of a terminal that it reads from.
///
/// # Errors
/// It is not, or it cannot be looked at.
pub(crate) fn on_terminal(peer: &Peer) -> Result<(), NotAPerson> {
    let pid = i32::try_from(peer.pid).ok().filter(|pid| *pid > 0).ok_or(NotAPerson::Unseen)?;
    let process = look(pid).ok_or(NotAPerson::Unseen)?;
    if process.terminal == 0 || process.foreground != process.group {
        return Err(NotAPerson::NoTerminal);
    }
    let input = std::fs::metadata(format!("/proc/{pid}/fd/0")).map_err(|_| NotAPerson::NoTerminal)?;
    let device = input.rdev();
    // /dev/tty stands for the controlling terminal.
    let is_it = device_number(device) == process.terminal || (major(device), minor(device)) == (5, 0);
    if !input.file_type().is_char_device() || !is_it {
        return Err(NotAPerson::NoTerminal);
    }
    if peer.lives() { Ok(()) } else { Err(NotAPerson::Unseen) }
}

/// A device's number as /proc/PID/stat writes it.
fn device_number(device: u64) -> u64 {
    let (major, minor) = (major(device), minor(device));
    (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)
}

fn look(pid: i32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &text)
}

/// When the process of this number began, in the kernel's ticks since its own start.
pub(crate) fn began(pid: i32) -> Option<u64> {
    look(pid).map(|process| process.id.1)
}

fn parse(pid: i32, text: &str) -> Option<Process> {
    // The name before it may hold anything, brackets and spaces too.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    let small = |at: usize| i32::try_from(number(at)?).ok();
    Some(Process {
        id: (pid, u64::try_from(number(19)?).ok()?),
        parent: small(1)?,
        group: small(2)?,
        session: small(3)?,
        // It is printed with a sign, and is a bit pattern.
        terminal: u64::from(small(4)?.cast_unsigned()),
        foreground: small(5)?,
    })
}

fn control_group(pid: i32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_whatever_the_name_is() {
        let line = "42 (a) b (c) S 7 42 40 34817 42 4194304 1 0 0 0 1 2 0 0 20 0 1 0 987654 1 1";
        let process = parse(42, line).unwrap();
        let want =
            Process { id: (42, 987_654), parent: 7, group: 42, session: 40, terminal: 34817, foreground: 42 };
        assert_eq!(process, want);
        assert_eq!(device_number(nix::sys::stat::makedev(136, 1)), 34817);
        assert_eq!(parse(1, "garbage"), None);
    }

    #[test]
    fn this_process_and_its_ancestors_are_seen() {
        let own = i32::try_from(std::process::id()).unwrap();
        let process = look(own).unwrap();
        assert_eq!(process.parent, nix::unistd::getppid().as_raw());
        assert!(began(own).is_some() && began(i32::MAX).is_none());
    }
}
