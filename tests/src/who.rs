//! The user that a world runs as: the one of the tests, or an ordinary one that a test makes for itself.
//!
//! No account is created: a free uid with directories of its own is all that Glass may need. The uid is leased by a
//! file lock, so that parallel test processes never share one, and everything that runs under it is the test's.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use nix::unistd::geteuid;

/// Outside the ranges of useradd, of systemd's dynamic users and of Glass' own session uids.
const FIRST: u32 = 61_500;
const COUNT: u32 = 64;

/// Under which user a world runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The one that runs the tests.
    Current,
    /// One without any right, made for the world.
    Ordinary,
}

impl Who {
    /// Whether this process can run something as that user. Says why not, once a test.
    pub fn possible(self) -> bool {
        let possible = self == Self::Current || geteuid().is_root();
        if !possible {
            say("only root can make an ordinary user; this test ran as the current one alone");
        }
        possible
    }
}

/// Whether this process can look at the namespaces, descriptors and files of caged processes. Says why not: a test that
/// cannot look must not pass for one that looked.
pub fn can_look_inside() -> bool {
    let can = geteuid().is_root();
    if !can {
        say("not looked at: only root can look into processes that protect themselves");
    }
    can
}

#[expect(clippy::print_stderr, reason = "libtest shows it with the test")]
fn say(text: &str) {
    eprintln!("{text}");
}

/// A uid of a world's own, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) uid: u32,
    _lock: File,
}

impl Lease {
    /// # Panics
    /// When all are taken.
    pub(crate) fn take() -> Self {
        for uid in FIRST..FIRST + COUNT {
            let path = std::env::temp_dir().join(format!(".glass-tests-uid-{uid}"));
            let lock = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .mode(0o600)
                .open(path)
                .expect("open the lock of a test uid");
            if lock.try_lock().is_ok() {
                return Self { uid, _lock: lock };
            }
        }
        panic!("all {COUNT} uids for tests are taken");
    }
}
