//! Control groups of version 2 for sessions, where a service manager gave this daemon a subtree of its own.
//!
//! Owns the groups below that subtree: one for the daemon and its proxy, one for each session. Touches no group that was
//! not delegated (the manager marks those), because whoever made the others counts on them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::getxattr;

use super::sweep::is_session_id;
use crate::quota::Quotas;

/// Where the daemon itself goes: a group that has controllers for its children may hold no process.
const OWN: &str = "daemon";
/// What a service manager sets on a group that it delegates.
const MARKS: [&str; 2] = ["user.delegate", "trusted.delegate"];
/// What limits sessions, where the subtree has it.
const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];
/// Names of the groups of sessions begin with this.
const SESSION: &str = "s-";
/// The period of `cpu.max` in microseconds.
const PERIOD: u64 = 100_000;

/// A subtree that is this daemon's.
#[derive(Debug)]
pub struct Cgroups {
    root: PathBuf,
    controllers: Vec<&'static str>,
}

impl Cgroups {
    /// Takes the subtree that this process was started in, moves the process into a group below it, and removes groups of
    /// sessions of a dead daemon.
    ///
    /// # Errors
    /// Why there is none, for people.
    pub fn take() -> Result<Self, String> {
        let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        let mounts = read("/proc/self/mountinfo")?;
        let mount = mount_point(&mounts).ok_or("no control groups of version 2 are mounted")?;
        let groups = read("/proc/self/cgroup")?;
        let own = own_group(&groups).ok_or("this process is in no control group of version 2")?;
        let own = mount.join(own.trim_start_matches('/'));
        // A daemon that was started anew in its place is in the inner group already.
        let root = match own.parent() {
            Some(parent) if own.ends_with(OWN) && is_delegated(parent) => parent.to_owned(),
            _ if is_delegated(&own) => own.clone(),
            _ => return Err("no service manager has delegated a control group to it".to_owned()),
        };
        Self::settle(root).map_err(|error| format!("the delegated control group cannot be used: {error}"))
    }

    fn settle(root: PathBuf) -> io::Result<Self> {
        let own = root.join(OWN);
        make(&own)?;
        fs::write(own.join("cgroup.procs"), std::process::id().to_string())?;
        let there = fs::read_to_string(root.join("cgroup.controllers"))?;
        let mut controllers = Vec::new();
        for controller in
            CONTROLLERS.into_iter().filter(|one| there.split_whitespace().any(|has| has == *one))
        {
            match fs::write(root.join("cgroup.subtree_control"), format!("+{controller}")) {
                Ok(()) => controllers.push(controller),
                Err(error) => tracing::warn!(controller, %error, "a controller cannot be used for sessions"),
            }
        }
        for name in left_over(&root)? {
            let group = SessionGroup { directory: root.join(name) };
            group.kill();
            group.remove();
        }
        Ok(Self { root, controllers })
    }

    /// Which of `memory`, `pids` and `cpu` limit sessions.
    pub fn controllers(&self) -> &[&'static str] {
        &self.controllers
    }

    /// Makes the group of the session `id` with its limits.
    ///
    /// # Errors
    /// The kernel's; no group is left then.
    pub fn session(&self, id: &str, quotas: &Quotas) -> io::Result<SessionGroup> {
        let group = SessionGroup { directory: self.root.join(format!("{SESSION}{id}")) };
        make(&group.directory)?;
        for (file, value) in settings(&self.controllers, quotas) {
            let written = fs::write(group.directory.join(file), value);
            match written {
                // A kernel without swap has no such file.
                Err(error) if file == "memory.swap.max" && error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    group.remove();
                    return Err(error);
                }
                Ok(()) => {}
            }
        }
        Ok(group)
    }
}

/// The control group of one session.
#[derive(Debug)]
pub struct SessionGroup {
    directory: PathBuf,
}

impl SessionGroup {
    /// What a process writes `0` to, to enter it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn entrance(&self) -> io::Result<OwnedFd> {
        OpenOptions::new().write(true).open(self.directory.join("cgroup.procs")).map(File::into)
    }

    /// Kills everything in it.
    pub fn kill(&self) {
        if let Err(error) = fs::write(self.directory.join("cgroup.kill"), "1") {
            tracing::debug!(%error, "a control group cannot be killed");
        }
    }

    /// Removes it once nothing is in it.
    pub fn remove(&self) {
        match fs::remove_dir(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, group = %self.directory.display(), "a control group is left");
            }
            _ => {}
        }
    }
}

fn make(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// What is written where to limit a session.
fn settings(controllers: &[&str], quotas: &Quotas) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    if controllers.contains(&"memory") {
        settings.push(("memory.max", quotas.memory.to_string()));
        settings.push(("memory.swap.max", "0".to_owned()));
    }
    if controllers.contains(&"pids") {
        settings.push(("pids.max", quotas.threads().to_string()));
    }
    if controllers.contains(&"cpu") {
        let time = u64::from(quotas.cpu_percent) * PERIOD / 100;
        settings.push(("cpu.max", format!("{time} {PERIOD}")));
    }
    settings
}

fn left_over(root: &Path) -> io::Result<Vec<String>> {
    let names = fs::read_dir(root)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| name.strip_prefix(SESSION).is_some_and(is_session_id)).collect())
}

/// Whether a service manager has marked the group as handed over.
fn is_delegated(group: &Path) -> bool {
    MARKS.iter().any(|mark| {
        let mut value = [0; 8];
        getxattr(group, *mark, &mut value).is_ok_and(|length| value[..length].starts_with(b"1"))
    })
}

/// Where version 2 is mounted whole, by `/proc/self/mountinfo`.
fn mount_point(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, place) = (fields.next()?, fields.next()?);
        let whole = file_system.starts_with("cgroup2 ") && root == "/";
        // The kernel writes spaces in octal; such a place is of no use here.
        (whole && !place.contains('\\'))
            .then(|| Path::new(std::ffi::OsStr::from_bytes(place.as_bytes())).to_owned())
    })
}

/// This process's group in version 2, by `/proc/self/cgroup`.
fn own_group(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTAS: Quotas = Quotas {
        memory: 2 << 30,
        cpu_percent: 150,
        processes: 512,
        spool: 0,
        profile: 0,
        targets: 32,
        queued: 64,
    };

    #[test]
    fn the_group_is_found_on_new_and_on_mixed_systems() {
        let new = "34 28 0:29 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        let mixed = "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                     31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        assert_eq!(mount_point(new), Some("/sys/fs/cgroup".into()));
        assert_eq!(mount_point(mixed), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(
            mount_point(&new.replace(" / /", " /inner /")),
            None,
            "a part of the tree has other paths"
        );
        assert_eq!(mount_point("30 24 0:26 / /proc rw - proc proc rw\n"), None);
        assert_eq!(own_group("4:memory:/x\n0::/user.slice/a\n"), Some("/user.slice/a"));
        assert_eq!(own_group("4:memory:/x\n"), None);
    }

    // contract: 11
    #[test]
    fn what_is_limited_goes_by_what_the_subtree_has() {
        assert!(settings(&[], &QUOTAS).is_empty());
        let text = |controllers: &[&str]| {
            let set =
                settings(controllers, &QUOTAS).into_iter().map(|(file, value)| format!("{file}={value}"));
            set.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(&["cpu"]), "cpu.max=150000 100000");
        assert_eq!(text(&["memory", "pids"]), "memory.max=2147483648 memory.swap.max=0 pids.max=1024");
    }

    #[test]
    fn what_nobody_delegated_is_not_taken() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!is_delegated(directory.path()));
        assert!(!is_delegated(&directory.path().join("none")));
    }
}
