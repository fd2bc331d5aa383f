//! `clipboard`: the session's own clipboard (contract 7.8).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, TextInput, seconds};
use crate::result::ClipboardAnswered;

/// Read or write the session's own clipboard
///
/// It is what pages copy to and Control+v pastes from; no other session and no other program sees it, and Glass never
/// sees theirs. Text of at most 100000 characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Clipboard {
    /// What to do
    #[arg(value_enum)]
    pub action: ClipboardAction,
    /// For write: the text; `-` reads standard input
    #[arg(value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// For write: take the text from a file
    #[arg(long, value_name = "PATH", conflicts_with = "text")]
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// What is done with the clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ClipboardAction {
    /// Tell the text that it holds
    Read,
    /// Put a text there
    Write,
}

impl Clipboard {
    /// Most characters.
    pub const MAX_CHARS: usize = 100_000;
}

impl Operation for Clipboard {
    const FACTS: Facts = Facts {
        name: "clipboard",
        capability: Capability::Clipboard,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = ClipboardAnswered;

    fn text_input(&mut self) -> Option<TextInput<'_>> {
        if self.action == ClipboardAction::Read || (self.text.is_none() && self.file.is_none()) {
            return None;
        }
        Some(TextInput { text: self.text.get_or_insert_default(), file: &mut self.file })
    }

    fn check(&self) -> Result<(), InvalidParams> {
        match (self.action, &self.text) {
            (ClipboardAction::Read, None) if self.file.is_none() => Ok(()),
            (ClipboardAction::Read, _) => Err(InvalidParams("read takes no text".to_owned())),
            (ClipboardAction::Write, None) => Err(InvalidParams("write takes a text".to_owned())),
            (ClipboardAction::Write, Some(text)) => {
                super::at_most("text", text.chars().count(), Self::MAX_CHARS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_for_writing_and_bounded_in_characters() {
        let read = |action, text: Option<&str>| {
            Clipboard { action, text: text.map(str::to_owned), file: None }.check()
        };
        assert_eq!(read(ClipboardAction::Read, None), Ok(()));
        assert_eq!(read(ClipboardAction::Write, Some("")), Ok(()));
        assert_eq!(read(ClipboardAction::Write, Some(&"é".repeat(Clipboard::MAX_CHARS))), Ok(()));
        assert!(read(ClipboardAction::Write, Some(&"é".repeat(Clipboard::MAX_CHARS + 1))).is_err());
        assert!(read(ClipboardAction::Read, Some("x")).is_err());
        assert!(read(ClipboardAction::Write, None).is_err());
    }
}
