//! Which layers of a cage are seen to be active, from the inside.
//!
//! Owns looking and judging. Claims nothing from the plan: each layer is read from /proc or tried, and what
//! cannot be seen is reported as not seen.

use std::fs::{self, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use crate::landlock::Enforced;
use crate::mode::Mode;
use crate::namespaces::Identities;
use crate::procfs::{self, Status};
use crate::rootfs::WRITABLE;

/// How long a connection is tried that should be refused at once.
const CONNECT: Duration = Duration::from_millis(100);

/// One layer and what was seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// A stable name: `uid`, `namespaces`, `root`, `processes`, `network`, `capabilities`, `no-new-privs`,
    /// `seccomp`, `landlock`, `rlimits`, `sockets`, `kill`, `browser` or `renderers`.
    pub name: String,
    /// What was seen.
    pub state: LayerState,
    /// The observation, for people.
    pub detail: String,
}

/// What was seen of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerState {
    /// It holds.
    Active,
    /// A part of it holds, or could be seen.
    Degraded,
    /// It does not hold, or was not seen.
    Missing,
}

/// Looks at the cage from pid 1.
#[derive(Clone, Debug)]
pub struct Observer {
    mode: Mode,
    outside: Identities,
    landlock: Enforced,
}

impl Observer {
    pub(crate) fn new(mode: Mode, outside: Identities, landlock: Enforced) -> Self {
        Self { mode, outside, landlock }
    }

    /// The layers of the cage itself. Reads a few small files; does not block.
    pub fn cage(&self) -> Vec<Layer> {
        let status = Status::of("self").unwrap_or_default();
        if self.mode != Mode::Namespaces {
            return self.on_host(&status);
        }
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        vec![
            uid(&status, &map),
            namespaces(&self.outside, &Identities::of("self")),
            root(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default()),
            own_processes(),
            network(&fs::read_to_string("/proc/net/dev").unwrap_or_default()),
            capabilities(&status),
            flag("no-new-privs", status.number("NoNewPrivs"), 1, "NoNewPrivs"),
            flag("seccomp", status.number("Seccomp"), 2, "Seccomp"),
            self.landlock(),
            rlimits(),
        ]
    }

    /// The same without namespaces. What is then the host's own is named as missing.
    fn on_host(&self, status: &Status) -> Vec<Layer> {
        let sockets = "sockets of the host that this user may use can be reached (D-Bus, ssh-agent, docker)";
        vec![
            host_uid(status),
            namespaces(&self.outside, &Identities::of("self")),
            layer(
                "root",
                LayerState::Missing,
                "the host's own; Landlock alone decides what is read and written",
            ),
            own_processes(),
            host_network(self.mode),
            match status.usable_capabilities().as_slice() {
                [] => layer("capabilities", LayerState::Active, "none"),
                some => layer("capabilities", LayerState::Missing, format!("not empty: {}", some.join(" "))),
            },
            flag("no-new-privs", status.number("NoNewPrivs"), 1, "NoNewPrivs"),
            flag("seccomp", status.number("Seccomp"), 2, "Seccomp"),
            self.landlock(),
            rlimits(),
            layer("sockets", LayerState::Missing, sockets),
            layer(
                "kill",
                LayerState::Degraded,
                "by the stub, which ends all descendants; not by a namespace",
            ),
        ]
    }

    /// The browser's own layers: the process `browser`, and every renderer of this session that runs now.
    pub fn browser(&self, browser: u32) -> Vec<Layer> {
        // Without a pid namespace other browsers of the machine are in sight. Of ours everything descends from the stub.
        let stub = std::os::unix::process::parent_id();
        let is_ours = |pid: &u32| self.mode == Mode::Namespaces || procfs::descends(*pid, stub);
        let renderers: Vec<(u32, Status)> = procfs::processes()
            .into_iter()
            .filter(is_ours)
            .filter(|pid| procfs::arguments(*pid).iter().any(|part| part == "--type=renderer"))
            .filter_map(|pid| Some((pid, Status::of(&pid.to_string())?)))
            .collect();
        vec![browser_process(Status::of(&browser.to_string()).as_ref()), renderer_processes(&renderers)]
    }

    /// Landlock shows nowhere in /proc, so it is tried: only its rules refuse these two.
    fn landlock(&self) -> Layer {
        let version = format!("version {}", self.landlock.abi);
        let file_refused = refused(OpenOptions::new().write(true).open("/dev/random").map(drop));
        let port_refused = refused(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map(drop));
        if !file_refused {
            return layer(
                "landlock",
                LayerState::Missing,
                format!("{version}: a write that it forbids went through"),
            );
        }
        if self.landlock.restricts_tcp() && !port_refused {
            let detail = format!("{version}: files hold, but a TCP port could be bound");
            return layer("landlock", LayerState::Degraded, detail);
        }
        match self.landlock.lacks() {
            "" if self.landlock.fully => layer("landlock", LayerState::Active, version),
            "" => layer("landlock", LayerState::Degraded, format!("{version}: not all rules were taken")),
            lacks => {
                layer("landlock", LayerState::Degraded, format!("{version}: this kernel has no {lacks}"))
            }
        }
    }
}

