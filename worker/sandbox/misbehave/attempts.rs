//! The attempts, one a line where possible, with names that the test asserts on.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::Command;

use nix::errno::Errno;
use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Uid, fork, setsid, setuid};

/// What came of each attempt: `ok`, a detail, or the kernel's answer by name.
pub(crate) type Answers = BTreeMap<&'static str, String>;

/// Runs every attempt. `port` is a TCP port where the test listens on the host's 127.0.0.1.
pub(crate) fn all(port: u16) -> Answers {
    let mut answers = files();
    answers.extend(network(port));
    answers.extend(kernel());
    answers.extend(processes());
    answers
}

fn files() -> Answers {
    BTreeMap::from([
        ("list /", names("/")),
        ("list /home", names("/home")),
        ("read /root/.ssh", of(fs::read_dir("/root/.ssh").map(drop))),
        ("read /etc/shadow", of(fs::read("/etc/shadow").map(drop))),
        ("read /etc/passwd", fs::read_to_string("/etc/passwd").unwrap_or_default()),
        ("write /usr", of(File::create("/usr/mark").map(drop))),
        ("write /etc", of(File::create("/etc/mark").map(drop))),
        ("write /session", of(fs::write("/session/mark", "x"))),
        ("write /tmp", of(fs::write("/tmp/mark", "x"))),
        ("write /dev/null", of(fs::write("/dev/null", "x"))),
        ("write /proc/sys", of(fs::write("/proc/sys/kernel/hostname", "x"))),
        ("run from /session", of(run_own_program())),
        ("mount", of_nix(mount(Some("tmpfs"), "/tmp", Some("tmpfs"), MsFlags::empty(), None::<&str>))),
        ("unmount", of_nix(umount2("/tmp", MntFlags::MNT_DETACH))),
        (
            "hostname",
            nix::unistd::gethostname()
                .map_or_else(|errno| errno.to_string(), |name| name.to_string_lossy().into_owned()),
        ),
    ])
}

fn run_own_program() -> io::Result<()> {
    fs::write("/session/program", "#!/bin/sh\nexit 0\n")?;
    fs::set_permissions("/session/program", fs::Permissions::from_mode(0o755))?;
    Command::new("/session/program").status().map(drop)
}

fn network(port: u16) -> Answers {
    let of_socket = |family, kind, protocol: Option<SockProtocol>| {
        of_nix(socket(family, kind, SockFlag::SOCK_CLOEXEC, protocol).map(drop))
    };
    let abstract_address = SocketAddr::from_abstract_name(format!("glass-cage-test-{port}"));
    BTreeMap::from([
        ("tcp to the host", of(TcpStream::connect(("127.0.0.1", port)).map(drop))),
        ("tcp to the forwarder", of(TcpStream::connect(("127.0.0.1", 3128)).map(drop))),
        ("tcp listen", of(TcpListener::bind("127.0.0.1:0").map(drop))),
        (
            "udp out",
            of(UdpSocket::bind("0.0.0.0:0").and_then(|udp| udp.send_to(b"x", "192.0.2.1:53")).map(drop)),
        ),
        (
            "abstract socket",
            of(abstract_address.and_then(|address| UnixStream::connect_addr(&address)).map(drop)),
        ),
        ("vsock", of_socket(AddressFamily::Vsock, SockType::Stream, None)),
        ("packet socket", of_socket(AddressFamily::Packet, SockType::Raw, None)),
        ("raw socket", of_socket(AddressFamily::Inet, SockType::Raw, Some(SockProtocol::Icmp))),
        ("netlink route", of_socket(AddressFamily::Netlink, SockType::Raw, Some(SockProtocol::NetlinkRoute))),
        (
            "netlink netfilter",
            of_socket(AddressFamily::Netlink, SockType::Raw, Some(SockProtocol::NetlinkNetFilter)),
        ),
    ])
}

