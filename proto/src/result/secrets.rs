//! What the operations of the vault answer: names and times, never a value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Evidence;
use crate::secret::SecretName;

/// What was taken into the vault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretsCaptured {
    /// Names of what is kept now; one that was there before has its new value.
    #[schemars(with = "Vec<String>")]
    pub names: Vec<SecretName>,
    /// How long they are kept, in milliseconds.
    pub expires_in_ms: u64,
    /// The page.
    pub target_id: String,
    /// The frame that the code ran in, when not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
    /// Revision when the operation began.
    pub previous_revision: u64,
    /// Revision when it ended.
    pub revision: u64,
    /// What was measured beside it.
    pub evidence: Evidence,
}

/// What the vault holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretsListed {
    /// In the order of their names.
    pub secrets: Vec<SecretRow>,
}

/// A secret, without its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretRow {
    /// Its name.
    #[schemars(with = "String")]
    pub name: SecretName,
    /// How long it is kept still, in milliseconds.
    pub expires_in_ms: u64,
}

/// What was deleted from the vault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretsDeleted {
    /// Names of what was deleted.
    #[schemars(with = "Vec<String>")]
    pub deleted: Vec<SecretName>,
    /// Names that were given and are none of a secret, or not any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub absent: Vec<SecretName>,
}
