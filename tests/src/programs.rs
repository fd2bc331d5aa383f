//! Where the programs under test are.
//!
//! They are looked for beside this test binary, or in `GLASS_BIN_DIR`. An ordinary user made by a test may not be able
//! to reach the build directory: then they are copied once, whole, to a directory that everybody can read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

const NEEDED: [&str; 5] = ["glass", "glassctl", "glassd", "glass-egress", "glass-worker"];

/// The build directory with the programs.
///
/// # Panics
/// When one is missing: the tests are only of use with what was built from the same sources.
pub(crate) fn directory() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let found = std::env::var_os("GLASS_BIN_DIR").map_or_else(beside_this_test, PathBuf::from);
        for name in NEEDED {
            let path = found.join(name);
            assert!(
                path.is_file(),
                "no {name} in {}; build it first: cargo build --profile glass",
                found.display()
            );
        }
        found
    })
}

/// The directory that cargo puts programs into; test binaries are one below.
pub(crate) fn beside_this_test() -> PathBuf {
    let this = std::env::current_exe().expect("a test knows its own program");
    let within = this.ancestors().nth(2).expect("test binaries lie in a directory of the build directory");
    within.to_owned()
}

/// The same programs where every user can run them.
pub(crate) fn for_everybody() -> &'static Path {
    static COPIED: OnceLock<(PathBuf, Option<TempDir>)> = OnceLock::new();
    let (path, _) = COPIED.get_or_init(|| {
        let original = directory();
        if original.ancestors().all(open_to_others) {
            return (original.to_owned(), None);
        }
        let copy = tempfile::Builder::new().prefix("gb").tempdir().expect("a directory for the copies");
        set_mode(copy.path(), 0o755);
        for name in NEEDED {
            let to = copy.path().join(name);
            fs::copy(original.join(name), &to).expect("copy a program under test");
            set_mode(&to, 0o755);
        }
        (copy.path().to_owned(), Some(copy))
    });
    path
}

fn open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o005 == 0o005)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set the mode of a file of the test");
}
