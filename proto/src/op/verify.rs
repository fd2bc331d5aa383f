//! `verify`: whether the page is so (contract 8.2).

use std::borrow::Cow;

use clap::Args;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::predicate::{CountOf, ValueOf};
use super::{Capability, Effect, Facts, InvalidParams, Lane, Locator, Needs, Operation, Predicate, seconds};
use crate::result::Verified;

/// Check that the page is so
///
/// Looks once; with --timeout-ms it waits until it holds. Exit code 0: it holds; 4: it does not, with what was seen.
/// Several options must all hold. As JSON: {"any": [{"visible": "LOCATOR"}, {"not": {"textContains": "T"}}]}.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Args)]
#[serde(from = "Given", into = "Given")]
pub struct Verify {
    /// A predicate: NAME=VALUE, or JSON
    #[arg(value_name = "PREDICATE")]
    pub predicate: Option<Predicate>,
    #[command(flatten)]
    /// The same by options.
    pub options: Box<Options>,
}

// No doc comment: clap would take it as the text about the operation.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct Options {
    /// The page's URL is this one
    #[arg(long, value_name = "URL")]
    pub url_equals: Option<String>,
    /// The page's URL fits: * stands for anything but /, ** for anything, {a,b} for one of both
    #[arg(long, value_name = "GLOB")]
    pub url_matches: Option<String>,
    /// The title holds this text
    #[arg(long, value_name = "TEXT")]
    pub title_contains: Option<String>,
    /// Exactly one visible element fits
    #[arg(long, value_name = "LOCATOR")]
    pub visible: Option<Locator>,
    /// No visible element fits
    #[arg(long, value_name = "LOCATOR")]
    pub hidden: Option<Locator>,
    /// Visible text of the page, or of the scope, holds this text
    #[arg(long, value_name = "TEXT")]
    pub text_contains: Option<String>,
    /// The one element that fits has this value
    #[arg(long, num_args = 2, value_names = ["LOCATOR", "VALUE"])]
    pub value_equals: Option<Vec<String>>,
    /// The one element that fits is checked or pressed
    #[arg(long, value_name = "LOCATOR")]
    pub checked: Option<Locator>,
    /// This many elements fit, hidden ones too
    #[arg(long, value_name = "LOCATOR;N")]
    pub count: Option<CountOf>,
    /// A page that this one opened is open (false: none is)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub popup_opened: Option<bool>,
    /// A dialog is open (false: none is)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub dialog_open: Option<bool>,
    /// A download of this page was completed (false: none was)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub download_completed: Option<bool>,
    /// So many targets are open
    #[arg(long, value_name = "N")]
    pub target_count: Option<u32>,
    /// The target with this id is open
    #[arg(long, value_name = "ID")]
    pub target_exists: Option<String>,
    /// The page has a frame with this id, such as f2
    #[arg(long, value_name = "ID")]
    pub frame_exists: Option<String>,
    /// The page is at this revision
    #[arg(long, value_name = "N")]
    pub revision_equals: Option<u64>,
}

impl Options {
    /// Each option that was given as a predicate.
    fn predicates(&self) -> Result<Vec<Predicate>, InvalidParams> {
        use Predicate as P;
        let value = match self.value_equals.as_deref() {
            Some([target, value]) => {
                let target =
                    target.parse().map_err(|error| InvalidParams(format!("--value-equals: {error}")))?;
                Some(P::ValueEquals(ValueOf { target, value: value.clone() }))
            }
            Some(_) => return Err(InvalidParams("--value-equals takes a locator and a value".to_owned())),
            None => None,
        };
        let given = [
            self.url_equals.clone().map(P::UrlEquals),
            self.url_matches.clone().map(P::UrlMatches),
            self.title_contains.clone().map(P::TitleContains),
            self.visible.clone().map(P::Visible),
            self.hidden.clone().map(P::Hidden),
            self.text_contains.clone().map(P::TextContains),
            value,
            self.checked.clone().map(P::Checked),
            self.count.clone().map(P::Count),
            self.popup_opened.map(P::PopupOpened),
            self.dialog_open.map(P::DialogOpen),
            self.download_completed.map(P::DownloadCompleted),
            self.target_count.map(P::TargetCount),
            self.target_exists.clone().map(P::TargetExists),
            self.frame_exists.clone().map(P::FrameExists),
            self.revision_equals.map(P::RevisionEquals),
        ];
        Ok(given.into_iter().flatten().collect())
    }
}

