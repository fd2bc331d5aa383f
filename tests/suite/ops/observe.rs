//! `observe`: everything a person would see, bounded, with refs, and nothing that must stay hidden.

use glass_tests::{Stage, rows};
use serde_json::Value;

fn outline(observed: &Value) -> &str {
    observed["outline"].as_str().expect("an observation has an outline")
}

// contract: 3.1, 12.7
#[test]
fn the_outline_and_the_nodes_tell_the_same() {
    let (stage, visit) = Stage::open("form.html");
    let observed = stage.ok(&["observe"]);
    let text = outline(&observed);
    let head = text.lines().next().unwrap_or_default();
    let revision = observed["page"]["revision"].as_u64().expect("a revision");
    assert_eq!(head, format!("r{revision} \"A form\" {} 200 complete", visit.url("form.html")));
    let nodes = observed["nodes"].as_array().expect("nodes");
    for node in nodes {
        let (role, reference) =
            (node["role"].as_str().expect("a role"), node["ref"].as_str().expect("a ref"));
        assert!(
            text.lines()
                .any(|line| line.trim_start().starts_with(role) && line.contains(&format!("[{reference}]"))),
            "{role} [{reference}] is not in\n{text}"
        );
    }
    for row in [
        "= \"Ann\" required",
        "combobox \"Country\"",
        "195 options",
        "checkbox \"I accept the terms\"",
        "button \"Pay\"",
    ] {
        assert!(text.contains(row), "{row} is not in\n{text}");
    }
    assert!(text.lines().any(|line| line.contains("button \"Pay\"") && line.contains("disabled")), "{text}");
    assert!(
        text.lines().any(|line| line.contains("I accept the terms") && line.contains("unchecked")),
        "{text}"
    );
    let people = stage.glassctl(["observe"]).success();
    assert_eq!(people.stdout.trim_end(), text.trim_end());
}

// contract: 3.1
#[test]
fn what_is_in_a_password_field_is_never_read() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["fill", "label=Password", "hunter2-secret"]);
    stage.ok(&["fill", "label=Code", "918273"]);
    for operation in
        [&["observe"][..], &["get-text"], &["find", "label=Password"], &["observe", "--interactive"]]
    {
        let answer = stage.ask(operation).json.to_string();
        assert!(!answer.contains("hunter2-secret") && !answer.contains("918273"), "{answer}");
    }
}

// contract: 3.1
#[test]
fn what_is_left_out_is_counted_and_the_bound_holds() {
    let (stage, visit) = Stage::open("form.html");
    let items: String =
        (0..3000).map(|n| format!("<li><button id=b{n}>Button number {n}</button>")).collect();
    visit.serve(
        "long.html",
        &format!("<!doctype html><title>Long</title><main><ul>{items}</ul><button>Last</button>"),
    );
    stage.go(&visit, "long.html");
    for bytes in ["1024", "4096", "24576"] {
        let observed = stage.ok(&["observe", "--max-bytes", bytes]);
        let limit: usize = bytes.parse().expect("a number");
        assert!(outline(&observed).len() <= limit, "{} > {limit}", outline(&observed).len());
        let left = observed["incomplete"].as_array().expect("a list of what is left out");
        assert!(left.iter().any(|one| one["count"].as_u64().is_some_and(|count| count > 1000)), "{left:?}");
        assert!(left.iter().all(|one| one["hint"].is_string() || one["reason"].is_string()), "{left:?}");
        assert!(outline(&observed).contains("left out"), "{}", outline(&observed));
    }
    for bytes in ["1023", "204801"] {
        assert_eq!(stage.glassctl(["observe", "--max-bytes", bytes]).code, Some(2));
    }
}

// contract: 3.1
#[test]
fn a_dialog_comes_before_a_long_page() {
    let (stage, visit) = Stage::open("form.html");
    let items: String = (0..3000).map(|n| format!("<li><button>Button number {n}</button>")).collect();
    visit.serve(
        "behind.html",
        &format!("<!doctype html><title>Behind</title><ul>{items}</ul><dialog id=d aria-label=Question><button>Yes</button></dialog><script>d.showModal()</script>"),
    );
    stage.go(&visit, "behind.html");
    let observed = stage.ok(&["observe", "--max-bytes", "4096"]);
    assert_eq!(rows(&observed, "dialog", "Question").len(), 1, "{}", outline(&observed));
    assert_eq!(rows(&observed, "button", "Yes").len(), 1, "{}", outline(&observed));
}

