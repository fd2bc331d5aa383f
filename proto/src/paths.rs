//! Where the daemon's socket, locks, state and configuration lie (DESIGN 8, contract 12.1).
//!
//! Owns the rules from environment variables to paths; daemon and clients both go by them, so that they meet. Looks
//! at one thing on disk, whether the runtime directory belongs to this user, and creates nothing.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The longest path that a Unix socket can have, in bytes.
pub const MAX_SOCKET_PATH: usize = if cfg!(target_os = "macos") { 103 } else { 107 };

/// Where things lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The daemon's socket.
    pub socket: PathBuf,
    /// Held by the daemon that listens on `socket`.
    pub lock: PathBuf,
    /// The directory of `socket` and `lock`, 0700.
    pub runtime_dir: PathBuf,
    /// What outlives a login, 0700. One daemon at a time: see [`Paths::state_lock`].
    pub state_dir: PathBuf,
    /// One directory for each session.
    pub sessions_dir: PathBuf,
    /// The daemon's logs.
    pub logs_dir: PathBuf,
    /// The directory of `config.toml`.
    pub config_dir: PathBuf,
}

/// Why there are no such paths.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PathError {
    /// Neither the XDG variable nor a home directory says where to put it.
    #[error("no place for Glass's state: set HOME or XDG_STATE_HOME to an absolute path")]
    NoHome,
    /// Root would write into another user's directory, as after a plain `sudo`.
    #[error(
        "{} belongs to another user, and root keeps no state there: use `sudo -H`, or set XDG_STATE_HOME to a directory of root's",
        path.display()
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// A path given on the command line that is not absolute or has no file name.
    #[error("{} is no absolute path of a file", path.display())]
    NotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// The kernel would refuse the socket's path, or cut it.
    #[error(
        "the socket path {} has {} bytes, and a socket's path has at most {MAX_SOCKET_PATH}; set XDG_RUNTIME_DIR to a shorter directory of yours, or give --socket",
        path.display(), path.as_os_str().len()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
    },
}

/// The values that decide, so that the rules can be tested without touching the process's environment.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `XDG_RUNTIME_DIR`
    pub runtime: Option<OsString>,
    /// `XDG_STATE_HOME`
    pub state: Option<OsString>,
    /// `XDG_CONFIG_HOME`
    pub config: Option<OsString>,
    /// `HOME`, or the home directory of the user database.
    pub home: Option<OsString>,
    /// Effective uid of this process.
    pub uid: u32,
}

impl Environment {
    /// The values of this process.
    pub fn of_process() -> Self {
        let uid = nix::unistd::geteuid();
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        // Who stands in no database, or in one that cannot be read, has no home there.
        let database = || Some(nix::unistd::User::from_uid(uid).ok()??.dir.into_os_string());
        Self {
            runtime: std::env::var_os("XDG_RUNTIME_DIR"),
            state: std::env::var_os("XDG_STATE_HOME"),
            config: std::env::var_os("XDG_CONFIG_HOME"),
            home: home.or_else(database),
            uid: uid.as_raw(),
        }
    }
}

/// What the command line says instead of the environment.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--socket`: the lock lies beside it.
    pub socket: Option<PathBuf>,
    /// `--state-dir`
    pub state_dir: Option<PathBuf>,
}

impl Paths {
    /// The paths of this process's environment.
    ///
    /// # Errors
    /// No home, another user's home for root, or a path that is too long for a socket.
    pub fn from_env() -> Result<Self, PathError> {
        Self::resolve(&Environment::of_process(), &Overrides::default())
    }

