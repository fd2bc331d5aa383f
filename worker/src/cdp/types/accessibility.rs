//! `Accessibility`: priming the tree, and single nodes.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::empty::Empty;
use crate::cdp::command::command;

/// Keeps the accessibility tree of the session's documents alive.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Enable {}
command!(Enable = "Accessibility.enable" -> Empty);

/// Lets the tree go.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Disable {}
command!(Disable = "Accessibility.disable" -> Empty);

/// Asks for a frame's root, which builds its tree.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetRootAXNode<'a> {
    /// The frame; the session's main one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<&'a str>,
}
command!(GetRootAXNode<'a> = "Accessibility.getRootAXNode" -> AxNodeReply);

/// A node.
#[derive(Clone, Debug, Deserialize)]
pub struct AxNodeReply {
    /// The node.
    pub node: AxNode,
}

/// Asks for a node; one of the ids is set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetPartialAXTree<'a> {
    /// The node by session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<i64>,
    /// The node by process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
    /// The node by handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<&'a str>,
    /// Whether ancestors, siblings and children come too.
    pub fetch_relatives: bool,
}
command!(GetPartialAXTree<'a> = "Accessibility.getPartialAXTree" -> AxNodes);

/// Nodes.
#[derive(Clone, Debug, Deserialize)]
pub struct AxNodes {
    /// The node first.
    pub nodes: Vec<AxNode>,
}

/// A node of the accessibility tree.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AxNode {
    /// Its id in the tree.
    pub node_id: String,
    /// Whether assistive technology does not see it.
    #[serde(default)]
    pub ignored: bool,
    /// Its role.
    pub role: Option<AxValue>,
    /// Its accessible name; page content.
    pub name: Option<AxValue>,
    /// Its description; page content.
    pub description: Option<AxValue>,
    /// Its value; page content.
    pub value: Option<AxValue>,
    /// Its states.
    #[serde(default)]
    pub properties: Vec<AxProperty>,
    /// Its parent.
    pub parent_id: Option<String>,
    /// Its children.
    #[serde(default)]
    pub child_ids: Vec<String>,
    /// Its DOM node by process id.
    #[serde(rename = "backendDOMNodeId")]
    pub backend_dom_node_id: Option<i64>,
    /// Its frame, at a root.
    pub frame_id: Option<String>,
}

/// A state.
#[derive(Clone, Debug, Deserialize)]
pub struct AxProperty {
    /// Such as `disabled`, `checked`, `expanded`.
    pub name: String,
    /// Its value.
    pub value: AxValue,
}

/// A value.
#[derive(Clone, Debug, Deserialize)]
pub struct AxValue {
    /// Such as `string`, `booleanOrUndefined`, `tristate`, `idref`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value, when it is simple.
    pub value: Option<Box<RawValue>>,
}
