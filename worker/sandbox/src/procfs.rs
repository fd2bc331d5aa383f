//! Reads what /proc says about processes.

use std::fs;

/// The lines of `/proc/PID/status` that layers are judged by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status(String);

impl Status {
    /// Of the process with this name in `/proc`; `None` when it is gone.
    pub(crate) fn of(process: &str) -> Option<Self> {
        fs::read_to_string(format!("/proc/{process}/status")).ok().map(Self)
    }

    /// The value of a line, such as `Seccomp`.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }

    /// A line's value as a decimal number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.field(name)?.parse().ok()
    }

    /// The four uids: real, effective, saved and file system.
    pub(crate) fn uids(&self) -> Vec<u32> {
        self.field("Uid")
            .into_iter()
            .flat_map(str::split_whitespace)
            .filter_map(|uid| uid.parse().ok())
            .collect()
    }

    /// The capability sets that are not empty, by name; all of them where one cannot be read. The bounding set is left
    /// out: where no new privileges are to be had it bounds nothing.
    pub(crate) fn usable_capabilities(&self) -> Vec<&'static str> {
        self.capabilities().into_iter().filter(|set| *set != "CapBnd").collect()
    }

    /// The capability sets that are not empty, by name; all of them where one cannot be read.
    pub(crate) fn capabilities(&self) -> Vec<&'static str> {
        let full =
            |name: &&str| self.field(name).and_then(|hex| u64::from_str_radix(hex, 16).ok()) != Some(0);
        ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].into_iter().filter(full).collect()
    }

    /// How many pid namespaces the process is in, counted from the one of this /proc.
    pub(crate) fn pid_depth(&self) -> usize {
        self.field("NSpid").map_or(0, |pids| pids.split_whitespace().count())
    }

    #[cfg(test)]
    pub(crate) fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// The numbers of all processes in this /proc.
pub(crate) fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether `pid` is `ancestor` or descends from it, by what /proc says now.
pub(crate) fn descends(pid: u32, ancestor: u32) -> bool {
    let mut at = pid;
    // A loop is impossible in one moment, but the table changes under the walk.
    for _ in 0..1024 {
        if at == ancestor {
            return true;
        }
        match Status::of(&at.to_string()).and_then(|status| status.number("PPid")) {
            Some(parent) if parent > 0 => at = u32::try_from(parent).unwrap_or(0),
            _ => return false,
        }
    }
    false
}

/// The arguments of a process, empty when it is gone. Chromium's children join theirs by spaces into one.
pub(crate) fn arguments(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes)
        .split(['\0', ' '])
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines_are_read() {
        let status = Status::from_text(
            "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t7\t1\n\
             CapInh:\t0\nCapPrm:\t0000\nCapEff:\t0\nCapBnd:\t1\n\
             CapAmb:\t0\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\n",
        );
        assert_eq!((status.number("Seccomp"), status.number("NoNewPrivs")), (Some(2), Some(1)));
        assert_eq!(status.uids(), [1000; 4]);
        assert_eq!(status.capabilities(), ["CapBnd"]);
        assert_eq!(status.pid_depth(), 2);
    }

    #[test]
    fn own_process_is_found() {
        assert!(processes().contains(&std::process::id()));
        assert!(!arguments(std::process::id()).is_empty());
        assert!(descends(std::process::id(), std::process::id()));
        assert!(descends(std::process::id(), std::os::unix::process::parent_id()));
        assert!(!descends(std::os::unix::process::parent_id(), std::process::id()));
        assert_eq!(Status::from_text("").capabilities().len(), 5);
    }
}
