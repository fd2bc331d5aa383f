//! Elements that are clickable by a listener alone (contract 3.2).
//!
//! Owns the questions to the browser, which alone knows listeners. They are asked of single elements: a question about
//! a whole tree (`depth: -1`) crashes renderers of Chromium 156 whose page replaces its tree, one about one element
//! does not. The page engine names elements that look as if they might have a listener, each once, few at a time.

use std::time::Duration;

use serde_json::{Value, json};

use super::engine::CHILD_ANSWER;
use super::state::FrameKey;
use super::{EngineError, Pages, Step};
use crate::cdp::types::dom::{DescribeNode, ResolveNode};
use crate::cdp::types::dom_debugger::GetEventListeners;

/// Elements that are asked about in one look at a document.
const MAX_ASKED: usize = 50;
/// Listeners that make an element something to click on.
const PRESSES: [&str; 6] = ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick"];

impl Pages {
    /// Tells the engine of one frame which elements listen for presses. True when something new was told.
    pub(super) async fn tell_listeners(&self, key: &FrameKey, limit: Duration) -> bool {
        let limit = if key.label == 0 { limit } else { limit.min(CHILD_ANSWER) };
        match tokio::time::timeout(limit, self.tell_listeners_of(key)).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::debug!(%error, frame = key.label, "listeners were not told");
                false
            }
            Err(_) => {
                tracing::debug!(frame = key.label, "listeners were not told in time");
                false
            }
        }
    }

    async fn tell_listeners_of(&self, key: &FrameKey) -> Result<bool, EngineError> {
        let Some(place) = self.state().place_of(key) else { return Ok(false) };
        let elements = self.elements(key, &place, "plain", &json!({ "limit": MAX_ASKED })).await?;
        if elements.is_empty() {
            return Ok(false);
        }
        let told = self.listening(key, &place.session, &place.group, &elements).await;
        let found = match told {
            Ok(told) if told.contains(&true) => {
                let step = Step("listening", json!({ "told": told }));
                self.run_with(key, vec![step], &elements)
                    .await
                    .and_then(|mut call| call.take::<Value>())
                    .map(|_| true)
            }
            Ok(_) => Ok(false),
            Err(error) => Err(error),
        };
        self.release(&place);
        found
    }

    /// Whether each of these elements listens. The listeners of the page are told of handles of its own world only.
    async fn listening(
        &self,
        key: &FrameKey,
        session: &str,
        group: &str,
        elements: &[String],
    ) -> Result<Vec<bool>, EngineError> {
        let described: Vec<_> = elements
            .iter()
            .map(|element| {
                let node =
                    DescribeNode { object_id: Some(element), depth: Some(0), ..DescribeNode::default() };
                self.client().start_send(Some(session), node)
            })
            .collect();
        let mut resolving = Vec::with_capacity(elements.len());
        for pending in described {
            let node = self.one(key, pending).await?.map(|reply| reply.node.backend_node_id);
            resolving.push(node.map(|node| {
                let resolve = ResolveNode {
                    backend_node_id: Some(node),
                    object_group: Some(group),
                    ..ResolveNode::default()
                };
                self.client().start_send(Some(session), resolve)
            }));
        }
        let mut asking = Vec::with_capacity(elements.len());
        for pending in resolving {
            let handle = match pending {
                Some(pending) => self.one(key, pending).await?.and_then(|reply| reply.object.object_id),
                None => None,
            };
            asking.push(handle.map(|handle| {
                self.client().start_send(Some(session), GetEventListeners { object_id: &handle })
            }));
        }
        let mut told = Vec::with_capacity(elements.len());
        for pending in asking {
            let reply = match pending {
                Some(pending) => self.one(key, pending).await?,
                None => None,
            };
            let presses = |kind: &str| PRESSES.contains(&kind);
            told.push(reply.is_some_and(|reply| reply.listeners.iter().any(|one| presses(&one.kind))));
        }
        Ok(told)
    }

    /// A reply about one element; none for one that is gone.
    async fn one<T: serde::de::DeserializeOwned>(
        &self,
        key: &FrameKey,
        pending: crate::cdp::Pending<T>,
    ) -> Result<Option<T>, EngineError> {
        match self.or_halt(&key.target, pending).await {
            Ok(reply) => Ok(Some(reply)),
            Err(error @ EngineError::Halted(_)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}