    /// The paths that follow from `environment` and the command line.
    ///
    /// `XDG_RUNTIME_DIR` counts only when it is a directory of this user that no other can write to (after `su`
    /// it is somebody else's); without it the socket lies in the state directory.
    ///
    /// # Errors
    /// As [`Paths::from_env`], and an override that is no absolute path.
    pub fn resolve(environment: &Environment, overrides: &Overrides) -> Result<Self, PathError> {
        let state_dir = match &overrides.state_dir {
            Some(path) => plain_absolute(path)?,
            None => base(environment.state.as_ref(), environment.home.as_ref(), ".local/state")
                .ok_or(PathError::NoHome)?,
        };
        // Root must not leave files of its own in a user's home, and must not go by a configuration that a user wrote.
        let foreign = |path: &Path| environment.uid == 0 && owner(path).is_some_and(|uid| uid != 0);
        if overrides.state_dir.is_none() && foreign(&state_dir) {
            return Err(PathError::NotOurs { path: state_dir });
        }
        let config_dir = base(environment.config.as_ref(), environment.home.as_ref(), ".config")
            .filter(|config| !foreign(config))
            .unwrap_or_else(|| state_dir.join("config"));
        let socket = match &overrides.socket {
            Some(path) => plain_absolute(path)?,
            None => runtime_dir(environment, &state_dir).join("glassd.sock"),
        };
        if socket.as_os_str().as_bytes().len() > MAX_SOCKET_PATH {
            return Err(PathError::TooLong { path: socket });
        }
        let runtime_dir = socket.parent().unwrap_or(Path::new("/")).to_owned();
        let mut lock = socket.with_extension("lock");
        if lock == socket {
            lock = socket.with_extension("lock.lock");
        }
        Ok(Self {
            lock,
            runtime_dir,
            sessions_dir: state_dir.join("sessions"),
            logs_dir: state_dir.join("logs"),
            socket,
            state_dir,
            config_dir,
        })
    }

    /// Held by the one daemon of this state directory; its text is the path of that daemon's socket.
    pub fn state_lock(&self) -> PathBuf {
        // Not called like `lock`: nothing forbids XDG_RUNTIME_DIR and XDG_STATE_HOME to be one directory.
        self.state_dir.join("state.lock")
    }

    /// The configuration file, which need not exist.
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The daemon's policy.
    pub fn policy_file(&self) -> PathBuf {
        self.config_dir.join("policy.toml")
    }

    /// The audit log's files.
    pub fn audit_dir(&self) -> PathBuf {
        self.state_dir.join("audit")
    }

    /// The daemon's log.
    pub fn log_file(&self) -> PathBuf {
        self.logs_dir.join("glassd.log")
    }
}

/// `$XDG_…/glass`, or `~/…/glass`. Relative values are ignored, as the XDG specification says.
fn base(xdg: Option<&OsString>, home: Option<&OsString>, below_home: &str) -> Option<PathBuf> {
    let absolute = |value: &&OsString| Path::new(value).is_absolute();
    match xdg.filter(absolute) {
        Some(xdg) => Some(Path::new(xdg).join("glass")),
        None => home.filter(absolute).map(|home| Path::new(home).join(below_home).join("glass")),
    }
}

/// Who owns `path`, or the directory that it would be made in.
fn owner(path: &Path) -> Option<u32> {
    path.ancestors().find_map(|path| path.metadata().ok()).map(|found| found.uid())
}

fn runtime_dir(environment: &Environment, state_dir: &Path) -> PathBuf {
    match environment.runtime.as_ref().map(Path::new) {
        Some(dir) if is_private_dir(dir, environment.uid) => dir.join("glass"),
        _ => state_dir.join("run"),
    }
}

fn is_private_dir(dir: &Path, uid: u32) -> bool {
    dir.is_absolute()
        && dir.metadata().is_ok_and(|found| found.is_dir() && found.uid() == uid && found.mode() & 0o022 == 0)
}

