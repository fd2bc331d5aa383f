//! `DOM` and `DOMDebugger`: nodes by id, their boxes and listeners.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use super::remote::RemoteObject;
use crate::cdp::command::command;

/// Turns the domain on, which node ids need.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Enable {}
command!(Enable = "DOM.enable" -> Empty);

/// Turns the domain off and forgets node ids.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Disable {}
command!(Disable = "DOM.disable" -> Empty);

/// A node. Children nest, and a reply nested deeper than about 60 elements cannot be decoded: ask with a small depth, or flattened.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its id in this session; 0 when it was not pushed.
    #[serde(default)]
    pub node_id: i64,
    /// Its parent's id.
    pub parent_id: Option<i64>,
    /// Its id in the process.
    pub backend_node_id: i64,
    /// As in DOM: 1 is an element, 9 a document, 11 a shadow root.
    pub node_type: i64,
    /// Its name, upper case for HTML.
    #[serde(default)]
    pub node_name: String,
    /// Its local name.
    #[serde(default)]
    pub local_name: String,
    /// Its value.
    #[serde(default)]
    pub node_value: String,
    /// How many children it has.
    pub child_node_count: Option<i64>,
    /// As deep as was asked for.
    #[serde(default)]
    pub children: Vec<Node>,
    /// Names and values in turn.
    #[serde(default)]
    pub attributes: Vec<String>,
    /// Of a document.
    #[serde(rename = "documentURL")]
    pub document_url: Option<String>,
    /// Of a frame's owner element.
    pub frame_id: Option<String>,
    /// The document in a frame's owner element.
    pub content_document: Option<Box<Node>>,
    /// Its shadow root.
    #[serde(default)]
    pub shadow_roots: Vec<Node>,
    /// Which kind of shadow root this is.
    pub shadow_root_type: Option<ShadowRootType>,
    /// Which pseudo-element this is.
    pub pseudo_type: Option<String>,
}

/// Who made a shadow root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ShadowRootType {
    /// The browser, for its own controls.
    #[serde(rename = "user-agent")]
    UserAgent,
    /// The page, reachable by script.
    Open,
    /// The page, out of reach of script.
    Closed,
    /// A value that this version does not know.
    #[serde(other)]
    Other,
}

/// Asks for the document.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GetDocument {
    /// How deep, 1 when absent, -1 for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    /// Whether into frames and shadow roots.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pierce: bool,
}
command!(GetDocument = "DOM.getDocument" -> DocumentReply);

/// The document.
#[derive(Clone, Debug, Deserialize)]
pub struct DocumentReply {
    /// Its root.
    pub root: Node,
}

/// Asks for all nodes in one list.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GetFlattenedDocument {
    /// How deep, 1 when absent, -1 for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    /// Whether into frames and shadow roots.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pierce: bool,
}
command!(GetFlattenedDocument = "DOM.getFlattenedDocument" -> FlattenedDocument);

/// All nodes.
#[derive(Clone, Debug, Deserialize)]
pub struct FlattenedDocument {
    /// In document order.
    pub nodes: Vec<Node>,
}

/// Asks what a node is; one of the ids is set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribeNode<'a> {
    /// The node by session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<i64>,
    /// The node by process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
    /// The node by handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<&'a str>,
    /// How deep, 1 when absent, -1 for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    /// Whether into frames and shadow roots.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pierce: bool,
}
command!(DescribeNode<'a> = "DOM.describeNode" -> NodeReply);

/// A node.
#[derive(Clone, Debug, Deserialize)]
pub struct NodeReply {
    /// The node.
    pub node: Node,
}

/// Makes a script handle of a node; one of the ids is set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolveNode<'a> {
    /// The node by session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<i64>,
    /// The node by process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
    /// Where the handle is kept until the group is released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<&'a str>,
    /// The world of the handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_id: Option<i64>,
}
command!(ResolveNode<'a> = "DOM.resolveNode" -> Resolved);

/// A script handle.
#[derive(Clone, Debug, Deserialize)]
pub struct Resolved {
    /// The handle.
    pub object: RemoteObject,
}

/// Asks for the session id of a node by handle.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestNode<'a> {
    /// The handle.
    pub object_id: &'a str,
}
command!(RequestNode<'a> = "DOM.requestNode" -> NodeRequested);

/// A session id.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRequested {
    /// The node.
    pub node_id: i64,
}

/// Asks for the element that a frame is in; sent to the parent's session.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetFrameOwner<'a> {
    /// The frame.
    pub frame_id: &'a str,
}
command!(GetFrameOwner<'a> = "DOM.getFrameOwner" -> FrameOwner);

/// The element that a frame is in.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameOwner {
    /// By process id.
    pub backend_node_id: i64,
    /// By session id, when the document was asked for.
    pub node_id: Option<i64>,
}

/// Asks for a node's boxes; one of the ids is set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetContentQuads<'a> {
    /// The node by session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<i64>,
    /// The node by process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
    /// The node by handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<&'a str>,
}
command!(GetContentQuads<'a> = "DOM.getContentQuads" -> ContentQuads);

/// A node's boxes.
#[derive(Clone, Debug, Deserialize)]
pub struct ContentQuads {
    /// Corners x, y clockwise from the top left, in CSS pixels of the viewport.
    pub quads: Vec<[f64; 8]>,
}

/// Asks for the boxes of one element.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetBoxModel {
    /// The element.
    pub backend_node_id: i64,
}
command!(GetBoxModel = "DOM.getBoxModel" -> BoxModelReply);

/// The answer to [`GetBoxModel`].
#[derive(Clone, Debug, Deserialize)]
pub struct BoxModelReply {
    /// The boxes.
    pub model: BoxModel,
}

/// The boxes of one element, in CSS pixels of the viewport of its local root frame.
#[derive(Clone, Debug, Deserialize)]
pub struct BoxModel {
    /// Corners of the content box, clockwise from the top left one.
    pub content: [f64; 8],
}

/// Scrolls a node into view; one of the ids is set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScrollIntoViewIfNeeded<'a> {
    /// The node by process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
    /// The node by handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<&'a str>,
}
command!(ScrollIntoViewIfNeeded<'a> = "DOM.scrollIntoViewIfNeeded" -> Empty);

/// Focuses a node; one of the ids is set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Focus<'a> {
    /// The node by process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
    /// The node by handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<&'a str>,
}
command!(Focus<'a> = "DOM.focus" -> Empty);

/// Chooses files; one of the ids is set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetFileInputFiles<'a> {
    /// Paths as the browser sees them.
    pub files: &'a [&'a str],
    /// The node by process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
    /// The node by handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<&'a str>,
}
command!(SetFileInputFiles<'a> = "DOM.setFileInputFiles" -> Empty);
