//! Key strokes of a US keyboard: names of the W3C `key` values, physical codes and Windows key codes.

use glass_proto::op::{KeyName, Modifier};

/// What one key sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyStroke {
    /// `KeyboardEvent.key`.
    pub key: String,
    /// `KeyboardEvent.code`; empty where the keyboard has no such key.
    pub code: &'static str,
    /// Windows virtual key code.
    pub key_code: u16,
    /// Text that it types, empty for none.
    pub text: String,
    /// The key is pressed with Shift on this keyboard.
    pub shifted: bool,
    /// 1 for the left one of two.
    pub location: u32,
}

/// Bits of the modifiers in input events.
pub fn modifier_bits(modifiers: &[Modifier]) -> u8 {
    modifiers.iter().fold(0, |bits, modifier| {
        bits | match modifier {
            Modifier::Alt => 1,
            Modifier::Control => 2,
            Modifier::Meta => 4,
            Modifier::Shift => 8,
            Modifier::ControlOrMeta if cfg!(target_os = "macos") => 4,
            Modifier::ControlOrMeta => 2,
        }
    })
}

/// The key of a modifier.
pub fn modifier_key(modifier: Modifier) -> KeyStroke {
    let (key, code, key_code) = match modifier {
        Modifier::Alt => ("Alt", "AltLeft", 18),
        Modifier::Meta => ("Meta", "MetaLeft", 91),
        Modifier::Shift => ("Shift", "ShiftLeft", 16),
        Modifier::ControlOrMeta if cfg!(target_os = "macos") => ("Meta", "MetaLeft", 91),
        Modifier::Control | Modifier::ControlOrMeta => ("Control", "ControlLeft", 17),
    };
    KeyStroke { key: key.to_owned(), code, key_code, text: String::new(), shifted: false, location: 1 }
}

/// The stroke of a key.
pub fn stroke(key: &KeyName) -> KeyStroke {
    match key {
        KeyName::Character(c) => character(*c),
        KeyName::Named(name) => named(name),
    }
}

/// What a key types while Shift is down.
pub fn shifted(c: char) -> char {
    if c.is_ascii_lowercase() {
        return c.to_ascii_uppercase();
    }
    if let Some(digit) = c.to_digit(10) {
        return DIGITS.get(digit as usize).map_or(c, |(_, shifted)| *shifted);
    }
    SIGNS.iter().find(|(low, ..)| *low == c).map_or(c, |(_, high, ..)| *high)
}

/// Unshifted and shifted characters of the keys that are neither letters nor digits.
const SIGNS: &[(char, char, &str, u16)] = &[
    ('`', '~', "Backquote", 192),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    (' ', ' ', "Space", 32),
];

const LETTERS: [&str; 26] = [
    "KeyA", "KeyB", "KeyC", "KeyD", "KeyE", "KeyF", "KeyG", "KeyH", "KeyI", "KeyJ", "KeyK", "KeyL", "KeyM",
    "KeyN", "KeyO", "KeyP", "KeyQ", "KeyR", "KeyS", "KeyT", "KeyU", "KeyV", "KeyW", "KeyX", "KeyY", "KeyZ",
];

const DIGITS: [(&str, char); 10] = [
    ("Digit0", ')'),
    ("Digit1", '!'),
    ("Digit2", '@'),
    ("Digit3", '#'),
    ("Digit4", '$'),
    ("Digit5", '%'),
    ("Digit6", '^'),
    ("Digit7", '&'),
    ("Digit8", '*'),
    ("Digit9", '('),
];

fn character(c: char) -> KeyStroke {
    let plain = |code, key_code, shifted| KeyStroke {
        key: c.to_string(),
        code,
        key_code,
        text: c.to_string(),
        shifted,
        location: 0,
    };
    if c.is_ascii_alphabetic() {
        let upper = c.to_ascii_uppercase();
        let at = u8::try_from(upper).map_or(0, |byte| byte - b'A');
        return plain(LETTERS[usize::from(at)], u16::from(b'A' + at), c.is_ascii_uppercase());
    }
    let digit =
        (48_u16..).zip(DIGITS).find(|(code, (_, shifted))| u32::from(c) == u32::from(*code) || *shifted == c);
    if let Some((key_code, (code, _))) = digit {
        return plain(code, key_code, !c.is_ascii_digit());
    }
    match SIGNS.iter().find(|(low, high, ..)| *low == c || *high == c) {
        Some((low, _, code, key_code)) => plain(code, *key_code, *low != c),
        // No key of this keyboard types it; the character goes in as text.
        None => plain("", 0, false),
    }
}

fn named(name: &'static str) -> KeyStroke {
    let (code, key_code, text): (&'static str, u16, &str) = match name {
        "Enter" => ("Enter", 13, "\r"),
        "Tab" => ("Tab", 9, ""),
        "Escape" => ("Escape", 27, ""),
        "Backspace" => ("Backspace", 8, ""),
        "Delete" => ("Delete", 46, ""),
        "Insert" => ("Insert", 45, ""),
        "Home" => ("Home", 36, ""),
        "End" => ("End", 35, ""),
        "PageUp" => ("PageUp", 33, ""),
        "PageDown" => ("PageDown", 34, ""),
        "ArrowUp" => ("ArrowUp", 38, ""),
        "ArrowDown" => ("ArrowDown", 40, ""),
        "ArrowLeft" => ("ArrowLeft", 37, ""),
        "ArrowRight" => ("ArrowRight", 39, ""),
        "CapsLock" => ("CapsLock", 20, ""),
        "ContextMenu" => ("ContextMenu", 93, ""),
        "Pause" => ("Pause", 19, ""),
        "PrintScreen" => ("PrintScreen", 44, ""),
        "ScrollLock" => ("ScrollLock", 145, ""),
        "NumLock" => ("NumLock", 144, ""),
        "Shift" => return modifier_key(Modifier::Shift),
        "Control" => return modifier_key(Modifier::Control),
        "Alt" => return modifier_key(Modifier::Alt),
        "Meta" => return modifier_key(Modifier::Meta),
        function => {
            let number: u16 = function.trim_start_matches('F').parse().unwrap_or(1);
            (function, 111 + number, "")
        }
    };
    KeyStroke { key: name.to_owned(), code, key_code, text: text.to_owned(), shifted: false, location: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_the_codes_of_their_keys() {
        let of = |c| {
            let s = character(c);
            (s.code, s.key_code, s.shifted)
        };
        assert_eq!(of('a'), ("KeyA", 65, false));
        assert_eq!(of('Z'), ("KeyZ", 90, true));
        assert_eq!(of('5'), ("Digit5", 53, false));
        assert_eq!(of('('), ("Digit9", 57, true));
        assert_eq!(of('.'), ("Period", 190, false));
        assert_eq!(of('?'), ("Slash", 191, true));
        assert_eq!(of(' '), ("Space", 32, false));
        assert_eq!(of('é'), ("", 0, false));
    }

    #[test]
    fn shift_types_what_stands_above() {
        assert_eq!(['a', '1', '/', 'A', 'é', ' '].map(shifted), ['A', '!', '?', 'A', 'é', ' ']);
    }

    #[test]
    fn every_named_key_has_a_code() {
        for name in glass_proto::op::NAMED {
            let stroke = named(name);
            assert!(!stroke.code.is_empty() && stroke.key_code > 0, "{name}");
        }
        assert_eq!(named("F12").key_code, 123);
    }
}
