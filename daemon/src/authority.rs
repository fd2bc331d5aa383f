//! Which policy holds: `policy.toml` as it is now, and what each client's command line makes of it (contract 10.1, 10.2).
//!
//! Owns the reading of the file. A file that cannot be read as meant stops the start; one that becomes so later changes
//! nothing, is told in the log and to whoever asks, and the policy before it holds on. A file that is removed changes
//! nothing either: a policy never grows wider because something went missing. Decides nothing: `glass_policy` does.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use glass_policy::decide::{Denial, Policy};
use glass_policy::egress::Source;
use glass_policy::file;
use glass_policy::layer::{Contradiction, Given, Layer};
use glass_proto::authority::{self, Told, UnknownItem};
use glass_proto::error::{ErrorKind, OpError, Phase};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// The largest policy file that is read, in bytes.
const MAX_FILE: u64 = 256 * 1024;
/// How often it is looked at.
pub const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long a file must have been left alone: an editor may be in the middle of writing it.
const SETTLED: Duration = Duration::from_millis(200);
/// How long whoever asks about the policy waits for a file that is being written.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a file is read that changes while it is read.
const ATTEMPTS: usize = 3;
/// Command lines whose policies are kept compiled; over it all are made anew.
const COMPILED: usize = 32;

/// A policy file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file is there and cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Not what the file may hold.
    #[error("{}:{}", path.display(), told(mistakes))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong.
        mistakes: Vec<file::Mistake>,
    },
}

fn told(mistakes: &[file::Mistake]) -> String {
    let first = mistakes.first().map(ToString::to_string).unwrap_or_default();
    match mistakes.len() {
        0 | 1 => first,
        more => format!("{first}; and {} more, see `glassctl policy check`", more - 1),
    }
}

impl PolicyError {
    /// Each mistake with its place.
    fn lines(&self) -> Vec<String> {
        match self {
            Self::Read { .. } => vec![self.to_string()],
            Self::Invalid { path, mistakes } => {
                mistakes.iter().map(|mistake| format!("{}:{mistake}", path.display())).collect()
            }
        }
    }
}

/// What tells one version of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp(u64, u64, i64, i64);

/// The policy that holds.
#[derive(Clone, Debug)]
pub struct Authority(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    layer: watch::Sender<Arc<Layer>>,
    seen: Mutex<Seen>,
    compiled: Mutex<Compiled>,
}

#[derive(Debug)]
struct Seen {
    /// The version that was decided on; `None` for no file.
    stamp: Option<Stamp>,
    /// Another that is there, and since when: it is read once it has stayed as it is.
    coming: Option<(Option<Stamp>, Instant)>,
    mistakes: Vec<String>,
}

/// The policies of command lines under one version of the daemon's.
#[derive(Debug)]
struct Compiled {
    under: Arc<Layer>,
    of: HashMap<Given, Policy>,
}

/// What a look at the file came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// What it says is decided on.
    Settled,
    /// It changed lately; look again after this time.
    Changing(Duration),
}

