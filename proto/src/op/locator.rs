//! Locators (contract 4.1): how a caller names an element. Parsing and printing; resolution is the worker's.
//!
//! ```text
//! locator  = step *( " >> " step )             ; outer containers first
//! step     = ref | role | keyed | selector | ordinal | bare
//! ref      = [ "ref=" ] [ "r" number ":" ] [ "f" number ] "e" number
//! role     = "role=" word *( ";" state )
//! state    = "name=" value | "level=" number | flag "=" ( "true" / "false" )
//! flag     = "checked" / "expanded" / "selected" / "disabled"
//! keyed    = key "=" value
//! key      = "name" / "text" / "label" / "placeholder" / "testid" / "alt" / "title"
//! value    = [ "~" ] ( json-string / text )    ; text ends at ";" or " >> " outside double quotes
//! selector = ( "css=" / "xpath=" ) ( json-string / raw )
//! raw      = text                              ; ends at ";" or " >> " outside quotes of either kind
//! ordinal  = "ordinal=" number                 ; row of the client's last observation, from 1
//! bare     = text                              ; exact accessible name, no "=" in it
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::reference::Ref;

/// Longest locator, in bytes.
pub const MAX_LOCATOR: usize = 4096;

/// How an element is named, possibly within containers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Locator {
    /// Containers from the outside in; each must resolve to one element.
    pub scopes: Vec<Step>,
    /// The element itself.
    pub step: Step,
}

/// One part of a locator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A node as seen in an observation.
    Ref(Ref),
    /// By computed role, and name and states where given.
    Role(RoleStep),
    /// By one property.
    Keyed(Key, Text),
    /// The row with this number in the client's last observation, from 1.
    Ordinal(u32),
    /// Exact accessible name.
    Bare(String),
}

/// A role with what narrows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleStep {
    /// The ARIA role.
    pub role: String,
    /// The accessible name.
    pub name: Option<Text>,
    /// Heading or tree level.
    pub level: Option<u32>,
    /// States that must hold.
    pub states: Vec<(Flag, bool)>,
}

/// A text and how it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// What is looked for.
    pub value: String,
    /// Case-insensitive substring instead of the exact text.
    pub substring: bool,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }
        impl $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// The word in a locator.
            pub fn word(self) -> &'static str { match self { $(Self::$variant => $word,)* } }
            fn from_word(word: &str) -> Option<Self> { Self::ALL.iter().copied().find(|v| v.word() == word) }
        }
    };
}

words! {
    /// Properties that an element is found by.
    Key {
        /// Exact accessible name.
        Name = "name",
        /// Visible text.
        Text = "text",
        /// Text of a form control's label.
        Label = "label",
        /// Placeholder.
        Placeholder = "placeholder",
        /// `data-testid`.
        TestId = "testid",
        /// Text alternative of an image.
        Alt = "alt",
        /// `title` attribute.
        Title = "title",
        /// CSS selector.
        Css = "css",
        /// XPath expression.
        Xpath = "xpath",
    }
}

impl Key {
    /// Whether the value is an expression of a language of its own.
    pub fn is_selector(self) -> bool {
        matches!(self, Self::Css | Self::Xpath)
    }
}

words! {
    /// States that narrow a role.
    Flag {
        /// Checked or pressed on.
        Checked = "checked",
        /// Expanded.
        Expanded = "expanded",
        /// Selected.
        Selected = "selected",
        /// Disabled.
        Disabled = "disabled",
    }
}

