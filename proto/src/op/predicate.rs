//! Predicates: what `verify` and the call option `expect` ask (contract 8.2).

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{InvalidParams, Locator};

/// Something about a page that holds or does not. As JSON an object with one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Predicate {
    /// The page's URL is this one.
    UrlEquals(String),
    /// The page's URL fits this glob.
    UrlMatches(String),
    /// The title holds this text.
    TitleContains(String),
    /// Exactly one visible element fits.
    Visible(Locator),
    /// No visible element fits.
    Hidden(Locator),
    /// Visible text of the page, or of the scope, holds this text.
    TextContains(String),
    /// The one element that fits has this value.
    ValueEquals(ValueOf),
    /// The one element that fits is checked or pressed.
    Checked(Locator),
    /// This many elements fit, hidden ones too.
    Count(CountOf),
    /// A page that this one opened is open, or none is.
    PopupOpened(bool),
    /// A dialog is open, or none is.
    DialogOpen(bool),
    /// A download of this page was completed, or none was.
    DownloadCompleted(bool),
    /// So many targets are open.
    TargetCount(u32),
    /// The target with this id is open.
    TargetExists(String),
    /// The page has a frame with this id, `f2`.
    FrameExists(String),
    /// The page is at this revision.
    RevisionEquals(u64),
    /// All of these hold.
    All(Vec<Predicate>),
    /// One of these holds, at least.
    Any(Vec<Predicate>),
    /// This does not hold.
    Not(Box<Predicate>),
}

/// An element and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueOf {
    /// The element
    #[schemars(with = "String")]
    pub target: Locator,
    /// Its value
    pub value: String,
}

/// An element and how often it is there. On the command line `LOCATOR;N`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountOf {
    /// The elements
    #[schemars(with = "String")]
    pub target: Locator,
    /// How many
    pub equals: u32,
}

/// A text that is no count.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidCount {
    /// No number after the last `;`.
    #[error("a count is LOCATOR;N, with a whole number after the last `;`")]
    Number,
    /// The locator in it.
    #[error("{0}")]
    Locator(#[from] super::locator::InvalidLocator),
}

impl FromStr for CountOf {
    type Err = InvalidCount;
    fn from_str(text: &str) -> Result<Self, InvalidCount> {
        let (locator, number) = text.rsplit_once(';').ok_or(InvalidCount::Number)?;
        let equals = number.trim().parse().map_err(|_| InvalidCount::Number)?;
        Ok(Self { target: locator.parse()?, equals })
    }
}

impl std::fmt::Display for CountOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{};{}", self.target, self.equals)
    }
}

impl Predicate {
    /// Deepest nesting (contract 8.2).
    pub const MAX_DEPTH: usize = 4;
    /// Predicates within one `all` or `any` (contract 8.2).
    pub const MAX_PARTS: usize = 8;
    /// Predicates in all: each is asked of every frame.
    pub const MAX_LEAVES: usize = 64;
    /// Longest string in bytes (contract 8.2).
    pub const MAX_STRING: usize = 1024;