// contract: 3.1
#[test]
fn scope_depth_and_interactive_narrow_the_answer() {
    let (stage, _visit) = Stage::open("form.html");
    let scoped = stage.ok(&["observe", "--scope", "role=form;name=Payment"]);
    assert_eq!(rows(&scoped, "button", "Pay").len(), 1, "{}", outline(&scoped));
    assert_eq!(rows(&scoped, "heading", "Sign in").len(), 0, "{}", outline(&scoped));
    let interactive = stage.ok(&["observe", "--interactive"]);
    assert_eq!(rows(&interactive, "heading", "Sign in").len(), 0, "{}", outline(&interactive));
    assert_eq!(rows(&interactive, "textbox", "Name").len(), 1, "{}", outline(&interactive));
    let shallow = stage.ok(&["observe", "--depth", "1"]);
    let deep = stage.ok(&["observe"]);
    assert!(shallow["nodes"].as_array().map(Vec::len) <= deep["nodes"].as_array().map(Vec::len));
    stage.fails("target_not_found", &["observe", "--scope", "role=form;name=Nothing"]);
}

// contract: 3.2 report: 13
#[test]
fn a_clickable_card_without_a_role_is_one_usable_row() {
    let (stage, visit) = Stage::open("cards.html");
    let observed = stage.ok(&["observe", "--interactive"]);
    for (words, id) in [("Delegated card", "delegated"), ("Listener card", "listener"), ("Tab card", "tab")] {
        let nodes = observed["nodes"].as_array().expect("nodes");
        let found: Vec<_> = nodes
            .iter()
            .filter(|node| node["name"].as_str().is_some_and(|name| name.contains(words)))
            .collect();
        assert_eq!(found.len(), 1, "{words} in\n{}", outline(&observed));
        stage.ok(&["click", found[0]["ref"].as_str().expect("a ref")]);
        assert_eq!(visit.clicks().last().map(String::as_str), Some(id));
    }
    assert_eq!(stage.eval("window.taken.join()"), "delegated,listener,tab");
}

// contract: 3.3
#[test]
fn a_page_that_replaces_its_tree_again_and_again_lives_under_observation() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><title>Renders</title><div id=root></div><script>let n=0;function render(){n++;\
         root.innerHTML='<h1>Render '+n+'</h1><button id=b>Add</button><ul>'+\
         [...Array(50).keys()].map(i=>'<li><a href=#'+i+'>Row '+n+'-'+i+'</a></li>').join('')+'</ul>';\
         b.onclick=render}render()</script>",
    );
    for render in 1..=15 {
        let observed = stage.ok(&["observe"]);
        let heading = format!("Render {render}");
        assert_eq!(rows(&observed, "heading", &heading).len(), 1, "{}", outline(&observed));
        stage.ok(&["click", "role=button;name=Add"]);
    }
}

// contract: 3.2 report: 206
#[test]
fn what_nobody_sees_is_no_usable_row() {
    let (stage, _visit) = Stage::open("collapsed.html");
    let observed = stage.ok(&["observe"]);
    assert_eq!(rows(&observed, "button", "Overflows").len(), 1, "{}", outline(&observed));
    for hidden in ["Collapsed", "In details", "Until found", "Skipped", "Display none", "Aria hidden"] {
        for row in rows(&observed, "button", hidden) {
            let states = row["states"].to_string();
            assert!(states.contains("hidden"), "{hidden} is listed as usable:\n{}", outline(&observed));
        }
    }
    let text = stage.ok(&["get-text"])["text"].to_string();
    assert!(text.contains("Overflows"), "{text}");
    assert!(!text.contains("Display none"), "{text}");
}

// contract: 3.2
#[test]
fn open_and_closed_shadow_roots_are_seen_into() {
    let (stage, visit) = Stage::open("shadow.html");
    let observed = stage.ok(&["observe"]);
    assert_eq!(rows(&observed, "button", "In open").len(), 1, "{}", outline(&observed));
    assert_eq!(rows(&observed, "button", "Nested open").len(), 1, "{}", outline(&observed));
    assert_eq!(rows(&observed, "button", "Slotted").len(), 1, "{}", outline(&observed));
    stage.ok(&["click", "role=button;name=Nested open"]);
    assert_eq!(visit.clicks(), ["nested-open"]);
    assert_eq!(rows(&observed, "button", "In closed").len(), 1, "{}", outline(&observed));
    stage.ok(&["click", "role=button;name=In closed"]);
}

