//! Raw JSON of the browser to Rust types.
//!
//! Pages may hold strings with half a surrogate pair (a cut emoji in a title), which Chromium sends as `\ud83d` and
//! which no Rust string can hold. They become U+FFFD here, instead of making the whole reply unreadable.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Decodes `raw`, replacing lone surrogates when that is what stands in the way.
pub(super) fn from_raw<T: DeserializeOwned>(raw: &RawValue) -> Result<T, serde_json::Error> {
    match serde_json::from_str(raw.get()) {
        Err(error) if error.is_syntax() => match well_formed(raw.get()) {
            Cow::Owned(repaired) => serde_json::from_str(&repaired),
            Cow::Borrowed(_) => Err(error),
        },
        result => result,
    }
}

/// `json` with every escaped surrogate that has no partner replaced by `\ufffd`.
fn well_formed(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut repaired = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..]) {
        let escape = at + offset;
        match surrogate(bytes, escape) {
            Some(Half::High) if surrogate(bytes, escape + 6) == Some(Half::Low) => at = escape + 12,
            Some(_) => {
                repaired.push_str(&json[kept..escape]);
                repaired.push_str("\\ufffd");
                at = escape + 6;
                kept = at;
            }
            None => at = (escape + 2).min(bytes.len()),
        }
    }
    if repaired.is_empty() {
        return Cow::Borrowed(json);
    }
    repaired.push_str(&json[kept..]);
    Cow::Owned(repaired)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Which half of a surrogate pair the escape at `at` is.
fn surrogate(bytes: &[u8], at: usize) -> Option<Half> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match unit {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        let raw = RawValue::from_string(json.to_owned()).expect("JSON");
        from_raw(&raw).expect("a string")
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        assert_eq!(text(r#""a\ud83d""#), "a\u{fffd}");
        assert_eq!(text(r#""\ud83d\ude00 \ude00b""#), "\u{1f600} \u{fffd}b");
        assert_eq!(text(r#""\ud83d\ud83d\ude00""#), "\u{fffd}\u{1f600}");
        assert_eq!(text(r#""\\ud83d \ud83dx""#), "\\ud83d \u{fffd}x");
        assert_eq!(text(r#""é\n\"\ud83d\"é""#), "é\n\"\u{fffd}\"é");
    }

    #[test]
    fn other_faults_are_still_faults() {
        let raw = RawValue::from_string("[1]".to_owned()).expect("JSON");
        assert!(from_raw::<String>(&raw).is_err());
    }
}
