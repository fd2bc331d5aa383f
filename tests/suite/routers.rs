//! Pages that take navigations into their own hands, and pages that the browser would load ahead of time.

use std::time::Duration;

use glass_tests::Stage;
use glass_tests::site::site;

/// A click settles in two frames; five times a generous second on a busy machine.
const SOON: Duration = Duration::from_secs(5);

const ROUTER: &str = "<!doctype html><title>Router</title><script src=ledger.js></script><script>
navigation.addEventListener('navigate', (event) => {
  const to = new URL(event.destination.url).hash ? '' : new URL(event.destination.url).searchParams.get('view');
  if (!event.canIntercept || !to || event.navigationType === 'reload') return;
  event.intercept({ handler: async () => {
    if (to === 'slow') await new Promise((done) => setTimeout(done, 800));
    if (to === 'rejects') throw new Error('no such view');
    document.title = to;
  } });
});
</script><a id=now href='?view=now'>Now</a> <a id=slow href='?view=slow'>Slow</a> <a id=rejects href='?view=rejects'>Rejects</a>";

// contract: 5.3, 5.4 report: 255
#[test]
fn a_click_that_the_page_routes_itself_is_completed_without_a_new_document() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("router.html", ROUTER);
    stage.go(&visit, "router.html");
    stage.eval("window.kept = 1");
    for (name, view) in [("Now", "now"), ("Slow", "slow"), ("Rejects", "rejects")] {
        let answer = stage.ask(&["click", &format!("name={name}")]);
        let result = answer.result();
        assert!(answer.run.took < SOON, "{}", answer.run);
        assert_eq!(result["evidence"]["documentChanged"], false, "{}", answer.run);
        assert_eq!(result["evidence"]["urlChanged"], true, "{}", answer.run);
        assert_eq!(stage.eval("location.search"), format!("?view={view}"));
    }
    assert_eq!(stage.eval("window.kept"), 1);
    assert_eq!(visit.clicks(), ["now", "slow", "rejects"]);
    let back = stage.ask(&["back"]);
    assert_eq!(back.result()["evidence"]["navigation"]["sameDocument"], true, "{}", back.run);
    assert!(back.run.took < SOON, "{}", back.run);
    assert_eq!(stage.eval("location.search"), "?view=slow");
    assert_eq!(stage.eval("window.kept"), 1);
    // From outside it is a real load.
    let went = stage.ok(&["navigate", &visit.url("router.html?view=now")]);
    assert_eq!(went["evidence"]["documentChanged"], true, "{went}");
    assert_eq!(stage.eval("window.kept === undefined"), true);
}

// contract: 10.3 report: 254
#[test]
fn nothing_is_rendered_ahead_and_the_click_is_a_plain_navigation() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve(
        "ahead.html",
        "<!doctype html><title>Ahead</title><link rel=prerender href=next.html>
         <script type=speculationrules>{\"prerender\": [{\"urls\": [\"next.html\"], \"eagerness\": \"immediate\"}]}</script>
         <a href=next.html>Next</a><img src=image.svg>",
    );
    visit.serve("next.html", "<!doctype html><title>Next</title><img src='ran'><button>Here</button>");
    stage.go(&visit, "ahead.html");
    stage.ok(&["wait", "visible=name=Next"]);
    stage.eval("new Promise((done) => setTimeout(() => done(1), 700))");
    assert_eq!(visit.count("ran"), 0, "the page ran before anybody asked for it");
    assert_eq!(stage.ok(&["list-targets"])["targets"].as_array().map(Vec::len), Some(1));
    let result = stage.ok(&["click", "name=Next"]);
    assert_eq!(result["evidence"]["documentChanged"], true, "{result}");
    assert_eq!(stage.eval("document.title"), "Next");
    stage.ok(&["click", "name=Here"]);
    assert_eq!(stage.ok(&["back"])["page"]["title"], "Ahead");
    stage.ok(&["click", "name=Next"]);
}
