//! What script in a page cannot see: closed shadow roots (contract 3.2).
//!
//! Owns the questions to the browser. The page engine names the elements that may hold such a root. Hooks nothing in a
//! page; works within a time limit, and what it misses is found at the next look. A document without candidates takes
//! one round trip.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::engine::CHILD_ANSWER;
use super::state::FrameKey;
use super::{EngineError, Pages, State, Step};
use crate::cdp::types::dom::{self, ShadowRootType};
use crate::cdp::types::remote::{CallArgument, RemoteObject};
use crate::cdp::types::runtime;

/// Elements that are asked about in one look at a document.
const MAX_HOSTS: usize = 200;
/// Looks for closed roots in closed roots that were just found.
const MAX_ROUNDS: usize = 4;

/// Calls a method whose answer is an object. A number: there is no engine for this document.
const CALL: &str = "(m,a)=>{const g=globalThis.glass;return g&&g.made===document?g.call(m,a,[]):0}";

/// Names the handles of one look.
static LOOKS: AtomicU64 = AtomicU64::new(0);

/// Where a document is asked.
pub(super) struct Place {
    pub(super) session: Arc<str>,
    world: Arc<str>,
    number: i64,
    /// Group of the handles that are made.
    pub(super) group: String,
}

impl Pages {
    /// Tells the engine of each frame of its closed roots and of what listens for presses. True when something new was told.
    ///
    /// Takes at most `limit`, and in child frames as long as any look. Failures are logged only: what was not found
    /// is not seen, as before.
    pub async fn reveal(&self, target: &str, limit: Duration) -> bool {
        let keys = self.state().target(target).map(super::Target::keys).unwrap_or_default();
        let looks = keys.iter().map(|key| async move {
            let short = if key.label == 0 { limit } else { limit.min(CHILD_ANSWER) };
            let roots = async {
                tokio::time::timeout(short, self.reveal_in(key)).await.unwrap_or_else(|_| {
                    tracing::debug!(frame = key.label, "closed roots were not told in time");
                    false
                })
            };
            let (roots, listeners) = tokio::join!(roots, self.tell_listeners(key, limit));
            roots || listeners
        });
        futures_util::future::join_all(looks).await.contains(&true)
    }

    async fn reveal_in(&self, key: &FrameKey) -> bool {
        let Some(place) = self.state().place_of(key) else { return false };
        self.tell_roots(key, &place).await.unwrap_or_else(|error| {
            tracing::debug!(%error, frame = key.label, "closed roots were not told");
            false
        })
    }

    async fn tell_roots(&self, key: &FrameKey, place: &Place) -> Result<bool, EngineError> {
        let mut left = MAX_HOSTS;
        let mut found = false;
        for round in 0..MAX_ROUNDS {
            let hosts =
                self.elements(key, place, "hosts", &json!({ "limit": left, "done": round > 0 })).await?;
            if hosts.is_empty() {
                break;
            }
            left = left.saturating_sub(hosts.len());
            let described: Vec<_> = hosts
                .iter()
                .map(|host| {
                    let describe = dom::DescribeNode {
                        object_id: Some(host),
                        depth: Some(0),
                        ..dom::DescribeNode::default()
                    };
                    self.client().start_send(Some(&place.session), describe)
                })
                .collect();
            let mut roots = Vec::new();
            for pending in described {
                match self.or_halt(&key.target, pending).await {
                    Ok(reply) => roots.extend(closed_roots(&reply.node)),
                    Err(error @ EngineError::Halted(_)) => return Err(error),
                    Err(error) => tracing::debug!(%error, "an element was not described"),
                }
            }
            let handles = self.resolve(key, place, &roots).await?;
            if !handles.is_empty() {
                self.run_with(key, vec![Step("closedRoot", json!({}))], &handles).await?.take::<Value>()?;
                found = true;
            }
            self.release(place);
        }
        Ok(found)
    }

