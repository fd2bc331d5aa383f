//! `glassd --diagnose`: looks at everything that glassd needs, for `glassctl doctor` (contract 12.5).
//!
//! Starts no daemon and takes no lock for longer than a look. Tells each finding as soon as it has it, and before that
//! what it looks at, so that whoever asked knows where it hung. With `--fix` it mends what is this user's own and
//! cannot hurt a running daemon: rights of directories, what a dead daemon left.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use glass_proto::diagnosis::{BrowserFound, Finding, Line};
use glass_proto::paths::{Environment, Overrides, Paths};
use glass_proto::version::PROGRAM;
use glass_sandbox::{Mode, UidLease};
use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use crate::args::Args;
use crate::config::Config;
use crate::listen;
use crate::shutdown::Shutdown;
use crate::supervise::{Probe, Program, Programs, Spawner, ask, left_over, sweep};

/// How long one of our programs may take to say its version.
const VERSION: Duration = Duration::from_secs(2);
/// How long the browser may take to say its version; glass-worker gives up by itself a little earlier.
const BROWSER: Duration = Duration::from_secs(6);
/// Free space of the state directory below which profiles and downloads have little room, and no room, in bytes.
const LITTLE: u64 = 512 << 20;
const NO_ROOM: u64 = 32 << 20;

/// Looks at everything and writes the findings to `out`.
///
/// # Errors
/// The reader has gone.
pub async fn diagnose(args: Args, spawner: Spawner, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let mut report = Report { out, fix: args.fix };
    look_at_all(args, spawner, &mut report).await?;
    report.line(&Line::Done)
}

async fn look_at_all(args: Args, spawner: Spawner, report: &mut Report<'_>) -> io::Result<()> {
    report.line(&Line::Looking("paths".to_owned()))?;
    let environment = Environment::of_process();
    let overrides = Overrides { socket: args.socket.clone(), state_dir: args.state_dir.clone() };
    let paths = match Paths::resolve(&environment, &overrides) {
        Ok(paths) => paths,
        Err(error) => {
            let remedy = "set HOME, XDG_STATE_HOME and XDG_RUNTIME_DIR to directories of your own";
            return report.found(Finding::broken("paths", error.to_string(), remedy));
        }
    };
    let file = args.config.clone().unwrap_or_else(|| paths.config_file());
    let home = environment.home.as_deref().map(Path::new);
    let config = Config::load(&file, std::env::var("GLASS_LOG").ok(), home);
    let config = match config {
        Ok(config) => {
            let what = if file.exists() { "read" } else { "absent; the defaults hold" };
            report.found(Finding::good("configuration", format!("{}: {what}", file.display())))?;
            config
        }
        Err(error) => {
            let remedy = "correct the place that is named, or move the file away";
            report.found(Finding::broken("configuration", error.to_string(), remedy))?;
            // The rest is looked at by the defaults.
            Config::parse(&file, "").map_err(io::Error::other)?
        }
    };
    report.look("state-directory", || directory("state-directory", &paths.state_dir, args.fix))?;
    report.look("runtime-directory", || directory("runtime-directory", &paths.runtime_dir, args.fix))?;
    report.look("disk", || disk(&paths.state_dir))?;
    report.look("socket", || socket(&paths, args.fix))?;
    report.look("state-lock", || state_lock(&paths))?;
    report.look("left-over", || leavings(&paths.sessions_dir, args.fix))?;

    report.line(&Line::Looking("programs".to_owned()))?;
    let programs = match Programs::open(config.programs.as_deref()) {
        Ok(programs) => programs,
        Err(error) => {
            let remedy = "install all programs of Glass into one directory";
            return report.found(Finding::broken("programs", error.to_string(), remedy));
        }
    };
    let tasks = Shutdown::default();
    report.found(versions(&spawner, &tasks, &programs).await)?;
    report.line(&Line::Looking("browser".to_owned()))?;
    report.found(browser(&spawner, &tasks, &programs.worker, &config).await)?;
    report.line(&Line::Looking("sandbox".to_owned()))?;
    for finding in sandbox(spawner, tasks, programs.worker, config.minimum).await {
        report.found(finding)?;
    }
    Ok(())
}

/// Where the findings go.
struct Report<'a> {
    out: &'a mut (dyn Write + Send),
    fix: bool,
}

impl Report<'_> {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let text = serde_json::to_string(line)?;
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    fn found(&mut self, finding: Finding) -> io::Result<()> {
        self.line(&Line::Found(finding))
    }

    fn look(&mut self, check: &str, look: impl FnOnce() -> Finding) -> io::Result<()> {
        self.line(&Line::Looking(check.to_owned()))?;
        let finding = look();
        debug_assert!(self.fix || finding.mended.is_none());
        self.found(finding)
    }
}

