//! What the processes of sessions use: memory, processor time, and how many they are.
//!
//! Reads /proc. A table is read once for all sessions; what costs more (the proportional share of each process) is read
//! for a session at a time.

use std::collections::HashMap;

use glass_sandbox::{Pidfd, Signal};

/// How often the kernel's clock of processor time ticks in a second; the same on every Linux.
const TICKS: u64 = 100;
/// Bytes of a page as /proc counts them.
const PAGE: u64 = 4096;

/// A process in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    /// Processor time of its own in ticks.
    ticks: u64,
}

/// Every process of the machine, by its parent.
#[derive(Debug, Default)]
pub struct Table {
    children: HashMap<u32, Vec<Process>>,
}

/// The processes beneath one, it included.
#[derive(Clone, Debug, Default)]
pub struct Tree(Vec<Process>);

impl Table {
    /// As it is now.
    pub fn read() -> Self {
        let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
        let Ok(entries) = std::fs::read_dir("/proc") else { return Self::default() };
        for pid in entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok()) {
            // One that has gone by now has no line.
            let line = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            if let Some((parent, ticks)) = line.ok().as_deref().and_then(parse) {
                children.entry(parent).or_default().push(Process { pid, ticks });
            }
        }
        Self { children }
    }

    /// Everything beneath `root`, it included.
    pub fn tree(&self, root: u32) -> Tree {
        let own = self.children.values().flatten().find(|process| process.pid == root).copied();
        let mut found: Vec<Process> = own.into_iter().collect();
        let mut next = 0;
        while let Some(process) = found.get(next) {
            found.extend(self.children.get(&process.pid).into_iter().flatten());
            next += 1;
        }
        Tree(found)
    }
}

impl Tree {
    /// How many processes there are.
    pub fn processes(&self) -> u64 {
        self.0.len() as u64
    }

    /// The processor time that they used, in milliseconds. Of those that have gone nothing is counted.
    pub fn cpu_ms(&self) -> u64 {
        self.0.iter().map(|process| process.ticks * 1000 / TICKS).sum()
    }

    /// What they use at most and at least in bytes, quickly: with shared pages counted for each, and left out.
    pub fn bounds(&self) -> (u64, u64) {
        let each = self.0.iter().filter_map(|process| {
            let text = std::fs::read_to_string(format!("/proc/{}/statm", process.pid)).ok()?;
            let mut pages = text.split(' ').skip(1).map_while(|word| word.parse::<u64>().ok());
            let (resident, shared) = (pages.next()?, pages.next()?);
            Some((resident * PAGE, resident.saturating_sub(shared) * PAGE))
        });
        each.fold((0, 0), |(most, least), (resident, own)| (most + resident, least + own))
    }

    /// The memory that they use in bytes: the proportional share where the kernel shows it, else what is resident and not
    /// backed by files. Takes milliseconds for each.
    pub fn memory(&self) -> u64 {
        self.0.iter().map(|process| of_process(process.pid)).sum()
    }

    /// Kills the renderer that uses most memory. False where there is none.
    pub fn end_heaviest_renderer(&self) -> bool {
        let renderers = self.0.iter().filter(|process| is_renderer(process.pid));
        let Some(heaviest) = renderers.max_by_key(|process| of_process(process.pid)) else { return false };
        // Its number may be another's by now, if it has ended: then that one is no renderer of a session's either.
        let ended = Pidfd::open(heaviest.pid).and_then(|pidfd| match is_renderer(heaviest.pid) {
            true => pidfd.signal(Signal::SIGKILL),
            false => Ok(()),
        });
        ended.is_ok()
    }
}

/// The memory of a process and everything beneath it in bytes, as [`Tree::memory`] says. 0 when it cannot be read.
pub fn of_tree(root: u32) -> u64 {
    Table::read().tree(root).memory()
}

fn is_renderer(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // What a zygote forked has its arguments in one.
    line.split(|byte| matches!(byte, 0 | b' ')).any(|argument| argument == b"--type=renderer")
}

/// Parent and processor time in a line of `/proc/PID/stat`, whose second field may hold spaces and brackets.
fn parse(stat: &str) -> Option<(u32, u64)> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let mut times = fields.skip(9).map_while(|field| field.parse::<u64>().ok());
    Some((parent, times.next().unwrap_or(0) + times.next().unwrap_or(0)))
}

fn of_process(pid: u32) -> u64 {
    // One that has ended uses nothing; of one that may not be looked into, the other file may still be readable.
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
    let kilobytes = |text: &str, field: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.starts_with(field))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let share = read("smaps_rollup").and_then(|text| kilobytes(&text, "Pss:"));
    let resident = || read("status").and_then(|text| kilobytes(&text, "RssAnon:"));
    share.or_else(resident).unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_and_time_are_found_behind_any_name() {
        let rest = "S 7 12 12 0 -1 4194560 1 2 3 4 70 30 9 9 20";
        assert_eq!(parse(&format!("12 (a) b) c) {rest}")), Some((7, 100)));
        assert_eq!(parse("12 (sh) R 1 1"), Some((1, 0)));
        assert_eq!(parse("12 sh"), None);
    }

    #[test]
    fn this_process_uses_memory_and_time() {
        assert!(of_tree(std::process::id()) > 100_000);
        assert_eq!(of_tree(u32::MAX), 0);
        let tree = Table::read().tree(std::process::id());
        let (most, least) = tree.bounds();
        assert!(tree.processes() >= 1 && least > 0 && most >= least);
        assert!(!tree.end_heaviest_renderer(), "there is none");
    }
}
