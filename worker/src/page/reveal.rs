//! What script in a page cannot see: closed shadow roots, and elements that are clickable by a listener alone
//! (contract 3.2).
//!
//! Owns the questions to the browser and what was told of each document. The page engine names the elements that may
//! hold a closed root, and decides what a listener makes of an element. Hooks nothing in a page; works within a time
//! limit, and what it misses is found at the next look.
//!
//! Cost: a document without candidates and new listeners takes one round trip (the first time two, in parallel with
//! it). Listing the listeners of 20,000 elements takes Chromium about 2 ms, so that there is no bound on the
//! document's size, only on the elements that are told of at once. One trace is known: listing listeners compiles
//! inline handlers, so that a handler with a syntax error reports it before it is first called.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
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
/// Elements with listeners that are told to the engine in one look at a document.
const MAX_LISTENERS: usize = 300;
/// An element that listens to so many kinds of events listens for all that it holds.
const DELEGATE_KINDS: usize = 16;
/// Kinds of events that a press makes.
const PRESS: &[&str] = &["click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup"];

/// Calls a method whose answer is an object. A number: there is no engine for this document.
const CALL: &str = "(m,a)=>{const g=globalThis.glass;return g&&g.made===document?g.call(m,a,[]):0}";

/// Names the handles of one look.
static LOOKS: AtomicU64 = AtomicU64::new(0);

/// What the engine of a document was told. Holds for one world only.
#[derive(Debug, Default)]
pub(super) struct Revealed {
    world: Option<Arc<str>>,
    /// Handle of the document, which lives as long as its world.
    document: Option<Arc<str>>,
    /// Elements whose listeners the engine knows of, by process id.
    told: HashSet<i64>,
}

/// Where a document is asked.
struct Place {
    session: Arc<str>,
    world: Arc<str>,
    number: i64,
    document: Option<Arc<str>>,
    /// Group of the handles that are made.
    group: String,
}

#[derive(Deserialize)]
struct Marked {
    marked: u64,
}

impl Pages {
    /// Tells the engine of each frame of its closed roots and its listeners. True when something new was told.
    ///
    /// Takes at most `limit`, and in child frames as long as any look. Failures are logged only: what was not found
    /// is not seen, as before.
    pub async fn reveal(&self, target: &str, limit: Duration) -> bool {
        let keys = self.state().target(target).map(super::Target::keys).unwrap_or_default();
        let looks = keys.iter().map(|key| async move {
            let limit = if key.label == 0 { limit } else { limit.min(CHILD_ANSWER) };
            match tokio::time::timeout(limit, self.reveal_in(key)).await {
                Ok(found) => found,
                Err(_) => {
                    tracing::debug!(frame = key.label, "closed roots and listeners were not told in time");
                    false
                }
            }
        });
        futures_util::future::join_all(looks).await.contains(&true)
    }