/// A directory that must be this user's alone.
fn directory(check: &str, dir: &Path, fix: bool) -> Finding {
    let shown = dir.display();
    let found = match dir.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return absent(check, dir),
        Err(error) => {
            return Finding::broken(check, format!("{shown}: {error}"), "make it accessible to you");
        }
        Ok(found) => found,
    };
    if !found.is_dir() {
        return Finding::broken(check, format!("{shown} is no directory of its own"), "move it away");
    }
    if found.uid() != nix::unistd::geteuid().as_raw() {
        let remedy =
            "name another place with XDG_STATE_HOME or XDG_RUNTIME_DIR, or give it back to its owner";
        return Finding::broken(check, format!("{shown} belongs to uid {}", found.uid()), remedy);
    }
    let mode = found.mode() & 0o777;
    if mode & 0o077 != 0 {
        let open = format!("{shown} is open to other users ({mode:04o})");
        if fix {
            return match std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)) {
                Ok(()) => {
                    Finding::good(check, format!("{shown}")).mended(format!("made it 0700 (was {mode:04o})"))
                }
                Err(error) => {
                    Finding::broken(check, format!("{open}, and stays so: {error}"), "chmod 700 it")
                }
            };
        }
        let remedy = format!("chmod 700 {shown}, or `glassctl doctor --fix`");
        // glassd refuses what others can write to, and only that.
        return match mode & 0o022 {
            0 => Finding::degraded(check, open, remedy),
            _ => Finding::broken(check, open, remedy),
        };
    }
    if access(dir, AccessFlags::W_OK | AccessFlags::X_OK).is_err() {
        let remedy = "it must be writable: look at its rights and whether its file system is read-only";
        return Finding::broken(check, format!("{shown} cannot be written to"), remedy);
    }
    Finding::good(check, shown.to_string())
}

/// What is not there yet is made at the first start, if the place allows it.
fn absent(check: &str, dir: &Path) -> Finding {
    let parent = dir.ancestors().skip(1).find(|parent| parent.exists()).unwrap_or(Path::new("/"));
    match access(parent, AccessFlags::W_OK | AccessFlags::X_OK) {
        Ok(()) => Finding::good(check, format!("{} is made at the first start", dir.display())),
        Err(_) => Finding::broken(
            check,
            format!("{} is not there and cannot be made in {}", dir.display(), parent.display()),
            "make it, or name another place with XDG_STATE_HOME or XDG_RUNTIME_DIR",
        ),
    }
}

fn disk(state: &Path) -> Finding {
    let Some(place) = state.ancestors().find(|place| place.exists()) else {
        return Finding::good("disk", "nothing is there yet");
    };
    match statvfs(place) {
        Ok(found) => {
            let free = found.blocks_available() * found.fragment_size();
            let detail = format!("{} MiB free for {}", free >> 20, state.display());
            let remedy = "make room: profiles and downloads lie there";
            match free {
                ..NO_ROOM => Finding::broken("disk", detail, remedy),
                NO_ROOM..LITTLE => Finding::degraded("disk", detail, remedy),
                _ => Finding::good("disk", detail),
            }
        }
        Err(error) => Finding::degraded("disk", format!("free space is not known: {error}"), "look with df"),
    }
}

fn socket(paths: &Paths, fix: bool) -> Finding {
    let shown = paths.socket.display();
    let found = match paths.socket.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Finding::good("socket", format!("{shown}: nobody listens yet"));
        }
        Err(error) => {
            return Finding::broken("socket", format!("{shown}: {error}"), "make its directory accessible");
        }
        Ok(found) => found,
    };
    if !found.file_type().is_socket() {
        return Finding::broken(
            "socket",
            format!("{shown} is no socket"),
            "move it away; Glass does not touch it",
        );
    }
    if found.uid() != nix::unistd::geteuid().as_raw() {
        let remedy = "set XDG_RUNTIME_DIR to a directory of your own";
        return Finding::broken("socket", format!("{shown} belongs to uid {}", found.uid()), remedy);
    }
    if is_locked(&paths.lock) {
        return Finding::good("socket", format!("{shown}: a daemon has it"));
    }
    let dead = format!("{shown} was left by a daemon that died");
    if !fix {
        // The next start replaces it by itself.
        return Finding::good("socket", format!("{dead}; the next start replaces it"));
    }
    match std::fs::remove_file(&paths.socket) {
        Ok(()) => Finding::good("socket", format!("{shown}: nobody listens"))
            .mended("removed what a dead daemon left"),
        Err(error) => {
            Finding::broken("socket", format!("{dead}, and cannot be removed: {error}"), "remove it")
        }
    }
}

