//! `inspect`: one element in full, and nothing that must not be told.

use glass_tests::Stage;

// contract: 3.8
#[test]
fn it_tells_attributes_states_box_value_and_focus() {
    let stage = Stage::take();
    stage.show(
        "<title>I</title><label for=town>Town</label>
         <input id=town data-x='1' value=Oslo required aria-controls=list oninput='secretScript()'>
         <ul id=list aria-label=Towns><li>One</li></ul>",
    );
    stage.eval("document.getElementById('town').focus()");
    let seen = stage.ok(&["inspect", "label=Town"]);
    assert_eq!(
        (&seen["role"], &seen["name"], &seen["tag"]),
        (&"textbox".into(), &"Town".into(), &"input".into())
    );
    assert_eq!(
        (&seen["value"], &seen["focused"], &seen["editable"]),
        (&"Oslo".into(), &true.into(), &true.into())
    );
    assert_eq!(
        (&seen["visible"], &seen["enabled"], &seen["inViewport"]),
        (&true.into(), &true.into(), &true.into())
    );
    assert!(seen["states"].to_string().contains("required"), "{seen}");
    assert!(seen["box"][2].as_f64().is_some_and(|width| width > 20.0), "{seen}");
    let attributes = seen["attributes"].to_string();
    assert!(attributes.contains("data-x") && attributes.contains("oninput"), "{attributes}");
    assert!(!seen.to_string().contains("secretScript"), "script text is never shown: {seen}");
    let relations = seen["relations"].as_array().expect("relations");
    assert!(relations.iter().any(|one| one["by"] == "label" && one["label"] == "Town"), "{seen}");
    assert!(relations.iter().any(|one| one["by"] == "aria-controls" && one["role"] == "list"), "{seen}");
    let text = stage.glassctl(["inspect", "label=Town"]).exits(0).stdout;
    assert!(text.contains("value \"Oslo\"") && text.contains("focused"), "{text}");
}

// contract: 3.1, 3.8
#[test]
fn passwords_and_codes_are_in_no_part_of_it() {
    let stage = Stage::take();
    stage.show(
        "<title>I</title><input type=password aria-label=Password value=hunter2>
         <input autocomplete=one-time-code aria-label=Code value=424242>",
    );
    for (locator, secret) in [("label=Password", "hunter2"), ("label=Code", "424242")] {
        let seen = stage.ok(&["inspect", locator]);
        assert_eq!(seen["protected"], true, "{seen}");
        assert!(!seen.to_string().contains(secret), "{seen}");
    }
}

// contract: 4.2
#[test]
fn hidden_elements_count_and_their_reason_is_told() {
    let stage = Stage::take();
    stage.show(
        "<title>I</title><button id=gone style='display:none'>Gone</button>
         <button id=two style='display:none'>Both</button><button id=three>Both</button>
         <div inert><button id=inert>Inert</button></div>",
    );
    let gone = stage.ok(&["inspect", "css=#gone"]);
    assert_eq!((&gone["visible"], &gone["reason"]), (&false.into(), &"not_visible".into()), "{gone}");
    assert_eq!(stage.ok(&["inspect", "css=#inert"])["reason"], "inert");
    stage.fails("ambiguous_target", &["inspect", "role=button;name=Both"]);
    stage.fails("target_not_found", &["inspect", "Nothing"]);
}

// contract: 4.2
#[test]
fn what_comparisons_pass_over_is_told() {
    let stage = Stage::take();
    stage.show("<meta charset=utf-8><title>I</title><button>Sa\u{200b}ve\u{202e}\u{200b}</button>");
    let seen = stage.ok(&["inspect", "name=Save"]);
    let removed = seen["removed"].as_array().expect("characters");
    assert!(removed.iter().any(|one| one["character"] == "U+200B" && one["count"] == 2), "{seen}");
    assert!(removed.iter().any(|one| one["character"] == "U+202E"), "{seen}");
    // Those that script takes for white space too, in names and in labels.
    stage.eval("document.body.insertAdjacentHTML('beforeend', '<button>Do\\u00adwn\\ufe0f lo\\ufeffad</button><label>Your\\u200b \\u00adna\\ufeffme <input></label>'); 1");
    let seen = stage.ok(&["inspect", "name=Down load"]);
    for character in ["U+00AD", "U+FE0F", "U+FEFF"] {
        assert!(seen["removed"].to_string().contains(character), "{character}: {seen}");
    }
    stage.ok(&["fill", "label=Your name", "Ann"]);
    let text = stage.glassctl(["inspect", "name=Save"]).exits(0).stdout;
    assert!(text.contains("U+202E") && !text.contains('\u{202e}'), "{text}");
}

// contract: 3.8
#[test]
fn a_huge_element_stays_within_its_bound_and_what_is_left_out_is_counted() {
    let stage = Stage::take();
    stage.show("<title>I</title><select aria-label=Many></select>");
    stage.eval(
        "const one = document.querySelector('select');
         for (let i = 0; i < 300; i++) one.add(new Option('Choice '.repeat(20) + i, 'v' + i));
         for (let i = 0; i < 100; i++) one.setAttribute('data-' + i, 'x'.repeat(5000)); 1",
    );
    let seen = stage.ok(&["inspect", "label=Many"]);
    assert!(seen.to_string().chars().count() <= 10_000);
    assert_eq!(seen["optionsTotal"], 300);
    assert!(seen["leftOut"].as_u64() > Some(200), "{seen}");
}
