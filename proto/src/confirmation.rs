//! What a person is told of a call that waits for them, and what they decided (contract 10.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::Client;

/// What whoever agreed had to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Protection {
    /// A terminal of its own, apart from the program that asked.
    Terminal,
    /// That, and a secret.
    Secret,
    /// A program that the configuration names decided.
    Approver,
}

impl Protection {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Secret => "secret",
            Self::Approver => "approver",
        }
    }
}

/// A call that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The confirmation's id.
    pub confirmation_id: String,
    /// The operation.
    pub operation: String,
    /// What it is, in one line; without any text of the call.
    pub summary: String,
    /// What a person is asked about.
    pub capabilities: Vec<String>,
    /// The rule that asks.
    pub rule_id: String,
    /// The session's name.
    pub session: String,
    /// The host that the operation names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Who asked.
    pub client: Client,
    /// Whether it was granted and not used yet.
    pub granted: bool,
    /// Milliseconds until it is over.
    pub left_ms: u64,
}

/// The same for whoever decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// The call.
    #[serde(flatten)]
    pub pending: Pending,
    /// Its parameters and options as JSON; long ones without their middle.
    pub arguments: String,
    /// What whoever agrees has to pass.
    pub protection: Protection,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The confirmation's id.
    pub confirmation_id: String,
    /// Whether the call may be made, once, within the next minute.
    pub granted: bool,
    /// What whoever decided had to pass.
    pub protection: Protection,
    /// What that is not good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