    /// Whether it tells what a field holds.
    pub fn tells_values(&self) -> bool {
        match self {
            Self::ValueEquals(_) => true,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::tells_values),
            Self::Not(part) => part.tells_values(),
            _ => false,
        }
    }

    /// Its key.
    pub fn name(&self) -> &'static str {
        match self {
            Self::UrlEquals(_) => "urlEquals",
            Self::UrlMatches(_) => "urlMatches",
            Self::TitleContains(_) => "titleContains",
            Self::Visible(_) => "visible",
            Self::Hidden(_) => "hidden",
            Self::TextContains(_) => "textContains",
            Self::ValueEquals(_) => "valueEquals",
            Self::Checked(_) => "checked",
            Self::Count(_) => "count",
            Self::PopupOpened(_) => "popupOpened",
            Self::DialogOpen(_) => "dialogOpen",
            Self::DownloadCompleted(_) => "downloadCompleted",
            Self::TargetCount(_) => "targetCount",
            Self::TargetExists(_) => "targetExists",
            Self::FrameExists(_) => "frameExists",
            Self::RevisionEquals(_) => "revisionEquals",
            Self::All(_) => "all",
            Self::Any(_) => "any",
            Self::Not(_) => "not",
        }
    }

    /// Checks what the types cannot: nesting, lengths, sizes.
    ///
    /// # Errors
    /// Which bound is not kept, never the value.
    pub fn check(&self) -> Result<(), InvalidParams> {
        let mut leaves = 0;
        self.check_at(1, &mut leaves)?;
        if leaves > Self::MAX_LEAVES {
            return Err(InvalidParams(format!(
                "a predicate is made of at most {} others, not {leaves}",
                Self::MAX_LEAVES
            )));
        }
        Ok(())
    }

    fn check_at(&self, depth: usize, leaves: &mut usize) -> Result<(), InvalidParams> {
        if depth > Self::MAX_DEPTH {
            return Err(InvalidParams(format!("predicates are nested at most {} deep", Self::MAX_DEPTH)));
        }
        let parts = match self {
            Self::All(parts) | Self::Any(parts) => {
                if !(1..=Self::MAX_PARTS).contains(&parts.len()) {
                    let (name, most) = (self.name(), Self::MAX_PARTS);
                    return Err(InvalidParams(format!(
                        "{name} takes 1 to {most} predicates, not {}",
                        parts.len()
                    )));
                }
                parts.as_slice()
            }
            Self::Not(part) => std::slice::from_ref(part.as_ref()),
            leaf => {
                *leaves += 1;
                return leaf.check_leaf();
            }
        };
        parts.iter().try_for_each(|part| part.check_at(depth + 1, leaves))
    }

    fn check_leaf(&self) -> Result<(), InvalidParams> {
        let text = match self {
            Self::UrlEquals(text)
            | Self::UrlMatches(text)
            | Self::TitleContains(text)
            | Self::TextContains(text)
            | Self::TargetExists(text)
            | Self::FrameExists(text) => {
                super::at_least_one(self.name(), text.len())?;
                text.as_str()
            }
            // An empty value is a value.
            Self::ValueEquals(wanted) => &wanted.value,
            _ => return Ok(()),
        };
        super::at_most(self.name(), text.len(), Self::MAX_STRING)
    }

    /// The elements that it names, in the order in which it looks for them.
    pub fn locators(&self) -> Vec<&Locator> {
        match self {
            Self::Visible(locator) | Self::Hidden(locator) | Self::Checked(locator) => vec![locator],
            Self::ValueEquals(wanted) => vec![&wanted.target],
            Self::Count(wanted) => vec![&wanted.target],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::locators).collect(),
            Self::Not(part) => part.locators(),
            _ => Vec::new(),
        }
    }

    /// Whether the call option `scope` means something to it: it names an element, or asks for text.
    pub fn takes_scope(&self) -> bool {
        match self {
            Self::TextContains(_) => true,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::takes_scope),
            Self::Not(part) => part.takes_scope(),
            leaf => !leaf.locators().is_empty(),
        }
    }
}

/// A text that is no predicate. Never holds the text itself.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "a predicate is NAME=VALUE, such as visible=LOCATOR, or JSON, such as {{\"visible\": \"LOCATOR\"}}: {0}"
)]
pub struct InvalidPredicate(String);

impl FromStr for Predicate {
    type Err = InvalidPredicate;
    fn from_str(text: &str) -> Result<Self, InvalidPredicate> {
        if !text.trim_start().starts_with('{') {
            return short(text).map_err(InvalidPredicate);
        }
        serde_json::from_str(text).map_err(|error| InvalidPredicate(super::codec::shape_text(&error)))
    }
}

/// `NAME=VALUE`, the name in camel or kebab case; of what is true or false the name alone.
fn short(text: &str) -> Result<Predicate, String> {
    use Predicate as P;
    let (name, value) =
        text.split_once('=').map_or((text.trim(), None), |(name, value)| (name.trim(), Some(value)));
    let name = super::camel_case(name);
    let given = || value.map(str::to_owned).ok_or_else(|| format!("{name} needs a value"));
    let locator = || given()?.parse::<Locator>().map_err(|error| error.to_string());
    let number = |text: String| text.trim().parse().map_err(|_| "its value is a whole number".to_owned());
    let flag = || match value.map(str::trim) {
        None | Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(_) => Err("its value is true or false".to_owned()),
    };
    Ok(match name.as_str() {
        "urlEquals" => P::UrlEquals(given()?),
        "urlMatches" => P::UrlMatches(given()?),
        "titleContains" => P::TitleContains(given()?),
        "visible" => P::Visible(locator()?),
        "hidden" => P::Hidden(locator()?),
        "textContains" => P::TextContains(given()?),
        "checked" => P::Checked(locator()?),
        "count" => P::Count(given()?.parse().map_err(|error: InvalidCount| error.to_string())?),
        "popupOpened" => P::PopupOpened(flag()?),
        "dialogOpen" => P::DialogOpen(flag()?),
        "downloadCompleted" => P::DownloadCompleted(flag()?),
        "targetCount" => P::TargetCount(number(given()?)?),
        "targetExists" => P::TargetExists(given()?),
        "frameExists" => P::FrameExists(given()?),
        "revisionEquals" => P::RevisionEquals(number(given()?)?.into()),
        "valueEquals" | "all" | "any" | "not" => return Err("this one is given as JSON".to_owned()),
        _ => return Err("there is none of that name".to_owned()),
    })
}

