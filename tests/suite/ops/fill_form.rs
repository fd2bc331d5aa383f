//! `fillForm`: every field, each verified; or which were done and which failed.

use glass_tests::Stage;

// contract: 5.3 report: 103
#[test]
fn all_fields_are_filled_and_verified_though_each_moves_the_revision() {
    let (stage, visit) = Stage::open("form.html");
    let revision = stage.revision().to_string();
    let result = stage.ok(&[
        "fill-form",
        "--expected-revision",
        &revision,
        "label=Name := Bob B",
        "css=#notes := two\nlines",
        "label=Day := 2026-03-04",
        "role=textbox;name=Rich :=  spaced",
    ]);
    let fields = result["fields"].as_array().expect("fields");
    assert_eq!(fields.len(), 4, "{result}");
    assert!(fields.iter().all(|field| field["valueMatches"] == true), "{result}");
    assert_eq!(fields[2]["nativeSetter"], true, "{result}");
    assert_eq!(
        stage.eval("[document.getElementById('name').value, notes.value, day.value, rich.innerText.trim()]"),
        serde_json::json!(["Bob B", "two\nlines", "2026-03-04", "spaced"])
    );
    assert!(visit.received("submit").is_empty());
}

// contract: 5.3, 2.1
#[test]
fn the_first_that_fails_ends_it_and_what_was_done_is_told() {
    let (stage, _visit) = Stage::open("form.html");
    let arguments = [
        "fill-form",
        "label=Name := Eve",
        "label=Nothing := x",
        "label=Notes := never",
        "--timeout-ms",
        "3000",
    ];
    let error = stage.fails("target_not_found", &arguments);
    assert_eq!(
        (error["outcome"].as_str(), error["dispatched"].as_str()),
        (Some("failed"), Some("yes")),
        "{error}"
    );
    assert_eq!(error["details"]["field"], 1, "{error}");
    assert_eq!(error["details"]["done"].as_array().map(Vec::len), Some(1), "{error}");
    assert_eq!(
        stage.eval("[document.getElementById('name').value, notes.value]"),
        serde_json::json!(["Eve", ""])
    );
    assert_eq!(stage.glassctl(["fill-form", "label=Name"]).code, Some(2));
}