fn refused(result: io::Result<()>) -> bool {
    result.is_err_and(|error| error.raw_os_error() == Some(Errno::EACCES as i32))
}

fn layer(name: &str, state: LayerState, detail: impl Into<String>) -> Layer {
    Layer { name: name.to_owned(), state, detail: detail.into() }
}

fn holds(name: &str, active: bool, detail: impl Into<String>) -> Layer {
    layer(name, if active { LayerState::Active } else { LayerState::Missing }, detail)
}

fn flag(name: &str, value: Option<u64>, wanted: u64, field: &str) -> Layer {
    let seen = value.map_or("unreadable".to_owned(), |value| value.to_string());
    holds(name, value == Some(wanted), format!("{field} {seen}"))
}

/// The uid on the host, which the map names as its second number.
fn uid(status: &Status, map: &str) -> Layer {
    let outside = map.split_whitespace().nth(1).and_then(|uid| uid.parse::<u32>().ok());
    let inside_is_user = !status.uids().is_empty() && status.uids().iter().all(|uid| *uid != 0);
    match outside {
        Some(uid) => holds("uid", uid != 0 && inside_is_user, format!("uid {uid} on the host")),
        None => layer("uid", LayerState::Missing, "the uid map could not be read"),
    }
}

fn namespaces(outside: &Identities, own: &Identities) -> Layer {
    let (shared, unknown) = outside.compare(own);
    let list = crate::namespaces::KINDS.join(", ");
    match (shared.is_empty(), unknown.is_empty()) {
        (true, true) => layer("namespaces", LayerState::Active, format!("own {list}")),
        (true, false) => {
            layer("namespaces", LayerState::Degraded, format!("not seen: {}", unknown.join(", ")))
        }
        (false, _) => layer("namespaces", LayerState::Missing, format!("shared: {}", shared.join(", "))),
    }
}

/// Every mount but the known few must be read-only, and the root must not be the host's.
fn root(mountinfo: &str) -> Layer {
    let mut writable = Vec::new();
    let mut root_is_own = false;
    for line in mountinfo.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let (Some(place), Some(options)) = (fields.get(4), fields.get(5)) else { continue };
        let read_only = options.split(',').any(|option| option == "ro");
        if *place == "/" {
            root_is_own = read_only && line.contains(" - tmpfs ");
        } else if !read_only && !WRITABLE.contains(place) && *place != "/proc" && !place.starts_with("/dev/")
        {
            writable.push(*place);
        }
    }
    if !root_is_own {
        return layer("root", LayerState::Missing, "the root is not a read-only one of its own");
    }
    let detail = format!("writable: {}", WRITABLE.join(" "));
    if writable.is_empty() {
        layer("root", LayerState::Active, detail)
    } else {
        layer("root", LayerState::Missing, format!("also writable: {}", writable.join(" ")))
    }
}

fn own_processes() -> Layer {
    let own = std::process::id();
    holds("processes", own == 1, format!("pid {own} here, {} processes in sight", procfs::processes().len()))
}

fn network(dev: &str) -> Layer {
    let names: Vec<&str> = dev.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    holds("network", names == ["lo"], format!("interfaces: {}", names.join(" ")))
}

/// The uid where this process and the host agree about it.
fn host_uid(status: &Status) -> Layer {
    let uids = status.uids();
    let detail = match uids.first() {
        Some(uid) => format!("uid {uid}, the daemon's own"),
        None => "the uids could not be read".to_owned(),
    };
    holds("uid", !uids.is_empty() && uids.iter().all(|uid| *uid != 0), detail)
}

/// In the network of the host: tries a datagram socket and a connection that only the rules can refuse.
fn host_network(mode: Mode) -> Layer {
    /// "discard", which nobody serves.
    const NOT_OURS: u16 = 9;
    if mode == Mode::BrowserOnly {
        return layer(
            "network",
            LayerState::Missing,
            "the browser is told to use the proxy; nothing makes it",
        );
    }
    let refused_by = |error: io::Error, errno: Errno| error.raw_os_error() == Some(errno as i32);
    let no_udp =
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).is_err_and(|error| refused_by(error, Errno::EPERM));
    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, NOT_OURS));
    let no_tcp =
        TcpStream::connect_timeout(&to, CONNECT).is_err_and(|error| refused_by(error, Errno::EACCES));
    match (no_udp, no_tcp) {
        (true, true) => layer(
            "network",
            LayerState::Degraded,
            "no UDP, and TCP only to the forwarder's port; a server elsewhere with that port could be reached",
        ),
        (_, false) => {
            layer("network", LayerState::Missing, "any TCP port can be reached; the proxy is advice")
        }
        (false, _) => layer("network", LayerState::Missing, "UDP can be sent; the proxy is advice"),
    }
}