impl Authority {
    /// Reads the file at `path`, which need not exist.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(path: PathBuf) -> Result<Self, PolicyError> {
        let (stamp, layer) = match read(&path)? {
            Some((stamp, text)) => (Some(stamp), parse(&path, &text)?),
            None => (None, parse(&path, "")?),
        };
        let layer = Arc::new(layer);
        let seen = Mutex::new(Seen { stamp, coming: None, mistakes: Vec::new() });
        let compiled = Mutex::new(Compiled { under: layer.clone(), of: HashMap::new() });
        Ok(Self(Arc::new(Shared { path, layer: watch::Sender::new(layer), seen, compiled })))
    }

    /// What the daemon's side says now.
    pub fn daemon(&self) -> Arc<Layer> {
        self.0.layer.borrow().clone()
    }

    /// Told each time when the daemon's side changes.
    pub fn changes(&self) -> watch::Receiver<Arc<Layer>> {
        self.0.layer.subscribe()
    }

    /// What holds for a client. Compiled once for each command line and version of the daemon's side.
    ///
    /// # Errors
    /// `invalid_configuration` where its command line contradicts itself.
    pub fn policy(&self, client: &Given) -> Result<Policy, Box<OpError>> {
        let daemon = self.daemon();
        let mut compiled = self.0.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&compiled.under, &daemon) {
            *compiled = Compiled { under: daemon.clone(), of: HashMap::new() };
        }
        if let Some(policy) = compiled.of.get(client) {
            return Ok(policy.clone());
        }
        let own = if client.is_empty() {
            Layer::silent_client()
        } else {
            client.clone().compile(Source::Client).map_err(|wrong| contradiction(&wrong))?
        };
        let policy = Policy::new(daemon, Arc::new(own));
        if compiled.of.len() >= COMPILED {
            compiled.of.clear();
        }
        compiled.of.insert(client.clone(), policy.clone());
        Ok(policy)
    }

    /// Looks at the file, and takes what it says now if that can be used. A version is read once it was there, the same,
    /// for 200 ms, and only if it did not change while it was read: one that is half written may well be readable.
    pub fn look(&self) -> Look {
        self.look_at(Instant::now())
    }

    fn look_at(&self, now: Instant) -> Look {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // It cannot even be looked at: what holds, holds on.
        let Ok(there) = stamp(&self.0.path) else { return Look::Settled };
        if there == seen.stamp {
            seen.coming = None;
            return Look::Settled;
        }
        let since = match seen.coming {
            Some((version, since)) if version == there => since,
            _ => {
                seen.coming = Some((there, now));
                now
            }
        };
        let left = SETTLED.saturating_sub(now.saturating_duration_since(since));
        if !left.is_zero() {
            return Look::Changing(left);
        }
        let found = read(&self.0.path).and_then(|found| match found {
            Some((stamp, text)) => Ok((Some(stamp), Some(parse(&self.0.path, &text)?))),
            None => Ok((None, None)),
        });
        match found {
            Ok((version, _)) if version != there => {
                seen.coming = Some((version, now));
                return Look::Changing(SETTLED);
            }
            Ok((_, Some(layer))) => {
                seen.mistakes.clear();
                tracing::info!(path = %self.0.path.display(), "the policy was read anew");
                self.0.layer.send_if_modified(|old| {
                    let other = **old != layer;
                    if other {
                        *old = Arc::new(layer);
                    }
                    other
                });
            }
            Ok((_, None)) => {
                let gone = format!(
                    "{} is gone; what it said holds until glassd starts again",
                    self.0.path.display()
                );
                tracing::warn!("{gone}");
                seen.mistakes = vec![gone];
            }
            Err(error) => {
                tracing::error!(%error, "the policy before it holds on");
                seen.mistakes = error.lines();
            }
        }
        (seen.stamp, seen.coming) = (there, None);
        Look::Settled
    }

    /// Looks until what the file says now is decided on, or it has gone on changing for two seconds.
    pub async fn look_until_settled(&self) {
        let settled = async {
            while let Look::Changing(left) = self.look() {
                sleep(left).await;
            }
        };
        // A file that goes on changing is told of as it was; the next look goes on.
        let _ = timeout(PATIENCE, settled).await;
    }

    /// Tells what holds for a client, in general and about `items`.
    ///
    /// # Errors
    /// An item that is none, or flags that contradict each other.
    pub fn tell(&self, client: &Given, items: &[String]) -> Result<Told, Box<OpError>> {
        let policy = self.policy(client)?;
        let told = authority::tell(&policy, items).map_err(|error| unknown(&error))?;
        let seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Told {
            path: self.0.path.display().to_string(),
            exists: self.0.path.exists(),
            mistakes: seen.mistakes.clone(),
            ..told
        })
    }
}

/// Tells of the file at `path` without a daemon: what it says, or all that is wrong with it.
///
/// # Errors
/// An item that is none, or flags that contradict each other.
pub fn tell_file(path: PathBuf, client: &Given, items: &[String]) -> Result<Told, Box<OpError>> {
    match Authority::load(path.clone()) {
        Ok(authority) => authority.tell(client, items),
        Err(error) => Ok(Told {
            path: path.display().to_string(),
            exists: path.exists(),
            mistakes: error.lines(),
            ..Told::default()
        }),
    }
}

