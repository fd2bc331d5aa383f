//! `reconcileReferences`: old refs are what they were, what surely came in their place, or lost.

use glass_tests::{Stage, rows};
use serde_json::Value;

fn reference(observed: &Value, name: &str) -> String {
    let found = rows(observed, "button", name);
    assert_eq!(found.len(), 1, "one {name}: {}", observed["outline"].as_str().unwrap_or_default());
    found[0]["ref"].as_str().expect("a ref").to_owned()
}

/// What became of one ref: its status, and the new ref or the reason.
fn became(answer: &Value, at: usize) -> (String, String) {
    let one = &answer["references"][at];
    let word = |key: &str| one[key].as_str().map(str::to_owned);
    (word("status").unwrap_or_default(), word("ref").or(word("reason")).unwrap_or_default())
}

// contract: 3.7, 3.5 report: 3
#[test]
fn each_ref_is_preserved_relocated_or_lost_and_a_relocated_one_can_be_used() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>R</title><script src=ledger.js></script><main id=m><button id=keep>Keep</button>
         <button id=old>Again</button><button id=named>Named</button><button id=went>Went</button></main>
         <nav id=n></nav>",
    );
    let observed = stage.ok(&["observe"]);
    let from = observed["page"]["revision"].to_string();
    let [keep, again, named, went] =
        ["Keep", "Again", "Named", "Went"].map(|name| reference(&observed, name));
    stage.eval(
        "document.getElementById('old').outerHTML = '<button id=new>Again</button>';
         document.getElementById('named').textContent = 'Renamed';
         document.getElementById('went').remove();
         document.getElementById('n').innerHTML = '<button>Went</button>'; 1",
    );
    let error = stage.fails("stale_reference", &["click", &again]);
    assert_eq!(error["recovery"]["suggestion"], "reconcileReferences", "{error}");
    assert_eq!(error["recovery"]["fromRevision"].to_string(), from, "{error}");
    assert_eq!(error["recovery"]["staleRef"], again.as_str(), "{error}");
    let asked: Vec<&str> =
        vec!["reconcile-references", &keep, &again, &named, &went, "e9999", "--from-revision", &from];
    let answer = stage.ok(&asked);
    assert_eq!(became(&answer, 0).0, "preserved", "{answer}");
    assert_eq!(became(&answer, 1).0, "relocated", "{answer}");
    assert_eq!(became(&answer, 2), ("lost".into(), "changed".into()), "{answer}");
    assert_eq!(became(&answer, 3), ("lost".into(), "detached".into()), "another place: {answer}");
    assert_eq!(became(&answer, 4), ("lost".into(), "unknown_ref".into()), "{answer}");
    let (kept, relocated) = (became(&answer, 0).1, became(&answer, 1).1);
    assert!(kept.ends_with(&format!(":{keep}")) && relocated.starts_with('r'), "{answer}");
    stage.ok(&["click", &relocated]);
    assert_eq!(visit.clicks(), ["new"]);
    let text = stage.glassctl(&asked).success().stdout;
    assert!(text.contains("relocated · button \"Again\"") && text.contains("lost · changed"), "{text}");
    // Within a container that what came is not in, it is not found.
    let scoped =
        stage.ok(&["reconcile-references", &again, "--from-revision", &from, "--scope", "role=navigation"]);
    assert_eq!(became(&scoped, 0).0, "lost", "{scoped}");
    stage.fails("invalid_argument", &["reconcile-references", &keep, "--from-revision", "99999"]);
    assert_eq!(stage.glassctl(["reconcile-references", &keep]).code, Some(2));
}

// contract: 3.7, 4.2 report: 5
#[test]
fn what_was_there_before_never_takes_the_place_of_what_went() {
    let stage = Stage::take();
    let page = |towns: &[&str]| {
        let rows: String = towns
            .iter()
            .map(|town| format!("<li><span>{town}</span> <button>Delete</button></li>"))
            .collect();
        format!(
            "<!doctype html><title>R</title><ul>{rows}</ul><button>Save</button><iframe title=F srcdoc='<button>In frame</button>'></iframe>"
        )
    };
    let visit = stage.show(&page(&["Oslo", "Bergen"]));
    stage.ok(&["wait", "visible=In frame"]);
    let observed = stage.ok(&["observe"]);
    let from = observed["page"]["revision"].to_string();
    let both = rows(&observed, "button", "Delete");
    let second = both[1]["ref"].as_str().expect("a ref").to_owned();
    let (save, inner) = (reference(&observed, "Save"), reference(&observed, "In frame"));
    stage.eval("document.querySelectorAll('li')[1].remove(); 1");
    let answer = stage.ok(&["reconcile-references", &second, &save, "--from-revision", &from]);
    assert_eq!(became(&answer, 0).0, "lost", "{answer}");
    assert_eq!(became(&answer, 1).0, "preserved", "{answer}");
    // The same over a reload in which the row is gone: one Delete is left, and it is not that one.
    visit.serve("page.html", &page(&["Oslo"]));
    stage.ok(&["reload"]);
    stage.ok(&["wait", "visible=In frame"]);
    let answer = stage.ok(&["reconcile-references", &second, &save, &inner, "--from-revision", &from]);
    assert_eq!(became(&answer, 0).0, "lost", "{answer}");
    assert_eq!(became(&answer, 1).0, "relocated", "{answer}");
    let fresh = stage.reference("button", "Save");
    assert!(became(&answer, 1).1.ends_with(&format!(":{fresh}")), "{answer}");
    // Another page's button of that name is not this one's.
    visit.serve("other.html", "<!doctype html><title>Other</title><button>Save</button>");
    stage.go(&visit, "other.html");
    let answer = stage.ok(&["reconcile-references", &save, "--from-revision", &from]);
    assert_eq!(became(&answer, 0), ("lost".into(), "navigated".into()), "{answer}");
}