fn capabilities(status: &Status) -> Layer {
    match status.capabilities().as_slice() {
        [] => layer("capabilities", LayerState::Active, "none, and none to be had"),
        some => layer("capabilities", LayerState::Missing, format!("not empty: {}", some.join(" "))),
    }
}

fn rlimits() -> Layer {
    match getrlimit(Resource::RLIMIT_CORE) {
        Ok((_, 0)) => layer("rlimits", LayerState::Active, "no core files"),
        _ => layer("rlimits", LayerState::Missing, "core files are possible"),
    }
}

fn browser_process(status: Option<&Status>) -> Layer {
    let Some(status) = status else { return layer("browser", LayerState::Missing, "the process is gone") };
    let user = !status.uids().is_empty() && status.uids().iter().all(|uid| *uid != 0);
    // With no new privileges the bounding set bounds nothing.
    let stripped = status.usable_capabilities().is_empty() && status.number("NoNewPrivs") == Some(1);
    let filtered = status.number("Seccomp") == Some(2);
    holds("browser", user && stripped && filtered, "not uid 0, no capabilities, no new privileges, filtered")
}

/// Chromium's own sandbox. Its renderers cannot be asked for their user namespace from here (they refuse
/// tracing); an own pid namespace shows, and cannot be had without one.
fn renderer_processes(renderers: &[(u32, Status)]) -> Layer {
    if renderers.is_empty() {
        return layer("renderers", LayerState::Missing, "no renderer runs");
    }
    let weak = |status: &Status| {
        status.number("Seccomp") != Some(2)
            || status.number("NoNewPrivs") != Some(1)
            || status.pid_depth() < 2
    };
    let weak: Vec<String> =
        renderers.iter().filter(|(_, status)| weak(status)).map(|(pid, _)| pid.to_string()).collect();
    if weak.is_empty() {
        let count = renderers.len();
        return layer(
            "renderers",
            LayerState::Active,
            format!("{count} filtered, each in a pid namespace of its own"),
        );
    }
    layer("renderers", LayerState::Missing, format!("not sandboxed: {}", weak.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_own_read_only_root_counts() {
        let own = "1 0 0:1 / / ro,nosuid - tmpfs tmpfs rw\n\
                   2 1 0:2 / /session rw - ext4 x rw\n\
                   3 1 0:3 / /proc rw - proc x rw\n";
        assert_eq!(root(own).state, LayerState::Active);
        assert_eq!(root(&own.replace("/session", "/data")).state, LayerState::Missing);
        assert_eq!(root("1 0 8:1 / / rw - ext4 x rw\n").state, LayerState::Missing);
        assert_eq!(root("").state, LayerState::Missing);
    }

    #[test]
    fn only_loopback_counts() {
        let head = "Inter-| Receive\n face |bytes\n";
        assert_eq!(network(&format!("{head}    lo: 0 0\n")).state, LayerState::Active);
        assert_eq!(network(&format!("{head}    lo: 0\n  eth0: 0\n")).state, LayerState::Missing);
        assert_eq!(network("").state, LayerState::Missing);
    }

    #[test]
    fn uid_0_on_the_host_is_missing() {
        let user = Status::from_text("Uid:\t1000\t1000\t1000\t1000\n");
        assert_eq!(uid(&user, "1000 60123 1").state, LayerState::Active);
        assert_eq!(uid(&user, "1000 0 1").state, LayerState::Missing);
        assert_eq!(uid(&user, "").state, LayerState::Missing);
    }

    #[test]
    fn a_renderer_without_its_own_sandbox_is_named() {
        let strong = Status::from_text("Seccomp:\t2\nNoNewPrivs:\t1\nNSpid:\t9\t1\n");
        let weak = Status::from_text("Seccomp:\t0\nNoNewPrivs:\t1\nNSpid:\t9\n");
        assert_eq!(renderer_processes(&[(9, strong.clone())]).state, LayerState::Active);
        let mixed = renderer_processes(&[(9, strong), (12, weak)]);
        assert_eq!((mixed.state, mixed.detail.as_str()), (LayerState::Missing, "not sandboxed: 12"));
        assert_eq!(renderer_processes(&[]).state, LayerState::Missing);
    }

    #[test]
    fn this_test_is_seen_as_uncaged() {
        let observer =
            Observer::new(Mode::Namespaces, Identities::of("self"), Enforced { abi: 7, fully: true });
        let layers = observer.cage();
        let state = |name: &str| layers.iter().find(|layer| layer.name == name).unwrap().state;
        assert_eq!(state("namespaces"), LayerState::Missing);
        assert_eq!(state("landlock"), LayerState::Missing);
        assert_eq!(state("root"), LayerState::Missing);
    }
}
