//! Versions of the two protocols, and when two sides understand each other (contract 12.1, DESIGN 1).

/// Version of the client protocol that this build speaks.
///
/// 2: a client may narrow its policy, which a daemon that does not know of it would ignore. 2.1: `ShowExecution`.
pub const CLIENT: Version = Version { major: 2, minor: 1 };

/// Version of the worker protocol that this build speaks.
///
/// 2: an answer may have to leave out what fields hold, which a worker that does not know of it would tell.
pub const WORKER: Version = Version { major: 2, minor: 0 };

/// The version of the programs themselves, for messages.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// A protocol version: the same major version is compatible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Raised when an old side cannot understand a new one.
    pub major: u32,
    /// Raised when something was added.
    pub minor: u32,
}

impl Version {
    /// Whether a client of version `self` can use a daemon of version `other`.
    pub fn accepts_client(self, other: Version) -> bool {
        self.major == other.major
    }

    /// Whether a daemon of version `self` can use a worker of version `other`: its own and the previous minor
    /// version.
    pub fn accepts_worker(self, other: Version) -> bool {
        self.major == other.major && (other.minor == self.minor || other.minor + 1 == self.minor)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_takes_workers_of_its_own_and_the_previous_minor_version() {
        let daemon = Version { major: 1, minor: 3 };
        let takes = |major, minor| daemon.accepts_worker(Version { major, minor });
        assert!(takes(1, 3) && takes(1, 2));
        assert!(!takes(1, 1) && !takes(1, 4) && !takes(2, 3));
    }
}