/// A text that is no locator. Says what is wrong, never the text itself (contract 2.6).
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidLocator {
    /// Nothing there.
    #[error(
        "the locator is empty; name an element, for example `role=button;name=Save`, `text=Continue` or a ref such as e12"
    )]
    Empty,
    /// Too long.
    #[error("the locator is longer than {MAX_LOCATOR} bytes")]
    TooLong,
    /// `word=…` with an unknown word.
    #[error(
        "unknown locator key; known are ref, role, name, text, label, placeholder, testid, alt, title, css, xpath and ordinal. A name that has `=` in it is written name=\"…\""
    )]
    UnknownKey,
    /// A key without a value.
    #[error("`{0}=` needs a value")]
    NoValue(&'static str),
    /// `ref=` with something that is none.
    #[error("`ref=` takes a ref such as e42, f2e13 or r7:e42, as printed by observe")]
    Ref,
    /// `ordinal=` without a number.
    #[error("`ordinal=` takes the number of a row in the last observation, counted from 1")]
    Ordinal,
    /// A quoted value that is no JSON string.
    #[error("a quoted value is a JSON string: it ends with `\"`, and nothing follows it but `;` or ` >> `")]
    Quote,
    /// `role=` followed by an unknown state.
    #[error(
        "after `role=…` come `;name=`, `;level=`, `;checked=`, `;expanded=`, `;selected=` or `;disabled=`, each at most once"
    )]
    State,
    /// A flag that is neither true nor false.
    #[error("`{0}=` takes true or false")]
    Flag(&'static str),
    /// `level=` without a number.
    #[error("`level=` takes a number from 1 to 99")]
    Level,
    /// Something after a value where nothing may stand.
    #[error(
        "only `role=` takes further conditions after `;`; a value that has `;` in it is written in quotes"
    )]
    Trailing,
}

impl FromStr for Locator {
    type Err = InvalidLocator;
    fn from_str(text: &str) -> Result<Self, InvalidLocator> {
        if text.len() > MAX_LOCATOR {
            return Err(InvalidLocator::TooLong);
        }
        let mut scopes = Vec::new();
        let mut rest = text;
        loop {
            let (part, more) = cut(rest, " >> ", Quotes::of(rest));
            let step = step(part.trim())?;
            let Some(more) = more else { return Ok(Self { scopes, step }) };
            scopes.push(step);
            rest = more;
        }
    }
}

impl Locator {
    /// The same element, looked for within the one that `scope` names.
    #[must_use]
    pub fn within(&self, scope: &Self) -> Self {
        let outer = scope.scopes.iter().chain(std::iter::once(&scope.step)).chain(&self.scopes);
        Self { scopes: outer.cloned().collect(), step: self.step.clone() }
    }
}

/// What protects a separator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// Double quotes, and within them a backslash before the next character: JSON, and names with quotes in them.
    Double,
    /// CSS: both quotes, and a backslash anywhere.
    Css,
    /// XPath: both quotes, and no escapes.
    Xpath,
}

impl Quotes {
    /// Those of the step that `text` begins with.
    fn of(text: &str) -> Self {
        let Some((word, rest)) = text.split_once('=') else { return Self::Double };
        match Key::from_word(word.trim()) {
            _ if rest.trim_start().starts_with('"') => Self::Double,
            Some(Key::Css) => Self::Css,
            Some(Key::Xpath) => Self::Xpath,
            _ => Self::Double,
        }
    }
}

/// What stands before the first `separator` outside quotes, and what after it, where there is one.
fn cut<'a>(text: &'a str, separator: &str, quotes: Quotes) -> (&'a str, Option<&'a str>) {
    let (mut open, mut escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quotes == Quotes::Css || (quotes == Quotes::Double && open.is_some()) => escaped = true,
            _ if open == Some(c) => open = None,
            _ if open.is_some() => {}
            '"' => open = Some(c),
            '\'' if quotes != Quotes::Double => open = Some(c),
            _ if text[at..].starts_with(separator) => {
                return (&text[..at], Some(&text[at + separator.len()..]));
            }
            _ => {}
        }
    }
    (text, None)
}

/// Splits at every `;` outside double quotes.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = Some(text);
    while let Some(text) = rest {
        let (part, more) = cut(text, ";", Quotes::Double);
        parts.push(part);
        rest = more;
    }
    parts
}

fn step(text: &str) -> Result<Step, InvalidLocator> {
    if text.is_empty() {
        return Err(InvalidLocator::Empty);
    }
    if let Ok(reference) = text.parse() {
        return Ok(Step::Ref(reference));
    }
    let Some((word, rest)) = text.split_once('=').filter(|_| !text.starts_with('"')) else {
        return bare(text);
    };
    let word = word.trim();
    match word {
        "ref" => rest.trim().parse().map(Step::Ref).map_err(|_| InvalidLocator::Ref),
        "role" => role(rest),
        "ordinal" => {
            let number = rest.trim().parse().ok().filter(|n| *n > 0);
            number.map(Step::Ordinal).ok_or(InvalidLocator::Ordinal)
        }
        _ => {
            let key = Key::from_word(word).ok_or(InvalidLocator::UnknownKey)?;
            if cut(rest, ";", Quotes::of(text)).1.is_some() {
                return Err(InvalidLocator::Trailing);
            }
            let value =
                if key.is_selector() { selector(rest, key.word())? } else { value(rest, key.word())? };
            Ok(Step::Keyed(key, value))
        }
    }
}