    async fn reveal_in(&self, key: &FrameKey) -> bool {
        let Some(place) = self.state().place_of(key) else { return false };
        let (roots, listeners) = tokio::join!(self.tell_roots(key, &place), self.tell_listeners(key, &place));
        let told = |what: &'static str, outcome: Result<bool, EngineError>| {
            outcome.unwrap_or_else(|error| {
                tracing::debug!(%error, frame = key.label, what, "not told");
                false
            })
        };
        let (roots, listeners) = (told("closed roots", roots), told("listeners", listeners));
        roots || listeners
    }

    async fn tell_roots(&self, key: &FrameKey, place: &Place) -> Result<bool, EngineError> {
        let mut left = MAX_HOSTS;
        let mut found = false;
        for round in 0..MAX_ROUNDS {
            let hosts = self.hosts(key, place, json!({ "limit": left, "done": round > 0 })).await?;
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

    /// Handles of the elements that may hold a closed root.
    async fn hosts(&self, key: &FrameKey, place: &Place, args: Value) -> Result<Vec<String>, EngineError> {
        let mut answer = self.call_for_object(key, place, &args).await?;
        if answer.kind == "number" {
            // A window that is used again for its next document: any call through `run` brings the engine.
            self.run(key, vec![Step("last", json!({}))]).await?;
            answer = self.call_for_object(key, place, &args).await?;
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

    async fn call_for_object(
        &self,
        key: &FrameKey,
        place: &Place,
        args: &Value,
    ) -> Result<RemoteObject, EngineError> {
        let (method, args) = (to_raw_value("hosts")?, to_raw_value(args)?);
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

    async fn tell_listeners(&self, key: &FrameKey, place: &Place) -> Result<bool, EngineError> {
        let document = self.document(key, place).await?;
        let list = dom::GetEventListeners { object_id: &document, depth: Some(-1), pierce: true };
        let list = self.or_halt(&key.target, self.client().start_send(Some(&place.session), list)).await?;
        let pressed = pressed(&list.listeners);
        let fresh = self.state().untold(key, &pressed);
        if fresh.is_empty() {
            return Ok(false);
        }
        let handles = self.resolve(key, place, &fresh).await?;
        let mut marked = 0;
        if !handles.is_empty() {
            let mut call = self.run_with(key, vec![Step("listeners", json!({}))], &handles).await?;
            marked = call.take::<Marked>()?.marked;
        }
        self.state().note_told(key, fresh);
        self.release(place);
        Ok(marked > 0)
    }

    /// A handle of the document in the engine's world; the page's listeners are listed there too.
    async fn document(&self, key: &FrameKey, place: &Place) -> Result<Arc<str>, EngineError> {
        if let Some(document) = &place.document {
            return Ok(document.clone());
        }
        let document = runtime::Evaluate {
            expression: "document",
            unique_context_id: Some(&place.world),
            silent: true,
            ..runtime::Evaluate::default()
        };
        let document =
            self.or_halt(&key.target, self.client().start_send(Some(&place.session), document)).await?;
        let document: Arc<str> = document.result.object_id.ok_or(EngineError::Gone)?.into();
        self.state().note_document(key, &document);
        Ok(document)
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

    fn release(&self, place: &Place) {
        drop(self.start(&place.session, runtime::ReleaseObjectGroup { object_group: &place.group }));
    }
}

/// The closed roots that the page attached to an element, by process id.
fn closed_roots(node: &dom::Node) -> impl Iterator<Item = i64> + '_ {
    let closed =
        node.shadow_roots.iter().filter(|root| root.shadow_root_type == Some(ShadowRootType::Closed));
    closed.map(|root| root.backend_node_id)
}

/// Elements that listen for a press themselves, in document order, each once.
fn pressed(listeners: &[dom::EventListener]) -> Vec<i64> {
    let mut kinds: HashMap<i64, HashSet<&str>> = HashMap::new();
    let mut order = Vec::new();
    for listener in listeners {
        let Some(node) = listener.backend_node_id else { continue };
        let of_node = kinds.entry(node).or_insert_with(|| {
            order.push(node);
            HashSet::new()
        });
        of_node.insert(&listener.kind);
    }
    order.retain(|node| {
        let of_node = &kinds[node];
        of_node.len() < DELEGATE_KINDS && PRESS.iter().any(|kind| of_node.contains(kind))
    });
    order
}

impl State {
    /// None: the document is gone, or its world is still being made.
    fn place_of(&mut self, key: &FrameKey) -> Option<Place> {
        let frame = self.targets.get_mut(&key.target)?.frames.get_mut(&key.frame)?;
        let (world, number) = (frame.world.clone()?, frame.world_number?);
        if frame.generation != key.generation {
            return None;
        }
        let revealed = &mut frame.revealed;
        if revealed.world.as_ref() != Some(&world) {
            *revealed = Revealed { world: Some(world.clone()), ..Revealed::default() };
        }
        let look = LOOKS.fetch_add(1, Ordering::Relaxed);
        Some(Place {
            session: frame.session.clone(),
            world,
            number,
            document: revealed.document.clone(),
            group: format!("glass-reveal-{look}"),
        })
    }

    fn revealed(&mut self, key: &FrameKey) -> Option<&mut Revealed> {
        let frame = self.targets.get_mut(&key.target)?.frames.get_mut(&key.frame)?;
        (frame.generation == key.generation).then_some(&mut frame.revealed)
    }

    fn note_document(&mut self, key: &FrameKey, document: &Arc<str>) {
        if let Some(revealed) = self.revealed(key) {
            revealed.document = Some(document.clone());
        }
    }

    /// Those that the engine does not know of, within the bound; ones that are gone are forgotten.
    fn untold(&mut self, key: &FrameKey, pressed: &[i64]) -> Vec<i64> {
        let Some(revealed) = self.revealed(key) else { return Vec::new() };
        let present: HashSet<i64> = pressed.iter().copied().collect();
        revealed.told.retain(|node| present.contains(node));
        pressed.iter().copied().filter(|node| !revealed.told.contains(node)).take(MAX_LISTENERS).collect()
    }

    fn note_told(&mut self, key: &FrameKey, nodes: Vec<i64>) {
        if let Some(revealed) = self.revealed(key) {
            revealed.told.extend(nodes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(node: i64, kind: &str) -> dom::EventListener {
        dom::EventListener {
            kind: kind.to_owned(),
            use_capture: false,
            passive: false,
            once: false,
            backend_node_id: Some(node),
        }
    }

    #[test]
    fn elements_that_listen_for_a_press_are_named_once() {
        let listeners = [
            listener(4, "click"),
            listener(4, "mousedown"),
            listener(2, "keydown"),
            listener(3, "pointerup"),
        ];
        assert_eq!(pressed(&listeners), [4, 3]);
    }

    #[test]
    fn who_listens_to_everything_listens_for_others() {
        let kinds = (0..DELEGATE_KINDS).map(|number| listener(1, &format!("kind{number}")));
        let listeners: Vec<_> = kinds.chain([listener(1, "click"), listener(2, "click")]).collect();
        assert_eq!(pressed(&listeners), [2]);
    }
}
