//! Landlock: file, TCP and scope rules on top of the mounts and the network namespace.
//!
//! Owns the rules and which version of them the kernel took. A second wall with the same plan as the first:
//! if a mount is wrong, or a process gets round a namespace, the rules still hold.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::errno::Errno;
use nix::libc;

use crate::error::{AtStep, CageError, Step};
use crate::rootfs::WRITABLE;

/// The newest version whose rules were tried with Chromium; what an older kernel lacks of it is left out.
const KNOWN: ABI = ABI::V6;

/// Device nodes that may be written to. The absence of /dev/random is what `layers` looks for.
const WRITABLE_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Device nodes that are only read, on the root of the host.
const READABLE_DEVICES: [&str; 2] = ["/dev/random", "/dev/urandom"];

/// What the kernel enforces of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Enforced {
    /// The kernel's version of Landlock; 0 where it has none.
    pub(crate) abi: i32,
    /// Whether all rules are enforced, and not only those that the kernel knows.
    pub(crate) fully: bool,
}

impl Enforced {
    /// Nothing.
    pub(crate) const NOTHING: Self = Self { abi: 0, fully: false };

    /// From version 4 on TCP ports are restricted.
    pub(crate) fn restricts_tcp(self) -> bool {
        self.abi >= 4
    }

    /// What this version lacks, for people; empty when nothing.
    pub(crate) fn lacks(self) -> &'static str {
        match self.abi {
            ..=0 => "everything",
            1..=3 => "TCP ports, device controls and scopes",
            4 => "device controls and scopes",
            5 => "scopes",
            _ => "",
        }
    }
}

/// Restricts the calling thread, and so all that it starts, for the root built by `rootfs`.
///
/// A kernel without Landlock is not an error here: with namespaces it is a second wall, and its absence is
/// reported.
pub(crate) fn apply(forward_port: u16) -> Result<Enforced, CageError> {
    let mut rules = vec![(PathBuf::from("/"), AccessFs::from_read(KNOWN)), for_proc()];
    rules.extend(WRITABLE.map(|dir| (dir.into(), for_writing())));
    rules.extend(WRITABLE_DEVICES.map(|device| (device.into(), AccessFs::from_file(KNOWN))));
    enforce(&rules, forward_port)
}

/// Restricts the calling thread on the root of the host: nothing but `read_only` is read, nothing but `writable` is
/// written, and both only as far as the user may. Here it is the first wall, so a kernel without it is an error.
pub(crate) fn apply_to_host(
    read_only: &[&Path],
    writable: &Path,
    forward_port: u16,
) -> Result<Enforced, CageError> {
    let mut rules = vec![for_proc(), (PathBuf::from("/proc"), AccessFs::from_read(KNOWN))];
    rules.extend(read_only.iter().map(|path| ((*path).to_owned(), AccessFs::from_read(KNOWN))));
    rules.extend(READABLE_DEVICES.map(|device| (device.into(), AccessFs::ReadFile.into())));
    rules.extend(WRITABLE_DEVICES.map(|device| (device.into(), AccessFs::from_file(KNOWN))));
    rules.push((writable.to_owned(), for_writing()));
    let enforced = enforce(&rules, forward_port)?;
    match enforced.abi {
        ..=0 => Err(Errno::EOPNOTSUPP).at(Step::Landlock, "restrict files, without which there is no cage"),
        _ => Ok(enforced),
    }
}

/// Chromium writes the id maps of its own namespaces here, and the OOM scores of its children.
fn for_proc() -> (PathBuf, BitFlags<AccessFs>) {
    (PathBuf::from("/proc"), AccessFs::WriteFile | AccessFs::Truncate)
}

fn for_writing() -> BitFlags<AccessFs> {
    let not = AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    AccessFs::from_all(KNOWN) & !not
}

fn enforce(rules: &[(PathBuf, BitFlags<AccessFs>)], forward_port: u16) -> Result<Enforced, CageError> {
    restrict(rules, forward_port)
        .map_err(|error| refused(error.as_ref()))
        .at(Step::Landlock, "restrict files, ports and scopes")
}

fn restrict(rules: &[(PathBuf, BitFlags<AccessFs>)], forward_port: u16) -> Result<Enforced, Box<dyn Error>> {
    let mut set = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .add_rule(NetPort::new(forward_port, AccessNet::ConnectTcp))?;
    for (path, rights) in rules {
        let opened = PathFd::new(path)?;
        // A rule on a file takes only rights that files have; with others the set would count as partly
        // enforced.
        let rights = if path.is_dir() { *rights } else { *rights & AccessFs::from_file(KNOWN) };
        set = set.add_rule(PathBeneath::new(opened, rights))?;
    }
    let status = set.restrict_self()?;
    Ok(Enforced { abi: abi(&status.landlock), fully: status.ruleset == RulesetStatus::FullyEnforced })
}

/// The version that the running kernel has, without restricting anything; 0 where it has none.
pub(crate) fn kernel_abi() -> Result<i32, CageError> {
    /// `LANDLOCK_CREATE_RULESET_VERSION` of the kernel's header.
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the kernel demands a null pointer and size 0, and only returns a number.
    let result = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    let version = Errno::result(result).at(Step::Landlock, "ask for the version")?;
    Ok(i32::try_from(version).unwrap_or(i32::MAX))
}

fn abi(status: &LandlockStatus) -> i32 {
    match status {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            kernel_abi.unwrap_or(*effective_abi as i32)
        }
        _ => 0,
    }
}

/// The kernel's answer inside the crate's nested errors.
fn refused(error: &(dyn Error + 'static)) -> io::Error {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(raw) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return io::Error::from_raw_os_error(raw);
        }
        cause = error.source();
    }
    io::Error::from(Errno::EINVAL)
}
