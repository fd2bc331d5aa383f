//! The tools: every operation of the one list, as MCP clients can take it (contract 9.5).
//!
//! Names, schemas and annotations come from the operations' definitions. What only MCP knows of a tool (its toolset,
//! older names of arguments) is the table in `table.rs`.

mod answer;
mod arguments;
mod schema;
mod table;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use glass_proto::op::{AnyOperation, CallOptions, Effect, Facts, Interaction, OPERATIONS};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::own;

pub use answer::{Answered, error_text, failure, success};
pub use arguments::{Call, prepare};
pub use table::Toolset;
pub use words::spoken;

/// Which tools are listed. All others can be called all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Everything.
    All,
    /// The table of the Glass seed.
    Seed,
    /// Some sets.
    Sets(Vec<Toolset>),
}

impl Default for Listed {
    fn default() -> Self {
        Self::Sets(vec![Toolset::Core])
    }
}

/// A text that names no toolsets.
#[derive(Debug, thiserror::Error)]
#[error("tools are `all`, `seed`, or some of {} with commas between", Toolset::names())]
pub struct InvalidTools;

impl FromStr for Listed {
    type Err = InvalidTools;
    fn from_str(text: &str) -> Result<Self, InvalidTools> {
        match text {
            "all" => Ok(Self::All),
            "seed" => Ok(Self::Seed),
            sets => {
                let sets = sets.split(',').map(|name| Toolset::from_name(name.trim()).ok_or(InvalidTools));
                sets.collect::<Result<_, _>>().map(Self::Sets)
            }
        }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Seed => f.write_str("seed"),
            Self::Sets(sets) => {
                let names: Vec<_> = sets.iter().map(|set| set.name()).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}

impl Listed {
    /// Whether a tool of this name is listed.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Seed => table::in_seed(name),
            Self::Sets(sets) => sets.contains(&table::toolset(name)),
        }
    }
}

/// One tool.
#[derive(Debug)]
pub struct Entry {
    /// The operation.
    pub facts: &'static Facts,
    /// Schemas of the operation's own parameters, by name.
    pub params: Map<String, Value>,
}

/// All tools.
#[derive(Debug)]
pub struct Tools {
    entries: HashMap<&'static str, Entry>,
    /// Schemas of the options that every operation takes.
    options: Map<String, Value>,
    listed: Vec<Tool>,
    /// How calls move the pointer that do not say.
    interaction: Interaction,
}

impl Tools {
    /// The tools of this build. `sessions`: whether a call may name a session.
    pub fn new(listed: &Listed, sessions: bool) -> Self {
        let options = schema::properties(&schema::portable(schemars_of_options()));
        let mut entries = HashMap::new();
        let mut tools = Vec::new();
        for facts in OPERATIONS {
            let Some((params, result)) = AnyOperation::schemas(facts.name) else { continue };
            let root = schema::portable(Value::from(params));
            let entry = Entry { facts, params: schema::properties(&root) };
            if listed.has(facts.name) {
                let mut tool = tool(&entry, &root, &options, sessions);
                if table::has_output(facts.name) {
                    tool.output_schema = Some(Arc::new(schema::output(Value::from(result))));
                }
                tools.push(tool);
            }
            entries.insert(facts.name, entry);
        }
        tools.extend(own::listed(listed));
        Self { entries, options, listed: tools, interaction: Interaction::Fast }
    }

    /// The same for a process whose calls move the pointer like this, unless they say otherwise.
    #[must_use]
    pub fn moving(self, interaction: Interaction) -> Self {
        Self { interaction, ..self }
    }

    /// The tools that are listed, always in the same order.
    pub fn listed(&self) -> &[Tool] {
        &self.listed
    }

    /// A tool by its name, listed or not.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// The name, where it is one of a tool.
    pub fn known(&self, name: &str) -> Option<&'static str> {
        self.get(name).map(|entry| entry.facts.name).or_else(|| own::name(name))
    }

    /// The name that was probably meant.
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        let scored = self.entries.keys().map(|known| (strsim::jaro_winkler(known, name), *known));
        scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
    }
}

fn schemars_of_options() -> Value {
    Value::from(glass_proto::op::schema::<CallOptions>())
}

fn tool(entry: &Entry, root: &Value, options: &Map<String, Value>, sessions: bool) -> Tool {
    let facts = entry.facts;
    let mut properties = entry.params.clone();
    for (name, schema) in table::argument_forms(facts.name, &entry.params) {
        properties.insert(name.to_owned(), schema);
    }
    for name in table::listed_options(facts) {
        if let Some(option) = options.get(*name)
            && !properties.contains_key(*name)
        {
            // What they mean stands once in the instructions.
            let schema = match *name {
                // Its values stand in the instructions too.
                "observe" => json!({ "type": "string" }),
                "expect" => json!({ "type": "object" }),
                _ => schema::without_words(option),
            };
            properties.insert((*name).to_owned(), schema);
        }
    }
    if sessions {
        properties.insert("session".to_owned(), json!({ "type": "string" }));
    }
    let required: Vec<Value> = root
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|name| !name.as_str().is_some_and(|name| table::has_other_form(facts.name, name)))
        .cloned()
        .collect();
    let mut input = JsonObject::new();
    input.insert("type".to_owned(), "object".into());
    input.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        input.insert("required".to_owned(), required.into());
    }
    let description = schema::description(root);
    let title = words::title(facts.name);
    Tool::new(facts.name, description, Arc::new(input)).with_title(title).with_annotations(annotations(facts))
}

/// What a client may believe of a tool, from what is known of its operation.
fn annotations(facts: &Facts) -> ToolAnnotations {
    let reads = facts.effect == Effect::Read;
    let mild = table::is_mild(facts.name);
    ToolAnnotations::new()
        .read_only(reads)
        .destructive(!reads && !mild)
        .idempotent(reads || table::is_idempotent(facts.name))
        .open_world(true)
}

#[cfg(test)]
mod tests;