/// What a denial is in an answer (contract 10.6).
pub fn refusal(operation: &str, denial: Denial, reason: &str) -> Box<OpError> {
    let (kind, reason) = match denial.unconfigured {
        true => (ErrorKind::InvalidConfiguration, "no_host_rule"),
        false => (ErrorKind::Denied, reason),
    };
    OpError::rejected(kind, Phase::Policy, denial.reason, denial.remedy)
        .reason(reason)
        .detail("operation", operation)
        .detail("ruleId", denial.rule)
        .detail("overridePossible", denial.override_possible)
        .into()
}

fn unknown(error: &UnknownItem) -> Box<OpError> {
    let remedy = "name operations as in the help, capabilities as in `glassctl policy show`, or URLs";
    OpError::invalid(error.to_string(), remedy).into()
}

fn contradiction(wrong: &[Contradiction]) -> Box<OpError> {
    let told: Vec<String> = wrong.iter().map(|wrong| format!("{}: {wrong}", wrong.list.option())).collect();
    let remedy = "change the policy options that this client was started with";
    OpError::rejected(ErrorKind::InvalidConfiguration, Phase::Policy, told.join("; "), remedy)
        .reason("policy_options")
        .into()
}

fn parse(path: &Path, text: &str) -> Result<Layer, PolicyError> {
    file::parse(text).map_err(|mistakes| PolicyError::Invalid { path: path.to_owned(), mistakes })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(of(&found))),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn of(found: &std::fs::Metadata) -> Stamp {
    Stamp(found.ino(), found.size(), found.ctime(), found.ctime_nsec())
}

