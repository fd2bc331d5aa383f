//! Locators: one element by what it is called, never the first of several.

use glass_tests::site::site;
use glass_tests::{Stage, World, rows};

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
        ("css=button[data-x='a;b']", "semicolon"),
        ("xpath=//button[@data-x='a;b']", "semicolon"),
        ("xpath=\"//section[@id='second'] //button\"", "twice-2"),
        ("xpath=//button[.='Only here'] | //nothing", "only"),
        ("css=#second >> xpath=//button", "twice-2"),
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

// contract: 4.1
#[test]
fn the_argument_scope_is_a_container_for_every_operation_that_names_an_element() {
    let (stage, visit) = Stage::open("names.html");
    let second = ["--scope", "role=region;name=Second"];
    stage.ok(&["click", "Twice", second[0], second[1]]);
    assert_eq!(visit.clicks(), ["twice-2"]);
    assert_eq!(stage.ok(&["find", "role=button", second[0], second[1]])["total"], 1);
    assert_eq!(stage.ok(&["get-text", second[0], second[1]])["text"], "Twice");
    stage.ok(&["wait", "visible=Twice", second[0], second[1]]);
    stage.fails("ambiguous_target", &["click", "Twice", "--scope", "role=region"]);
    stage.fails("target_not_found", &["click", "Twice", "--scope", "role=region;name=Third"]);
    stage.fails("invalid_argument", &["click", "e1", second[0], second[1]]);
    // Where nothing is looked for, a scope would be ignored: it is refused instead.
    for call in [&["evaluate", "1"][..], &["navigate", "about:blank"], &["screenshot"], &["list-targets"]] {
        stage.fails("invalid_argument", &[call, &second].concat());
    }
    assert_eq!(visit.clicks(), ["twice-2"]);
}

// contract: 4.1, 4.2
#[test]
fn a_container_holds_what_lies_in_its_frames() {
    let (stage, visit) = Stage::open("frames.html");
    stage.ok(&["wait", "visible=role=button;name=Deep button"]);
    stage.ok(&["click", "role=frame;name=Same site >> Inner button"]);
    stage.ok(&["click", "css=iframe#same >> Deep button"]);
    stage.ok(&["click", "css=body:has(#outer) >> role=button;name=In srcdoc"]);
    assert_eq!(visit.clicks(), ["inner-button", "deep-button", "in-srcdoc"]);
    stage.fails("target_not_found", &["click", "role=frame;name=Same site >> In srcdoc"]);
}

// contract: 4.1
#[test]
fn an_ordinal_is_a_row_of_the_last_observation_and_nothing_without_one() {
    let (stage, visit) = Stage::open("twins.html");
    // A target that nobody has observed yet.
    let fresh = stage.ok(&["create-target", &visit.url("twins.html")])["targetId"].clone();
    let fresh = fresh.as_str().expect("an id");
    let error = stage.fails("invalid_argument", &["click", "ordinal=1", "--target-id", fresh]);
    stage.ok(&["close-target", fresh]);
    assert!(error["remedy"].as_str().is_some_and(|remedy| remedy.contains("observe")), "{error}");
    let observed = stage.ok(&["observe"]);
    let nodes = observed["nodes"].as_array().expect("rows");
    let second = rows(&observed, "button", "Delete")[1]["ref"].clone();
    let at = nodes.iter().position(|node| node["ref"] == second).expect("it is among the rows") + 1;
    stage.ok(&["click", &format!("ordinal={at}")]);
    assert_eq!(visit.clicks(), ["delete-2"]);
    stage.fails("invalid_argument", &["click", &format!("ordinal={}", nodes.len() + 1)]);
    // The number means the row that was seen, not the one that has its place now.
    stage.eval("document.getElementById('row-1').before(document.getElementById('row-3'))");
    stage.ok(&["click", &format!("ordinal={at}")]);
    assert_eq!(visit.clicks(), ["delete-2", "delete-2"]);
    stage.eval("document.getElementById('row-2').remove()");
    stage.fails("stale_reference", &["click", &format!("ordinal={at}")]);
}

// contract: 4.1, 4.2
#[test]
fn every_form_sees_into_open_shadow_roots() {
    let (stage, visit) = Stage::open("shadow.html");
    for locator in [
        "css=#nested-open",
        "xpath=//button[@id='nested-open']",
        "xpath=//button[.='Nested open'] | //nothing",
        "text=Nested open",
        "name=Nested open",
    ] {
        stage.ok(&["click", locator]);
        assert_eq!(visit.clicks().last().map(String::as_str), Some("nested-open"), "{locator}");
    }
}

// contract: 4.1
#[test]
fn the_attribute_of_testid_is_configured() {
    let world = World::new().with_config("[locators]\ntest_id_attribute = \"data-qa\"\n");
    let visit = site().visit();
    visit.serve("page.html", "<button data-qa=a>A</button><button data-testid=a>B</button>");
    world.ok(&["navigate", &visit.url("page.html")]);
    assert_eq!(world.ok(&["find", "testid=a"])["matches"][0]["label"], "A");
}

// contract: 2.6, 4.2 report: 6
#[test]
fn a_script_of_commands_stops_at_an_element_that_is_not_there() {
    let (stage, visit) = Stage::open("form.html");
    let glassctl = stage.command("glassctl").get_program().to_owned();
    for missing in ["e9999", "role=button;name=Missing", "css=#missing"] {
        let mut shell = stage.command_at(std::path::Path::new("/bin/sh"));
        shell.args(["-c", "\"$0\" click \"$1\" --timeout-ms 400 && \"$0\" click Save"]);
        shell.arg(&glassctl).arg(missing);
        let output = shell.output().expect("run a shell");
        assert_eq!(output.status.code(), Some(3), "{missing}: {output:?}");
        assert!(output.stdout.is_empty(), "nothing is told as done: {output:?}");
    }
    assert!(visit.events().is_empty(), "what came after was not done");
}

// contract: 4.1
#[test]
fn what_a_list_or_an_editor_in_a_label_holds_is_none_of_the_labels_words() {
    let stage = Stage::take();
    stage.show(
        "<!doctype html><title>L</title><label>Ex<b>tras</b> <select multiple id=extras><option>Salt<option>Chili</select></label>
         <label><span hidden>Never</span>One <select size=2 id=one><option>A<option>B</select> only</label>
         <label>Bio <span contenteditable>old words</span><input></label><label style=display:none>Text <textarea>old</textarea></label>",
    );
    for label in ["Extras", "One only", "Bio"] {
        let found = stage.ok(&["find", &format!("label={label}")]);
        assert_eq!(found["total"], 1, "{label}: {found}");
    }
    stage.ok(&["select", "label=Extras", "--values", "Salt", "Chili"]);
    assert_eq!(stage.eval("[...extras.selectedOptions].map((one) => one.text).join()"), "Salt,Chili");
    assert_eq!(stage.ok(&["find", "label=Text"])["hidden"], 1);
}
