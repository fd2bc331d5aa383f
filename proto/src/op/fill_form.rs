//! `fillForm`: several fields in one call (contract 5.3).

use std::str::FromStr;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Fill, Lane, Locator, Needs, Operation, seconds};
use crate::result::FormFilled;

/// Fill several fields
///
/// One after the other, each checked and read back. Stops at the first that fails, and says which were done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FillForm {
    /// Each as LOCATOR := TEXT, such as 'label=Name := Ann'; at most 16
    #[arg(required = true, value_name = "FIELD")]
    #[schemars(length(min = 1, max = 16))]
    pub fields: Vec<FormField>,
}

/// One field and what it shall hold: one of `text`, `checked` and `option`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FormField {
    /// The field
    #[schemars(with = "String")]
    pub target: Locator,
    /// Its whole content
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether a check box or switch is ticked
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<bool>,
    /// The option of a list, by its text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
}

/// A field of the command line that has no `LOCATOR := TEXT`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a field is written LOCATOR := TEXT, such as 'label=Name := Ann'")]
pub struct InvalidField;

impl FromStr for FormField {
    type Err = InvalidField;
    fn from_str(field: &str) -> Result<Self, InvalidField> {
        let (target, text) = field.split_once(":=").ok_or(InvalidField)?;
        let target = target.trim_end().parse().map_err(|_| InvalidField)?;
        // One space behind the sign belongs to it; all other white space to the text.
        let text = text.strip_prefix(' ').unwrap_or(text).to_owned();
        Ok(Self { target, text: Some(text), checked: None, option: None })
    }
}

impl FillForm {
    /// Most fields in one call.
    pub const MAX_FIELDS: usize = 16;
}

impl Operation for FillForm {
    const FACTS: Facts = Facts {
        name: "fillForm",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(15),
        guarded: true,
        targeted: true,
        framed: true,
    };
    const POINTS: bool = true;
    type Output = FormFilled;

    fn locators(&self) -> Vec<&Locator> {
        self.fields.iter().map(|field| &field.target).collect()
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::at_least_one("fields", self.fields.len())?;
        super::at_most("fields", self.fields.len(), Self::MAX_FIELDS)?;
        for field in &self.fields {
            let given = [field.text.is_some(), field.checked.is_some(), field.option.is_some()];
            if given.into_iter().filter(|given| *given).count() != 1 {
                return Err(super::InvalidParams(
                    "each field has one of text, checked and option".to_owned(),
                ));
            }
            super::at_most("text", field.text.as_ref().map_or(0, String::len), Fill::MAX_TEXT)?;
            super::at_most("option", field.option.as_ref().map_or(0, String::len), 4096)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_command_line_is_a_locator_and_a_text() {
        let field: FormField = "label=Name :=  Ann := B".parse().unwrap();
        assert_eq!(field.target, "label=Name".parse().unwrap());
        assert_eq!(field.text.as_deref(), Some(" Ann := B"));
        assert_eq!("label=Name:=".parse::<FormField>().unwrap().text.as_deref(), Some(""));
        assert_eq!("label=Name".parse::<FormField>(), Err(InvalidField));
        assert_eq!(":= x".parse::<FormField>(), Err(InvalidField));
    }

    #[test]
    fn each_field_has_one_wish() {
        let wrong = r#"{"fields":[{"target":"e1","text":"a","checked":true}]}"#;
        assert!(serde_json::from_str::<FillForm>(wrong).unwrap().check().is_err());
        assert!(serde_json::from_str::<FillForm>(r#"{"fields":[]}"#).unwrap().check().is_err());
    }
}