fn kernel() -> Answers {
    let raw = |number: libc::c_long| {
        // SAFETY: all arguments are zero, so no pointer of ours is written to; a filter refuses each of these
        // calls before it looks at them, and without one they fail on the null pointers.
        of_nix(Errno::result(unsafe { libc::syscall(number, 0, 0, 0, 0, 0, 0) }).map(drop))
    };
    let mut answers = BTreeMap::from([
        ("bpf", raw(libc::SYS_bpf)),
        ("io_uring", raw(libc::SYS_io_uring_setup)),
        ("keyctl", raw(libc::SYS_keyctl)),
        ("open_by_handle_at", raw(libc::SYS_open_by_handle_at)),
        ("perf_event_open", raw(libc::SYS_perf_event_open)),
        ("process_vm_writev", raw(libc::SYS_process_vm_writev)),
        ("ptrace", raw(libc::SYS_ptrace)),
        ("userfaultfd", raw(libc::SYS_userfaultfd)),
        (
            "setns",
            of(File::open("/proc/self/ns/net").and_then(|ns| Ok(setns(ns, CloneFlags::CLONE_NEWNET)?))),
        ),
        ("type into the terminal", type_into_terminal()),
    ]);
    if cfg!(target_arch = "x86_64") {
        const X32: libc::c_long = 0x4000_0000;
        answers.insert("mount by x32", raw(X32 | libc::SYS_mount));
    }
    answers
}

fn type_into_terminal() -> String {
    let byte = b'x';
    // SAFETY: TIOCSTI reads one byte from the pointer, which lives through the call.
    of_nix(Errno::result(unsafe { libc::ioctl(0, libc::TIOCSTI, &raw const byte) }).map(drop))
}

fn processes() -> Answers {
    let seen = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = seen.filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok()).count();
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    // The three standard ones, the listener, and the directory that is being read.
    let descriptors = open.count();
    BTreeMap::from([
        ("own pid", std::process::id().to_string()),
        ("processes in sight", pids.to_string()),
        ("descriptors", descriptors.to_string()),
        ("become root", of_nix(setuid(Uid::from_raw(0)))),
        ("write to pid 1", in_child(|| OpenOptions::new().write(true).open("/proc/1/mem").map(drop))),
        // Chromium's sandbox needs this one.
        (
            "nested user namespace",
            in_child(|| Ok(unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID)?)),
        ),
    ])
}

/// Runs `attempt` in a child, because it would change this process or has to come from another.
fn in_child(attempt: impl FnOnce() -> io::Result<()>) -> String {
    // SAFETY: this program never starts a thread, so the child may run any code.
    match unsafe { fork() } {
        Ok(ForkResult::Child) => {
            let code = attempt().err().map_or(0, |error| error.raw_os_error().unwrap_or(255));
            std::process::exit(code)
        }
        Ok(ForkResult::Parent { child }) => match waitpid(child, None) {
            Ok(WaitStatus::Exited(_, 0)) => "ok".to_owned(),
            Ok(WaitStatus::Exited(_, code)) => format!("{:?}", Errno::from_raw(code)),
            other => format!("{other:?}"),
        },
        Err(errno) => format!("{errno:?}"),
    }
}

/// Tries to look into a process of the same user, and to stop it by tracing.
pub(crate) fn pry(pid: i32) -> Answers {
    let traced = || {
        let (no_address, no_data) =
            (std::ptr::null_mut::<libc::c_void>(), std::ptr::null_mut::<libc::c_void>());
        // SAFETY: this request takes a pid alone; the other arguments are ignored.
        Errno::result(unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, no_address, no_data) }).map(drop)
    };
    let taken = || {
        // SAFETY: both calls take numbers alone.
        let pidfd = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
        // SAFETY: as above.
        Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_getfd, pidfd, 0, 0) }).map(drop)
    };
    BTreeMap::from([
        ("mem", of(File::open(format!("/proc/{pid}/mem")).map(drop))),
        ("environ", of(fs::read(format!("/proc/{pid}/environ")).map(drop))),
        ("maps", of(fs::read(format!("/proc/{pid}/maps")).map(drop))),
        ("fd", of(fs::read_dir(format!("/proc/{pid}/fd")).map(drop))),
        ("ptrace", of_nix(traced())),
        ("pidfd_getfd", of_nix(taken())),
    ])
}

/// Starts a process as daemons do, away from parent, session and process group.
pub(crate) fn daemonise() {
    in_child(|| {
        setsid()?;
        // SAFETY: as in `in_child`.
        if let ForkResult::Child = unsafe { fork() }? {
            loop {
                nix::unistd::pause();
            }
        }
        Ok(())
    });
}

fn names(dir: &str) -> String {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names.join(" ")
}

pub(crate) fn of(result: io::Result<()>) -> String {
    match result {
        Ok(()) => "ok".to_owned(),
        Err(error) => error
            .raw_os_error()
            .map_or_else(|| error.to_string(), |raw| format!("{:?}", Errno::from_raw(raw))),
    }
}

fn of_nix(result: nix::Result<()>) -> String {
    of(result.map_err(io::Error::from))
}
