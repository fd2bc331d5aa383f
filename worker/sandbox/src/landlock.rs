//! Landlock: file, TCP and scope rules on top of the mounts and the network namespace.
//!
//! Owns the rules and which version of them the kernel took. A second wall with the same plan as the first:
//! if a mount is wrong, or a process gets round a namespace, the rules still hold.

use std::error::Error;
use std::io;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, NetPort, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::errno::Errno;
use nix::libc;

use crate::error::{AtStep, CageError, Step};
use crate::rootfs::WRITABLE;

/// The newest version whose rules were tried with Chromium; what an older kernel lacks of it is left out.
const KNOWN: ABI = ABI::V6;

/// Device nodes that may be written to. The absence of /dev/random is what `layers` looks for.
const WRITABLE_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// What the kernel enforces of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Enforced {
    /// The kernel's version of Landlock; 0 where it has none.
    pub(crate) abi: i32,
    /// Whether all rules are enforced, and not only those that the kernel knows.
    pub(crate) fully: bool,
}

impl Enforced {
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
    restrict(forward_port)
        .map_err(|error| refused(error.as_ref()))
        .at(Step::Landlock, "restrict files, ports and scopes")
}

fn restrict(forward_port: u16) -> Result<Enforced, Box<dyn Error>> {
    let all = AccessFs::from_all(KNOWN);
    let write = all & !(AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::from_read(KNOWN)))?
        // Chromium writes the id maps of its own namespaces here, and the OOM scores of its children.
        .add_rule(PathBeneath::new(PathFd::new("/proc")?, AccessFs::WriteFile | AccessFs::Truncate))?
        .add_rule(NetPort::new(forward_port, AccessNet::ConnectTcp))?;
    for dir in WRITABLE {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(dir)?, write))?;
    }
    for device in WRITABLE_DEVICES {
        // A rule on a file takes only rights that files have; with others the set would count as partly
        // enforced.
        rules = rules.add_rule(PathBeneath::new(PathFd::new(device)?, AccessFs::from_file(KNOWN)))?;
    }
    let status = rules.restrict_self()?;
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
