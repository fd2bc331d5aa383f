//! `wait`: until the page is so (contract 8.1).

use std::fmt;
use std::str::FromStr;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locator::InvalidLocator;
use super::predicate::{CountOf, InvalidCount};
use super::{Capability, Effect, Facts, InvalidParams, Lane, Locator, Needs, Operation, seconds};
use crate::result::Waited;

/// Wait until the page is so
///
/// Conditions: visible=, hidden=, attached=, detached=, enabled=, disabled= or stable=LOCATOR, count=LOCATOR;N,
/// text=TEXT, gone-text=TEXT, title=TITLE, url=URL, url-prefix=START, url-glob=GLOB,
/// lifecycle=domcontentloaded|load|networkidle, network-quiet=MS, dialog, popup, download, revision-after=N,
/// js=EXPRESSION (which may only read).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Wait {
    /// What to wait for
    #[schemars(with = "String")]
    pub condition: Condition,
    /// How many of the elements that fit the condition is about (of visible, attached, enabled, disabled, stable)
    #[arg(long = "match", value_enum, value_name = "HOW")]
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<Match>,
}

/// How many of the elements that fit a condition is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum Match {
    /// One; a second one ends the wait
    #[default]
    Unique,
    /// At least one
    Any,
    /// All, and there is one
    All,
}

/// What an element is waited to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Become {
    /// Seen by a person.
    Visible,
    /// Not seen, or not there.
    Hidden,
    /// In the page, seen or not.
    Attached,
    /// Not in the page.
    Detached,
    /// Visible and enabled.
    Enabled,
    /// Visible and disabled.
    Disabled,
    /// Visible, and its box does not move.
    Stable,
}

impl Become {
    const ALL: &'static [Self] = &[
        Self::Visible,
        Self::Hidden,
        Self::Attached,
        Self::Detached,
        Self::Enabled,
        Self::Disabled,
        Self::Stable,
    ];

    /// The word in a condition.
    pub fn word(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Hidden => "hidden",
            Self::Attached => "attached",
            Self::Detached => "detached",
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Stable => "stable",
        }
    }

    /// Whether nothing that fits satisfies it.
    pub fn is_absence(self) -> bool {
        matches!(self, Self::Hidden | Self::Detached)
    }
}

/// How far a document is waited to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// Its tree stands.
    DomContentLoaded,
    /// It loaded.
    Load,
    /// It loaded, and no request was under way for half a second.
    NetworkIdle,
}

impl Milestone {
    /// The word in a condition.
    pub fn word(self) -> &'static str {
        match self {
            Self::DomContentLoaded => "domcontentloaded",
            Self::Load => "load",
            Self::NetworkIdle => "networkidle",
        }
    }
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Condition {
    /// The document is that far.
    Lifecycle(Milestone),
    /// The URL is this one.
    Url(String),
    /// The URL begins so.
    UrlPrefix(String),
    /// The URL fits this glob.
    UrlGlob(String),
    /// The title is this text.
    Title(String),
    /// Visible text somewhere on the page, or in the scope, holds this text.
    Text(String),
    /// No visible text holds this text.
    GoneText(String),
    /// An element has come to be so.
    Element(Become, Locator),
    /// So many elements fit, hidden ones too.
    Count(CountOf),
    /// No request was under way for so many milliseconds.
    NetworkQuiet(u32),
    /// A dialog is open.
    Dialog,
    /// A page that this one opened is open.
    Popup,
    /// A download of this page is completed.
    Download,
    /// The revision is greater than this one.
    RevisionAfter(u64),
    /// The expression is true.
    Js(String),
}

/// A text that is no condition. Never holds the text.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidCondition {
    /// Unknown word.
    #[error(
        "a condition is visible=, hidden=, attached=, detached=, enabled=, disabled= or stable=LOCATOR, \
         count=LOCATOR;N, text=, gone-text=, title=, url=, url-prefix=, url-glob=, lifecycle=, network-quiet=MS, \
         dialog, popup, download, revision-after=N or js=EXPRESSION"
    )]
    Unknown,
    /// Nothing after the `=`.
    #[error("`{0}=` needs a value")]
    Empty(&'static str),
    /// Longer than [`Condition::MAX`].
    #[error("the condition is longer than {} bytes", Condition::MAX)]
    TooLong,
    /// An unknown milestone.
    #[error("`lifecycle=` takes domcontentloaded, load or networkidle")]
    Milestone,
    /// Not a number, or out of bounds.
    #[error("`network-quiet=` takes 1 to 60000 milliseconds")]
    Quiet,
    /// Not a number.
    #[error("`revision-after=` takes the number of a revision")]
    Revision,
    /// The locator in it.
    #[error("{0}")]
    Locator(#[from] InvalidLocator),
    /// The count in it.
    #[error("{0}")]
    Count(#[from] InvalidCount),
}

impl Condition {
    /// Longest condition in bytes.
    pub const MAX: usize = 8192;

    /// Its kind: the word that it begins with.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Lifecycle(_) => "lifecycle",
            Self::Url(_) => "url",
            Self::UrlPrefix(_) => "url-prefix",
            Self::UrlGlob(_) => "url-glob",
            Self::Title(_) => "title",
            Self::Text(_) => "text",
            Self::GoneText(_) => "gone-text",
            Self::Element(wanted, _) => wanted.word(),
            Self::Count(_) => "count",
            Self::NetworkQuiet(_) => "network-quiet",
            Self::Dialog => "dialog",
            Self::Popup => "popup",
            Self::Download => "download",
            Self::RevisionAfter(_) => "revision-after",
            Self::Js(_) => "js",
        }
    }
}

