//! `acceptDialog` and `dismissDialog`: answer a JavaScript dialog (contract 5.5).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::DialogAnswered;

/// Accept the open dialog
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AcceptDialog {
    /// What to answer a prompt
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_text: Option<String>,
    /// Only if this dialog is the open one
    #[arg(long, value_name = "ID")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog_id: Option<String>,
}

/// Dismiss the open dialog
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DismissDialog {
    /// Only if this dialog is the open one
    #[arg(long, value_name = "ID")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog_id: Option<String>,
}

const FACTS: Facts = Facts {
    name: "acceptDialog",
    capability: Capability::Input,
    effect: Effect::Mutation,
    lane: Lane::Control,
    needs: Needs::OpenPage,
    timeout: seconds(5),
    guarded: false,
    targeted: true,
    framed: false,
};

impl AcceptDialog {
    /// Longest prompt text, in bytes.
    pub const MAX_TEXT: usize = 64 * 1024;
}

impl Operation for AcceptDialog {
    const FACTS: Facts = FACTS;
    const NAVIGATES: bool = true;
    type Output = DialogAnswered;

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::at_most("promptText", self.prompt_text.as_ref().map_or(0, String::len), Self::MAX_TEXT)
    }
}

impl Operation for DismissDialog {
    const FACTS: Facts = Facts { name: "dismissDialog", ..FACTS };
    const NAVIGATES: bool = true;
    type Output = DialogAnswered;
}