/// The text of one version of the file: it is the same before and after it was read.
fn read(path: &Path) -> Result<Option<(Stamp, String)>, PolicyError> {
    let fail = |error| PolicyError::Read { path: path.to_owned(), error };
    for _ in 0..ATTEMPTS {
        let mut file = match File::open(path) {
            Err(error) if is_absent(&error) => return Ok(None),
            other => other.map_err(fail)?,
        };
        let found = file.metadata().map_err(fail)?;
        let own = nix::unistd::geteuid().as_raw();
        if found.mode() & 0o002 != 0 || ![0, own].contains(&found.uid()) {
            return Err(fail(io::Error::other("others can write to it, so it decides nothing")));
        }
        let mut text = String::new();
        file.by_ref().take(MAX_FILE + 1).read_to_string(&mut text).map_err(fail)?;
        if text.len() as u64 > MAX_FILE {
            return Err(fail(io::Error::other("it is larger than 256 KiB")));
        }
        let version = of(&found);
        if of(&file.metadata().map_err(fail)?) == version {
            return Ok(Some((version, text)));
        }
    }
    Err(fail(io::Error::other("it changes while it is read")))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use glass_policy::{Capability, Stance};

    use super::*;

    fn evaluate(authority: &Authority) -> Stance {
        authority.policy(&Given::default()).unwrap().capability(Capability::Evaluate).says.stance
    }

    fn replace(path: &Path, text: &str) {
        let new = path.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, path).unwrap();
    }

    // contract: 10.2
    #[test]
    fn a_policy_that_cannot_be_read_as_meant_stops_the_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        assert_eq!(evaluate(&Authority::load(path.clone()).unwrap()), Stance::Allow);
        assert!(Authority::load(dir.path().to_owned()).is_err(), "a directory");
        for text in ["deny = [\"evaluat\"]", "x = 1", "preset = \"polite\"", "deny_hosts = [\"*\"]", "deny ="]
        {
            fs::write(&path, text).unwrap();
            let error = Authority::load(path.clone()).unwrap_err().to_string();
            assert!(error.contains("policy.toml:1:"), "{text}: {error}");
        }
        fs::write(&path, "a = 1\nb = 2\n").unwrap();
        let error = Authority::load(path.clone()).unwrap_err();
        assert!(error.to_string().contains("and 1 more"), "{error}");
        assert_eq!(error.lines().len(), 2);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(Authority::load(path).unwrap_err().to_string().contains("others can write"));
    }

    /// The policy after what is written was there for long enough.
    fn settled(authority: &Authority) -> Stance {
        let now = Instant::now();
        assert_eq!(authority.look_at(now), Look::Changing(SETTLED), "it was written just now");
        assert_eq!(authority.look_at(now + SETTLED), Look::Settled);
        evaluate(authority)
    }

    #[test]
    fn a_broken_or_lost_file_leaves_the_policy_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        fs::write(&path, "deny = [\"evaluate\"]\n").unwrap();
        let authority = Authority::load(path.clone()).unwrap();
        let mistakes = || authority.tell(&Given::default(), &[]).unwrap().mistakes;
        replace(&path, "deny = [\n");
        assert_eq!(settled(&authority), Stance::Deny);
        assert!(mistakes()[0].contains("policy.toml:"), "{:?}", mistakes());
        fs::remove_file(&path).unwrap();
        assert_eq!(settled(&authority), Stance::Deny);
        assert!(mistakes()[0].contains("is gone"));
        replace(&path, "deny = [\"upload\"]\n");
        assert_eq!((settled(&authority), mistakes()), (Stance::Allow, vec![]));
    }

    #[test]
    fn a_file_that_is_being_written_is_left_to_settle_whoever_asks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        fs::write(&path, "deny = [\"evaluate\"]\n").unwrap();
        let authority = Authority::load(path.clone()).unwrap();
        let mut now = Instant::now();
        // Each beginning of the text is a policy by itself, and a wider one.
        for text in ["", "preset = \"ci\"\n", "preset = \"ci\"\nallow_hosts = [\"a.test\"]\n"] {
            fs::write(&path, text).unwrap();
            assert_eq!(authority.look_at(now), Look::Changing(SETTLED), "{text}");
            now += SETTLED - Duration::from_millis(1);
            assert!(matches!(authority.look_at(now), Look::Changing(_)), "{text}");
            assert_eq!(evaluate(&authority), Stance::Deny, "{text}");
        }
        assert_eq!((authority.look_at(now + SETTLED), evaluate(&authority)), (Look::Settled, Stance::Allow));
        // One that was there for a moment only was never read.
        replace(&path, "deny = [\"evaluate\"]\n");
        assert!(matches!(authority.look_at(now), Look::Changing(_)));
        replace(&path, "deny = [\"upload\"]\n");
        assert_eq!(authority.look_at(now + 2 * SETTLED), Look::Changing(SETTLED), "it is another again");
    }

    #[test]
    fn a_policy_is_compiled_once_for_each_command_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        let authority = Authority::load(path.clone()).unwrap();
        let hosts =
            |n: usize| Given { allow_hosts: vec![format!("{n}.test").parse().unwrap()], ..Given::default() };
        let rules = |given: &Given| std::ptr::from_ref(authority.policy(given).unwrap().rules()) as usize;
        let first = authority.policy(&hosts(0)).unwrap();
        assert_eq!(rules(&hosts(0)), std::ptr::from_ref(first.rules()) as usize);
        assert_ne!(rules(&hosts(1)), rules(&hosts(0)));
        for n in 0..3 * COMPILED {
            authority.policy(&hosts(n)).unwrap();
        }
        assert!(authority.0.compiled.lock().unwrap().of.len() <= COMPILED);
        replace(&path, "deny_hosts = [\"0.test\"]\n");
        settled(&authority);
        assert_eq!(authority.policy(&hosts(0)).unwrap().rules().layers.len(), 2, "the ceiling is another");
    }

    // contract: 10.1
    #[test]
    fn options_that_contradict_each_other_are_no_policy() {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::load(dir.path().join("policy.toml")).unwrap();
        let both =
            Given { allow: vec![Capability::Upload], deny: vec![Capability::Upload], ..Given::default() };
        let error = authority.policy(&both).unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidConfiguration);
        assert!(error.message.contains("upload stands in allow and in deny"), "{}", error.message);
    }
}