impl FromStr for Condition {
    type Err = InvalidCondition;
    fn from_str(text: &str) -> Result<Self, InvalidCondition> {
        if text.len() > Self::MAX {
            return Err(InvalidCondition::TooLong);
        }
        match text.trim() {
            "dialog" => return Ok(Self::Dialog),
            "popup" => return Ok(Self::Popup),
            "download" => return Ok(Self::Download),
            _ => {}
        }
        let (word, rest) = text.split_once('=').ok_or(InvalidCondition::Unknown)?;
        let word = word.trim();
        let value =
            |name| if rest.is_empty() { Err(InvalidCondition::Empty(name)) } else { Ok(rest.to_owned()) };
        if let Some(wanted) = Become::ALL.iter().copied().find(|wanted| wanted.word() == word) {
            return Ok(Self::Element(wanted, rest.parse()?));
        }
        Ok(match word {
            "lifecycle" => Self::Lifecycle(match rest.trim() {
                "domcontentloaded" => Milestone::DomContentLoaded,
                "load" => Milestone::Load,
                "networkidle" => Milestone::NetworkIdle,
                _ => return Err(InvalidCondition::Milestone),
            }),
            "url" => Self::Url(value("url")?),
            "url-prefix" => Self::UrlPrefix(value("url-prefix")?),
            "url-glob" => Self::UrlGlob(value("url-glob")?),
            "title" => Self::Title(value("title")?),
            "text" => Self::Text(value("text")?),
            "gone-text" => Self::GoneText(value("gone-text")?),
            "count" => Self::Count(rest.parse()?),
            "network-quiet" => {
                let ms = rest.trim().parse().ok().filter(|ms| (1..=60_000).contains(ms));
                Self::NetworkQuiet(ms.ok_or(InvalidCondition::Quiet)?)
            }
            "revision-after" => {
                Self::RevisionAfter(rest.trim().parse().map_err(|_| InvalidCondition::Revision)?)
            }
            "js" => Self::Js(value("js")?),
            _ => return Err(InvalidCondition::Unknown),
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Lifecycle(milestone) => write!(f, "{word}={}", milestone.word()),
            Self::Url(text)
            | Self::UrlPrefix(text)
            | Self::UrlGlob(text)
            | Self::Title(text)
            | Self::Text(text)
            | Self::GoneText(text)
            | Self::Js(text) => write!(f, "{word}={text}"),
            Self::Element(_, locator) => write!(f, "{word}={locator}"),
            Self::Count(count) => write!(f, "{word}={count}"),
            Self::NetworkQuiet(ms) => write!(f, "{word}={ms}"),
            Self::RevisionAfter(revision) => write!(f, "{word}={revision}"),
            Self::Dialog | Self::Popup | Self::Download => f.write_str(word),
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

    fn check(&self) -> Result<(), InvalidParams> {
        let takes_match = matches!(&self.condition, Condition::Element(wanted, _) if !wanted.is_absence());
        if self.matching.is_some() && !takes_match {
            return Err(InvalidParams(format!("match means nothing to {}", self.condition.word())));
        }
        Ok(())
    }

    fn also_needs(&self) -> Vec<Capability> {
        match &self.condition {
            Condition::Js(_) => vec![Capability::Evaluate],
            _ => Vec::new(),
        }
    }

    fn locators(&self) -> Vec<&Locator> {
        match &self.condition {
            Condition::Element(_, locator) => vec![locator],
            Condition::Count(count) => vec![&count.target],
            _ => Vec::new(),
        }
    }

    fn takes_scope(&self) -> bool {
        matches!(self.condition, Condition::Text(_) | Condition::GoneText(_)) || !self.locators().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for text in [
            "text=a=b",
            "gone-text= x ",
            "title=T",
            "url=http://x/?a=b",
            "url-prefix=http://x/",
            "url-glob=**/done?*",
            "visible=role=button",
            "hidden=\"Save\"",
            "stable=css=\"#a\"",
            "count=role=row;12",
            "lifecycle=networkidle",
            "network-quiet=500",
            "dialog",
            "popup",
            "download",
            "revision-after=7",
            "js=a == b",
        ] {
            assert_eq!(text.parse::<Condition>().map(|c| c.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn says_what_is_wrong() {
        use InvalidCondition as E;
        for (text, error) in [
            ("networkidle", E::Unknown),
            ("dialog=x", E::Unknown),
            ("text=", E::Empty("text")),
            ("js=", E::Empty("js")),
            ("lifecycle=complete", E::Milestone),
            ("network-quiet=0", E::Quiet),
            ("network-quiet=60001", E::Quiet),
            ("revision-after=x", E::Revision),
            ("count=css=li", E::Count(InvalidCount::Number)),
        ] {
            assert_eq!(text.parse::<Condition>(), Err(error), "{text}");
        }
        assert!(matches!("visible=a=b".parse::<Condition>(), Err(E::Locator(_))));
        assert_eq!(format!("text={}", "x".repeat(9000)).parse::<Condition>(), Err(E::TooLong));
    }

    #[test]
    fn match_is_refused_where_it_means_nothing() {
        let wait = |condition: &str, matching| Wait { condition: condition.parse().unwrap(), matching };
        assert!(wait("visible=Save", Some(Match::All)).check().is_ok());
        assert!(wait("hidden=Save", Some(Match::All)).check().is_err());
        assert!(wait("text=Save", Some(Match::Any)).check().is_err());
        assert!(wait("text=Save", None).check().is_ok());
    }
}
