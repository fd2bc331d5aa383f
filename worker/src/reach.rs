//! Tries what the cage is to keep away, for `glassctl doctor --deep`: what holds for this process holds for the browser's,
//! which has the same namespaces, filters and rules.
//!
//! Each attempt is harmless where it works: what is opened is closed, what is made is removed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::time::Duration;

use glass_proto::diagnosis::{Attempt, Lures};
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::kill;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use nix::unistd::Pid;

/// How long a connection is tried.
const CONNECT: Duration = Duration::from_millis(500);
/// An address that no machine has (RFC 5737).
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 53);

/// Tries everything. Blocks for a second at most.
pub fn all(lures: &Lures) -> Vec<Attempt> {
    let mut attempts = harmless(lures);
    attempts.push(attempt("mount", "mount a file system", mount_and_take_away()));
    attempts
}

/// What does nothing to a machine where it works.
fn harmless(lures: &Lures) -> Vec<Attempt> {
    let home = lures.home.display();
    let (tcp, udp, pid) = (lures.tcp, lures.udp, lures.pid);
    let abstract_name = UnixAddress::from_abstract_name(&lures.abstract_socket);
    vec![
        attempt("home", format!("list {home}"), fs::read_dir(&lures.home).map(drop)),
        attempt("ssh", format!("list {home}/.ssh"), fs::read_dir(lures.home.join(".ssh")).map(drop)),
        attempt("passwords", "read /etc/shadow", File::open("/etc/shadow").map(drop)),
        attempt("system", "write below /usr", write_below_usr()),
        attempt(
            "tcp",
            format!("connect to 127.0.0.1:{tcp} of the machine"),
            TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, tcp)), CONNECT).map(drop),
        ),
        attempt(
            "udp",
            format!("send a datagram to 127.0.0.1:{udp} of the machine"),
            send(SocketAddr::from((Ipv4Addr::LOCALHOST, udp))),
        ),
        attempt("internet", "send a datagram to another machine", send(NOWHERE)),
        attempt(
            "socket",
            format!("connect to {}", lures.socket.display()),
            UnixStream::connect(&lures.socket).map(drop),
        ),
        attempt(
            "abstract-socket",
            "connect to an abstract socket of the user",
            abstract_name.and_then(|address| UnixStream::connect_addr(&address)).map(drop),
        ),
        attempt(
            "vsock",
            "make a socket to the hypervisor",
            by_kernel(socket(AddressFamily::Vsock, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).map(drop)),
        ),
        attempt(
            "signal",
            format!("signal process {pid} of the user"),
            by_kernel(kill(Pid::from_raw(pid), None)),
        ),
        attempt(
            "memory",
            format!("read the memory of process {pid}"),
            File::open(format!("/proc/{pid}/mem")).map(drop),
        ),
    ]
}

fn attempt(name: &str, tried: impl Into<String>, result: io::Result<()>) -> Attempt {
    let answer = match &result {
        Ok(()) => "it worked".to_owned(),
        Err(error) => match error.raw_os_error() {
            Some(raw) => format!("refused: {}", Errno::from_raw(raw)),
            None => format!("refused: {}", error.kind()),
        },
    };
    Attempt { name: name.to_owned(), tried: tried.into(), answer, worked: result.is_ok() }
}

fn by_kernel(result: nix::Result<()>) -> io::Result<()> {
    result.map_err(io::Error::from)
}

fn write_below_usr() -> io::Result<()> {
    let path = "/usr/.glass-doctor";
    OpenOptions::new().write(true).create_new(true).open(path)?;
    fs::remove_file(path)
}

/// Where it works, nothing of it stays.
fn mount_and_take_away() -> io::Result<()> {
    by_kernel(mount(Some("tmpfs"), "/tmp", Some("tmpfs"), MsFlags::empty(), None::<&str>))?;
    by_kernel(umount2("/tmp", MntFlags::MNT_DETACH))
}

fn send(to: SocketAddr) -> io::Result<()> {
    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?.send_to(b"glass doctor", to).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_cage_what_is_there_is_reached() {
        let home = tempfile::tempdir().unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let lures = Lures {
            home: home.path().to_owned(),
            socket: home.path().join("none"),
            abstract_socket: "glass-reach-test-none".to_owned(),
            tcp: tcp.local_addr().unwrap().port(),
            udp: 9,
            pid: i32::try_from(std::process::id()).unwrap(),
        };
        let attempts = harmless(&lures);
        let worked = |name: &str| attempts.iter().find(|one| one.name == name).unwrap().worked;
        assert!(worked("home") && worked("tcp") && worked("signal"), "{attempts:#?}");
        assert!(!worked("ssh") && !worked("socket") && !worked("abstract-socket"), "{attempts:#?}");
    }
}
