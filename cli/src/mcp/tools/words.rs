//! The words of operations in MCP's own terms: titles, and texts that were written for the command line.

use std::borrow::Cow;

use glass_proto::op::Facts;

/// `doubleClick` as "Double click", `getDOM` as "Get DOM".
pub(super) fn title(name: &str) -> String {
    let mut out = String::new();
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        let initials = letters.peek().is_none_or(|next| next.is_uppercase());
        match c {
            c if out.is_empty() => out.extend(c.to_uppercase()),
            c if !c.is_uppercase() => out.push(c),
            c if out.ends_with(char::is_uppercase) => out.push(c),
            c => {
                out.push(' ');
                if initials { out.push(c) } else { out.extend(c.to_lowercase()) }
            }
        }
    }
    out
}

fn camel(word: &str) -> String {
    let mut up = false;
    let mut out = String::new();
    for c in word.chars() {
        match c {
            '-' => up = true,
            c if std::mem::take(&mut up) => out.extend(c.to_uppercase()),
            c => out.push(c),
        }
    }
    out
}

/// `glassctl observe` as `observe`. What no tool does stays a command: a person has to give it.
fn without_program(text: &str) -> String {
    const PROGRAM: &str = "glassctl ";
    let mut parts = text.split(PROGRAM);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(part.len());
        if Facts::of(&part[..end]).is_none_or(|facts| facts.command() != part[..end]) {
            out.push_str(PROGRAM);
        }
        out.push_str(part);
    }
    out
}

/// A text of the command line as a caller of tools would say it: `--max-bytes` is `maxBytes`, `` `glassctl observe` ``
/// is `observe`, `list-targets` is `listTargets`.
pub fn spoken(text: &str) -> Cow<'_, str> {
    if !text.contains('-') && !text.contains("glassctl ") {
        return Cow::Borrowed(text);
    }
    let text = without_program(&text.replace("; `-` reads standard input", ""));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find(is_word) {
        out.push_str(&rest[..start]);
        let word = &rest[start..];
        let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
        out.push_str(&said(&word[..end]));
        rest = &word[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Options of `glass` itself, which no call can give.
const OURS: [&str; 5] = ["--file-root", "--session", "--sessions", "--prefix", "--mcp"];

fn said(word: &str) -> Cow<'_, str> {
    if OURS.contains(&word) || word.starts_with("--policy") {
        return word.into();
    }
    if let Some(option) = word.strip_prefix("--").filter(|option| !option.is_empty()) {
        return camel(option).into();
    }
    // Looking for an operation costs much more than looking for a letter.
    let operation = if word.contains('-') { Facts::of(word) } else { None };
    operation.map_or(Cow::Borrowed(word), |facts| facts.name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_words() {
        assert_eq!(title("doubleClick"), "Double click");
        assert_eq!(title("getDOM"), "Get DOM");
        assert_eq!(title("wait"), "Wait");
    }

    #[test]
    fn texts_for_the_shell_are_said_in_the_words_of_tools() {
        assert_eq!(spoken("act on it (see list-targets)"), "act on it (see listTargets)");
        assert_eq!(spoken("look with `glassctl observe` before"), "look with `observe` before");
        assert_eq!(spoken("[left out: 3; --limit lists up to 100]"), "[left out: 3; limit lists up to 100]");
        assert_eq!(spoken("What it shall hold; `-` reads standard input"), "What it shall hold");
        assert_eq!(spoken("a well-known -- thing - here"), "a well-known -- thing - here");
        assert_eq!(
            spoken("a person runs `glassctl confirm k7m2x9qa`"),
            "a person runs `glassctl confirm k7m2x9qa`"
        );
        assert_eq!(spoken("name one with --file-root"), "name one with --file-root");
        assert!(matches!(spoken("nothing to change"), Cow::Borrowed(_)));
    }
}
