//! The namespaces of a cage: making them, mapping ids into the user namespace, and telling one from another.

use std::fs;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::error::{AtStep, CageError, Step};
use crate::plan::INSIDE_ID;

/// The kinds of namespaces that a cage has of its own, as named in `/proc/PID/ns`.
pub(crate) const KINDS: [&str; 7] = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];

/// Makes all namespaces; the pid namespace begins with the next fork.
pub(crate) fn make() -> Result<(), CageError> {
    let all = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    unshare(all).at(Step::Unshare, "make user, mnt, pid, net, ipc, uts and cgroup namespaces")
}

/// Gives up changing supplementary groups, which the kernel demands before an unprivileged gid map.
pub(crate) fn deny_setgroups() -> Result<(), CageError> {
    fs::write("/proc/self/setgroups", "deny").at(Step::Setgroups, "write /proc/self/setgroups")
}

/// Makes `outside` appear as the one uid of the namespace.
pub(crate) fn map_uid(outside: u32) -> Result<(), CageError> {
    fs::write("/proc/self/uid_map", format!("{INSIDE_ID} {outside} 1\n"))
        .at(Step::UidMap, "write /proc/self/uid_map")
}

/// Makes `outside` appear as the one gid of the namespace.
pub(crate) fn map_gid(outside: u32) -> Result<(), CageError> {
    fs::write("/proc/self/gid_map", format!("{INSIDE_ID} {outside} 1\n"))
        .at(Step::GidMap, "write /proc/self/gid_map")
}

/// Names the host, so that the machine's own name is not seen.
pub(crate) fn name_host() -> Result<(), CageError> {
    nix::unistd::sethostname("glass").at(Step::Hostname, "set the host name")
}

nix::ioctl_read_bad!(get_interface_flags, libc::SIOCGIFFLAGS, libc::ifreq);
nix::ioctl_write_ptr_bad!(set_interface_flags, libc::SIOCSIFFLAGS, libc::ifreq);

/// Brings up `lo`; the kernel gives it 127.0.0.1 and ::1.
pub(crate) fn loopback_up() -> Result<(), CageError> {
    try_loopback_up().at(Step::Loopback, "bring up lo")
}

fn try_loopback_up() -> nix::Result<()> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    // SAFETY: `ifreq` is a C struct of integers and byte arrays, for which all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo\0") {
        *to = from.cast_signed();
    }
    // SAFETY: the socket is open and `request` is a whole ifreq with a terminated name, which the kernel
    // fills.
    unsafe { get_interface_flags(socket.as_raw_fd(), &raw mut request) }?;
    // SAFETY: SIOCGIFFLAGS has just written the flags member of the union.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    let up = libc::c_short::try_from(libc::IFF_UP).map_err(|_| Errno::EINVAL)?;
    request.ifr_ifru.ifru_flags = flags | up;
    // SAFETY: as above; the kernel only reads `request` here.
    unsafe { set_interface_flags(socket.as_raw_fd(), &raw const request) }?;
    Ok(())
}

/// The identities of a process's namespaces, to be compared with another's. One that cannot be read is
/// absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identities([Option<u64>; KINDS.len()]);

impl Identities {
    /// Of the process with this name in `/proc`: a number or `self`.
    pub(crate) fn of(process: &str) -> Self {
        Self(KINDS.map(|kind| identity(process, kind)))
    }

    /// The kinds for which both sides are known and the same; then those where a side is unknown.
    pub(crate) fn compare(&self, other: &Self) -> (Vec<&'static str>, Vec<&'static str>) {
        let (mut shared, mut unknown) = (Vec::new(), Vec::new());
        for ((kind, mine), theirs) in KINDS.into_iter().zip(self.0).zip(other.0) {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) if mine != theirs => {}
                (Some(_), Some(_)) => shared.push(kind),
                _ => unknown.push(kind),
            }
        }
        (shared, unknown)
    }
}

fn identity(process: &str, kind: &str) -> Option<u64> {
    let link = fs::read_link(format!("/proc/{process}/ns/{kind}")).ok()?;
    parse_identity(link.to_str()?)
}

/// The number of `user:[4026531837]`.
fn parse_identity(link: &str) -> Option<u64> {
    link.split_once(":[")?.1.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_read_and_compared() {
        assert_eq!(parse_identity("user:[4026531837]"), Some(4_026_531_837));
        assert_eq!(parse_identity("user:4026531837"), None);
        let own = Identities::of("self");
        assert_eq!(own.compare(&own), (KINDS.to_vec(), vec![]));
        let mut other = own;
        other.0[1] = Some(1);
        other.0[3] = None;
        assert_eq!(own.compare(&other), (vec!["user", "pid", "ipc", "uts", "cgroup"], vec!["net"]));
    }
}
