//! The packages: installed by npm into the build directory once, and bundled there.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Oldest node that the packages run on.
const NODE: u32 = 20;

/// The directory of the bundled pages of these names.
///
/// # Errors
/// Why the packages cannot be had.
///
/// # Panics
/// When they can be had and do not build.
pub(crate) fn built(names: &[&str], quick: bool) -> Result<PathBuf, String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("frontends");
    let work =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(if quick { "frontends-quick" } else { "frontends" });
    fs::create_dir_all(work.join("pages")).expect("a directory for the packages");
    node()?;
    install(&sources, &work, quick)?;
    let pages = fs::read_dir(sources.join("pages")).expect("the sources of the pages");
    for page in pages.map(|page| page.expect("a source").path()) {
        let name = page.file_name().expect("a file has a name");
        fs::copy(&page, work.join("pages").join(name)).expect("copy a source");
    }
    fs::copy(sources.join("build.mjs"), work.join("build.mjs")).expect("copy the build script");
    let mut bundler = Command::new("node");
    let done = bundler.current_dir(&work).args(["build.mjs", "out"]).args(names).output().expect("run node");
    assert!(done.status.success(), "the pages do not build: {}", String::from_utf8_lossy(&done.stderr));
    Ok(work.join("out"))
}

fn node() -> Result<(), String> {
    let version = Command::new("node").arg("--version").output().map_err(|_| "no node".to_owned())?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
    if major.is_none_or(|major: u32| major < NODE) {
        return Err(format!("node {version}; {NODE} is needed"));
    }
    Ok(())
}

/// What is installed already, and is the same, is left as it is.
fn install(sources: &Path, work: &Path, quick: bool) -> Result<(), String> {
    let lock = fs::read(sources.join("package-lock.json")).expect("the lock file");
    let mark = work.join("installed");
    if fs::read(&mark).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    for file in ["package.json", "package-lock.json"] {
        fs::copy(sources.join(file), work.join(file)).expect("copy a list of packages");
    }
    let mut npm = Command::new("npm");
    npm.current_dir(work).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]);
    if quick {
        npm.arg("--omit=dev");
    }
    let done = npm.output().map_err(|_| "no npm".to_owned())?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(format!("npm is out of reach or has no such version: {}", why.trim()));
    }
    fs::write(mark, lock).expect("note what is installed");
    Ok(())
}

/// Says why nothing was tested, where libtest does not hide it.
pub(crate) fn left_out(why: &str) {
    // Nobody reads it when standard error is closed.
    let _ = writeln!(std::io::stderr(), "left out: front-end stacks: {why}");
}
