//! The environment of programs in the cage: whole, so that nothing of the daemon's is inherited.

use crate::plan::HOME;
use crate::rootfs::RUNTIME_DIR;

/// Name and value of every variable for a program in the cage (clear the environment first).
pub fn environment() -> [(&'static str, &'static str); 8] {
    [
        ("PATH", "/usr/bin:/bin"),
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