/// Whether a process holds the lock file. Lets go of it again at once.
fn is_locked(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Another environment can have led to another socket for the same state (user reports, entry 272).
fn state_lock(paths: &Paths) -> Finding {
    let lock = paths.state_lock();
    if !is_locked(&lock) {
        return Finding::good("state-lock", "no daemon holds the state directory");
    }
    match listen::holder(&lock) {
        Some(socket) if socket != paths.socket => Finding::broken(
            "state-lock",
            format!(
                "a daemon at {} holds the state directory, and this environment looks at {}",
                socket.display(),
                paths.socket.display()
            ),
            "set XDG_RUNTIME_DIR as where that daemon was started (a login sets it, cron and sudo do not), give \
             --socket, or stop that daemon",
        ),
        _ => Finding::good("state-lock", "the daemon of this socket holds the state directory"),
    }
}

fn leavings(sessions: &Path, fix: bool) -> Finding {
    let count = match left_over(sessions) {
        Ok(left) => left.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => {
            let remedy = "make the directory readable to you";
            return Finding::degraded("left-over", format!("{}: {error}", sessions.display()), remedy);
        }
    };
    if count == 0 {
        return Finding::good("left-over", "no session of a dead daemon is left on disk");
    }
    let left = format!("{count} sessions of dead daemons are left in {}", sessions.display());
    if !fix {
        return Finding::degraded(
            "left-over",
            left,
            "`glassctl doctor --fix` or the next start of glassd removes them",
        );
    }
    match (sweep(sessions), left_over(sessions)) {
        (Ok(removed), Ok(rest)) if rest.is_empty() => Finding::good("left-over", "none is left")
            .mended(format!("removed {removed} sessions of dead daemons")),
        _ => Finding::degraded("left-over", left, "some could not be removed: look at their owner"),
    }
}

/// A daemon never meets a program of another version, unless an upgrade was half done.
async fn versions(spawner: &Spawner, tasks: &Shutdown, programs: &Programs) -> Finding {
    for program in [&programs.worker, &programs.egress] {
        let name = program.name();
        let remedy = "install all programs of Glass from one release";
        let said = ask(spawner, tasks, program, vec!["--version".into()], name, VERSION).await;
        match said.map(|text| String::from_utf8_lossy(&text).trim().to_owned()) {
            Ok(text) if text == format!("{name} {PROGRAM}") => {}
            Ok(text) => {
                let text = glass_proto::escape::cut(&text, 100).into_owned();
                return Finding::broken(
                    "programs",
                    format!("glassd is {PROGRAM}, and {name} says `{text}`"),
                    remedy,
                );
            }
            Err(error) => return Finding::broken("programs", format!("{name} --version: {error}"), remedy),
        }
    }
    Finding::good("programs", format!("glassd, glass-worker and glass-egress {PROGRAM}"))
}

async fn browser(spawner: &Spawner, tasks: &Shutdown, worker: &Arc<Program>, config: &Config) -> Finding {
    let remedy = "see glassd's log";
    let lease = match uid_lease() {
        Ok(lease) => lease,
        Err(error) => return Finding::broken("browser", error.to_string(), remedy),
    };
    let mut args: Vec<OsString> = vec!["--browser".into()];
    if let Some(path) = &config.browser {
        args.extend(["--path".into(), path.into()]);
    }
    args.extend(uid_args(lease.as_ref()));
    let asked = ask(spawner, tasks, worker, args, "browser", BROWSER).await;
    match asked.and_then(|text| Ok(serde_json::from_slice(&text)?)) {
        Ok(BrowserFound::Version { path, version }) => Finding::good("browser", format!("{path} {version}")),
        Ok(BrowserFound::Unusable { why, remedy }) => Finding::broken("browser", why, remedy),
        Err(error) => Finding::broken("browser", format!("glass-worker did not find out: {error}"), remedy),
    }
}

/// Root never runs a browser as itself, not even to ask its version.
fn uid_lease() -> io::Result<Option<UidLease>> {
    if !nix::unistd::geteuid().is_root() {
        return Ok(None);
    }
    UidLease::take(Path::new(glass_sandbox::LEASE_DIR)).map(Some).map_err(io::Error::other)
}

fn uid_args(lease: Option<&UidLease>) -> Vec<OsString> {
    lease.map(|lease| vec!["--uid".into(), lease.uid().to_string().into()]).unwrap_or_default()
}

/// Each step of the probe, and what kind of cage comes of them.
async fn sandbox(spawner: Spawner, tasks: Shutdown, worker: Arc<Program>, minimum: Mode) -> Vec<Finding> {
    let probed = Probe::new(spawner, worker, tasks).found().await;
    let step = |(name, ok, detail): &(String, bool, String)| {
        let check = format!("sandbox.{name}");
        let detail = if detail.is_empty() { "allowed".to_owned() } else { detail.clone() };
        match ok {
            true => Finding::good(check, detail),
            false => Finding::degraded(check, detail, "see `cage` below"),
        }
    };
    let mut findings: Vec<Finding> = probed.steps.iter().map(step).collect();
    findings.push(cage(&probed.mode, probed.why_weaker.as_deref().unwrap_or_default(), minimum));
    findings
}

fn cage(mode: &Result<Mode, String>, why: &str, minimum: Mode) -> Finding {
    match mode {
        Ok(mode) if *mode < minimum => Finding::broken(
            "cage",
            format!(
                "only the cage `{mode}` can be had here, and the configuration asks for `{minimum}`: {why}"
            ),
            "mend the failed steps, or lower sandbox.minimum if the weaker cage will do",
        ),
        Ok(Mode::Namespaces) => Finding::good("cage", Mode::Namespaces.name()),
        Ok(mode) => Finding::degraded(
            "cage",
            format!("only the weaker cage `{mode}` can be had here: {why}"),
            "mend the failed steps for a full cage",
        ),
        Err(why) => Finding::broken("cage", why.clone(), "browsers do not start here until this is mended"),
    }
}

/// What relative paths of the command line mean, before the directory is left.
///
/// # Errors
/// The current directory cannot be found.
pub fn absolute(args: Args) -> io::Result<Args> {
    let absolute = |path: Option<PathBuf>| path.map(std::path::absolute).transpose();
    Ok(Args {
        socket: absolute(args.socket)?,
        state_dir: absolute(args.state_dir)?,
        config: absolute(args.config)?,
        ..args
    })
}

#[cfg(test)]
mod tests {
    use glass_proto::diagnosis::Verdict;

    use super::*;

    fn open(dir: &Path, mode: u32) {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_directory_is_judged_as_glassd_judges_it_and_mended_only_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        let verdict = |mode, fix| {
            open(dir.path(), mode);
            directory("d", dir.path(), fix)
        };
        assert_eq!(verdict(0o700, false).verdict, Verdict::Good);
        assert_eq!(verdict(0o755, false).verdict, Verdict::Degraded);
        assert_eq!(verdict(0o777, false).verdict, Verdict::Broken);
        assert_eq!(dir.path().metadata().unwrap().mode() & 0o777, 0o777);
        let mended = verdict(0o777, true);
        assert_eq!((mended.verdict, mended.mended.is_some()), (Verdict::Good, true));
        assert_eq!(dir.path().metadata().unwrap().mode() & 0o777, 0o700);
        assert_eq!(directory("d", &dir.path().join("a/b"), false).verdict, Verdict::Good);
        std::fs::write(dir.path().join("file"), "").unwrap();
        assert_eq!(directory("d", &dir.path().join("file"), true).verdict, Verdict::Broken);
    }

    #[test]
    fn a_dead_socket_is_removed_only_when_asked_and_a_file_never() {
        let dir = tempfile::tempdir().unwrap();
        let overrides =
            Overrides { socket: Some(dir.path().join("g.sock")), state_dir: Some(dir.path().join("state")) };
        let paths = Paths::resolve(&Environment::of_process(), &overrides).unwrap();
        drop(std::os::unix::net::UnixListener::bind(&paths.socket).unwrap());
        assert_eq!(socket(&paths, false).verdict, Verdict::Good);
        assert!(paths.socket.exists());
        let lock = File::create(&paths.lock).unwrap();
        lock.lock().unwrap();
        assert!(socket(&paths, true).detail.contains("a daemon has it"));
        drop(lock);
        assert!(socket(&paths, true).mended.is_some());
        assert!(!paths.socket.exists());
        std::fs::write(&paths.socket, "").unwrap();
        assert_eq!(socket(&paths, true).verdict, Verdict::Broken);
        assert!(paths.socket.exists());
    }

    #[test]
    fn a_cage_weaker_than_the_minimum_is_broken() {
        let verdict = |mode: Result<Mode, String>, minimum| cage(&mode, "why", minimum).verdict;
        assert_eq!(verdict(Ok(Mode::Namespaces), Mode::Namespaces), Verdict::Good);
        assert_eq!(verdict(Ok(Mode::LandlockOnly), Mode::LandlockOnly), Verdict::Degraded);
        assert_eq!(verdict(Ok(Mode::LandlockOnly), Mode::Namespaces), Verdict::Broken);
        assert_eq!(verdict(Err("no".into()), Mode::BrowserOnly), Verdict::Broken);
    }
}
