//! The generated messages, and what turns them into domain types and back. Nothing else names `gen`.

pub use crate::r#gen::glass_v1 as client;
pub use crate::r#gen::glass_worker_v1 as worker;

use glass_policy::layer::Given;

use crate::error::OpError;
use crate::id::ClientId;
use crate::version::{self, Version};

/// Largest message either side takes, in bytes: a result of evaluate (1 MiB), an observation (200 KiB) and
/// parameters (1 MiB of text, escaped) fit with room.
pub const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Largest piece of an artifact, in bytes (DESIGN 1).
pub const CHUNK: usize = 256 * 1024;

/// What a client says of itself.
#[derive(Clone, Debug)]
pub struct Caller {
    /// glassctl, mcp, http, test.
    pub kind: String,
    /// Leases and selection belong to it.
    pub id: ClientId,
    /// The protocol that it speaks.
    pub version: Version,
    /// The program's own version.
    pub program: String,
    /// What its command line narrows the policy to.
    pub policy: Given,
}

impl Caller {
    /// Whose selection and last observation its operations go by. Commands of a shell live for one call each and
    /// share theirs, which has the empty name (contract 7.1).
    pub fn viewer(&self) -> String {
        if self.kind == "glassctl" { String::new() } else { self.id.to_string() }
    }

    /// Whether somebody at a shell may be behind it; clients of MCP and HTTP are programs (contract 1.4).
    pub fn is_person(&self) -> bool {
        !matches!(self.kind.as_str(), "mcp" | "http")
    }
}

/// A hello that cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum HelloError {
    /// There is none.
    #[error("the request has no hello")]
    Missing,
    /// The client id is malformed.
    #[error("the hello's client id is malformed")]
    ClientId,
    /// A policy option cannot be read: it must not be ignored.
    #[error("the hello's policy cannot be read: {0}")]
    Policy(String),
    /// Other major version.
    #[error("this daemon ({daemon}) speaks protocol {ours} and the client ({client}) speaks {theirs}; {}", remedy(*.ours, *.theirs))]
    Version {
        /// Ours.
        ours: Version,
        /// Theirs.
        theirs: Version,
        /// Version of this program.
        daemon: &'static str,
        /// Version of theirs.
        client: String,
    },
}

fn remedy(ours: Version, theirs: Version) -> &'static str {
    if theirs.major > ours.major {
        "the daemon is older: stop it with `glassctl daemon stop`, the next command starts the new one"
    } else {
        "the client is older: use the glassctl that was installed with the daemon"
    }
}

impl client::Hello {
    /// The hello of a client of this build.
    pub fn new(kind: &str, id: &ClientId) -> Self {
        Self {
            major: version::CLIENT.major,
            minor: version::CLIENT.minor,
            client_kind: kind.to_owned(),
            client_id: id.to_string(),
            program_version: version::PROGRAM.to_owned(),
            policy: None,
        }
    }

    /// The same with what the client's command line narrows the policy to.
    #[must_use]
    pub fn under(mut self, policy: &Given) -> Self {
        self.policy = (!policy.is_empty()).then(|| policy.into());
        self
    }

    /// Reads and checks a hello (contract 12.1).
    pub fn check(hello: Option<Self>) -> Result<Caller, HelloError> {
        let hello = hello.ok_or(HelloError::Missing)?;
        let theirs = Version { major: hello.major, minor: hello.minor };
        if !version::CLIENT.accepts_client(theirs) {
            return Err(HelloError::Version {
                ours: version::CLIENT,
                theirs,
                daemon: version::PROGRAM,
                client: crate::escape::cut(&hello.program_version, 32).into_owned(),
            });
        }
        let id = hello.client_id.parse().map_err(|_| HelloError::ClientId)?;
        let policy = hello.policy.map(Given::try_from).transpose().map_err(HelloError::Policy)?;
        let (kind, program, policy) = (hello.client_kind, hello.program_version, policy.unwrap_or_default());
        Ok(Caller { kind, id, version: theirs, program, policy })
    }
}

impl From<&Given> for client::PolicyFlags {
    fn from(given: &Given) -> Self {
        fn texts<T: ToString>(items: &[T]) -> Vec<String> {
            items.iter().map(T::to_string).collect()
        }
        Self {
            preset: given.preset.map(|preset| preset.to_string()).unwrap_or_default(),
            allow: texts(&given.allow),
            confirm: texts(&given.asked()),
            deny: texts(&given.deny),
            allow_hosts: texts(&given.allow_hosts),
            allow_subresource_hosts: texts(&given.allow_subresource_hosts),
            deny_hosts: texts(&given.deny_hosts),
            confirm_once: texts(&given.confirm_once),
        }
    }
}

impl TryFrom<client::PolicyFlags> for Given {
    type Error = String;

    fn try_from(flags: client::PolicyFlags) -> Result<Self, String> {
        fn read<T: std::str::FromStr<Err: std::fmt::Display>>(texts: &[String]) -> Result<Vec<T>, String> {
            texts.iter().map(|text| text.parse().map_err(|error: T::Err| error.to_string())).collect()
        }
        let preset = match flags.preset.as_str() {
            "" => None,
            name => Some(name.parse().map_err(|error| format!("{error}"))?),
        };
        Ok(Self {
            preset,
            allow: read(&flags.allow)?,
            confirm: read(&flags.confirm)?,
            confirm_once: read(&flags.confirm_once)?,
            deny: read(&flags.deny)?,
            allow_hosts: read(&flags.allow_hosts)?,
            allow_subresource_hosts: read(&flags.allow_subresource_hosts)?,
            deny_hosts: read(&flags.deny_hosts)?,
            require_egress: false,
        })
    }
}

/// An error as JSON. Cut to its bound (8 KiB, contract 2.6) by leaving out candidates and details.
pub fn encode_error(error: &OpError) -> Vec<u8> {
    const MAX: usize = 8 * 1024;
    let mut error = error.clone();
    loop {
        // Text, numbers and JSON under names: there is nothing in it that could not be written.
        let json = serde_json::to_vec(&error).unwrap_or_default();
        if json.len() <= MAX {
            return json;
        }
        if error.candidates.pop().is_none() {
            error.details.clear();
            return serde_json::to_vec(&error).unwrap_or_default();
        }
    }
}
