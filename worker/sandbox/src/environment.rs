//! The environment of programs in the cage: whole, so that nothing of the daemon's is inherited.

use std::ffi::OsString;
use std::path::Path;

use crate::plan::HOME;
use crate::rootfs::RUNTIME_DIR;

/// Name and value of every variable for a program in the cage (clear the environment first).
pub fn environment() -> [(&'static str, &'static str); 8] {
    [
        ("PATH", "/programs:/usr/bin:/bin"),
        ("HOME", HOME),
        ("USER", "glass"),
        ("LANG", "C.UTF-8"),
        ("TMPDIR", "/tmp"),
        // Writable, or dconf complains at length on stderr.
        ("XDG_RUNTIME_DIR", RUNTIME_DIR),
        ("XDG_CACHE_HOME", "/tmp/cache"),
        // There is no bus; an address that answers at once is quieter than a search for one.
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/dev/null"),
    ]
}

/// The same where the cage has no root of its own: everything that is written lies in the session's directory, which
/// must be the working directory.
pub(crate) fn environment_in(session: &Path) -> Vec<(&'static str, OsString)> {
    let within = |name: &str| session.join(name).into_os_string();
    vec![
        ("PATH", "/usr/bin:/bin".into()),
        ("HOME", within("home")),
        ("USER", "glass".into()),
        ("LANG", "C.UTF-8".into()),
        // Chromium makes a socket beneath it, whose path may have 107 bytes; the session's own is longer on most machines.
        ("TMPDIR", "/proc/self/cwd/tmp".into()),
        ("XDG_RUNTIME_DIR", within("run")),
        ("XDG_CACHE_HOME", within("cache")),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/dev/null".into()),
    ]
}

/// The directories that `environment_in` names, beneath the session's.
pub(crate) const PLACES: [&str; 4] = ["home", "tmp", "run", "cache"];
