//! What the cage promises, tried by a program that misbehaves in it (`misbehave`).
//!
//! Each promise is tested for an ordinary user and, when the tests run as root, for root with a uid of the
//! session's. A machine that refuses user namespaces fails here: the probe's answer is in the message.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by a panic")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use glass_sandbox::{Layer, LayerState, Pidfd, Signal};

/// How long a dead session may leave processes (contract 1.5).
const GONE_WITHIN: Duration = Duration::from_secs(2);
/// A uid without an account.
const ORDINARY: u32 = 60_123;
/// A uid as `UidLease` gives them, from the end of its range.
const SESSION_UID: u32 = 1_900_000_511;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Caller {
    Root,
    Ordinary,
}

fn callers() -> Vec<Caller> {
    if nix::unistd::geteuid().is_root() {
        vec![Caller::Root, Caller::Ordinary]
    } else {
        vec![Caller::Ordinary]
    }
}

/// A session's directory. Root's lies below a directory that the session's uid cannot enter.
struct Session {
    _root: tempfile::TempDir,
    dir: PathBuf,
    caller: Caller,
}

impl Session {
    fn new(caller: Caller) -> Self {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("session");
        std::fs::create_dir(&dir).unwrap();
        if nix::unistd::geteuid().is_root() && caller == Caller::Ordinary {
            std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
            chown(&dir, Some(ORDINARY), Some(ORDINARY)).unwrap();
        }
        Self { _root: root, dir, caller }
    }

    /// The uid that the session's processes have on the host.
    fn uid(&self) -> u32 {
        match self.caller {
            Caller::Root => SESSION_UID,
            Caller::Ordinary if nix::unistd::geteuid().is_root() => ORDINARY,
            Caller::Ordinary => nix::unistd::geteuid().as_raw(),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        self.prepare(&mut command);
        command.args(self.arguments(args));
        command
    }

    fn arguments(&self, args: &[&str]) -> Vec<String> {
        let uid = if self.caller == Caller::Root { SESSION_UID.to_string() } else { "-".to_owned() };
        let session = self.dir.to_str().unwrap().to_owned();
        [session, uid].into_iter().chain(args.iter().map(|arg| (*arg).to_owned())).collect()
    }

    fn prepare(&self, command: &mut Command) {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        if nix::unistd::geteuid().is_root() && self.caller == Caller::Ordinary {
            command.uid(ORDINARY).gid(ORDINARY);
        }
    }
}

/// The misbehaving program, where an ordinary user can run it too: the target directory may be a private one.
fn program() -> &'static Path {
    static PROGRAM: std::sync::OnceLock<(tempfile::TempDir, PathBuf)> = std::sync::OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let root = tempfile::tempdir().unwrap();
        std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = root.path().join("cage-misbehave");
        std::fs::copy(env!("CARGO_BIN_EXE_cage-misbehave"), &path).unwrap();
        (root, path)
    });
    path
}

