//! `selectText`: select text (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Acted;

/// Select text in a field or element
///
/// By UTF-16 offsets, or by the text itself. Without either everything is selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SelectText {
    /// The field, editor or other element
    #[schemars(with = "String")]
    pub target: Locator,
    /// First UTF-16 unit, from 0
    #[arg(long, value_name = "N", conflicts_with_all = ["text", "occurrence"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// Behind the last UTF-16 unit
    #[arg(long, value_name = "N", conflicts_with_all = ["text", "occurrence"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u32>,
    /// The text to select
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Which of several, from 1
    #[arg(long, value_name = "N", requires = "text")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u32>,
}

impl SelectText {
    /// Longest text that is looked for, in bytes.
    pub const MAX_TEXT: usize = 65_536;
}

impl Operation for SelectText {
    const FACTS: Facts = Facts {
        name: "selectText",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: true,
        targeted: true,
        framed: true,
    };
    type Output = Acted;

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        let invalid = |text: &str| Err(super::InvalidParams(text.to_owned()));
        if self.text.is_some() && (self.start.is_some() || self.end.is_some()) {
            return invalid("text is given or start and end, not both");
        }
        if self.occurrence.is_some() && self.text.is_none() {
            return invalid("occurrence counts a text, and there is none");
        }
        if self.text.as_ref().is_some_and(String::is_empty) || self.occurrence == Some(0) {
            return invalid("text is not empty, and occurrence counts from 1");
        }
        super::at_most("text", self.text.as_ref().map_or(0, String::len), Self::MAX_TEXT)
    }
}
