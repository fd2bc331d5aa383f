//! Which program is the browser.
//!
//! A path from the configuration is taken or refused, never replaced by another. Otherwise the known places are
//! tried in order; real programs come before the shell wrappers of distributions, which add flags of their own.

use std::{
    fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// Where Chromium and Chrome are installed, best first.
const PLACES: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/chromium.org/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

/// A browser program that exists and may be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Its real path, with no symlink in it: what must be readable inside the cage.
    pub path: PathBuf,
    /// Whether it is a script that starts the real program.
    pub wrapper: bool,
}

/// Why there is no browser.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The configured path does not do.
    #[error("the configured browser {} {why}", path.display())]
    Configured {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Nothing was found.
    #[error("no Chromium or Chrome found; looked for {}", looked_for.join(", "))]
    Nowhere {
        /// Where was looked.
        looked_for: &'static [&'static str],
    },
}

impl FindError {
    /// What the user can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Configured { .. } => "correct `browser` in the configuration, or remove it to search",
            Self::Nowhere { .. } => {
                "install Chromium (Debian: `apt install chromium`) or set `browser` in the configuration"
            }
        }
    }
}

/// Finds the browser: `configured`, or else the first known place that has one.
///
/// # Errors
/// See [`FindError`].
pub fn find(configured: Option<&Path>) -> Result<Executable, FindError> {
    match configured {
        Some(path) => check(path).map_err(|why| FindError::Configured { path: path.to_owned(), why }),
        None => first(PLACES).ok_or(FindError::Nowhere { looked_for: PLACES }),
    }
}

/// The first real program, else the first wrapper.
fn first(places: &[&str]) -> Option<Executable> {
    let found: Vec<Executable> = places.iter().filter_map(|place| check(Path::new(place)).ok()).collect();
    found.iter().find(|executable| !executable.wrapper).or(found.first()).cloned()
}

fn check(path: &Path) -> Result<Executable, &'static str> {
    if !path.is_absolute() {
        return Err("is not an absolute path");
    }
    let path = fs::canonicalize(path).map_err(|_| "does not exist")?;
    let metadata = fs::metadata(&path).map_err(|_| "cannot be read")?;
    if !metadata.is_file() {
        return Err("is not a file");
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err("is not executable");
    }
    let wrapper = starts_with_hash_bang(&path);
    Ok(Executable { path, wrapper })
}

fn starts_with_hash_bang(path: &Path) -> bool {
    let mut start = [0; 2];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(directory: &Path, name: &str, content: &[u8], mode: u32) -> String {
        let path = directory.join(name);
        fs::write(&path, content).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        path.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn a_real_program_is_preferred_to_a_wrapper() {
        let directory = tempfile::tempdir().expect("a directory");
        let wrapper = program(directory.path(), "wrapper", b"#!/bin/sh\n", 0o755);
        let plain = program(directory.path(), "plain", b"text", 0o644);
        let real = program(directory.path(), "real", b"\x7fELF", 0o755);
        let missing = "/does/not/exist";
        let found = first(&[missing, &wrapper, &plain, &real]).expect("a browser");
        assert!(found.path.ends_with("real") && !found.wrapper);
        let found = first(&[missing, &wrapper, &plain]).expect("a browser");
        assert!(found.path.ends_with("wrapper") && found.wrapper);
        assert_eq!(first(&[missing, &plain]), None);
    }

    #[test]
    fn a_configured_path_is_never_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let plain = program(directory.path(), "plain", b"text", 0o644);
        for (path, why) in [
            ("chromium", "is not an absolute path"),
            ("/does/not/exist", "does not exist"),
            ("/usr", "is not a file"),
            (plain.as_str(), "is not executable"),
        ] {
            let error = find(Some(Path::new(path))).expect_err("refused");
            assert_eq!(error.to_string(), format!("the configured browser {path} {why}"));
        }
    }
}
