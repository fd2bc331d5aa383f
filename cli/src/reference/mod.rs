//! `docs/reference/`, written from the definitions.
//!
//! The tests here compare what is checked in with what the definitions say. Where they differ, the files are written
//! anew and the test fails: run it again (`make regen`), and commit. Nobody edits these files by hand, and a conflict
//! in one of them is solved by running the test.

mod command_line;
mod compatible;
mod configuration;
mod errors;
mod locators;
mod markdown;
mod operations;
mod rows;
mod schemas;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files by their path from the root of the repository.
type Files = BTreeMap<PathBuf, String>;

const MARK: &str = "<!-- Generated from the definitions; `make regen` writes it anew. -->\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file written by hand, with the part between the two marks of `name` written anew.
fn part(path: &str, name: &str, fresh: &str) -> (PathBuf, String) {
    let text = text(path);
    let (begin, end) = (format!("<!-- generated: {name} -->\n"), "<!-- end of generated -->".to_owned());
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{path} has no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{path} has no {end}"));
    (path.into(), format!("{before}{begin}\n{}\n\n{end}{after}", fresh.trim()))
}

/// Writes what differs, removes what is left over in `directories`, and fails if there was any.
fn current(fresh: &Files, directories: &[&str]) {
    let mut stale = Vec::new();
    for (path, text) in fresh {
        let place = root().join(path);
        if std::fs::read_to_string(&place).ok().as_ref() != Some(text) {
            std::fs::create_dir_all(place.parent().expect("a file lies in a directory"))
                .expect("a directory");
            std::fs::write(&place, text).expect("a generated file can be written");
            stale.push(path.clone());
        }
    }
    for directory in directories {
        for entry in std::fs::read_dir(root().join(directory)).expect("a directory").flatten() {
            let path = Path::new(directory).join(entry.file_name());
            if !fresh.contains_key(&path) {
                std::fs::remove_file(entry.path()).expect("a generated file can be removed");
                stale.push(path);
            }
        }
    }
    assert!(stale.is_empty(), "error: stale generated files were written anew; commit them: {stale:?}");
}

#[test]
fn generated_reference_is_current() {
    let mut files = Files::new();
    files.extend(operations::files());
    files.extend(command_line::files());
    files.extend([configuration::file(), errors::file(), locators::file()]);
    current(&files, &["docs/reference/operations"]);
}

#[test]
fn generated_schemas_are_current() {
    current(&schemas::files(), &["docs/reference/schemas"]);
}