/// The keys of a predicate, for its schema. Nested ones are told as objects: a schema without references has no end
/// otherwise.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, extend("minProperties" = 1, "maxProperties" = 1))]
#[expect(dead_code, reason = "it is its schema")]
struct Keys {
    /// The page's URL is this one
    url_equals: Option<String>,
    /// The page's URL fits this glob: `*` stands for anything but `/`, `**` for anything, `{a,b}` for one of both
    url_matches: Option<String>,
    /// The title holds this text
    title_contains: Option<String>,
    /// Exactly one visible element fits this locator
    visible: Option<String>,
    /// No visible element fits this locator
    hidden: Option<String>,
    /// Visible text of the page, or of the scope, holds this text
    text_contains: Option<String>,
    /// The one element that fits has this value
    value_equals: Option<ValueOf>,
    /// The one element that fits this locator is checked or pressed
    checked: Option<String>,
    /// This many elements fit, hidden ones too
    count: Option<CountOf>,
    /// A page that this one opened is open (false: none is)
    popup_opened: Option<bool>,
    /// A dialog is open (false: none is)
    dialog_open: Option<bool>,
    /// A download of this page was completed (false: none was)
    download_completed: Option<bool>,
    /// So many targets are open
    target_count: Option<u32>,
    /// The target with this id is open
    target_exists: Option<String>,
    /// The page has a frame with this id, such as f2
    frame_exists: Option<String>,
    /// The page is at this revision
    revision_equals: Option<u64>,
    /// All of 1 to 8 predicates hold
    all: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
    /// At least one of 1 to 8 predicates holds
    any: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
    /// This predicate does not hold
    not: Option<serde_json::Map<String, serde_json::Value>>,
}

impl JsonSchema for Predicate {
    fn schema_name() -> Cow<'static, str> {
        "Predicate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Keys::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_and_prints_as_an_object_with_one_key() {
        for text in [
            r#"{"urlEquals":"http://x/"}"#,
            r#"{"visible":"role=button;name=\"Save\""}"#,
            r#"{"valueEquals":{"target":"label=\"Town\"","value":""}}"#,
            r#"{"count":{"target":"css=\"li\"","equals":3}}"#,
            r#"{"all":[{"dialogOpen":false},{"not":{"any":[{"targetCount":1},{"revisionEquals":7}]}}]}"#,
        ] {
            let predicate: Predicate = text.parse().unwrap();
            assert_eq!(serde_json::to_string(&predicate).unwrap(), text);
            predicate.check().unwrap();
        }
        for (text, json) in [
            ("visible=role=button;name=Save", r#"{"visible":"role=button;name=\"Save\""}"#),
            ("text-contains=a=b", r#"{"textContains":"a=b"}"#),
            ("dialog-open", r#"{"dialogOpen":true}"#),
            ("popupOpened=false", r#"{"popupOpened":false}"#),
            ("count=css=li;3", r#"{"count":{"target":"css=\"li\"","equals":3}}"#),
            ("revision-equals=7", r#"{"revisionEquals":7}"#),
        ] {
            assert_eq!(serde_json::to_string(&text.parse::<Predicate>().unwrap()).unwrap(), json);
        }
        for text in ["visible", "target-count=x", "dialog-open=maybe", "value-equals=a", "fly=1", "Save"] {
            assert!(text.parse::<Predicate>().is_err(), "{text}");
        }
        for text in
            ["", "[]", "{}", r#"{"visible":"a=b"}"#, r#"{"urlEquals":"x","visible":"y"}"#, r#"{"fly":1}"#]
        {
            assert!(text.parse::<Predicate>().is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_are_kept() {
        let leaf = || Predicate::TargetCount(1);
        let nested = |depth: usize| (1..depth).fold(leaf(), |inner, _| Predicate::Not(Box::new(inner)));
        assert!(nested(4).check().is_ok());
        assert!(nested(5).check().is_err());
        assert!(Predicate::All(vec![]).check().is_err());
        assert!(Predicate::All(vec![leaf(); 8]).check().is_ok());
        assert!(Predicate::Any(vec![leaf(); 9]).check().is_err());
        let eights = Predicate::All(vec![Predicate::Any(vec![leaf(); 8]); 8]);
        assert!(eights.check().is_ok());
        assert!(Predicate::All(vec![eights.clone(), leaf()]).check().is_err(), "more than 64");
        assert!(Predicate::UrlEquals("x".repeat(1025)).check().is_err());
        assert!(Predicate::UrlEquals(String::new()).check().is_err());
    }

    #[test]
    fn a_count_has_its_number_last() {
        let count: CountOf = "role=button;name=Save;3".parse().unwrap();
        assert_eq!((count.equals, count.to_string()), (3, r#"role=button;name="Save";3"#.to_owned()));
        assert_eq!("css=li".parse::<CountOf>(), Err(InvalidCount::Number));
        assert_eq!("css=li;many".parse::<CountOf>(), Err(InvalidCount::Number));
    }

    #[test]
    fn no_error_holds_what_was_given() {
        let error = r#"{"visible":"hunter2=x"}"#.parse::<Predicate>().unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
