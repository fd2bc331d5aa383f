//! What a cage is built from: plain data, made by the daemon and read by the worker before it has a thread.
//!
//! Owns the shape, its bounds, and the list of system paths that Chromium needs. Builds nothing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::CageError;
use crate::mode::Mode;

/// Where the session's directory appears inside the cage.
pub const SESSION: &str = "/session";
/// HOME inside the cage: a small memory file system that ends with the session.
pub const HOME: &str = "/home/glass";
/// The user and group id that a caged process sees itself as.
pub const INSIDE_ID: u32 = 1000;

/// Everything the cage needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CagePlan {
    /// The pid of the daemon. A worker whose parent is another process by then ends itself.
    pub parent: u32,
    /// The session's directory on the host, 0700, absolute; the only host directory writable inside, as
    /// `/session`.
    pub session_dir: PathBuf,
    /// The uid and gid to become first. Required when started as root, and not 0; absent otherwise.
    pub worker_uid: Option<u32>,
    /// Host paths that appear read-only at the same place. Symbolic links are re-made as links. Each must
    /// exist.
    pub read_only: Vec<PathBuf>,
    /// The TCP port on the cage's own 127.0.0.1 where the forwarder listens, and the only one that may be
    /// dialled. Without a network namespace the kernel chooses another, since this one may be taken.
    pub forward_port: u16,
    /// Resource limits of each process in the cage.
    pub limits: Limits,
    /// The kind of cage to build; nothing weaker is ever built in its place.
    pub mode: Mode,
}

/// Limits per process, but for `nproc`. Each is clamped to what the caller may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Open descriptors of a process.
    pub nofile: u64,
    /// Processes and threads of the whole cage (counted in its user namespace). An idle browser has about
    /// 120.
    pub nproc: u64,
    /// Bytes of private writable memory of a process; absent means no limit. A page that reaches it gets a
    /// failed allocation and the browser lives. Address space is never limited: Chromium reserves over a
    /// terabyte.
    pub data: Option<u64>,
    /// Bytes that the cage's `/dev/shm` holds at most.
    pub shared_memory: u64,
    /// Bytes that the cage's `/tmp` holds at most.
    pub scratch: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nofile: 8192, nproc: 1024, data: Some(4 << 30), shared_memory: 1 << 30, scratch: 256 << 20 }
    }
}

/// Top-level directories with programs and libraries; some are links into `/usr`.
const SYSTEM_DIRS: &[&str] =
    &["/usr", "/opt", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/// What programs read below `/etc` and `/var`, without anything that names users, hosts or secrets of the
/// machine.
const SYSTEM_FILES: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/chromium",
    "/etc/chromium.d",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/opt",
    "/etc/pki",
    "/etc/ssl",
    "/etc/static",
    "/etc/timezone",
    "/var/cache/fontconfig",
];

impl CagePlan {
    /// The system paths present on this machine that a browser needs, for `read_only`.
    pub fn system_paths() -> Vec<PathBuf> {
        SYSTEM_DIRS
            .iter()
            .chain(SYSTEM_FILES)
            .map(PathBuf::from)
            .filter(|path| path.symlink_metadata().is_ok())
            .collect()
    }

    /// Refuses what could not be built or would be unsafe, before anything is changed.
    pub(crate) fn check(&self) -> Result<(), CageError> {
        let bad = |what: String| Err(CageError::Plan { what });
        for path in std::iter::once(&self.session_dir).chain(&self.read_only) {
            if !is_plain_absolute(path) {
                return bad(format!("{} is not an absolute path without `..`", path.display()));
            }
        }
        if let Some(path) = self.read_only.iter().find(|path| is_reserved(path, self.mode)) {
            return bad(format!("{} has a place of its own in the cage", path.display()));
        }
        if self.forward_port < 1024 {
            return bad(format!("the forwarder's port {} is below 1024", self.forward_port));
        }
        if self.limits.nofile < 256 || self.limits.nproc < 256 {
            return bad("a browser does not start with fewer than 256 descriptors or threads".to_owned());
        }
        Ok(())
    }

    /// `read_only` sorted, without those that lie beneath another.
    pub(crate) fn outermost_read_only(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = self.read_only.iter().map(PathBuf::as_path).collect();
        paths.sort_unstable();
        let mut kept: Vec<&Path> = Vec::with_capacity(paths.len());
        for path in paths {
            let inside = |outer: &&&Path| path.starts_with(outer) && !outer.is_symlink();
            if !kept.iter().any(|outer| inside(&outer)) {
                kept.push(path);
            }
        }
        kept
    }
}

fn is_plain_absolute(path: &Path) -> bool {
    use std::path::Component::{Normal, RootDir};
    path.is_absolute() && path.components().all(|part| matches!(part, RootDir | Normal(_)))
}

/// Whether the cage puts something of its own at or above `path`, or `path` would swallow the whole root. Only a cage
/// with a root of its own puts something anywhere.
fn is_reserved(path: &Path, mode: Mode) -> bool {
    let own = ["/proc", "/dev", "/sys", "/tmp", "/run", SESSION, HOME];
    path == Path::new("/")
        || path == Path::new("/etc")
        || (mode == Mode::Namespaces && own.iter().any(|place| path.starts_with(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(read_only: &[&str]) -> CagePlan {
        CagePlan {
            parent: 1,
            session_dir: "/var/s".into(),
            worker_uid: None,
            read_only: read_only.iter().map(PathBuf::from).collect(),
            forward_port: 3128,
            limits: Limits::default(),
            mode: Mode::Namespaces,
        }
    }

    #[test]
    fn a_plan_survives_json_and_refuses_unknown_fields() {
        let plan = plan(&["/usr"]);
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<CagePlan>(&text).unwrap(), plan);
        assert!(serde_json::from_str::<CagePlan>(&text.replacen('{', "{\"extra\":1,", 1)).is_err());
    }

    #[test]
    fn unsafe_paths_and_ports_are_refused() {
        for path in ["usr", "/usr/../root", "/", "/etc", "/proc/1", "/tmp", "/session/x"] {
            assert!(plan(&[path]).check().is_err(), "{path}");
        }
        let mut low = plan(&["/usr"]);
        low.forward_port = 80;
        assert!(low.check().is_err());
        assert!(plan(&["/usr", "/etc/ssl"]).check().is_ok());
    }

    #[test]
    fn nested_paths_are_bound_once() {
        let plan = plan(&["/usr/lib/x", "/usr", "/usr-other", "/usr"]);
        assert_eq!(plan.outermost_read_only(), [Path::new("/usr"), Path::new("/usr-other")]);
    }

    #[test]
    fn system_paths_exist_and_hold_no_accounts() {
        let paths = CagePlan::system_paths();
        assert!(paths.contains(&PathBuf::from("/usr")));
        assert!(!paths.iter().any(|path| path.ends_with("passwd") || path.ends_with("resolv.conf")));
    }
}
