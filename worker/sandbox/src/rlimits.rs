//! Resource limits of each process in the cage.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::error::{AtStep, CageError, Step};
use crate::plan::Limits;

/// Sets soft and hard limits, so that nothing in the cage raises them again. Clamped to the present hard
/// limit: to raise that is refused without capabilities.
pub(crate) fn apply(limits: &Limits) -> Result<(), CageError> {
    clamp_all(limits, Some(limits.nproc))
}

/// The same without a user namespace, where the user's other processes would count as the session's.
pub(crate) fn apply_on_host(limits: &Limits) -> Result<(), CageError> {
    clamp_all(limits, None)
}

fn clamp_all(limits: &Limits, nproc: Option<u64>) -> Result<(), CageError> {
    // Locked memory could pin the machine's memory; Chromium locks none.
    let wanted = [
        (Resource::RLIMIT_CORE, "core", Some(0)),
        (Resource::RLIMIT_MEMLOCK, "memlock", Some(1 << 20)),
        (Resource::RLIMIT_NOFILE, "nofile", Some(limits.nofile)),
        (Resource::RLIMIT_NPROC, "nproc", nproc),
        (Resource::RLIMIT_DATA, "data", limits.data),
    ];
    for (resource, name, value) in wanted {
        if let Some(value) = value {
            clamp(resource, value).at(Step::Rlimits, format!("limit {name} to {value}"))?;
        }
    }
    Ok(())
}

fn clamp(resource: Resource, value: u64) -> nix::Result<()> {
    let (_, hard) = getrlimit(resource)?;
    let value = value.min(hard);
    setrlimit(resource, value, value)
}
