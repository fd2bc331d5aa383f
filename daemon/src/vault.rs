//! The vault of a session: values that `captureSecrets` took from its pages (contract 10.8).
//!
//! Owns the values, in locked memory of their own, their time and their bounds. They leave it for one operation that names
//! them (`crate::gate`), and to a person at a terminal (`crate::rpc`). The session's actor closes it, which wipes it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::result::{SecretRow, SecretsDeleted, SecretsListed};
use glass_proto::secret::{LIFETIME, LONGEST, MOST, MOST_BYTES, SecretName};
use glass_sandbox::LockedBytes;
use tokio::time::Instant;
use zeroize::Zeroizing;

/// How values are put into locked memory.
type Lock = fn(&[u8]) -> io::Result<LockedBytes>;

/// The secrets of one session.
pub struct Vault {
    lock: Lock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    closed: bool,
    kept: BTreeMap<SecretName, Kept>,
}

struct Kept {
    value: LockedBytes,
    until: Instant,
}

/// A value on its way.
pub type Value = Zeroizing<Vec<u8>>;

/// Why something is not kept.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// More than a session may have.
    #[error("the vault of a session holds at most {limit} {quota}")]
    Full {
        /// Of what.
        quota: &'static str,
        /// How many it may.
        limit: usize,
        /// How many there would be.
        used: usize,
    },
    /// The system locks no more memory, and secrets are kept in no other.
    #[error("this machine locks no more memory for glassd: {0}")]
    Memory(#[from] io::Error),
    /// The session is over.
    #[error("the session has ended")]
    Closed,
}

/// Names and values as texts, for what must not show them.
pub fn texts(all: &[(SecretName, Value)]) -> Vec<(&str, &str)> {
    all.iter().filter_map(|(name, value)| Some((name.as_str(), std::str::from_utf8(value).ok()?))).collect()
}

impl NotKept {
    /// The error of an operation that has done nothing yet.
    pub fn to_op_error(&self) -> OpError {
        let rejected = |kind, remedy: &str| OpError::rejected(kind, Phase::Policy, self.to_string(), remedy);
        match self {
            Self::Full { quota, limit, used } => rejected(
                ErrorKind::QuotaExceeded,
                "delete what is not needed with delete-secrets, or wait: each is kept for 10 minutes",
            )
            .detail("quota", format!("{quota} of a session"))
            .detail("limit", *limit)
            .detail("used", *used),
            Self::Memory(_) => rejected(
                ErrorKind::QuotaExceeded,
                "raise the limit that glassd is started under: `ulimit -l`, or LimitMEMLOCK= of its unit",
            )
            .reason("locked_memory")
            .detail("quota", "locked memory"),
            Self::Closed => rejected(ErrorKind::SessionFailed, "begin the session anew with navigate")
                .reason("session_closed"),
        }
    }
}

impl Default for Vault {
    fn default() -> Self {
        Self { lock: LockedBytes::copy_of, state: Mutex::default() }
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("kept", &self.state().kept.len()).finish_non_exhaustive()
    }
}

impl Vault {
    /// Whether there is room and memory for one more, before anything is done for it.
    ///
    /// # Errors
    /// See [`NotKept`].
    pub fn ready(&self) -> Result<(), NotKept> {
        let state = self.fresh();
        if state.closed {
            return Err(NotKept::Closed);
        }
        if state.kept.len() >= MOST {
            return Err(NotKept::Full { quota: "secrets", limit: MOST, used: state.kept.len() });
        }
        (self.lock)(&[0])?;
        Ok(())
    }

    /// Keeps all of these or, where one cannot be kept, none. A name that is there gets its new value. Answers how long.
    ///
    /// # Errors
    /// See [`NotKept`].
    pub fn keep(&self, values: Vec<(SecretName, Value)>) -> Result<Duration, NotKept> {
        let mut state = self.fresh();
        if state.closed {
            return Err(NotKept::Closed);
        }
        let until = Instant::now() + LIFETIME;
        let mut new = BTreeMap::new();
        for (name, value) in values {
            if value.len() > LONGEST {
                return Err(NotKept::Full { quota: "bytes a secret", limit: LONGEST, used: value.len() });
            }
            new.insert(name, Kept { value: (self.lock)(&value)?, until });
        }
        let rest = || state.kept.iter().filter(|(name, _)| !new.contains_key(*name)).map(|(_, kept)| kept);
        let count = rest().count() + new.len();
        if count > MOST {
            return Err(NotKept::Full { quota: "secrets", limit: MOST, used: count });
        }
        let bytes: usize = rest().chain(new.values()).map(|kept| kept.value.expose().len()).sum();
        if bytes > MOST_BYTES {
            return Err(NotKept::Full { quota: "bytes of secrets", limit: MOST_BYTES, used: bytes });
        }
        state.kept.extend(new);
        Ok(LIFETIME)
    }

    /// The values of these names.
    ///
    /// # Errors
    /// The first name that there is nothing of.
    pub fn values(&self, names: &[SecretName]) -> Result<Vec<(SecretName, Value)>, SecretName> {
        let state = self.fresh();
        let value = |name: &SecretName| {
            let kept = state.kept.get(name).ok_or_else(|| name.clone())?;
            Ok((name.clone(), Value::new(kept.value.expose().to_vec())))
        };
        names.iter().map(value).collect()
    }

