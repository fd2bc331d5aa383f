//! `select`: choose options of a list (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Acted;

/// Choose an option of a list
///
/// Takes native lists, and by label also a list box, a combo box or a button that opens one, made by the page. What is
/// chosen is read back; when nothing fits, the options are listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Select {
    /// The list
    #[schemars(with = "String")]
    pub target: Locator,
    /// The option with this value
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The option with this text
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The option at this place, from 0
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Exactly the options with these values, of a list that takes several; an empty list chooses none
    #[arg(long, value_name = "V", num_args = 0..=64)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
}

impl Select {
    /// Most options in one call.
    pub const MAX_VALUES: usize = 64;
    /// Longest value or label, in bytes.
    pub const MAX_TEXT: usize = 4096;
}

impl Operation for Select {
    const FACTS: Facts = Facts {
        name: "select",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: true,
        targeted: true,
        framed: true,
    };
    const NAVIGATES: bool = true;
    const POINTS: bool = true;
    type Output = Acted;

    fn locators(&self) -> Vec<&Locator> {
        vec![&self.target]
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        let given = [self.value.is_some(), self.label.is_some(), self.index.is_some(), self.values.is_some()];
        if given.into_iter().filter(|given| *given).count() != 1 {
            return Err(super::InvalidParams("one of value, label, index and values is given".to_owned()));
        }
        let values = self.values.iter().flatten();
        for text in self.value.iter().chain(&self.label).chain(values) {
            super::at_most("an option's text", text.len(), Self::MAX_TEXT)?;
        }
        super::at_most("values", self.values.as_ref().map_or(0, Vec::len), Self::MAX_VALUES)
    }
}