/// Runs one command in a cage to its end and returns its output.
fn output(session: &Session, args: &[&str]) -> String {
    let output = session.command(args).stderr(Stdio::piped()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {} {error}", session.caller, output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn nothing_that_must_not_work_works() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let name = SocketAddr::from_abstract_name(format!("glass-cage-test-{port}")).unwrap();
    let _abstract_listener = UnixListener::bind_addr(&name).unwrap();
    // Not close-on-exec: a leak of the daemon's.
    let leak = std::fs::File::open("/etc/hostname").unwrap();
    nix::fcntl::fcntl(&leak, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
    assert!(leak.as_raw_fd() > 2);

    let expected: &[(&str, &[&str])] = &[
        ("list /home", &["glass"]),
        ("read /root/.ssh", &["ENOENT"]),
        ("read /etc/shadow", &["ENOENT"]),
        ("read /etc/passwd", &["glass:x:1000:1000:Glass:/home/glass:/bin/false\n"]),
        ("write /usr", &["EROFS", "EACCES"]),
        ("write /etc", &["EROFS", "EACCES"]),
        ("write /session", &["ok"]),
        ("write /tmp", &["ok"]),
        ("write /dev/null", &["ok"]),
        ("write /proc/sys", &["EACCES"]),
        ("run from /session", &["EACCES"]),
        ("mount", &["EPERM"]),
        ("unmount", &["EPERM"]),
        ("hostname", &["glass"]),
        // Where Landlock does not know ports, the cage's own 127.0.0.1 has nobody listening.
        ("tcp to the host", &["EACCES", "ECONNREFUSED"]),
        ("tcp to the forwarder", &["ok"]),
        ("tcp listen", &["EACCES"]),
        ("udp out", &["ENETUNREACH"]),
        ("abstract socket", &["ECONNREFUSED", "EPERM"]),
        ("vsock", &["EPERM"]),
        ("packet socket", &["EPERM"]),
        ("raw socket", &["EPERM"]),
        ("netlink route", &["ok"]),
        ("netlink netfilter", &["EPERM"]),
        ("bpf", &["EPERM"]),
        ("io_uring", &["EPERM"]),
        ("keyctl", &["EPERM"]),
        ("open_by_handle_at", &["EPERM"]),
        ("perf_event_open", &["EPERM"]),
        ("process_vm_writev", &["EPERM"]),
        ("ptrace", &["EPERM"]),
        ("userfaultfd", &["EPERM"]),
        ("setns", &["EPERM"]),
        ("type into the terminal", &["EPERM"]),
        #[cfg(target_arch = "x86_64")]
        ("mount by x32", &["EPERM"]),
        ("own pid", &["1"]),
        ("processes in sight", &["1"]),
        ("descriptors", &["5"]),
        ("become root", &["EINVAL"]),
        ("write to pid 1", &["EACCES", "EPERM"]),
        ("nested user namespace", &["ok"]),
    ];
    for caller in callers() {
        let session = Session::new(caller);
        let text = output(&session, &["try", &port.to_string()]);
        let mut answers: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        let root = answers.remove("list /").unwrap();
        for absent in ["root", "srv", "mnt", "sys", "boot"] {
            assert!(!root.split(' ').any(|name| name == absent), "{caller:?}: /{absent} in {root}");
        }
        for (attempt, allowed) in expected {
            let answer = answers.remove(*attempt).unwrap_or_default();
            assert!(allowed.contains(&answer.as_str()), "{caller:?}: {attempt}: {answer}, not {allowed:?}");
        }
        assert!(answers.is_empty(), "not judged: {answers:?}");
        assert_eq!(session.dir.join("mark").metadata().unwrap().uid(), session.uid());
    }
}

#[test]
fn every_layer_is_observed_active() {
    for caller in callers() {
        let layers: Vec<Layer> = serde_json::from_str(&output(&Session::new(caller), &["layers"])).unwrap();
        for layer in &layers {
            // An older kernel's Landlock is honest about what it lacks.
            let degraded = layer.name == "landlock" && layer.state == LayerState::Degraded;
            assert!(layer.state == LayerState::Active || degraded, "{caller:?}: {layer:?}");
        }
        assert_eq!(layers.len(), 10);
    }
}

#[test]
fn root_without_a_uid_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let session = Session::new(Caller::Root);
    for uid in ["-", "0"] {
        let refused = Command::new(program()).arg(&session.dir).args([uid, "layers"]).output().unwrap();
        assert!(!refused.status.success());
        assert!(String::from_utf8_lossy(&refused.stderr).contains("RootWithoutUid"));
    }
}

/// A cage in which pid 1 waits and a daemonised process has got away from it as far as it can.
struct Lingering {
    stub: Child,
    session: Session,
    /// Everything that must end: the starter's descendants with the stub first and pid 1 next.
    tree: Vec<Pidfd>,
}

impl Lingering {
    fn start(caller: Caller) -> Self {
        let session = Session::new(caller);
        let stub = session.command(&["linger"]).spawn().unwrap();
        Self::settled(stub, session)
    }

    /// With a process between this one and the cage, which can be killed as the daemon could.
    fn start_below_launcher(caller: Caller) -> Self {
        let session = Session::new(caller);
        let mut command = Command::new("/bin/sh");
        session.prepare(&mut command);
        command.args(["-c", "\"$0\" \"$@\"; :"]).arg(program()).args(session.arguments(&["linger"]));
        let launcher = command.spawn().unwrap();
        Self::settled(launcher, session)
    }

    fn settled(mut stub: Child, session: Session) -> Self {
        let mut line = String::new();
        BufReader::new(stub.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "lingering\n");
        let tree: Vec<Pidfd> =
            descendants(stub.id()).into_iter().map(|pid| Pidfd::open(pid).unwrap()).collect();
        assert!(tree.len() >= 3, "stub, pid 1 and the daemonised process, not {tree:?}");
        Self { stub, session, tree }
    }

    fn assert_gone(mut self) {
        for process in &self.tree {
            let gone = process.wait_timeout(GONE_WITHIN).unwrap();
            assert!(gone, "{:?}: process {} is left", self.session.caller, process.pid());
        }
        self.stub.wait().unwrap();
    }
}

/// `pid` and all below it, parents first.
fn descendants(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below = children.split_whitespace().flat_map(|child| descendants(child.parse().unwrap()));
    std::iter::once(pid).chain(below).collect()
}

#[test]
fn killing_stub_pid_1_or_launcher_leaves_nothing() {
    for caller in callers() {
        for victim in [0, 1] {
            let lingering = Lingering::start(caller);
            lingering.tree[victim].signal(Signal::SIGKILL).unwrap();
            lingering.assert_gone();
        }
        let lingering = Lingering::start_below_launcher(caller);
        lingering.tree[0].signal(Signal::SIGKILL).unwrap();
        lingering.assert_gone();
    }
}

#[test]
fn a_terminated_stub_ends_and_reaps_pid_1_first() {
    for caller in callers() {
        let mut lingering = Lingering::start(caller);
        lingering.tree[0].signal(Signal::SIGTERM).unwrap();
        assert_eq!(lingering.stub.wait().unwrap().code(), Some(128 + 9));
        let pid_1 = lingering.tree[1].pid();
        assert!(!Path::new(&format!("/proc/{pid_1}")).exists());
        lingering.assert_gone();
    }
}
