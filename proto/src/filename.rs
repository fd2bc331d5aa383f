//! File names that a site suggests, made safe to write under.

use crate::escape::cut;

/// Longest name, in bytes: with a number and a temporary ending it still fits every file system.
pub const MAX_NAME: usize = 200;

/// A name of one path component that hides nothing and means nothing to a shell, a terminal or a file system. Never
/// empty.
pub fn safe(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().map(|c| if harmless(c) { c } else { '_' }).collect();
    // No hidden file, no `.` or `..`, nothing that looks like an option, no space at an end.
    let kept = kept.trim_start_matches(['.', '-', ' ', '~']).trim_end_matches([' ', '.']);
    if kept.is_empty() { "download".to_owned() } else { shortened(kept, MAX_NAME) }
}

/// The same name with a number before its ending; the name itself for 0.
pub fn numbered(name: &str, number: u32) -> String {
    if number == 0 {
        return name.to_owned();
    }
    match split(name) {
        (stem, Some(ending)) => format!("{stem} ({number}).{ending}"),
        (stem, None) => format!("{stem} ({number})"),
    }
}

fn harmless(c: char) -> bool {
    let direction =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !c.is_control() && !direction && !matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|')
}

fn split(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 16 => (stem, Some(ending)),
        _ => (name, None),
    }
}

/// The name in at most `most` bytes, more than 20, with its ending.
pub fn shortened(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    match split(name) {
        (stem, Some(ending)) => format!("{}.{ending}", cut(stem, most - ending.len() - 1)),
        (stem, None) => cut(stem, most).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_lead_elsewhere_or_deceive_is_taken_out() {
        for (given, want) in [
            ("report.pdf", "report.pdf"),
            ("отчёт №1 .pdf", "отчёт №1 .pdf"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("..", "download"),
            ("", "download"),
            ("a/", "download"),
            (".bashrc", "bashrc"),
            ("-rf", "rf"),
            ("a\u{202e}fdp.exe", "a_fdp.exe"),
            ("a\nb\u{1b}[31m.txt", "a_b_[31m.txt"),
            ("con: \"x\"|y?.txt", "con_ _x__y_.txt"),
            ("trailing. . ", "trailing"),
        ] {
            assert_eq!(safe(given), want, "{given:?}");
        }
    }

    #[test]
    fn long_names_keep_their_ending_and_numbers_stand_before_it() {
        let long = safe(&format!("{}.tar", "ж".repeat(300)));
        assert!(long.len() <= MAX_NAME && long.ends_with(".tar"), "{long}");
        assert_eq!(numbered("a.tar.gz", 2), "a.tar (2).gz");
        assert_eq!(numbered("none", 1), "none (1)");
        assert_eq!(numbered("a.b", 0), "a.b");
        assert_eq!(numbered("a. no ending that is so long", 1), "a. no ending that is so long (1)");
    }
}
