//! `wait`: until the page is so (contract 8.1).

use std::fmt;
use std::str::FromStr;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locator::InvalidLocator;
use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, seconds};
use crate::result::Waited;

/// Wait until the page is so
///
/// Conditions: text=TEXT, title=TITLE, url=URL, visible=LOCATOR, hidden=LOCATOR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Wait {
    /// What to wait for
    #[schemars(with = "String")]
    pub condition: Condition,
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Condition {
    /// Visible text somewhere on the page holds this text.
    Text(String),
    /// The title is this text.
    Title(String),
    /// The URL is this one.
    Url(String),
    /// Exactly one visible element fits.
    Visible(Locator),
    /// No visible element fits.
    Hidden(Locator),
}

/// A text that is no condition.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidCondition {
    /// Unknown word.
    #[error("a condition is text=TEXT, title=TITLE, url=URL, visible=LOCATOR or hidden=LOCATOR")]
    Unknown,
    /// Nothing after the `=`.
    #[error("`{0}=` needs a value")]
    Empty(&'static str),
    /// The locator in it.
    #[error("{0}")]
    Locator(#[from] InvalidLocator),
}

impl FromStr for Condition {
    type Err = InvalidCondition;
    fn from_str(text: &str) -> Result<Self, InvalidCondition> {
        let (word, rest) = text.split_once('=').ok_or(InvalidCondition::Unknown)?;
        let value =
            |name| if rest.is_empty() { Err(InvalidCondition::Empty(name)) } else { Ok(rest.to_owned()) };
        match word.trim() {
            "text" => Ok(Self::Text(value("text")?)),
            "title" => Ok(Self::Title(value("title")?)),
            "url" => Ok(Self::Url(value("url")?)),
            "visible" => Ok(Self::Visible(rest.parse()?)),
            "hidden" => Ok(Self::Hidden(rest.parse()?)),
            _ => Err(InvalidCondition::Unknown),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "text={text}"),
            Self::Title(text) => write!(f, "title={text}"),
            Self::Url(text) => write!(f, "url={text}"),
            Self::Visible(locator) => write!(f, "visible={locator}"),
            Self::Hidden(locator) => write!(f, "hidden={locator}"),
        }
    }
}

impl TryFrom<String> for Condition {
    type Error = InvalidCondition;
    fn try_from(text: String) -> Result<Self, InvalidCondition> {
        text.parse()
    }
}

impl From<Condition> for String {
    fn from(value: Condition) -> String {
        value.to_string()
    }
}

impl Operation for Wait {
    const FACTS: Facts = Facts {
        name: "wait",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Watch,
        needs: Needs::OpenPage,
        timeout: seconds(10),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = Waited;

    fn locators(&self) -> Vec<&Locator> {
        match &self.condition {
            Condition::Visible(locator) | Condition::Hidden(locator) => vec![locator],
            Condition::Text(_) | Condition::Title(_) | Condition::Url(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for text in ["text=a=b", "title=T", "url=http://x/?a=b", "visible=role=button", "hidden=\"Save\""] {
            assert_eq!(text.parse::<Condition>().map(|c| c.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("networkidle".parse::<Condition>(), Err(InvalidCondition::Unknown));
        assert_eq!("text=".parse::<Condition>(), Err(InvalidCondition::Empty("text")));
        assert!(matches!("visible=a=b".parse::<Condition>(), Err(InvalidCondition::Locator(_))));
    }
}
