//! Showing text that comes from a page, a file name or another client (contract 12.3, 9.6), and cutting it.

use std::borrow::Cow;

/// Whether a character must never reach a terminal as it is: controls, C1, direction changers, invisible ones.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Writes hidden characters as escapes; keeps `\n` when `lines` is true.
///
/// A variation selector after an emoji is escaped too: what cannot be seen must be told.
pub fn visible(text: &str, lines: bool) -> Cow<'_, str> {
    let keep = |c: char| !is_hidden(c) || (lines && c == '\n');
    if text.chars().all(keep) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if keep(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

/// Quotes a page's string for one line of an outline: hidden characters escaped, `"` and `\` with a backslash.
pub fn quoted(text: &str) -> String {
    let shown = visible(text, false);
    let mut out = String::with_capacity(shown.len() + 2);
    out.push('"');
    // Escapes that `visible` made keep their single backslash: a person reads this, no parser does.
    for c in shown.chars() {
        if c == '"' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// Cuts a text to at most `max` bytes at a character's boundary.
pub fn cut(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let end = (0..=max.saturating_sub('…'.len_utf8())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    Cow::Owned(format!("{}…", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_a_terminal_would_act_on() {
        assert_eq!(visible("a\x1b[31mb\u{9b}c\u{202e}d", false), "a\\u{1b}[31mb\\u{9b}c\\u{202e}d");
        assert_eq!(visible("a\nb\r", true), "a\nb\\r");
        assert!(matches!(visible("héllo 漢字 😀", false), Cow::Borrowed(_)));
    }

    #[test]
    fn quotes_stay_on_one_line() {
        assert_eq!(quoted("say \"hi\"\nnow"), "\"say \\\"hi\\\"\\nnow\"");
    }

    #[test]
    fn cuts_at_characters() {
        assert_eq!(cut("ééé", 6), "ééé");
        assert_eq!(cut("éééé", 6), "é…");
        assert_eq!(cut("abc", 1).len(), 3);
    }
}
