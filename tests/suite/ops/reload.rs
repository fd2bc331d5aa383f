//! `reload`: the same page once more, and no form sent twice.

use std::time::Duration;

use glass_tests::Stage;
use glass_tests::site::site;

// contract: 5.3, 3.4
#[test]
fn it_loads_the_page_again_as_a_new_document() {
    let (stage, visit) = Stage::open("form.html");
    let stale = stage.reference("button", "Save");
    stage.eval("window.kept = 1");
    let result = stage.ok(&["reload"]);
    assert_eq!(result["action"], "reload");
    assert_eq!(result["page"]["url"], visit.url("form.html"));
    assert_eq!(result["evidence"]["documentChanged"], true, "{result}");
    assert!(result["page"]["revision"].as_u64() > result["previousRevision"].as_u64(), "{result}");
    assert_eq!(visit.count("form.html"), 2);
    assert_eq!(stage.eval("window.kept === undefined"), true);
    stage.fails("stale_reference", &["click", &stale]);
    stage.ok(&["click", "name=Save"]);
}

// contract: 5.3
#[test]
fn what_the_cache_has_is_asked_for_again_when_that_is_wanted() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve_with("style.css", "p { color: red }", &[("Cache-Control", "max-age=3600")]);
    visit.serve("styled.html", "<!doctype html><title>S</title><link rel=stylesheet href=style.css><p>x");
    stage.go(&visit, "styled.html");
    stage.ok(&["reload"]);
    let before = visit.count("style.css");
    stage.ok(&["reload", "--ignore-cache", "--wait-until", "load"]);
    assert_eq!(visit.count("style.css"), before + 1);
}

// contract: 5.3
#[test]
fn the_answer_to_a_form_is_only_asked_for_again_when_that_is_wanted() {
    let stage = Stage::take();
    let visit = stage
        .show("<!doctype html><title>Order</title><form method=post action=post><button>Buy</button></form>");
    stage.ok(&["click", "name=Buy"]);
    let error = stage.fails("denied", &["reload"]);
    assert_eq!(error["reason"], "resubmit", "{error}");
    assert_eq!(error["dispatched"], "no", "{error}");
    assert_eq!(visit.count("post"), 1);
    assert_eq!(stage.ok(&["reload", "--resubmit"])["page"]["title"], "Posted");
    assert_eq!(visit.count("post"), 2);
    assert!(visit.requests().iter().filter(|request| request.path == "post").all(|one| one.method == "POST"));
}

// contract: 5.3
#[test]
fn a_page_that_a_form_was_redirected_to_is_loaded_again_without_the_form() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Order</title><form method=post action='redirect?to=form.html'><button>Buy</button></form>");
    stage.ok(&["click", "name=Buy"]);
    assert_eq!(stage.ok(&["reload"])["page"]["url"], visit.url("form.html"));
    assert_eq!(visit.count("redirect"), 1);
    let search =
        stage.show("<!doctype html><title>Search</title><form action=form.html><button>Find</button></form>");
    stage.ok(&["click", "name=Find"]);
    stage.ok(&["reload"]);
    assert_eq!(search.count("form.html"), 2, "a form that only asks can be sent again");
}

// contract: 2.7 report: 42
#[test]
fn a_server_that_stopped_answering_ends_it_in_time() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("page.html", "<!doctype html><title>Here</title>");
    stage.go(&visit, "page.html");
    stage.eval("history.replaceState(null, '', 'hang')");
    let answer = stage.ask(&["reload", "--timeout-ms", "1500"]);
    assert_eq!(answer.fails("navigation_failed")["reason"], "timeout", "{}", answer.run);
    assert!(answer.run.took < Duration::from_secs(6), "{}", answer.run);
    assert_eq!(stage.eval("document.title"), "Here");
}

// contract: 5.3 report: 255
#[test]
fn a_page_that_takes_the_reload_itself_keeps_its_document() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Router</title><script>navigation.onnavigate = (event) => { if (event.navigationType === 'reload') event.intercept({ handler: async () => { document.title = 'Taken' } }); }</script>");
    let result = stage.ok(&["reload"]);
    let same = result["evidence"]["navigation"]["sameDocument"] == true;
    // Whether the browser lets the page take it is the browser's to say; the answer is true either way.
    assert_eq!(visit.count("page.html"), if same { 1 } else { 2 }, "{result}");
    assert_eq!(result["evidence"]["documentChanged"], !same, "{result}");
}