// contract: 3.2 report: 54
#[test]
fn data_uris_scripts_and_giant_strings_do_not_flood_the_answer() {
    let (stage, visit) = Stage::open("form.html");
    let data = "A".repeat(2_000_000);
    let label = "L".repeat(1_000_000);
    let word = "word ".repeat(400_000);
    visit.serve(
        "huge.html",
        &format!(
            "<!doctype html><title>Huge</title><img alt=Pixel src='data:image/png;base64,{data}'><a href='data:text/plain;base64,{data}'>A data link</a>\
             <button aria-label='{label}'>x</button><p>{word}</p><script>var script_text=1</script><style>.style_text{{color:red}}</style><button>End</button>"
        ),
    );
    stage.go(&visit, "huge.html");
    let answer = stage.ask(&["observe"]);
    let observed = answer.result();
    assert!(answer.run.stdout.len() < 200_000, "{} bytes", answer.run.stdout.len());
    assert!(outline(observed).len() <= 24 * 1024);
    for never in ["base64", "AAAAAAAA", "script_text", "style_text"] {
        assert!(!answer.run.stdout.contains(never), "{never}");
    }
    let nodes = observed["nodes"].as_array().expect("nodes");
    let long = nodes.iter().find(|node| node["nameLength"].is_u64()).expect("a cut name tells its length");
    assert_eq!(long["nameLength"], 1_000_000);
    assert!(long["name"].as_str().is_some_and(|name| name.chars().count() <= 256));
    assert!(
        observed["textBytes"].as_u64().is_some_and(|bytes| bytes > 1_900_000),
        "{}",
        observed["textBytes"]
    );
    assert!(!observed["incomplete"].as_array().is_none_or(Vec::is_empty));
}

// contract: 3.1 report: 54
#[test]
fn a_page_of_a_hundred_thousand_rows_stays_within_the_budget() {
    let (stage, visit) = Stage::open("form.html");
    visit.serve(
        "rows.html",
        "<!doctype html><title>Rows</title><table aria-label=Orders id=t></table><div id=deep></div><script>\
         t.innerHTML='<tr><td>cell</td><td><a href=#x>open</a></td></tr>'.repeat(100000);\
         let n=deep;for(let i=0;i<30;i++){const d=document.createElement('section');d.setAttribute('aria-label','level '+i);n.append(d);n=d}\
         n.innerHTML='<button>Deep</button>'</script>",
    );
    stage.ok(&["navigate", &visit.url("rows.html"), "--timeout-ms", "60000"]);
    let answer = stage.ask(&["observe", "--timeout-ms", "60000"]);
    assert!(outline(answer.result()).len() <= 24 * 1024);
    assert!(!answer.result()["incomplete"].as_array().is_none_or(Vec::is_empty));
    stage.ok(&["click", "role=button;name=Deep", "--timeout-ms", "60000"]);
}

// contract: 3.1
#[test]
fn a_select_tells_its_value_and_the_number_of_its_options() {
    let (stage, _visit) = Stage::open("form.html");
    let observed = stage.ok(&["observe"]);
    let country = rows(&observed, "combobox", "Country");
    assert_eq!(country.len(), 1, "{}", outline(&observed));
    assert_eq!(country[0]["options"], 195);
    assert_eq!(country[0]["value"], "Norway");
    assert!(!outline(&observed).contains("Land 17"), "options are no rows: {}", outline(&observed));
}

// contract: 12.3
#[test]
fn control_and_direction_characters_of_a_page_are_shown_escaped() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><meta charset=utf-8><title>T\u{1b}[31m\u{202e}x</title><button>Red \u{1b}[31m\u{202e}end\u{7}</button><p>para\u{1b}]0;owned\u{7}\u{9b}</p>",
    );
    for operation in
        [&["observe"][..], &["get-text"], &["find", "role=button"], &["evaluate", "document.title"]]
    {
        let run = stage.glassctl(operation).success();
        for bad in ['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}'] {
            assert!(!run.stdout.contains(bad), "{bad:?} in {operation:?}: {:?}", run.stdout);
        }
    }
}

// contract: 1.4
#[test]
fn text_is_in_reading_order_and_bounded() {
    let (stage, _visit) = Stage::open("sections.html");
    let observed = stage.ok(&["observe"]);
    let text = observed["text"].as_str().expect("text");
    let first = text.find("First words").expect("the first paragraph");
    let last = text.find("Last words").expect("the last paragraph");
    assert!(first < last, "{text}");
    assert_eq!(observed["textBytes"].as_u64(), Some(text.len() as u64));
}

