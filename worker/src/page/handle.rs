//! Handles of elements in the page's own world, for scripts that are given one.

use std::sync::Arc;

use serde_json::json;

use super::state::FrameKey;
use super::{EngineError, Pages};
use crate::cdp::types::dom::{DescribeNode, ResolveNode};

impl Pages {
    /// The CDP session of an element's frame, and a handle of it in the page's own world. The handle belongs to `group`.
    ///
    /// # Errors
    /// [`EngineError::Gone`] when the element or its document is not there any more.
    pub async fn page_handle(
        &self,
        key: &FrameKey,
        node: u32,
        group: &str,
    ) -> Result<(Arc<str>, String), EngineError> {
        let place = self.state().place_of(key).ok_or(EngineError::Gone)?;
        let own = self.call_for_object(key, &place, "node", &json!({ "ref": node })).await?;
        // A failure of the engine's is an object too.
        let own =
            own.object_id.filter(|_| own.subtype.as_deref() == Some("node")).ok_or(EngineError::Gone)?;
        let describe = DescribeNode { object_id: Some(&own), depth: Some(0), ..DescribeNode::default() };
        let described = self.client().start_send(Some(&place.session), describe);
        let node = self.or_halt(&key.target, described).await?.node.backend_node_id;
        let resolve =
            ResolveNode { backend_node_id: Some(node), object_group: Some(group), ..ResolveNode::default() };
        let resolved = self.client().start_send(Some(&place.session), resolve);
        let handle = self.or_halt(&key.target, resolved).await?.object.object_id;
        self.release(&place);
        Ok((place.session, handle.ok_or(EngineError::Gone)?))
    }
}
