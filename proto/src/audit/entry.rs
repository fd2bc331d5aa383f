//! One entry of the audit log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What an entry tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// glassd began.
    Started,
    /// glassd ended in order.
    Stopped,
    /// What a crash left of a last line was cut off, or something of the log was gone.
    Recovered,
    /// Entries could not be written; `count` says how many.
    Gap,
    /// An operation was let through.
    Begun,
    /// An operation that was let through ended.
    Ended,
    /// An operation was refused before a session heard of it.
    Refused,
    /// A file was put into a session.
    Staged,
    /// A client asked for the end of an operation.
    Cancelled,
    /// A client asked for the end of a session.
    SessionClosed,
    /// A client asked for the end of glassd.
    StopAsked,
    /// A person took values out of a session's vault, or somebody tried to.
    SecretsExported,
    /// `policy.toml` was read anew.
    PolicyChanged,
    /// An operation waits for a person.
    ConfirmationAsked,
    /// A person, or the approver, agreed.
    ConfirmationGranted,
    /// A person, or the approver, said no.
    ConfirmationDenied,
    /// Somebody tried to decide and may not, or gave a wrong secret.
    ConfirmationRefused,
    /// Nobody decided, or nobody used what was granted.
    ConfirmationExpired,
}

impl Event {
    /// The word in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Stopped => "stopped",
            Self::Recovered => "recovered",
            Self::Gap => "gap",
            Self::Begun => "begun",
            Self::Ended => "ended",
            Self::Refused => "refused",
            Self::Staged => "staged",
            Self::Cancelled => "cancelled",
            Self::SessionClosed => "sessionClosed",
            Self::StopAsked => "stopAsked",
            Self::SecretsExported => "secretsExported",
            Self::PolicyChanged => "policyChanged",
            Self::ConfirmationAsked => "confirmationAsked",
            Self::ConfirmationGranted => "confirmationGranted",
            Self::ConfirmationDenied => "confirmationDenied",
            Self::ConfirmationRefused => "confirmationRefused",
            Self::ConfirmationExpired => "confirmationExpired",
        }
    }
}

/// What policy decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// It was allowed.
    Allow,
    /// It was allowed because a person had agreed.
    Confirmed,
    /// A person has to agree first.
    Confirm,
    /// It was denied.
    Deny,
}

/// The process that asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Client {
    /// What it calls itself: glassctl, mcp.
    pub name: String,
    /// Its user.
    pub uid: u32,
    /// Its process.
    pub pid: u32,
    /// The file that it runs, where that could be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<String>,
}

/// One entry. What does not belong to its event is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// When, in UTC with milliseconds.
    pub time: String,
    /// What it tells of.
    pub event: Event,
    /// The attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// Who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
    /// The session's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The operation's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What policy was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The host that the operation names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its parameters and options; texts as keyed hashes, the key of which glassd keeps in memory and never tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// How it ended: rejected, completed, failed or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The kind of its error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The closer reason of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it took, in milliseconds, its waiting included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// How many of the same this entry stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The confirmation that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation_id: Option<String>,
    /// What else belongs to the event.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Entry {
    /// An entry of this moment.
    pub fn new(event: Event) -> Self {
        Self {
            time: humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string(),
            event,
            execution_id: None,
            client: None,
            session: None,
            operation: None,
            capabilities: Vec::new(),
            decision: None,
            rule: None,
            host: None,
            arguments: None,
            outcome: None,
            kind: None,
            reason: None,
            ms: None,
            count: None,
            confirmation_id: None,
            details: Map::new(),
        }
    }

    /// With one more fact.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}
