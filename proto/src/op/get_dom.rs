//! `getDOM`: the document's elements as HTML or as a tree (contract 3.8).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::DomRead;

/// Print the elements of the page, as HTML or as a tree
///
/// As they are now, with shadow roots. Scripts, styles and data URIs are never shown, passwords and one-time codes are
/// masked. What is left out is counted; a frame's document is read with --frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GetDom {
    /// Only this element and what lies in it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target: Option<Locator>,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub format: DomFormat,
    /// Longest text in bytes (1024 to 262144)
    #[arg(long, value_name = "BYTES", default_value_t = GetDom::MAX_BYTES, value_parser = clap::value_parser!(u32).range(1024..=262_144))]
    #[serde(default = "GetDom::default_max_bytes")]
    #[schemars(range(min = 1024, max = 262_144))]
    pub max_bytes: u32,
    /// Whether what controls hold is shown (otherwise yes, as far as policy allows)
    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<bool>,
}

/// How elements are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum DomFormat {
    /// HTML
    #[default]
    Html,
    /// One line an element, indented
    Tree,
}

impl DomFormat {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Tree => "tree",
        }
    }
}

impl GetDom {
    /// Longest text, in bytes (contract 3.8).
    pub const MAX_BYTES: u32 = 256 * 1024;

    fn default_max_bytes() -> u32 {
        Self::MAX_BYTES
    }
}

impl Operation for GetDom {
    const FACTS: Facts = Facts {
        name: "getDOM",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = DomRead;

    fn locators(&self) -> Vec<&Locator> {
        self.target.iter().collect()
    }

    fn takes_scope(&self) -> bool {
        true
    }

    fn also_needs(&self) -> Vec<Capability> {
        if self.values == Some(true) { vec![Capability::ReadFormValues] } else { Vec::new() }
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::in_range("maxBytes", self.max_bytes, 1024..=Self::MAX_BYTES)
    }
}