fn plain_absolute(path: &Path) -> Result<PathBuf, PathError> {
    if path.is_absolute() && path.file_name().is_some() {
        return Ok(path.to_owned());
    }
    Err(PathError::NotAbsolute { path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn environment(runtime: Option<&Path>) -> Environment {
        Environment {
            runtime: runtime.map(|dir| dir.as_os_str().to_owned()),
            state: None,
            config: None,
            home: Some("/home/u".into()),
            uid: nix::unistd::geteuid().as_raw(),
        }
    }

    fn resolve(environment: &Environment) -> Paths {
        Paths::resolve(environment, &Overrides::default()).unwrap()
    }

    #[test]
    fn a_private_runtime_directory_holds_the_socket() {
        let dir = tempfile::tempdir().unwrap();
        let paths = resolve(&environment(Some(dir.path())));
        assert_eq!(paths.socket, dir.path().join("glass/glassd.sock"));
        assert_eq!(paths.lock, dir.path().join("glass/glassd.lock"));
        assert_eq!(paths.state_dir, Path::new("/home/u/.local/state/glass"));
        assert_eq!(paths.config_file(), Path::new("/home/u/.config/glass/config.toml"));
        assert_ne!(paths.state_lock().file_name(), paths.lock.file_name());
    }

    #[test]
    fn a_runtime_directory_that_is_not_ours_alone_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let fallback = Path::new("/home/u/.local/state/glass/run/glassd.sock");
        let mut other = environment(Some(dir.path()));
        other.uid += 1;
        assert_eq!(resolve(&other).socket, fallback);
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(resolve(&environment(Some(dir.path()))).socket, fallback);
        assert_eq!(resolve(&environment(Some(Path::new("/nowhere/at/all")))).socket, fallback);
        assert_eq!(resolve(&environment(Some(Path::new("relative")))).socket, fallback);
        assert_eq!(resolve(&environment(None)).socket, fallback);
    }

    #[test]
    fn a_path_that_a_socket_cannot_have_is_refused_with_its_length() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("x".repeat(120));
        std::fs::DirBuilder::new().create(&long).unwrap();
        std::fs::set_permissions(&long, std::fs::Permissions::from_mode(0o700)).unwrap();
        let error = Paths::resolve(&environment(Some(&long)), &Overrides::default()).unwrap_err();
        assert!(matches!(error, PathError::TooLong { .. }), "{error}");
        assert!(error.to_string().contains("at most 107"), "{error}");
    }

    #[test]
    fn the_command_line_wins() {
        let overrides =
            Overrides { socket: Some("/run/x/a.sock".into()), state_dir: Some("/var/lib/g".into()) };
        let paths = Paths::resolve(&environment(None), &overrides).unwrap();
        assert_eq!(paths.lock, Path::new("/run/x/a.lock"));
        assert_eq!(paths.runtime_dir, Path::new("/run/x"));
        assert_eq!(paths.sessions_dir, Path::new("/var/lib/g/sessions"));
        let relative = Overrides { socket: Some("a.sock".into()), state_dir: None };
        assert!(Paths::resolve(&environment(None), &relative).is_err());
    }

    #[test]
    fn root_keeps_out_of_the_homes_of_users() {
        let dir = tempfile::tempdir().unwrap();
        let mut root = environment(None);
        (root.uid, root.home) = (0, Some(dir.path().into()));
        if nix::unistd::geteuid().is_root() {
            assert!(Paths::resolve(&root, &Overrides::default()).is_ok());
            std::os::unix::fs::chown(dir.path(), Some(12_345), None).unwrap();
        }
        let error = Paths::resolve(&root, &Overrides::default()).unwrap_err();
        assert!(
            matches!(error, PathError::NotOurs { .. }) && error.to_string().contains("sudo -H"),
            "{error}"
        );
        let own = Overrides { socket: None, state_dir: Some("/var/lib/glass".into()) };
        let paths = Paths::resolve(&root, &own).unwrap();
        assert_eq!(paths.config_dir, Path::new("/var/lib/glass/config"));
    }

    #[test]
    fn without_any_home_there_is_an_error() {
        let nothing = Environment { uid: 1, ..Environment::default() };
        assert_eq!(Paths::resolve(&nothing, &Overrides::default()), Err(PathError::NoHome));
    }
}
