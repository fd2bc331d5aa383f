//! How much memory a session's processes use.

use std::collections::HashMap;

/// The memory of a process and everything beneath it in bytes: the proportional share where the kernel shows it, else
/// what is resident and not backed by files (shared pages count several times then). 0 when it cannot be read.
pub fn of_tree(root: u32) -> u64 {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in processes() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        found.extend(children.remove(&pid).unwrap_or_default());
        next += 1;
    }
    found.into_iter().map(of_process).sum()
}

fn processes() -> Vec<(u32, u32)> {
    // Without /proc nothing can be measured; the sum is 0 then, as documented.
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    // Processes end while they are listed, and what has ended uses nothing.
    pids.filter_map(|pid| Some((pid, parent(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?)))
        .collect()
}

/// The parent in a line of `/proc/PID/stat`, whose second field may hold spaces and brackets.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
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
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent("12 (a) b) c) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (sh) R 1 1"), Some(1));
    }

    #[test]
    fn this_process_uses_memory() {
        assert!(of_tree(std::process::id()) > 100_000);
        assert_eq!(of_tree(u32::MAX), 0);
    }
}
