//! Whether a person at a terminal uses a process, as far as the kernel can tell (contract 10.4, 10.8).
//!
//! It is no proof: a program with a shell can make itself a terminal. It keeps out clients that have nothing but their
//! calls, and whatever runs in the background or with its input from elsewhere.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use nix::sys::stat::{major, makedev, minor};

/// Why nobody sits at a terminal there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTerminal {
    /// The process cannot be looked at.
    #[error("the process that asks cannot be seen")]
    Unseen,
    /// It has none.
    #[error("the process that asks has no terminal")]
    None,
    /// Something else has the terminal's keys.
    #[error("the process that asks is not in the foreground of its terminal")]
    Background,
    /// It reads from something else.
    #[error("the standard input of the process that asks is not its terminal")]
    Input,
}

/// What `/proc/PID/stat` says of a process and its terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    group: i32,
    terminal: u64,
    foreground: i32,
}

/// `/dev/tty`, which stands for the terminal of whoever opens it.
const OWN: (u64, u64) = (5, 0);

/// Checks that a process has a terminal, is in its foreground, and has it as its standard input.
///
/// # Errors
/// What is missing.
pub fn check(pid: u32) -> Result<(), NoTerminal> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).map_err(|_| NoTerminal::Unseen)?;
    let stat = parse(&stat).ok_or(NoTerminal::Unseen)?;
    if stat.terminal == 0 {
        return Err(NoTerminal::None);
    }
    if stat.foreground != stat.group {
        return Err(NoTerminal::Background);
    }
    let input = fs::metadata(format!("/proc/{pid}/fd/0")).map_err(|_| NoTerminal::Input)?;
    let device = (major(input.rdev()), minor(input.rdev()));
    let own = (major(stat.terminal), minor(stat.terminal));
    if device == own || device == OWN { Ok(()) } else { Err(NoTerminal::Input) }
}

/// The name of a process may hold anything, brackets too; the fields begin behind the last one.
fn parse(stat: &str) -> Option<Stat> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(2);
    let group = fields.next()?.parse().ok()?;
    // The kernel packs both numbers into 32 bits here.
    let packed = u64::from(fields.nth(1)?.parse::<i32>().ok()?.cast_unsigned());
    let terminal = makedev((packed >> 8) & 0xfff, (packed & 0xff) | ((packed >> 12) & 0xf_ff00));
    let foreground = fields.next()?.parse().ok()?;
    Some(Stat { group, terminal: if packed == 0 { 0 } else { terminal }, foreground })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_name_with_brackets_hides_nothing() {
        let stat = parse("77 (a) b) S 1 70 60 34817 70 4194304 0").unwrap();
        assert_eq!((stat.group, stat.foreground), (70, 70));
        assert_eq!((major(stat.terminal), minor(stat.terminal)), (136, 1));
        assert_eq!(parse("77 (x) S 1 70 60 0 -1 0").unwrap().terminal, 0);
        assert_eq!(parse("77 (x) S"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_process_without_a_terminal_is_told() {
        let mut child = Command::new("setsid").args(["sleep", "60"]).stdin(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        // Once it runs the other program it has its own session.
        let alone =
            || fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "sleep");
        while !alone() {
            std::thread::yield_now();
        }
        assert_eq!(check(pid), Err(NoTerminal::None));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(check(pid), Err(NoTerminal::Unseen));
    }
}
