//! What `observeDelta` and `reconcileReferences` answer (contract 3.7, 3.8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acted::PageLine;
use super::observation::{LeftOut, Node};

/// What changed in the outline between two revisions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delta {
    /// The page now.
    pub page: PageLine,
    /// The revision that it is compared with.
    pub since_revision: u64,
    /// The same as text, one row a thing; the same that a person sees. Page data.
    pub outline: String,
    /// Rows that came.
    pub added: Vec<Node>,
    /// Rows that went.
    pub removed: Vec<NodeGone>,
    /// Rows that are otherwise than they were.
    pub changed: Vec<NodeChanged>,
    /// The page shows another document; what is in it counts as added.
    pub document_changed: bool,
    /// The visible text changed meanwhile.
    pub text_changed: bool,
    /// What was left out, and how to read it. Empty: everything is here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<LeftOut>,
}

/// A row that went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeGone {
    /// Its ref, where one was ever given out.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Its role.
    pub role: String,
    /// Its name, at most 256 characters. Page data.
    pub name: String,
}

/// A row that is otherwise than it was. What was the same before is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeChanged {
    /// The row now.
    pub node: Node,
    /// Its role before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_role: Option<String>,
    /// Its name before. Page data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_name: Option<String>,
    /// Its states before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_states: Option<Vec<String>>,
    /// Its value before; never of a password or one-time code. Page data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_value: Option<String>,
}

/// What became of refs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconciled {
    /// The page now.
    pub page: PageLine,
    /// The revision that the refs are of.
    pub from_revision: u64,
    /// One for each ref, in the order of the call.
    pub references: Vec<ReferenceNow>,
}

/// What became of one ref.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReferenceNow {
    /// The ref as it was given.
    pub from: String,
    /// What became of it.
    pub status: ReferenceStatus,
    /// The ref to use now; absent for a lost one.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Role of the element now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Name of the element now, at most 160 bytes. Page data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What a relocated one was told by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched_by: Option<String>,
    /// Why it is lost: detached, changed, navigated, ambiguous, unknown_ref, frame_unavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of a ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReferenceStatus {
    /// The same element, still what it was.
    Preserved,
    /// Another element came in its place.
    Relocated,
    /// There is none that is surely meant.
    Lost,
}
