//! `back`: one page back, whatever the page is like, and no form sent twice.

use std::time::Duration;

use glass_tests::site::{Visit, site};
use glass_tests::{Stage, World};

/// Report 253 asks for less than a second; five times that on a busy machine.
const SOON: Duration = Duration::from_secs(5);

fn two_pages(stage: &Stage, b: &str, headers: &[(&str, &str)]) -> Visit {
    let visit = site().visit();
    visit.serve("a.html", "<!doctype html><title>A</title><a href=b.html>To B</a><button>In A</button>");
    visit.serve_with("b.html", b, headers);
    stage.go(&visit, "a.html");
    stage.go(&visit, "b.html");
    visit
}

// contract: 5.3 report: 253
#[test]
fn it_returns_soon_with_each_wait_and_from_pages_of_every_kind() {
    let stage = Stage::take();
    let plain = "<!doctype html><title>B</title><p>B";
    let unload = "<!doctype html><title>B</title><script>addEventListener('unload', () => {})</script>";
    let streams = "<!doctype html><title>B</title><script>new EventSource('hang'); fetch('hang')</script>";
    let waits = ["auto", "commit", "domcontentloaded", "load", "networkidle"];
    for (page, headers) in
        [(plain, &[][..]), (plain, &[("Cache-Control", "no-store")]), (unload, &[]), (streams, &[])]
    {
        let visit = two_pages(&stage, page, headers);
        for wait in waits {
            let answer = stage.ask(&["back", "--wait-until", wait]);
            assert_eq!(answer.result()["page"]["url"], visit.url("a.html"), "{}", answer.run);
            assert_eq!(answer.result()["page"]["httpStatus"], 200, "{}", answer.run);
            assert!(answer.run.took < SOON, "{}", answer.run);
            let wait = if page == streams { "auto" } else { wait };
            let answer = stage.ask(&["forward", "--wait-until", wait]);
            assert_eq!(answer.result()["page"]["url"], visit.url("b.html"), "{}", answer.run);
            assert_eq!(answer.result()["evidence"]["documentChanged"], true, "{}", answer.run);
            assert!(answer.run.took < SOON, "{}", answer.run);
        }
    }
}

// contract: 3.5 report: 4
#[test]
fn refs_that_are_seen_after_it_work_at_once_and_older_ones_are_stale() {
    let (stage, visit) = (Stage::take(), site().visit());
    visit.serve("a.html", "<!doctype html><title>A</title><a id=go href=b.html>Over</a>");
    visit.serve("b.html", "<!doctype html><title>B</title><a id=go href=a.html>Over</a>");
    for _ in 0..2 {
        stage.go(&visit, "a.html");
        let first = stage.reference("link", "Over");
        stage.ok(&["click", &first]);
        stage.ok(&["back"]);
        stage.fails("stale_reference", &["click", &first]);
        let link = stage.reference("link", "Over");
        let result = stage.ok(&["click", &link]);
        assert_eq!(result["evidence"]["pageUrl"], visit.url("b.html"), "{result}");
    }
}

// contract: 5.3 report: 45, 253
#[test]
fn an_entry_of_the_same_document_keeps_the_document() {
    let (stage, visit) = Stage::open("sections.html");
    stage.eval("window.kept = 1");
    stage.go(&visit, "sections.html#two");
    let result = stage.ok(&["back"]);
    assert_eq!(result["evidence"]["navigation"]["sameDocument"], true, "{result}");
    assert_eq!(result["evidence"]["documentChanged"], false, "{result}");
    assert_eq!(result["page"]["url"], visit.url("sections.html"));
    assert_eq!(stage.eval("window.kept"), 1);
    assert_eq!(stage.ok(&["forward"])["page"]["url"], visit.url("sections.html#two"));
    assert_eq!(visit.count("sections.html"), 1);
}

// contract: 5.3 report: 253
#[test]
fn at_the_first_page_it_is_refused_and_nothing_is_sent() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    assert_eq!(world.ok(&["back"])["page"]["url"], "about:blank");
    let error = world.fails("target_not_found", &["back"]);
    assert_eq!(error["reason"], "history_start", "{error}");
    assert_eq!(error["dispatched"], "no", "{error}");
    assert_eq!(world.eval("location.href"), "about:blank");
}

