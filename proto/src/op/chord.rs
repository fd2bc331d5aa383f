//! Key chords: `Enter`, `a`, `Control+a`, `Shift+End`, `+`, `Control++`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::click::Modifier;

/// One key with the modifiers that are held meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Chord {
    /// Held modifiers, each once, in the order given.
    pub modifiers: Vec<Modifier>,
    /// The key.
    pub key: KeyName,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyName {
    /// A character that the key produces.
    Character(char),
    /// A named key of the W3C list that Glass can press.
    Named(&'static str),
}

/// Named keys that can be pressed (W3C UI Events `key` values).
pub const NAMED: &[&str] = &[
    "Enter",
    "Tab",
    "Escape",
    "Backspace",
    "Delete",
    "Insert",
    "Home",
    "End",
    "PageUp",
    "PageDown",
    "ArrowUp",
    "ArrowDown",
    "ArrowLeft",
    "ArrowRight",
    "Shift",
    "Control",
    "Alt",
    "Meta",
    "CapsLock",
    "ContextMenu",
    "Pause",
    "PrintScreen",
    "ScrollLock",
    "NumLock",
    "F1",
    "F2",
    "F3",
    "F4",
    "F5",
    "F6",
    "F7",
    "F8",
    "F9",
    "F10",
    "F11",
    "F12",
];

/// A text that is no chord. It names the known key that is nearest, never the text.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidChord {
    /// Nothing there.
    #[error("a key is a character or a name such as Enter, Tab, ArrowDown")]
    Empty,
    /// An unknown modifier.
    #[error("before `+` stand Alt, Control, Meta, Shift or ControlOrMeta, each at most once")]
    Modifier,
    /// An unknown key.
    #[error(
        "unknown key name; did you mean {0}? Known are single characters and the names of KeyboardEvent.key"
    )]
    Key(&'static str),
}

impl FromStr for Chord {
    type Err = InvalidChord;
    fn from_str(text: &str) -> Result<Self, InvalidChord> {
        let (modifiers, key) = match text.strip_suffix('+') {
            Some("") => ("", "+"),
            Some(rest) => (rest.strip_suffix('+').ok_or(InvalidChord::Empty)?, "+"),
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut held = Vec::new();
        for word in modifiers.split('+').filter(|_| !modifiers.is_empty()) {
            let modifier = match word {
                "Alt" => Modifier::Alt,
                "Control" => Modifier::Control,
                "Meta" => Modifier::Meta,
                "Shift" => Modifier::Shift,
                "ControlOrMeta" => Modifier::ControlOrMeta,
                _ => return Err(InvalidChord::Modifier),
            };
            if held.contains(&modifier) {
                return Err(InvalidChord::Modifier);
            }
            held.push(modifier);
        }
        Ok(Self { modifiers: held, key: key_name(key)? })
    }
}

fn key_name(text: &str) -> Result<KeyName, InvalidChord> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (None, _) => Err(InvalidChord::Empty),
        (Some(c), None) if c.is_control() => Err(InvalidChord::Key("Enter")),
        (Some(c), None) => Ok(KeyName::Character(c)),
        _ if text == "Space" => Ok(KeyName::Character(' ')),
        _ => match NAMED.iter().find(|name| **name == text) {
            Some(name) => Ok(KeyName::Named(name)),
            None => Err(InvalidChord::Key(nearest(text))),
        },
    }
}

fn nearest(text: &str) -> &'static str {
    let text = text.to_ascii_lowercase();
    let alias = match text.as_str() {
        "return" => Some("Enter"),
        "esc" => Some("Escape"),
        "del" => Some("Delete"),
        "ctrl" => Some("Control"),
        "cmd" | "command" | "win" | "super" => Some("Meta"),
        "up" | "down" | "left" | "right" => {
            NAMED.iter().copied().find(|name| name.to_ascii_lowercase() == format!("arrow{text}"))
        }
        _ => None,
    };
    let likeness = |name: &str| strsim::jaro_winkler(&name.to_ascii_lowercase(), &text);
    let best = NAMED.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    alias.or(best).unwrap_or("Enter")
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for modifier in &self.modifiers {
            write!(f, "{modifier:?}+")?;
        }
        match &self.key {
            KeyName::Character(' ') => f.write_str("Space"),
            KeyName::Character(c) => write!(f, "{c}"),
            KeyName::Named(name) => f.write_str(name),
        }
    }
}

impl TryFrom<String> for Chord {
    type Error = InvalidChord;
    fn try_from(text: String) -> Result<Self, InvalidChord> {
        text.parse()
    }
}

impl From<Chord> for String {
    fn from(value: Chord) -> String {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for text in [
            "Enter",
            "a",
            "+",
            "Control+a",
            "Control++",
            "Shift+End",
            "Control+Shift+Tab",
            "Space",
            "é",
            "漢",
        ] {
            assert_eq!(text.parse::<Chord>().map(|c| c.to_string()), Ok(text.to_owned()), "{text}");
        }
    }

    #[test]
    fn names_the_nearest_key() {
        assert_eq!("Return".parse::<Chord>(), Err(InvalidChord::Key("Enter")));
        assert_eq!("Control+Esc".parse::<Chord>(), Err(InvalidChord::Key("Escape")));
        assert_eq!("ArowDown".parse::<Chord>(), Err(InvalidChord::Key("ArrowDown")));
        assert_eq!("down".parse::<Chord>(), Err(InvalidChord::Key("ArrowDown")));
        assert_eq!("Ctrl+a".parse::<Chord>(), Err(InvalidChord::Modifier));
        assert_eq!("Shift+Shift+a".parse::<Chord>(), Err(InvalidChord::Modifier));
        assert_eq!("".parse::<Chord>(), Err(InvalidChord::Empty));
    }
}
