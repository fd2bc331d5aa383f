//! The grammar in `docs/reference/locators.md` is that of the parser.

use std::path::PathBuf;

pub(super) fn file() -> (PathBuf, String) {
    let source = super::text("proto/src/op/locator.rs");
    let docs = source.lines().map_while(|line| line.strip_prefix("//!"));
    let grammar: Vec<_> = docs
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .skip_while(|line| *line != "```text")
        .skip(1)
        .take_while(|line| *line != "```")
        .collect();
    assert!(!grammar.is_empty(), "proto/src/op/locator.rs begins with its grammar");
    super::part("docs/reference/locators.md", "grammar", &format!("```\n{}\n```", grammar.join("\n")))
}
