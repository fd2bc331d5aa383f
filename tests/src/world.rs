//! A private place for one daemon: home, runtime, state, configuration and working directories of its own.
//!
//! Owns the proof that nothing is left: when a world ends, its daemon stops, and no process and no session directory
//! of it may remain. A `leash` process does the same, without the proof, when the test process dies.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use tempfile::TempDir;

use crate::oracle::Oracle;
use crate::process::{self, Process};
use crate::run::{Run, Running};
use crate::session_tree::{self, SessionTree};
use crate::who::{Lease, Who};
use crate::{holds, programs};

/// Contract 1.5 gives 2 s. A machine that runs two browsers on two cores gets five times that before a test fails.
pub const GONE: Duration = Duration::from_secs(10);

/// One daemon's world.
#[derive(Debug)]
pub struct World {
    directory: TempDir,
    programs: PathBuf,
    lease: Option<Lease>,
    extra: Vec<(String, String)>,
    leash: Option<Child>,
    seen: Mutex<Vec<Process>>,
    pub(crate) oracle: Oracle,
}

impl World {
    /// A world of the user that runs the tests. Nothing runs in it yet.
    pub fn new() -> Self {
        Self::of(Who::Current)
    }

    /// A world of that user.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn of(who: Who) -> Self {
        // Short: the path of a socket has little room.
        let directory = tempfile::Builder::new().prefix("gw").tempdir().expect("a directory for the world");
        let lease = (who == Who::Ordinary).then(Lease::take);
        let programs = if lease.is_some() { programs::for_everybody() } else { programs::directory() };
        let mut world = Self {
            directory,
            programs: programs.to_owned(),
            lease,
            extra: Vec::new(),
            leash: None,
            seen: Mutex::new(Vec::new()),
            oracle: Oracle::default(),
        };
        for name in ["home", "run", "state", "config", "cwd"] {
            let path = world.path(name);
            fs::create_dir(&path).expect("a directory of the world");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("make it private");
            world.give(&path);
        }
        world.give(world.directory.path());
        world.leash = Some(world.put_on_leash());
        world
    }

    /// With one more variable in the environment of everything that runs in this world.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.extra.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this configuration file.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn with_config(self, text: &str) -> Self {
        let directory = self.path("config/glass");
        fs::create_dir_all(&directory).expect("the configuration directory");
        fs::write(directory.join("config.toml"), text).expect("write the configuration");
        self.give(&directory);
        self.give(&directory.join("config.toml"));
        self
    }

    /// With this policy file.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn with_policy(self, text: &str) -> Self {
        let directory = self.path("config/glass");
        fs::create_dir_all(&directory).expect("the configuration directory");
        fs::write(directory.join("policy.toml"), text).expect("write the policy");
        self.give(&directory);
        self.give(&directory.join("policy.toml"));
        self
    }

    /// A path in it: `home`, `run`, `state`, `config`, `cwd` and what lies below.
    pub fn path(&self, within: &str) -> PathBuf {
        self.directory.path().join(within)
    }

    /// The uid that everything in it runs as.
    pub fn uid(&self) -> u32 {
        self.lease.as_ref().map_or_else(|| nix::unistd::geteuid().as_raw(), |lease| lease.uid)
    }

    /// Makes a file that the test wrote the world's own.
    ///
    /// # Panics
    /// When that is not allowed.
    pub fn give(&self, path: &Path) {
        if let Some(lease) = &self.lease {
            chown(path, Some(lease.uid), Some(lease.uid)).expect("give a file to the world's user");
        }
    }

    /// A program of the product, in this world's environment.
    pub fn command(&self, program: &str) -> Command {
        self.command_at(&self.programs.join(program))
    }

    /// Any program, in this world's environment.
    pub fn command_at(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("GLASS_TEST_WORLD", self.directory.path())
            .envs(self.extra.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path("cwd"));
        if let Some(lease) = &self.lease {
            // The standard library drops the other groups too.
            command.uid(lease.uid).gid(lease.uid);
        }
        command
    }

    /// Runs glassctl to its end.
    #[track_caller]
    pub fn glassctl<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Run {
        self.start(arguments).finish()
    }

    /// Runs glassctl with something on its standard input.
    #[track_caller]
    pub fn glassctl_reading<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Run {
        let mut command = self.command("glassctl");
        command.args(arguments);
        Running::start(command, Some(input)).finish()
    }

    /// Starts glassctl.
    pub fn start<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Running {
        let mut command = self.command("glassctl");
        command.args(arguments);
        Running::start(command, None)
    }

    /// The pid of the daemon.
    ///
    /// # Panics
    /// When none runs: asking starts none.
    #[track_caller]
    pub fn daemon(&self) -> i32 {
        let status = self.ask(&["daemon", "status", "--no-autostart"]);
        let pid = status.result()["pid"].as_i64().unwrap_or_else(|| panic!("no pid in {}", status.run));
        let pid = i32::try_from(pid).expect("a pid fits its type");
        self.tell_leash(pid);
        pid
    }

    /// The processes of its one session.
    ///
    /// # Panics
    /// When there is not exactly one.
    #[track_caller]
    pub fn session(&self) -> SessionTree {
        let mut found = session_tree::sessions(self.daemon());
        assert_eq!(found.len(), 1, "one session with a browser is wanted, not {found:#?}");
        found.remove(0)
    }

    /// Remembers every process that runs in it now, for the proof at its end.
    pub fn remember(&self) -> Vec<Process> {
        let now = process::tree(self.daemon());
        self.seen.lock().expect("no test panics while it holds this").extend(now.iter().cloned());
        now
    }

    /// Names of the directories of sessions that lie on disk.
    pub fn session_directories(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("state/glass/sessions")) else { return Vec::new() };
        entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect()
    }

    /// Stops the daemon, if there is one, and proves that nothing is left of this world.
    ///
    /// # Panics
    /// When something is.
    #[track_caller]
    pub fn end(&self) {
        if self.ask(&["daemon", "status", "--no-autostart"]).kind().is_none() {
            self.remember();
            self.glassctl(["daemon", "stop"]).success();
        }
        self.assert_nothing_left();
    }

    /// Proves that no process that was ever remembered, carries this world's mark or runs as its user is left, and no
    /// directory of a session.
    ///
    /// # Panics
    /// When something is left.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let mut left = Vec::new();
        let end = std::time::Instant::now() + GONE;
        while std::time::Instant::now() < end {
            left = self.left();
            if left.is_empty() {
                break;
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
        assert!(left.is_empty(), "processes are left: {left:#?}");
        assert_eq!(self.session_directories(), Vec::<String>::new(), "directories of sessions are left");
    }

    fn left(&self) -> Vec<Process> {
        let leash = self.leash.as_ref().and_then(|leash| i32::try_from(leash.id()).ok());
        let seen = self.seen.lock().expect("no test panics while it holds this");
        let mut left: Vec<Process> = seen.iter().filter(|process| process.alive()).cloned().collect();
        left.extend(process::marked(&self.mark()));
        if let Some(lease) = &self.lease {
            left.extend(process::of_user(lease.uid));
        }
        left.retain(|process| Some(process.pid) != leash);
        left
    }

    /// What everything that was started in it has in its environment.
    pub fn mark(&self) -> String {
        format!("GLASS_TEST_WORLD={}", self.directory.path().display())
    }

    fn put_on_leash(&self) -> Child {
        let mut command = self.command_at(&programs::beside_this_test().join("leash"));
        if self.lease.is_some() {
            // It must be able to end what runs under any uid of the world.
            command = rootly(command);
        }
        command.arg(self.command("glassctl").get_program()).stdin(Stdio::piped()).process_group(0);
        command.spawn().expect("start the leash; it is built with the tests")
    }

    fn tell_leash(&self, pid: i32) {
        if let Some(mut pipe) = self.leash.as_ref().and_then(|leash| leash.stdin.as_ref()) {
            writeln!(pipe, "{pid}").expect("the leash listens");
        }
    }
}

/// The same command with the same environment under this process's own uid.
fn rootly(command: Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    same
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.end();
        }
        if let Some(mut leash) = self.leash.take() {
            drop(leash.stdin.take());
            // Its own deadline bounds this.
            let _ = leash.wait();
        }
    }
}

/// Waits until none of these processes is left.
///
/// # Panics
/// When one is, after [`GONE`].
#[track_caller]
pub fn gone(what: &str, processes: &[Process]) {
    holds(&format!("{what} is gone"), GONE, || !processes.iter().any(Process::alive));
}