// contract: 3.1
#[test]
fn a_query_lists_what_holds_it_with_counts_and_pages_over_one_snapshot() {
    let stage = Stage::take();
    stage.show(
        "<title>Q</title><input placeholder='Find an apple'><button data-testid=apple-button>Go</button>
         <iframe title=Inner srcdoc='<button>Apple in a frame</button>' width=300 height=60></iframe>
         <div id=list></div>
         <script>for (let i = 0; i < 50; i++) list.insertAdjacentHTML('beforeend', `<button>Apple ${i}</button><button>Pear ${i}</button>`)</script>",
    );
    stage.ok(&["wait", "visible=Apple in a frame"]);
    let first = stage.ok(&["observe", "--query", "APPLE"]);
    assert_eq!(
        (&first["query"]["matches"], &first["query"]["shown"]),
        (&53.into(), &20.into()),
        "{}",
        outline(&first)
    );
    assert!(outline(&first).contains("20 of 53 rows hold \"APPLE\""), "{}", outline(&first));
    let id = first["snapshotId"].as_str().expect("a snapshot").to_owned();
    let mut seen: Vec<String> = Vec::new();
    for offset in ["0", "20", "40"] {
        let page = stage.ok(&["observe", "--query", "apple", "--offset", offset, "--snapshot-id", &id]);
        seen.extend(page["nodes"].as_array().expect("rows").iter().map(|node| node["ref"].to_string()));
    }
    assert_eq!(seen.len(), 53, "every match once: {seen:?}");
    assert_eq!(seen.iter().collect::<std::collections::HashSet<_>>().len(), 53);
    stage.eval("list.lastElementChild.remove()");
    let error = stage
        .fails("stale_revision", &["observe", "--query", "apple", "--offset", "20", "--snapshot-id", &id]);
    assert_eq!(error["reason"], "snapshot_changed", "{error}");
    assert_eq!(stage.ok(&["observe", "--query", "nothing at all"])["query"]["matches"], 0);
    for wrong in [&["--limit", "5"][..], &["--query", "x", "--limit", "0"], &["--query", " "]] {
        assert_eq!(stage.glassctl([&["observe"], wrong].concat()).code, Some(2), "{wrong:?}");
    }
}

// contract: 3.1
#[test]
fn boxes_are_told_when_asked_for_and_an_offset_reads_on() {
    let stage = Stage::take();
    stage.show("<title>B</title><button style='position:absolute;left:30px;top:40px;width:120px;height:25px'>One</button><button>Two</button>");
    let plain = stage.ok(&["observe"]);
    assert!(rows(&plain, "button", "One")[0]["box"].is_null());
    let boxed = stage.ok(&["observe", "--boxes"]);
    assert_eq!(
        rows(&boxed, "button", "One")[0]["box"],
        serde_json::json!([30, 40, 120, 25]),
        "{}",
        outline(&boxed)
    );
    assert!(outline(&boxed).contains("@30,40 120×25"), "{}", outline(&boxed));
    let rest = stage.ok(&["observe", "--offset", "1"]);
    assert_eq!(
        (rows(&rest, "button", "One").len(), rows(&rest, "button", "Two").len()),
        (0, 1),
        "{}",
        outline(&rest)
    );
}

// contract: 3.1
#[test]
fn html_a_picture_and_what_controls_hold_are_told_as_asked_for() {
    let stage = Stage::take();
    stage.show("<!doctype html><title>I</title><label>Town <input value=Oslo></label><p id=p>Words</p>");
    let plain = stage.ok(&["observe"]);
    assert!(plain["dom"].is_null() && plain["screenshot"].is_null(), "{plain}");
    assert!(outline(&plain).contains("= \"Oslo\""), "{}", outline(&plain));
    let without = stage.ok(&["observe", "--values=false", "--include-dom"]);
    assert!(!without.to_string().contains("Oslo"), "{without}");
    assert!(without["dom"].as_str().is_some_and(|dom| dom.contains("<p id=\"p\">Words</p>")), "{without}");
    let scoped = stage.ok(&["observe", "--scope", "css=p", "--include-dom"]);
    assert_eq!(scoped["dom"], "<p id=\"p\">Words</p>");
    let seen = stage.ok(&["observe", "--values", "--include-screenshot", "-o", "seen.png"]);
    assert!(outline(&seen).contains("= \"Oslo\""), "{}", outline(&seen));
    assert_eq!(
        (&seen["screenshot"]["format"], &seen["screenshot"]["path"]),
        (&"png".into(), &"seen.png".into())
    );
    assert!(stage.path("cwd/seen.png").exists());
    let text = stage.glassctl(["observe", "--include-dom", "--include-screenshot"]).success().stdout;
    assert!(text.contains("dom ") && text.contains("screenshot-"), "{text}");
    assert_eq!(stage.glassctl(["observe", "-o", "seen.png"]).code, Some(2));
}