/// A selector as it is, or as a JSON string: none begins with a double quote.
fn selector(text: &str, key: &'static str) -> Result<Text, InvalidLocator> {
    let text = text.trim();
    if text.starts_with('"') {
        return value(text, key);
    }
    if text.is_empty() {
        return Err(InvalidLocator::NoValue(key));
    }
    Ok(Text { value: text.to_owned(), substring: false })
}

fn bare(text: &str) -> Result<Step, InvalidLocator> {
    if cut(text, ";", Quotes::Double).1.is_some() {
        return Err(InvalidLocator::Trailing);
    }
    let text = value(text, "name")?;
    if text.substring {
        return Ok(Step::Keyed(Key::Name, text));
    }
    Ok(Step::Bare(text.value))
}

fn value(text: &str, key: &'static str) -> Result<Text, InvalidLocator> {
    let text = text.trim();
    let (substring, text) = match text.strip_prefix('~') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let value = if text.starts_with('"') {
        serde_json::from_str::<String>(text).map_err(|_| InvalidLocator::Quote)?
    } else {
        text.to_owned()
    };
    if value.is_empty() { Err(InvalidLocator::NoValue(key)) } else { Ok(Text { value, substring }) }
}

fn role(text: &str) -> Result<Step, InvalidLocator> {
    let mut parts = split(text).into_iter();
    let role = parts.next().unwrap_or_default().trim();
    if role.is_empty() {
        return Err(InvalidLocator::NoValue("role"));
    }
    if !role.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-') {
        return Err(InvalidLocator::State);
    }
    let mut found = RoleStep { role: role.to_ascii_lowercase(), name: None, level: None, states: Vec::new() };
    for part in parts {
        let (word, rest) = part.split_once('=').ok_or(InvalidLocator::State)?;
        match word.trim() {
            "name" if found.name.is_none() => found.name = Some(value(rest, "name")?),
            "level" if found.level.is_none() => {
                let level = rest.trim().parse().ok().filter(|n| (1..=99).contains(n));
                found.level = Some(level.ok_or(InvalidLocator::Level)?);
            }
            word => {
                let flag = Flag::from_word(word).ok_or(InvalidLocator::State)?;
                if found.states.iter().any(|(f, _)| *f == flag) {
                    return Err(InvalidLocator::State);
                }
                let on = match rest.trim() {
                    "true" => true,
                    "false" => false,
                    _ => return Err(InvalidLocator::Flag(flag.word())),
                };
                found.states.push((flag, on));
            }
        }
    }
    Ok(Step::Role(found))
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = serde_json::to_string(&self.value).map_err(|_| fmt::Error)?;
        write!(f, "{}{quoted}", if self.substring { "~" } else { "" })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ref(reference) => write!(f, "ref={reference}"),
            Self::Ordinal(number) => write!(f, "ordinal={number}"),
            Self::Keyed(key, text) => write!(f, "{}={text}", key.word()),
            // Printed with its key: a bare text could read as something else.
            Self::Bare(value) => {
                write!(f, "{}", serde_json::to_string(value).map_err(|_| fmt::Error)?)
            }
            Self::Role(role) => {
                write!(f, "role={}", role.role)?;
                if let Some(name) = &role.name {
                    write!(f, ";name={name}")?;
                }
                if let Some(level) = role.level {
                    write!(f, ";level={level}")?;
                }
                role.states.iter().try_for_each(|(flag, on)| write!(f, ";{}={on}", flag.word()))
            }
        }
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scopes.iter().try_for_each(|scope| write!(f, "{scope} >> "))?;
        self.step.fmt(f)
    }
}

impl TryFrom<String> for Locator {
    type Error = InvalidLocator;
    fn try_from(text: String) -> Result<Self, InvalidLocator> {
        text.parse()
    }
}

impl From<Locator> for String {
    fn from(value: Locator) -> String {
        value.to_string()
    }
}

#[cfg(test)]
mod tests;
