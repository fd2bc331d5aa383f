//! The secret that a person proves to be one with: kept as a hash in the configuration, asked for on the terminal.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

/// Longest secret, in bytes.
pub const MAX_SECRET: usize = 1024;
/// Shortest secret, in characters: three tries for each confirmation are many tries in a night.
const MIN_SECRET: usize = 8;

/// The hash of a secret, in the PHC form: `$argon2id$…`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretHash(String);

impl std::fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretHash")
    }
}

impl std::str::FromStr for SecretHash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = PasswordHash::new(text).ok().filter(|hash| hash.algorithm.as_str() == "argon2id");
        match parsed {
            Some(_) => Ok(Self(text.to_owned())),
            None => Err("that is no hash of a secret; `glassctl config secret` makes one"),
        }
    }
}

impl SecretHash {
    /// The hash of a secret with the parameters that argon2 recommends and a salt of its own.
    ///
    /// # Errors
    /// It is too short or too long, or there is no randomness.
    pub fn of(secret: &str) -> Result<String, String> {
        if secret.chars().count() < MIN_SECRET || secret.len() > MAX_SECRET {
            return Err(format!(
                "a secret has at least {MIN_SECRET} characters and at most {MAX_SECRET} bytes"
            ));
        }
        let hash: Result<PasswordHash, _> = Argon2::default().hash_password(secret.as_bytes());
        hash.map(|hash| hash.to_string()).map_err(|error| format!("the secret cannot be hashed: {error}"))
    }

    /// Whether this is the secret. Takes a moment and 19 MiB on purpose.
    pub fn is(&self, secret: &str) -> bool {
        let Ok(hash) = PasswordHash::new(&self.0) else { return false };
        Argon2::default().verify_password(secret.as_bytes(), &hash).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_hash_and_short_ones_are_none() {
        let hash: SecretHash = SecretHash::of("correct horse").unwrap().parse().unwrap();
        assert!(hash.is("correct horse") && !hash.is("correct horsf") && !hash.is(""));
        assert!(SecretHash::of("short").is_err());
        for wrong in ["", "secret", "$argon2i$v=19$m=16,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g"] {
            assert!(wrong.parse::<SecretHash>().is_err(), "{wrong}");
        }
        assert_eq!(format!("{hash:?}"), "SecretHash");
    }
}
