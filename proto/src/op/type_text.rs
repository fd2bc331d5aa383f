//! `type`: put text in at the caret (contract 5.3, 5.6).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, TextInput, seconds};
use crate::result::Acted;
use crate::secret::SecretName;

/// Put text in at the caret
///
/// Without a target it goes where the focus is. With one, the field is focused first, its caret at the end unless it
/// had the focus. Fill replaces a field's whole content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Type {
    /// The text; `-` reads standard input
    #[arg(
        required_unless_present_any = ["file", "secret"],
        allow_hyphen_values = false,
        default_value = "",
        hide_default_value = true
    )]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Name of a secret of the vault in place of the text
    #[arg(long, value_name = "NAME", conflicts_with_all = ["text", "file"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub secret: Option<SecretName>,
    /// The field that it goes into, and nowhere else; keys without a target follow the focus
    #[arg(long, value_name = "LOCATOR")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target: Option<Locator>,
    /// insert puts it in at once; keys presses a key for each character, 500 at most, and Enter for a line break; compose
    /// composes it as an input method for Chinese or Japanese does, 500 characters at most
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub mode: TypeMode,
    /// Milliseconds between keys, 0 to 100; 20 when not given
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 100))]
    pub delay_ms: Option<u32>,
    /// Take the text from a file
    #[arg(long, value_name = "PATH", conflicts_with = "text")]
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// How text is put in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum TypeMode {
    /// At once, as an input method does
    #[default]
    Insert,
    /// By keys
    Keys,
    /// Word by word as an input method composes it, with composition events
    Compose,
}

impl Type {
    /// Most characters that are typed by keys or composed.
    pub const MAX_KEYS: usize = 500;

    /// Whether a text can be put in this way.
    ///
    /// # Errors
    /// It is too long for it.
    pub fn fits(&self, text: &str) -> Result<(), super::InvalidParams> {
        match self.mode {
            TypeMode::Insert => super::at_most("text", text.len(), super::Fill::MAX_TEXT),
            TypeMode::Keys | TypeMode::Compose => {
                super::at_most("text", text.chars().count(), Self::MAX_KEYS)
            }
        }
    }

    /// Milliseconds between keys.
    pub fn delay(&self) -> u32 {
        self.delay_ms.unwrap_or(20)
    }
}

impl Operation for Type {
    const FACTS: Facts = Facts {
        name: "type",
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
    type Output = Acted;

    fn locators(&self) -> Vec<&Locator> {
        self.target.iter().collect()
    }

    fn secrets(&self) -> Vec<SecretName> {
        self.secret.iter().cloned().collect()
    }

    fn text_input(&mut self) -> Option<TextInput<'_>> {
        self.secret.is_none().then_some(TextInput { text: &mut self.text, file: &mut self.file })
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        if self.secret.is_none() {
            super::at_least_one("text", self.text.len())?;
        } else if !self.text.is_empty() {
            return Err(super::InvalidParams("give a text or the name of a secret, not both".to_owned()));
        }
        super::in_range("delayMs", self.delay(), 0..=100)?;
        match self.mode {
            TypeMode::Insert | TypeMode::Compose if self.delay_ms.is_some() => Err(super::InvalidParams(
                "delayMs is the time between keys; only mode keys has some".to_owned(),
            )),
            _ => self.fits(&self.text),
        }
    }
}
