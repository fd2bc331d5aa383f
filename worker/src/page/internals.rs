//! States that custom elements gave themselves through `ElementInternals`, which script cannot read (contract 3.2).
//!
//! Owns the questions to the browser's accessibility tree. Only documents in which an element has a role that no
//! attribute gave it are asked about, at every look: nothing tells when such a state changes.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::engine::CHILD_ANSWER;
use super::state::FrameKey;
use super::{EngineError, Pages, Step};
use crate::cdp::types::accessibility::{AxNode, AxValue, GetPartialAXTree};

/// What the page engine is told of one element.
#[derive(Debug, Serialize)]
struct Told {
    states: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

impl Pages {
    /// Whether a look found elements in this target whose states must be asked for.
    pub fn has_internals(&self, target: &str) -> bool {
        self.state().target(target).is_some_and(|target| target.frames.values().any(|frame| frame.internals))
    }

    /// Tells the engines of the frames that have such elements what their states are now, within `limit`. Failures are
    /// logged only: the states stay as they were told last.
    pub async fn tell_internals(&self, target: &str, limit: Duration) {
        let keys: Vec<FrameKey> = {
            let state = self.state();
            let Some(target) = state.target(target) else { return };
            let having = target.frames.iter().filter(|(_, frame)| frame.internals);
            having.filter_map(|(id, _)| target.key(id)).collect()
        };
        let asking = keys.iter().map(|key| async move {
            let limit = if key.label == 0 { limit } else { limit.min(CHILD_ANSWER) };
            match tokio::time::timeout(limit, self.tell_internals_of(key)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, frame = key.label, "internals were not told"),
                Err(_) => tracing::debug!(frame = key.label, "internals were not told in time"),
            }
        });
        futures_util::future::join_all(asking).await;
    }

    async fn tell_internals_of(&self, key: &FrameKey) -> Result<(), EngineError> {
        let Some(place) = self.state().place_of(key) else { return Ok(()) };
        let elements = self.elements(key, &place, "internalHosts", &json!({})).await?;
        if elements.is_empty() {
            return Ok(());
        }
        let asked: Vec<_> = elements
            .iter()
            .map(|element| {
                let node = GetPartialAXTree { object_id: Some(element), ..GetPartialAXTree::default() };
                self.client().start_send(Some(&place.session), node)
            })
            .collect();
        let mut told = Vec::with_capacity(asked.len());
        for pending in asked {
            match self.or_halt(&key.target, pending).await {
                Ok(reply) => told.push(reply.nodes.first().map(read)),
                Err(error @ EngineError::Halted(_)) => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, "an element's internals were not told");
                    told.push(None);
                }
            }
        }
        let step = Step("internals", json!({ "told": told }));
        let answer = self
            .run_with(key, vec![step], &elements)
            .await
            .and_then(|mut call| call.take::<serde_json::Value>());
        self.release(&place);
        answer.map(|_| ())
    }
}

fn read(node: &AxNode) -> Told {
    let property = |name: &str| node.properties.iter().find(|property| property.name == name);
    let word = |name: &str| property(name).and_then(|property| text(&property.value)).unwrap_or_default();
    let mut states = Vec::new();
    let mut when = |name: &str, wanted: &str, state: &'static str| {
        if word(name) == wanted {
            states.push(state);
        }
    };
    when("disabled", "true", "disabled");
    when("checked", "true", "checked");
    when("checked", "false", "unchecked");
    when("checked", "mixed", "mixed");
    when("expanded", "true", "expanded");
    when("expanded", "false", "collapsed");
    when("required", "true", "required");
    when("readonly", "true", "readonly");
    when("selected", "true", "selected");
    when("pressed", "true", "pressed");
    when("pressed", "mixed", "mixed");
    when("modal", "true", "modal");
    when("busy", "true", "busy");
    let invalid = word("invalid");
    if !invalid.is_empty() && invalid != "false" {
        states.push("invalid");
    }
    let value = Some(word("valuetext")).filter(|text| !text.is_empty());
    let value = value.or_else(|| node.value.as_ref().and_then(text)).filter(|text| !text.is_empty());
    Told { states, level: word("level").parse().ok(), value }
}

/// A simple value as text.
fn text(value: &AxValue) -> Option<String> {
    let raw = value.value.as_ref()?.get();
    Some(serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{AxNode, read};

    #[test]
    fn states_of_a_node_become_the_outlines_words() {
        let node: AxNode = serde_json::from_str(
            r#"{"nodeId":"1","properties":[
                {"name":"checked","value":{"type":"tristate","value":"false"}},
                {"name":"invalid","value":{"type":"token","value":"false"}},
                {"name":"disabled","value":{"type":"boolean","value":true}},
                {"name":"level","value":{"type":"integer","value":3}}]}"#,
        )
        .expect("a node");
        let told = read(&node);
        assert_eq!(told.states, ["disabled", "unchecked"]);
        assert_eq!((told.level, told.value), (Some(3), None));
    }
}
