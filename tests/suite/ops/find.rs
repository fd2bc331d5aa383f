//! `find`: what a locator could mean, without acting.

use glass_tests::Stage;

// contract: 4.3
#[test]
fn it_lists_every_match_and_touches_nothing() {
    let (stage, visit) = Stage::open("twins.html");
    let found = stage.ok(&["find", "role=button;name=Delete"]);
    assert_eq!(found["total"], 3);
    assert_eq!(found["matches"].as_array().map(Vec::len), Some(3));
    assert_eq!(found["matches"][0]["role"], "button");
    assert_eq!(found["matches"][0]["label"], "Delete");
    let reference = found["matches"][1]["ref"].as_str().expect("a ref").to_owned();
    assert!(visit.events().is_empty());
    stage.ok(&["click", &reference]);
    assert_eq!(visit.clicks(), ["delete-2"]);
}

// contract: 4.2
#[test]
fn hidden_elements_are_counted_apart_and_listed_when_asked_for() {
    let (stage, _visit) = Stage::open("collapsed.html");
    let found = stage.ok(&["find", "css=button"]);
    assert_eq!(found["total"], 1, "{found}");
    assert!(found["hidden"].as_u64().is_some_and(|hidden| hidden >= 4), "{found}");
    let all = stage.ok(&["find", "css=button", "--all"]);
    assert!(all["total"].as_u64() > Some(4), "{all}");
}

// contract: 4.3
#[test]
fn nothing_found_is_an_answer_and_the_limit_is_one() {
    let (stage, _visit) = Stage::open("twins.html");
    let none = stage.ok(&["find", "role=button;name=Nothing"]);
    assert_eq!(none["total"], 0);
    let one = stage.ok(&["find", "role=button;name=Delete", "--limit", "1"]);
    assert_eq!((one["total"].as_u64(), one["matches"].as_array().map(Vec::len)), (Some(3), Some(1)));
    for limit in ["0", "101"] {
        assert_eq!(stage.glassctl(["find", "role=button", "--limit", limit]).code, Some(2));
    }
}