// contract: 5.3
#[test]
fn the_answer_to_a_form_is_shown_as_it_was_kept_and_the_form_is_not_sent_again() {
    let stage = Stage::take();
    let visit = stage
        .show("<!doctype html><title>Order</title><form method=post action=kept><button>Buy</button></form>");
    visit.serve_with("kept", "<!doctype html><title>Posted</title>", &[("Cache-Control", "max-age=60")]);
    stage.ok(&["click", "name=Buy"]);
    stage.go(&visit, "form.html");
    let result = stage.ok(&["back"]);
    assert_eq!(result["page"]["title"], "Posted");
    assert_eq!(result["evidence"]["navigation"]["fromCache"], true, "{result}");
    assert_eq!(visit.count("kept"), 1);
}

// contract: 5.3
#[test]
fn an_answer_that_was_not_kept_is_only_asked_for_again_when_that_is_wanted() {
    let stage = Stage::take();
    let visit = stage
        .show("<!doctype html><title>Order</title><form method=post action=done><button>Buy</button></form>");
    visit.serve_with("done", "<!doctype html><title>Done</title>", &[("Cache-Control", "no-store")]);
    stage.ok(&["click", "name=Buy"]);
    stage.go(&visit, "form.html");
    let error = stage.fails("navigation_failed", &["back"]);
    assert_eq!(error["details"]["netError"], "net::ERR_CACHE_MISS", "{error}");
    assert!(error["remedy"].as_str().is_some_and(|remedy| remedy.contains("--resubmit")), "{error}");
    // The browser's own page for it is the answer to a form as well.
    stage.fails("denied", &["reload"]);
    assert_eq!(visit.count("done"), 1, "nothing was sent");
    stage.ok(&["forward"]);
    assert_eq!(stage.ok(&["back", "--resubmit"])["page"]["title"], "Done");
    assert_eq!(visit.count("done"), 2, "once, as wanted");
}

// contract: 2.1 report: 253
#[test]
fn a_page_that_prevents_it_is_told_soon() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve(
        "trap.html",
        "<!doctype html><title>Trap</title><button id=hash onclick=\"location.hash = 'x'\">Hash</button>
         <script>navigation.onnavigate = (event) => { if (event.navigationType === 'traverse' && event.cancelable) event.preventDefault(); }</script>",
    );
    stage.go(&visit, "trap.html");
    stage.ok(&["click", "name=Hash"]);
    stage.ok(&["click", "name=Hash"]);
    let answer = stage.ask(&["back"]);
    let error = answer.fails("navigation_failed");
    assert_eq!(error["reason"], "prevented", "{error}");
    assert_eq!(error["outcome"], "failed", "{error}");
    assert!(answer.run.took < SOON, "{}", answer.run);
    assert_eq!(stage.eval("location.hash"), "#x");
}

// contract: 5.3 report: 253
#[test]
fn a_frame_goes_back_and_the_page_stays() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Outside</title><iframe name=inside src=inner.html></iframe><a href=inner-2.html target=inside>Next</a>");
    stage.eval("window.kept = 1");
    stage.ok(&["click", "name=Next"]);
    visit.asked_for("inner-2.html");
    let result = stage.ok(&["back"]);
    assert_eq!(result["evidence"]["documentChanged"], false, "{result}");
    assert_eq!(stage.eval("window.kept"), 1);
    glass_tests::holds("the frame is back", SOON, || {
        stage.eval("frames[0].location.pathname.endsWith('/inner.html')") == true
    });
}

// contract: 3.6
#[test]
fn a_guard_of_another_revision_refuses_it() {
    let (stage, visit) = Stage::open("form.html");
    let revision = stage.revision();
    stage.go(&visit, "sections.html");
    let error = stage.fails("stale_revision", &["back", "--expected-revision", &revision.to_string()]);
    assert_eq!(error["dispatched"], "no", "{error}");
    assert_eq!(stage.eval("location.href"), visit.url("sections.html"));
}

// contract: 5.5 report: 36
#[test]
fn a_page_that_asks_before_it_is_left_is_left() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("dirty.html", "<!doctype html><title>Dirty</title><button>Touch</button><script>onbeforeunload = (event) => { event.preventDefault(); return 'stay' }</script>");
    stage.go(&visit, "form.html");
    stage.go(&visit, "dirty.html");
    stage.ok(&["click", "name=Touch"]);
    assert_eq!(stage.ok(&["back"])["page"]["url"], visit.url("form.html"));
}