impl Verify {
    /// What is asked: the JSON and every option, which must all hold.
    ///
    /// # Errors
    /// Nothing was given, or more than one `all` holds.
    pub fn whole(&self) -> Result<Predicate, InvalidParams> {
        let mut parts: Vec<_> = self.predicate.iter().cloned().collect();
        parts.extend(self.options.predicates()?);
        match parts.len() {
            0 => Err(InvalidParams(
                "verify needs a predicate: an option such as --visible, or JSON".to_owned(),
            )),
            1 => Ok(parts.remove(0)),
            _ => Ok(Predicate::All(parts)),
        }
    }
}

/// The form on the wire.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Given {
    /// What must hold
    predicate: Option<Predicate>,
}

impl From<Verify> for Given {
    fn from(verify: Verify) -> Self {
        // A call that is wrong is refused by `check`, here as on the other side.
        Self { predicate: verify.whole().ok() }
    }
}

impl From<Given> for Verify {
    fn from(given: Given) -> Self {
        Self { predicate: given.predicate, options: Box::default() }
    }
}

/// Check that the page is so
///
/// Looks once; with timeoutMs it waits until it holds. What does not hold is verification_failed, with what was seen.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "it is its schema")]
struct Required {
    /// What must hold
    predicate: Predicate,
}

impl JsonSchema for Verify {
    fn schema_name() -> Cow<'static, str> {
        "Verify".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Required::json_schema(generator)
    }
}

impl Operation for Verify {
    const FACTS: Facts = Facts {
        name: "verify",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Watch,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: true,
    };
    type Output = Verified;

    fn check(&self) -> Result<(), InvalidParams> {
        self.whole()?.check()
    }

    fn also_needs(&self) -> Vec<Capability> {
        let tells = self.whole().is_ok_and(|predicate| predicate.tells_values());
        if tells { vec![Capability::ReadFormValues] } else { Vec::new() }
    }

    fn locators(&self) -> Vec<&Locator> {
        self.predicate.as_ref().map(Predicate::locators).unwrap_or_default()
    }

    fn takes_scope(&self) -> bool {
        self.whole().is_ok_and(|predicate| predicate.takes_scope())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        verify: Verify,
    }

    fn whole(args: &[&str]) -> Predicate {
        let cli = Cli::try_parse_from(["x"].iter().chain(args)).unwrap();
        let json = serde_json::to_string(&cli.verify).unwrap();
        serde_json::from_str::<Verify>(&json).unwrap().whole().unwrap()
    }

    #[test]
    fn options_become_one_predicate() {
        assert_eq!(whole(&["--dialog-open"]), Predicate::DialogOpen(true));
        assert_eq!(whole(&["--popup-opened", "false"]), Predicate::PopupOpened(false));
        let value = ValueOf { target: "label=Town".parse().unwrap(), value: "Oslo".into() };
        assert_eq!(whole(&["--value-equals", "label=Town", "Oslo"]), Predicate::ValueEquals(value));
        let both = whole(&["--visible", "Save", "--target-count", "1"]);
        assert!(matches!(both, Predicate::All(parts) if parts.len() == 2));
        assert_eq!(
            whole(&[r#"{"not":{"dialogOpen":true}}"#]),
            Predicate::Not(Box::new(Predicate::DialogOpen(true)))
        );
    }

    #[test]
    fn nothing_and_what_is_no_locator_are_refused() {
        assert!(Verify::default().check().is_err());
        let cli = Cli::try_parse_from(["x", "--value-equals", "a=b", "c"]).unwrap();
        assert!(cli.verify.check().is_err());
        assert!(Cli::try_parse_from(["x", "--visible", "a=b"]).is_err());
        assert!(Cli::try_parse_from(["x", "--count", "css=li"]).is_err());
    }
}
