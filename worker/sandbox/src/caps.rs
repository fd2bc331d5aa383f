//! Capabilities: dropping all of them, for good.

use std::fs;

use nix::errno::Errno;
use nix::libc;

use crate::error::{AtStep, CageError, Step};

/// Linux's version 3 of the capability call: two words for each set.
const VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Empties the bounding, ambient, inheritable, permitted and effective sets of the calling thread.
pub(crate) fn drop_all() -> Result<(), CageError> {
    // The bounding set goes first: emptying it needs a capability itself.
    drop_bounding()?;
    clear()
}

/// Empties the bounding set of the calling thread.
pub(crate) fn drop_bounding() -> Result<(), CageError> {
    for number in 0..=last_capability()? {
        drop_from_bounding_set(number)
            .at(Step::Capabilities, format!("drop capability {number} for good"))?;
    }
    Ok(())
}

/// Empties the ambient, inheritable, permitted and effective sets of the calling thread.
pub(crate) fn clear() -> Result<(), CageError> {
    clear_ambient().at(Step::Capabilities, "clear the ambient set")?;
    clear_sets().at(Step::Capabilities, "clear the permitted set")
}

/// The highest capability of this kernel, which may be newer than this program.
fn last_capability() -> Result<u32, CageError> {
    let text =
        fs::read_to_string("/proc/sys/kernel/cap_last_cap").at(Step::Capabilities, "read cap_last_cap")?;
    text.trim().parse().map_err(|_| Errno::EINVAL).at(Step::Capabilities, "parse cap_last_cap")
}

fn drop_from_bounding_set(number: u32) -> nix::Result<()> {
    // SAFETY: PR_CAPBSET_DROP takes one integer and no pointer; a number beyond the last is EINVAL.
    let result = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(number), 0, 0, 0) };
    Errno::result(result).map(drop)
}

fn clear_ambient() -> nix::Result<()> {
    // SAFETY: PR_CAP_AMBIENT_CLEAR_ALL takes integers only; the unused ones must be zero, and are.
    let result = unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    Errno::result(result).map(drop)
}

fn clear_sets() -> nix::Result<()> {
    let header = Header { version: VERSION_3, pid: 0 };
    let sets = [Sets::default(); 2];
    // SAFETY: `header` and the two `Sets` that version 3 reads live through the call. The kernel writes to
    // the header only when the version is unknown, which this one has not been since 2008.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    Errno::result(result).map(drop)
}
