//! Which policy holds: `policy.toml` as it is now, and what each client's command line makes of it (contract 10.1, 10.2).
//!
//! Owns the reading of the file. A file that cannot be read as meant stops the start; one that becomes so later changes
//! nothing, is told in the log and to whoever asks, and the policy before it holds on. A file that is removed changes
//! nothing either: a policy never grows wider because something went missing. Decides nothing: `glass_policy` does.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use glass_policy::decide::Policy;
use glass_policy::egress::Source;
use glass_policy::file;
use glass_policy::layer::{Contradiction, Given, Layer};
use glass_proto::authority::{self, Told, UnknownItem};
use glass_proto::error::{ErrorKind, OpError, Phase};
use tokio::sync::watch;

/// The largest policy file that is read, in bytes.
const MAX_FILE: u64 = 256 * 1024;
/// How often it is looked at.
pub const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long a file must have been left alone: an editor may be in the middle of writing it.
const SETTLED: Duration = Duration::from_millis(200);

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
}

#[derive(Debug)]
struct Seen {
    stamp: Option<Stamp>,
    mistakes: Vec<String>,
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
        let (layer, seen) = (watch::Sender::new(Arc::new(layer)), Seen { stamp, mistakes: Vec::new() });
        Ok(Self(Arc::new(Shared { path, layer, seen: Mutex::new(seen) })))
    }

    /// What the daemon's side says now.
    pub fn daemon(&self) -> Arc<Layer> {
        self.0.layer.borrow().clone()
    }

    /// Told each time when the daemon's side changes.
    pub fn changes(&self) -> watch::Receiver<Arc<Layer>> {
        self.0.layer.subscribe()
    }

    /// What holds for a client.
    ///
    /// # Errors
    /// `invalid_configuration` where its command line contradicts itself.
    pub fn policy(&self, client: &Given) -> Result<Policy, Box<OpError>> {
        let client = if client.is_empty() {
            Layer::silent_client()
        } else {
            client.clone().compile(Source::Client).map_err(|wrong| contradiction(&wrong))?
        };
        Ok(Policy::new(self.daemon(), Arc::new(client)))
    }

    /// Looks at the file, and takes what it says now if that can be used. `at_once`: also if it was written just now.
    pub fn look(&self, at_once: bool) {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let there = match stamp(&self.0.path) {
            Ok(there) => there,
            // It cannot even be looked at: what holds, holds on.
            Err(_) => return,
        };
        match there {
            Some((stamp, _)) if Some(stamp) == seen.stamp => return,
            Some((_, changed)) if !at_once && changed.elapsed().is_ok_and(|age| age < SETTLED) => return,
            None if seen.stamp.is_none() => return,
            _ => {}
        }
        let found = read(&self.0.path).and_then(|found| match found {
            Some((stamp, text)) => Ok((Some(stamp), Some(parse(&self.0.path, &text)?))),
            None => Ok((None, None)),
        });
        match found {
            Ok((stamp, Some(layer))) => {
                (seen.stamp, seen.mistakes) = (stamp, Vec::new());
                tracing::info!(path = %self.0.path.display(), "the policy was read anew");
                self.0.layer.send_if_modified(|old| {
                    let other = **old != layer;
                    *old = Arc::new(layer);
                    other
                });
            }
            Ok((_, None)) => {
                let gone = format!(
                    "{} is gone; what it said holds until glassd starts again",
                    self.0.path.display()
                );
                tracing::warn!("{gone}");
                (seen.stamp, seen.mistakes) = (None, vec![gone]);
            }
            Err(error) => {
                tracing::error!(%error, "the policy before it holds on");
                (seen.stamp, seen.mistakes) = (there.map(|(stamp, _)| stamp), error.lines());
            }
        }
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

fn stamp(path: &Path) -> io::Result<Option<(Stamp, SystemTime)>> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some((of(&found), found.modified()?))),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn of(found: &std::fs::Metadata) -> Stamp {
    Stamp(found.ino(), found.size(), found.ctime(), found.ctime_nsec())
}

fn read(path: &Path) -> Result<Option<(Stamp, String)>, PolicyError> {
    let fail = |error| PolicyError::Read { path: path.to_owned(), error };
    let file = match File::open(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        other => other.map_err(fail)?,
    };
    let found = file.metadata().map_err(fail)?;
    let own = nix::unistd::geteuid().as_raw();
    if found.mode() & 0o002 != 0 || ![0, own].contains(&found.uid()) {
        return Err(fail(io::Error::other("others can write to it, so it decides nothing")));
    }
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(fail)?;
    if text.len() as u64 > MAX_FILE {
        return Err(fail(io::Error::other("it is larger than 256 KiB")));
    }
    Ok(Some((of(&found), text)))
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

    #[test]
    fn a_broken_or_lost_file_leaves_the_policy_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        fs::write(&path, "deny = [\"evaluate\"]\n").unwrap();
        let authority = Authority::load(path.clone()).unwrap();
        let mistakes = || authority.tell(&Given::default(), &[]).unwrap().mistakes;
        replace(&path, "deny = [\n");
        authority.look(true);
        assert_eq!(evaluate(&authority), Stance::Deny);
        assert!(mistakes()[0].contains("policy.toml:"), "{:?}", mistakes());
        fs::remove_file(&path).unwrap();
        authority.look(true);
        assert_eq!(evaluate(&authority), Stance::Deny);
        assert!(mistakes()[0].contains("is gone"));
        replace(&path, "deny = [\"upload\"]\n");
        authority.look(true);
        assert_eq!((evaluate(&authority), mistakes()), (Stance::Allow, vec![]));
    }

    #[test]
    fn a_file_that_is_being_written_is_left_to_settle() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        fs::write(&path, "deny = [\"evaluate\"]\n").unwrap();
        let authority = Authority::load(path.clone()).unwrap();
        fs::write(&path, "").unwrap();
        authority.look(false);
        assert_eq!(evaluate(&authority), Stance::Deny, "an empty file may be one half written");
        authority.look(true);
        assert_eq!(evaluate(&authority), Stance::Allow);
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
