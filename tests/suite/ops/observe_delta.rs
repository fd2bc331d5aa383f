//! `observeDelta`: what changed since a revision, and only that.

use glass_tests::Stage;
use serde_json::Value;

fn texts<'a>(rows: &'a Value, of: impl Fn(&'a Value) -> &'a Value) -> Vec<String> {
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter()
        .map(|row| {
            let node = of(row);
            let word = |key: &str| node[key].as_str().unwrap_or_default().to_owned();
            format!("{} {}", word("role"), word("name"))
        })
        .collect()
}

fn added(delta: &Value) -> Vec<String> {
    texts(&delta["added"], |row| row)
}

fn removed(delta: &Value) -> Vec<String> {
    texts(&delta["removed"], |row| row)
}

fn changed(delta: &Value) -> Vec<String> {
    texts(&delta["changed"], |row| &row["node"])
}

// contract: 3.8, 3.1
#[test]
fn rows_that_came_went_and_changed_are_told_and_what_came_back_to_what_it_was_is_not() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>D</title><main><button id=a>Ann</button><button id=b>Ben</button><label><input type=checkbox id=c>Cut</label>
         <label>Town <input id=t value=Oslo></label><label>Secret <input id=p type=password></label><h1 id=h>Head</h1></main>",
    );
    let observed = stage.ok(&["observe"]);
    let first = observed["page"]["revision"].to_string();
    let gone = glass_tests::rows(&observed, "button", "Ben")[0]["ref"].clone();
    let none = stage.ok(&["observe-delta", &first]);
    assert_eq!((added(&none).len(), removed(&none).len(), changed(&none).len()), (0, 0, 0), "{none}");
    stage
        .eval("document.getElementById('b').remove(); document.getElementById('h').textContent = 'Moved'; 1");
    stage.ok(&["check", "label=Cut"]);
    stage.ok(&["fill", "label=Town", "Bergen"]);
    stage.ok(&["fill", "label=Secret", "hunter2"]);
    stage.eval("document.getElementById('a').textContent = 'Other'; 1");
    stage.ok(&["observe"]);
    stage.eval(
        "document.getElementById('a').textContent = 'Ann'; document.querySelector('main').insertAdjacentHTML('beforeend', '<dialog open aria-label=Sure><button>Yes</button></dialog>'); 1",
    );
    let delta = stage.ok(&["observe-delta", &first]);
    assert_eq!(added(&delta), ["dialog Sure", "button Yes"], "{delta}");
    assert_eq!(removed(&delta), ["button Ben"], "{delta}");
    assert_eq!(delta["removed"][0]["ref"], gone, "the ref that was given out");
    let names = changed(&delta);
    for name in ["checkbox Cut", "textbox Town", "textbox Secret", "heading Moved"] {
        assert!(names.contains(&name.to_owned()), "{name} is not in {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("Ann")), "it is what it was: {names:?}");
    let text = delta["outline"].as_str().unwrap_or_default();
    for part in ["+ dialog \"Sure\"", "= \"Bergen\"", "was = \"Oslo\"", "was \"Head\"", "- button \"Ben\""] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!delta.to_string().contains("hunter2"), "{delta}");
    assert_eq!((&delta["textChanged"], &delta["documentChanged"]), (&true.into(), &false.into()), "{delta}");
    // Its refs can be used.
    let yes = delta["added"][1]["ref"].as_str().expect("a ref").to_owned();
    stage.ok(&["click", &yes]);
    // A reload is another document: all of it counts as new.
    stage.go(&visit, "page.html");
    let delta = stage.ok(&["observe-delta", &first]);
    assert_eq!(delta["documentChanged"], true, "{delta}");
    assert!(added(&delta).contains(&"button Ben".to_owned()), "{delta}");
    assert!(delta["incomplete"].to_string().contains("document"), "{delta}");
}

// contract: 3.8
#[test]
fn it_is_bounded_and_what_it_leaves_out_is_counted_and_orders_and_old_revisions_are_told() {
    let stage = Stage::take();
    stage.show("<!doctype html><title>B</title><div id=list><button>One</button><button>Two</button></div>");
    let first = stage.revision().to_string();
    stage.eval("list.prepend(list.lastElementChild); 1");
    let delta = stage.ok(&["observe-delta", &first]);
    assert!(delta["incomplete"].to_string().contains("order"), "{delta}");
    let before = delta["page"]["revision"].to_string();
    stage.eval(
        "for (let i = 0; i < 1000; i++) list.insertAdjacentHTML('beforeend', `<button>Row ${i}</button>`); 1",
    );
    let delta = stage.ok(&["observe-delta", &before, "--max-bytes", "1024"]);
    let told = delta["added"].as_array().map_or(0, Vec::len);
    let left = delta["incomplete"].as_array().expect("what is left out");
    let left = left.iter().find(|left| left["kind"] == "added").expect("a count")["count"].as_u64();
    assert_eq!(left, Some(1000 - told as u64));
    assert!(delta["outline"].as_str().is_some_and(|text| text.len() <= 1024), "{delta}");
    // What an evaluate changes is a revision of its own.
    for round in 0..18 {
        stage.eval(&format!("list.insertAdjacentHTML('beforeend', '<button>Late {round}</button>'); 1"));
    }
    let error = stage.fails("stale_revision", &["observe-delta", &before]);
    assert_eq!(error["reason"], "revision_forgotten", "{error}");
    assert_eq!(error["details"]["currentRevision"].as_u64(), Some(stage.revision()));
    // Eight are kept.
    let recent = (stage.revision() - 8).to_string();
    assert_eq!(added(&stage.ok(&["observe-delta", &recent])).len(), 8);
    stage.fails("invalid_argument", &["observe-delta", "99999"]);
    assert_eq!(stage.glassctl(["observe-delta", "0"]).code, Some(2));
}
