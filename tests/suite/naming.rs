//! Locators: one element by what it is called, never the first of several.

use glass_tests::Stage;

// contract: 4.1, 4.2 report: 104
#[test]
fn a_role_and_a_name_mean_the_element_that_is_called_so() {
    let (stage, visit) = Stage::open("names.html");
    stage.ok(&["click", "role=button;name=Play"]);
    stage.ok(&["click", "role=button;name=submit"]);
    stage.ok(&["click", "role=button;name=body"]);
    stage.ok(&["click", "role=link;name=Play"]);
    assert_eq!(visit.clicks(), ["play-button", "submit-button", "body-button", "play-link"]);
}

// contract: 4.1
#[test]
fn every_form_of_a_locator_finds_its_element() {
    let (stage, visit) = Stage::open("names.html");
    for (locator, id) in [
        ("Only here", "only"),
        ("name=Only here", "only"),
        ("name=\"Only here\"", "only"),
        ("name=~ONLY H", "only"),
        ("role=button;name=~only", "only"),
        ("text=Continue", "continue"),
        ("label=Town", "town"),
        ("placeholder=Search here", "search"),
        ("testid=the-test-id", "tested"),
        ("alt=A red square", "picture"),
        ("title=A hint", "hinted"),
        ("css=#only", "only"),
        ("css=button[data-x=\"a;b\"]", "semicolon"),
        ("name=\"a | b; c >> d\"", "odd-name"),
        ("role=checkbox;checked=true", "checked"),
        ("role=button;expanded=true", "expanded"),
        ("role=tab;selected=true", "tab-2"),
        ("role=heading;level=3", "level-3"),
        ("role=region;name=Second >> role=button;name=Twice", "twice-2"),
        ("css=#second >> Twice", "twice-2"),
        ("label=Wrapped", "wrapped"),
        ("label=Described by two", "two-labels"),
    ] {
        let found = stage.ok(&["find", locator]);
        assert_eq!(found["total"], 1, "{locator}: {found}");
        stage.ok(&["click", locator]);
        let seen = visit.events().into_iter().rev().find(|event| event.kind == "mousedown").expect("a press");
        assert_eq!(seen.id, id, "{locator}");
    }
}

// contract: 4.2 report: 233
#[test]
fn odd_white_space_and_invisible_characters_do_not_hide_a_name() {
    let (stage, visit) = Stage::open("odd-names.html");
    for (name, id) in [
        ("Save all", "nbsp"),
        ("Download", "shy"),
        ("10 000 €", "narrow"),
        ("abc - abc", "spans"),
        ("OK", "empty-title"),
        ("Star", "before"),
        ("Two lines", "lines"),
        ("Café", "decomposed"),
        ("Joined", "zero-width"),
    ] {
        stage.ok(&["click", &format!("role=button;name={name}")]);
        assert_eq!(visit.clicks().last().map(String::as_str), Some(id), "{name}");
    }
}

// contract: 4.2 report: 233
#[test]
fn two_names_that_differ_only_in_what_nobody_sees_are_ambiguous() {
    let (stage, visit) = Stage::open("odd-names.html");
    let error = stage.fails("ambiguous_target", &["click", "role=button;name=Same name"]);
    assert_eq!(error["candidates"].as_array().map(Vec::len), Some(2), "{error}");
    assert!(visit.events().is_empty());
    let run = stage.glassctl(["click", "role=button;name=Same name"]).exits(3);
    let rows: Vec<_> = run.stderr.lines().filter(|line| line.contains("[e")).collect();
    assert!(
        rows.len() == 2 && rows[0].replace(char::is_numeric, "") != rows[1].replace(char::is_numeric, ""),
        "the difference is shown: {run}"
    );
}

// contract: 4.2
#[test]
fn a_hidden_twin_does_not_make_a_match_ambiguous_and_a_hidden_one_alone_is_none() {
    let (stage, visit) = Stage::open("names.html");
    stage.ok(&["click", "role=button;name=Half hidden"]);
    assert_eq!(visit.clicks(), ["half-visible"]);
    let error = stage.fails("target_not_found", &["click", "css=#all-hidden", "--timeout-ms", "600"]);
    assert!(error.to_string().contains("hidden") || error.to_string().contains("visible"), "{error}");
}

// contract: 4.2
#[test]
fn case_counts_and_a_part_of_a_name_is_not_the_name() {
    let (stage, visit) = Stage::open("names.html");
    for locator in ["only here", "name=Only", "role=button;name=ONLY HERE", "text=Contin"] {
        stage.fails("target_not_found", &["click", locator, "--timeout-ms", "500"]);
    }
    assert!(visit.events().is_empty());
}

// contract: 4.2
#[test]
fn a_scope_that_is_not_one_element_is_an_error() {
    let (stage, visit) = Stage::open("names.html");
    stage.fails("ambiguous_target", &["click", "role=region >> Twice"]);
    stage.fails("target_not_found", &["click", "role=region;name=Third >> Twice", "--timeout-ms", "500"]);
    assert!(visit.events().is_empty());
}

// contract: 4.1
#[test]
fn a_thing_that_is_named_like_a_ref_is_reached_by_name() {
    let (stage, visit) = Stage::open("names.html");
    stage.ok(&["click", "name=e1"]);
    assert_eq!(visit.clicks(), ["named-like-a-ref"]);
}
