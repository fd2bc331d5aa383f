//! The table of kinds in `docs/reference/errors.md`.

use std::path::PathBuf;

use glass_proto::op::schema;
use glass_proto::{ErrorKind, OpError};

use super::markdown::{Table, code};
use super::part;

pub(super) fn file() -> (PathBuf, String) {
    let words = schema::<ErrorKind>().to_value();
    let meaning = |kind: ErrorKind| -> String {
        let choices = words["oneOf"].as_array().expect("kinds are a choice of words");
        let choice = choices.iter().find(|one| one["const"] == kind.name()).expect("each kind has its word");
        choice["description"].as_str().expect("each kind is described").to_owned()
    };
    let mut table = Table::new(&["kind", "exit", "meaning", "`failureKind`"]);
    for &kind in ErrorKind::ALL {
        table.row(&[
            &code(kind.name()),
            &kind.exit_code().to_string(),
            &meaning(kind),
            &code(kind.failure_kind()),
        ]);
    }
    part("docs/reference/errors.md", "kinds", table.text())
}

/// The fields of the one shape of errors.
#[test]
fn every_field_of_an_error_is_told() {
    let page = super::text("docs/reference/errors.md");
    for row in super::rows::rows(&schema::<OpError>().to_value()) {
        let name = row.path.split(['.', '[']).next().unwrap_or_default();
        assert!(page.contains(&format!("`{name}`")), "docs/reference/errors.md does not name `{name}`");
    }
}
