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

/// What users of such tools reported of pages, forms, frames, dialogs, tabs, navigation, downloads, output, rules and isolation, and of MCP
/// clients (266 to 274), by the numbers of the collection that they were written down in. A test that holds Glass to one
/// says `// report: N` above it.
const REPORTS: &[u32] = &[
    3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 19, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31, 32, 34, 36,
    37, 38, 39, 40, 41, 42, 43, 45, 46, 47, 49, 51, 52, 53, 54, 56, 58, 60, 61, 74, 76, 83, 85, 86, 87, 88,
    101, 103, 104, 105, 106, 112, 201, 202, 204, 205, 206, 207, 209, 211, 212, 213, 214, 216, 217, 219, 220,
    221, 222, 224, 225, 226, 228, 229, 230, 232, 233, 235, 236, 237, 238, 239, 240, 243, 245, 246, 247, 249,
    251, 252, 253, 254, 255, 258, 259, 260, 262, 263, 264, 266, 267, 268, 269, 270, 271, 272, 273, 274,
];

#[test]
fn every_report_has_a_test() {
    let mut told = BTreeSet::<u32>::new();
    for directory in [suite(), suite().join("ops"), suite().join("mcp"), suite().join("redteam")] {
        for name in files(&directory, ".rs") {
            let text = fs::read_to_string(directory.join(name + ".rs")).expect("a file of tests");
            let mut marked = Vec::new();
            for line in text.lines() {
                match line.strip_prefix("// ").and_then(|line| line.split_once("report: ")) {
                    Some((_, list)) => {
                        marked.extend(list.split(',').filter_map(|one| one.trim().parse::<u32>().ok()))
                    }
                    // A mark belongs to the test that follows it.
                    None if line.starts_with("fn ") => told.extend(marked.drain(..)),
                    None => {}
                }
            }
        }
    }
    let missing: Vec<_> = REPORTS.iter().filter(|number| !told.contains(*number)).collect();
    assert!(missing.is_empty(), "no test says `// report:` {missing:?}");
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
