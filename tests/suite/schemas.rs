//! The harness holds every answer of the suite against its published schema; these tests hold the harness.

use glass_proto::op::OPERATIONS;
use glass_tests::schemas::{wrong_answer, wrong_result};
use serde_json::json;

// contract: 12.7 report: 83
#[test]
fn a_field_that_no_schema_names_is_found() {
    let target = json!({
        "id": "t", "url": "u", "title": "", "kind": "page", "owner": "glass", "retention": "temporary", "selected": true,
    });
    assert_eq!(wrong_result("listTargets", &json!({"targets": [target]})), Vec::<String>::new());
    let mut more = target.clone();
    more["colour"] = "red".into();
    assert!(!wrong_result("listTargets", &json!({"targets": [more]})).is_empty());
    let mut less = target;
    less.as_object_mut().expect("an object").remove("url");
    assert!(!wrong_result("listTargets", &json!({"targets": [less]})).is_empty());
    assert!(!wrong_answer(&json!({"schema": 2, "ok": true})).is_empty());
    assert!(!wrong_answer(&json!({"schema": 1, "ok": true, "extra": 1})).is_empty());
}

#[test]
fn every_schema_can_be_used() {
    for facts in OPERATIONS {
        assert!(!wrong_result(facts.name, &json!(0)).is_empty(), "{}", facts.name);
    }
}
