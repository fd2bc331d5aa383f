//! `fill`: replace the whole content of a field (contract 5.3, 5.6).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, TextInput, seconds};
use crate::result::Acted;

/// Replace the whole content of a field
///
/// The text is exact. The field is read back: a value that did not stick is an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Fill {
    /// The field
    #[schemars(with = "String")]
    pub target: Locator,
    /// What it shall hold; `-` reads standard input
    #[arg(
        required_unless_present = "file",
        allow_hyphen_values = false,
        default_value = "",
        hide_default_value = true
    )]
    pub text: String,
    /// Take the text from a file
    #[arg(long, value_name = "PATH", conflicts_with = "text")]
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

impl Fill {
    /// Longest text, in bytes.
    pub const MAX_TEXT: usize = 1024 * 1024;
}

impl Operation for Fill {
    const FACTS: Facts = Facts {
        name: "fill",
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

    fn text_input(&mut self) -> Option<TextInput<'_>> {
        Some(TextInput { text: &mut self.text, file: &mut self.file })
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::at_most("text", self.text.len(), Self::MAX_TEXT)
    }
}