    /// Every name with its value.
    pub fn all(&self) -> Vec<(SecretName, Value)> {
        let state = self.fresh();
        state
            .kept
            .iter()
            .map(|(name, kept)| (name.clone(), Value::new(kept.value.expose().to_vec())))
            .collect()
    }

    /// What there is.
    pub fn list(&self) -> SecretsListed {
        let (state, now) = (self.fresh(), Instant::now());
        let row = |(name, kept): (&SecretName, &Kept)| {
            let left = kept.until.saturating_duration_since(now);
            SecretRow {
                name: name.clone(),
                expires_in_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            }
        };
        SecretsListed { secrets: state.kept.iter().map(row).collect() }
    }

    /// Deletes these, or all where none is named.
    pub fn delete(&self, names: &[SecretName]) -> SecretsDeleted {
        let mut state = self.fresh();
        if names.is_empty() {
            let deleted = std::mem::take(&mut state.kept).into_keys().collect();
            return SecretsDeleted { deleted, absent: Vec::new() };
        }
        let mut gone = SecretsDeleted::default();
        for name in names {
            let list = if state.kept.remove(name).is_some() { &mut gone.deleted } else { &mut gone.absent };
            list.push(name.clone());
        }
        gone
    }

    /// When the next value's time is over.
    pub fn expires(&self) -> Option<Instant> {
        self.state().kept.values().map(|kept| kept.until).min()
    }

    /// Wipes what is over its time.
    pub fn expire(&self) {
        drop(self.fresh());
    }

    /// Wipes everything, and takes nothing more.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.kept.clear();
    }

    fn fresh(&self) -> MutexGuard<'_, State> {
        let now = Instant::now();
        let mut state = self.state();
        state.kept.retain(|_, kept| kept.until > now);
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> SecretName {
        text.parse().unwrap()
    }

    fn values(all: &[(&str, &[u8])]) -> Vec<(SecretName, Value)> {
        all.iter().map(|(of, value)| (name(of), Value::new(value.to_vec()))).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn values_are_kept_for_their_time_and_replaced_by_name() {
        let vault = Vault::default();
        vault.keep(values(&[("A", b"one"), ("B", b"two")])).unwrap();
        tokio::time::advance(LIFETIME / 2).await;
        vault.keep(values(&[("A", b"three")])).unwrap();
        let told = vault.values(&[name("A"), name("B")]).unwrap();
        assert_eq!(
            told.iter().map(|(_, value)| value.as_slice()).collect::<Vec<_>>(),
            [&b"three"[..], b"two"]
        );
        let half = u64::try_from(LIFETIME.as_millis() / 2).unwrap();
        assert_eq!(
            vault.list().secrets.iter().map(|row| row.expires_in_ms).collect::<Vec<_>>(),
            [2 * half, half]
        );
        tokio::time::advance(LIFETIME / 2).await;
        vault.expire();
        assert_eq!(vault.state().kept.len(), 1);
        assert_eq!(vault.values(&[name("B")]).unwrap_err(), name("B"));
        let gone = vault.delete(&[name("B"), name("A")]);
        assert_eq!((gone.deleted, gone.absent), (vec![name("A")], vec![name("B")]));
        assert_eq!(vault.expires(), None);
    }

    #[test]
    fn what_is_too_much_changes_nothing() {
        let vault = Vault::default();
        vault.keep(values(&[("A", b"one")])).unwrap();
        let long = vec![b'x'; LONGEST];
        let longer = vec![b'x'; LONGEST + 1];
        for too_much in [
            values(&[("A", b"two"), ("B", &longer)]),
            (0..=MOST).map(|n| (name(&format!("N{n}")), Value::new(Vec::new()))).collect(),
            (0..=MOST_BYTES / LONGEST).map(|n| (name(&format!("N{n}")), Value::new(long.clone()))).collect(),
        ] {
            let error = vault.keep(too_much).unwrap_err().to_op_error();
            assert_eq!(error.kind, ErrorKind::QuotaExceeded);
            assert!(error.details.contains_key("limit"), "{error:?}");
            assert_eq!(vault.values(&[name("A")]).unwrap()[0].1.as_slice(), b"one");
            assert_eq!(vault.list().secrets.len(), 1);
        }
    }

    // contract: 10.8
    #[test]
    fn where_memory_cannot_be_locked_nothing_is_kept() {
        let refuse: Lock = |_| Err(io::Error::from_raw_os_error(12));
        let vault = Vault { lock: refuse, ..Vault::default() };
        for error in [vault.ready().unwrap_err(), vault.keep(values(&[("A", b"very-secret")])).unwrap_err()] {
            let error = error.to_op_error();
            assert_eq!(
                (error.kind, error.reason.as_deref()),
                (ErrorKind::QuotaExceeded, Some("locked_memory"))
            );
            assert!(!error.message.contains("very-secret"));
        }
        assert_eq!(vault.list().secrets, []);
    }

    #[test]
    fn a_closed_vault_is_empty_and_takes_nothing() {
        let vault = Vault::default();
        vault.keep(values(&[("A", b"very-secret")])).unwrap();
        assert!(!format!("{vault:?}").contains("very"));
        vault.close();
        assert!(matches!(vault.ready(), Err(NotKept::Closed)));
        assert!(matches!(vault.keep(values(&[("A", b"one")])), Err(NotKept::Closed)));
        assert_eq!(vault.list().secrets, []);
    }
}