    /// Handles of the elements that a method of the engine names.
    pub(super) async fn elements(
        &self,
        key: &FrameKey,
        place: &Place,
        method: &str,
        args: &Value,
    ) -> Result<Vec<String>, EngineError> {
        let mut answer = self.call_for_object(key, place, method, args).await?;
        if answer.kind == "number" {
            // A window that is used again for its next document: any call through `run` brings the engine.
            self.run(key, vec![Step("last", json!({}))]).await?;
            answer = self.call_for_object(key, place, method, args).await?;
        }
        let list = match (answer.subtype.as_deref(), &answer.object_id) {
            (Some("null"), _) => return Ok(Vec::new()),
            (Some("array"), Some(list)) => list,
            _ => {
                tracing::debug!(kind = %answer.kind, "the page engine named no elements");
                return Ok(Vec::new());
            }
        };
        let items = runtime::GetProperties { object_id: list, own_properties: true };
        let items = self.or_halt(&key.target, self.client().start_send(Some(&place.session), items)).await?;
        let nodes =
            items.result.into_iter().filter(|item| item.name.bytes().all(|digit| digit.is_ascii_digit()));
        Ok(nodes.filter_map(|item| item.value?.object_id).collect())
    }

    pub(super) async fn call_for_object(
        &self,
        key: &FrameKey,
        place: &Place,
        method: &str,
        args: &Value,
    ) -> Result<RemoteObject, EngineError> {
        let (method, args) = (to_raw_value(method)?, to_raw_value(args)?);
        let arguments =
            [&method, &args].map(|value| CallArgument { value: Some(value), ..CallArgument::default() });
        let call = runtime::CallFunctionOn {
            function_declaration: CALL,
            unique_context_id: Some(&place.world),
            arguments: &arguments,
            object_group: Some(&place.group),
            silent: true,
            ..runtime::CallFunctionOn::default()
        };
        Ok(self.or_halt(&key.target, self.client().start_send(Some(&place.session), call)).await?.result)
    }

    /// Handles of nodes in the engine's world; those that are gone are left out.
    async fn resolve(
        &self,
        key: &FrameKey,
        place: &Place,
        nodes: &[i64],
    ) -> Result<Vec<String>, EngineError> {
        let resolving: Vec<_> = nodes
            .iter()
            .map(|node| {
                let resolve = dom::ResolveNode {
                    backend_node_id: Some(*node),
                    object_group: Some(&place.group),
                    execution_context_id: Some(place.number),
                    ..dom::ResolveNode::default()
                };
                self.client().start_send(Some(&place.session), resolve)
            })
            .collect();
        let mut handles = Vec::new();
        for pending in resolving {
            match self.or_halt(&key.target, pending).await {
                Ok(reply) => handles.extend(reply.object.object_id),
                Err(error @ EngineError::Halted(_)) => return Err(error),
                Err(error) => tracing::debug!(%error, "a node has no handle"),
            }
        }
        Ok(handles)
    }

    pub(super) fn release(&self, place: &Place) {
        drop(self.start(&place.session, runtime::ReleaseObjectGroup { object_group: &place.group }));
    }
}

/// The closed roots that the page attached to an element, by process id.
fn closed_roots(node: &dom::Node) -> impl Iterator<Item = i64> + '_ {
    let closed =
        node.shadow_roots.iter().filter(|root| root.shadow_root_type == Some(ShadowRootType::Closed));
    closed.map(|root| root.backend_node_id)
}

impl State {
    /// None: the document is gone, or its world is still being made.
    pub(super) fn place_of(&mut self, key: &FrameKey) -> Option<Place> {
        let frame = self.targets.get_mut(&key.target)?.frames.get_mut(&key.frame)?;
        let (world, number) = (frame.world.clone()?, frame.world_number?);
        if frame.generation != key.generation {
            return None;
        }
        let look = LOOKS.fetch_add(1, Ordering::Relaxed);
        Some(Place { session: frame.session.clone(), world, number, group: format!("glass-reveal-{look}") })
    }
}
