//! What a worker is told: the plan of its cage and the settings of its session.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use glass_policy::egress::Rules;
use glass_proto::session::{HttpCredentials, SessionOptions};
use glass_proto::start::{Plan, SessionSettings};
use glass_sandbox::{CagePlan, Limits, Mode};
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};

use super::files::SessionFiles;
use crate::limits;
use crate::quota::Quotas;

/// What is the same for every session of this daemon.
#[derive(Clone, Debug)]
pub struct Common {
    /// The weakest cage.
    pub minimum: Mode,
    /// The browser's program.
    pub browser: Option<PathBuf>,
    /// The attribute that `testid=` goes by.
    pub test_id_attribute: String,
    /// The worker's log filter.
    pub log: String,
    /// Language and time zone of the user.
    pub locale: Locale,
    /// Who sessions are to servers that ask, where whoever starts them does not say.
    pub credentials: Vec<HttpCredentials>,
}

/// Language and time zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locale {
    /// "de-DE"
    pub language: Option<String>,
    /// "Europe/Berlin"
    pub time_zone: Option<String>,
}

impl Locale {
    /// The locale of the user who started the daemon.
    pub fn of_process() -> Self {
        let var = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let language = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(var);
        let zone = var("TZ").or_else(|| {
            // A machine without it has no zone of its own.
            let link = std::fs::read_link("/etc/localtime").ok()?;
            link.to_str().map(str::to_owned)
        });
        Self {
            language: language.as_deref().and_then(language_tag),
            time_zone: zone.as_deref().and_then(zone_name),
        }
    }
}

/// `de_DE.UTF-8` → `de-DE`; the C locale says nothing.
fn language_tag(locale: &str) -> Option<String> {
    let name = locale.split(['.', '@']).next()?;
    let plain = name.len() <= 32 && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
    (plain && name.len() >= 2 && name != "POSIX").then(|| name.replace('_', "-"))
}

/// The name of a time zone in `TZ`'s value or the target of `/etc/localtime`.
fn zone_name(text: &str) -> Option<String> {
    let name = text.trim_start_matches(':');
    let name = name.split_once("zoneinfo/").map_or(name, |(_, name)| name);
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'/' | b'_' | b'-' | b'+');
    let fits = !name.is_empty() && name.len() <= 64 && !name.starts_with('/') && name.bytes().all(plain);
    fits.then(|| name.to_owned())
}

/// What one session differs in from others.
pub(super) struct Given<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    /// What the client that started it wants of it.
    pub(super) options: &'a SessionOptions,
    /// Rules for documents, where those differ from the proxy's.
    pub(super) navigation: Option<Rules>,
    /// How many targets it may have.
    pub(super) max_targets: u32,
    /// Whether the configuration's credentials are for it.
    pub(super) knows_credentials: bool,
    /// What it may use.
    pub(super) quotas: &'a Quotas,
    /// Whether it enters a control group.
    pub(super) has_group: bool,
}

/// The plan of one session as a sealed memory file.
///
/// # Errors
/// The kernel's.
pub(super) fn plan_file(
    common: &Common,
    mode: Mode,
    given: Given<'_>,
    files: &SessionFiles,
) -> io::Result<OwnedFd> {
    let plan = Plan {
        cage: CagePlan {
            parent: std::process::id(),
            session_dir: files.directory(),
            worker_uid: files.uid(),
            read_only: read_only(common.browser.as_deref()),
            forward_port: limits::FORWARD_PORT,
            limits: cage_limits(given.quotas),
            mode,
        },
        cgroup: given.has_group,
        session: SessionSettings {
            id: given.id.to_owned(),
            name: given.name.to_owned(),
            browser: common.browser.clone(),
            viewport: limits::VIEWPORT,
            language: common.locale.language.clone(),
            time_zone: common.locale.time_zone.clone(),
            options: match given.knows_credentials {
                true => given.options.knowing(&common.credentials),
                false => given.options.clone(),
            },
            test_id_attribute: common.test_id_attribute.clone(),
            navigation: given.navigation,
            max_targets: given.max_targets,
            spool_bytes: given.quotas.spool,
            log: common.log.clone(),
        },
    };
    sealed(&serde_json::to_vec(&plan)?)
}

/// What holds for each process of a session: none alone can use more than the session may, or the least that a browser
/// starts with.
fn cage_limits(quotas: &Quotas) -> Limits {
    const LEAST: u64 = 1 << 30;
    let shared_memory = (quotas.memory / 2).min(Limits::default().shared_memory);
    Limits {
        nproc: quotas.threads(),
        data: Some(quotas.memory.max(LEAST)),
        shared_memory,
        ..Limits::default()
    }
}

/// The system's paths, and the directories of a browser that lies elsewhere, by its name and by its real place.
fn read_only(browser: Option<&Path>) -> Vec<PathBuf> {
    let mut paths = CagePlan::system_paths();
    let real = browser.and_then(|browser| browser.canonicalize().ok());
    for program in [browser, real.as_deref()].into_iter().flatten() {
        if let Some(directory) = program.parent()
            && directory != Path::new("/")
            && !paths.iter().any(|path| directory.starts_with(path))
        {
            paths.push(directory.to_owned());
        }
    }
    paths
}

fn sealed(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = memfd_create("glass-plan", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals =
        SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn languages_and_zones_are_names_or_nothing() {
        assert_eq!(language_tag("de_DE.UTF-8").as_deref(), Some("de-DE"));
        assert_eq!(language_tag("sr_RS@latin").as_deref(), Some("sr-RS"));
        assert_eq!(language_tag("C.UTF-8"), None);
        assert_eq!(language_tag("en\nUS"), None);
        assert_eq!(zone_name("/usr/share/zoneinfo/Europe/Berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(zone_name(":Etc/UTC").as_deref(), Some("Etc/UTC"));
        assert_eq!(zone_name("/etc/shadow"), None);
        assert_eq!(zone_name("CET-1CEST,M3.5.0"), None);
    }

    #[test]
    fn a_browser_outside_the_system_brings_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("chrome");
        std::fs::write(&program, "").unwrap();
        let paths = read_only(Some(&program));
        assert!(paths.contains(&dir.path().to_owned()));
        assert_eq!(read_only(Some(Path::new("/usr/lib/chromium/chromium"))), CagePlan::system_paths());
    }

    #[test]
    fn a_sealed_file_reads_from_its_beginning_and_takes_no_more() {
        let mut file = File::from(sealed(b"plan").unwrap());
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "plan");
        assert!(file.write_all(b"x").is_err());
    }
}
