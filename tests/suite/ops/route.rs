//! `route`: requests refused, answered or changed, in every page, frame, popup and worker from the first request on.

use glass_tests::Stage;
use glass_tests::site::site;
use serde_json::json;

// contract: 10.2
#[test]
fn requests_are_aborted_answered_and_changed_and_the_site_gets_only_what_is_let_through() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve(
        "page.html",
        "<!doctype html><title>Routed</title><img src=blocked.png><iframe src=inner.html></iframe>",
    );
    let glob = |page: &str| visit.url(page);
    stage.ok(&["route", &glob("blocked.*"), "--action", "abort", "--type", "image", "--type", "fetch"]);
    let made = stage.ok(&[
        "route",
        &glob("{api,inner.html}*"),
        "--action",
        "fulfill",
        "--status",
        "202",
        "--content-type",
        "text/html",
        "--header",
        "X-Made: glass",
        "--body",
        "<title>Made</title><p>made here",
    ]);
    assert!(made["places"].as_u64() >= Some(1) && made["route"]["action"] == "fulfill", "{made:#}");
    stage.ok(&[
        "route",
        &glob("headers*"),
        "--action",
        "modify",
        "--header",
        "X-Own: set",
        "--remove-header",
        "Accept",
    ]);
    stage.go(&visit, "page.html");
    let text = stage.ok(&["get-text"]);
    assert!(
        text["text"].as_str().is_some_and(|text| text.contains("made here")),
        "the frame's first request: {text:#}"
    );
    let got = stage.eval(
        "Promise.all([fetch('api').then(async r => [r.status, r.headers.get('x-made'), await r.text()]), \
         fetch('blocked.json').then(() => 'let through', () => 'aborted'), fetch('headers.txt').then(r => r.status)])",
    );
    assert_eq!(got, json!([[202, "glass", "<title>Made</title><p>made here"], "aborted", 404]));
    let of_worker = stage.eval(
        "new Promise(done => { const worker = new Worker(URL.createObjectURL(new Blob([`fetch('${location.href.replace('page.html', 'api')}')\
         .then(r => r.status, () => 0).then(postMessage)`]))); worker.onmessage = event => done(event.data) })",
    );
    assert_eq!(of_worker, 202, "a worker's requests");
    let opened = stage.ok(&["create-target", &visit.url("api")]);
    assert_eq!(opened["page"]["httpStatus"], 202, "a new page's first request: {opened:#}");
    for never in ["blocked.png", "blocked.json", "api", "inner.html"] {
        assert_eq!(visit.count(never), 0, "{never} reached the site");
    }
    let asked = visit.asked_for("headers.txt");
    assert_eq!((asked.header("x-own"), asked.header("accept")), (Some("set"), None));
    stage.ok(&["remove-route", "--all"]);
    assert_eq!(stage.eval("fetch('api').then(r => r.status)"), 404, "the site answers again");
}

// contract: 10.2
#[test]
fn what_an_action_would_ignore_and_what_belongs_to_the_browser_is_refused() {
    let (stage, _visit) = Stage::open("form.html");
    for bad in [
        &["--action", "abort", "--status", "404"][..],
        &["--action", "modify"],
        &["--action", "modify", "--header", "Host: x.test"],
        &["--action", "fulfill", "--header", "Set-Cookie: a=b"],
        &["--action", "fulfill", "--remove-header", "Accept"],
        &["--action", "abort", "--times", "0"],
    ] {
        stage.fails("invalid_argument", &[&["route", "**"][..], bad].concat());
    }
    assert_eq!(stage.ok(&["list-routes"])["routes"], json!([]));
}
