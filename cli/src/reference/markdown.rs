//! The little Markdown that the pages need.

/// A table with headings.
pub(super) struct Table {
    text: String,
}

impl Table {
    pub(super) fn new(headings: &[&str]) -> Self {
        let rule = "|---".repeat(headings.len());
        Self { text: format!("| {} |\n{rule}|\n", headings.join(" | ")) }
    }

    pub(super) fn row(&mut self, cells: &[&str]) {
        let cells: Vec<_> = cells.iter().map(|text| cell(text)).collect();
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Text as it may stand in a cell of a table, outside backticks made safe for Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A word of the machine.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

/// Help text as Markdown: what could be taken for a tag is none.
pub(super) fn prose(text: &str) -> String {
    text.replace('<', "&lt;")
}
