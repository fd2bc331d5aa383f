//! The suite itself: no operation without tests, no forgotten file, no page without a use.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use glass_proto::op::OPERATIONS;

fn suite() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite")
}

fn files(directory: &Path, ending: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).expect("a directory of the suite");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
}

#[test]
fn every_operation_has_a_file_of_tests() {
    let files = files(&suite().join("ops"), ".rs");
    for facts in OPERATIONS {
        let snake = facts.command().replace('-', "_");
        // Both answers to a dialog are told in one file.
        let file = if snake.ends_with("_dialog") { "dialogs" } else { &snake };
        assert!(files.contains(file), "no tests for {}", facts.name);
    }
}

#[test]
fn every_file_of_tests_is_a_module() {
    for (directory, list) in [(suite(), "main.rs"), (suite().join("ops"), "mod.rs")] {
        let declared = fs::read_to_string(directory.join(list)).expect("the list of modules");
        for name in files(&directory, ".rs") {
            if name != "main" && name != "mod" {
                assert!(
                    declared.contains(&format!("mod {name};"))
                        || declared.contains(&format!("mod r#{name};")),
                    "{name}.rs is not in {list}"
                );
            }
        }
    }
}

#[test]
fn every_page_of_the_site_is_served() {
    let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("site");
    let listed = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/site/pages.rs"));
    let listed = listed.expect("the list of pages");
    for name in files(&site, ".html") {
        assert!(listed.contains(&format!("\"{name}.html\"")), "{name}.html is not in pages.rs");
    }
}
