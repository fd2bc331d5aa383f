//! HTTP authentication: nothing hangs without credentials, and credentials go to their origin and nowhere else, by page,
//! frame, worker, popup or redirect, and stand in no answer and no log.

use std::fs;

use glass_tests::Stage;
use glass_tests::site::{Visit, site};
use serde_json::json;

/// The origin of a host on the fixture site.
fn origin(visit: &Visit, host: &str) -> String {
    visit.url_at(host, "").split('/').take(3).collect::<Vec<_>>().join("/")
}

/// Paths below which a request said who it is, by host.
fn told(visit: &Visit, host: &str) -> Vec<String> {
    let requests = visit.requests();
    let told = requests
        .iter()
        .filter(|request| request.host.starts_with(host) && request.header("authorization").is_some());
    told.map(|request| request.path.clone()).collect()
}

// contract: 10.8, 5.3
// report: 49
#[test]
fn without_credentials_a_401_is_a_page_with_its_status_and_nothing_hangs() {
    let stage = Stage::take();
    let visit = site().visit();
    for scheme in ["basic", "digest"] {
        let went = stage.ok(&["navigate", &visit.url(&format!("{scheme}/page"))]);
        assert_eq!(
            (&went["page"]["httpStatus"], &went["page"]["title"]),
            (&json!(401), &json!("Who are you")),
            "{went}"
        );
        assert!(went["warning"].as_str().is_some_and(|text| text.contains("--http-credentials")), "{went}");
    }
    visit.serve(
        "page.html",
        "<!doctype html><title>Parts</title><img src=basic/img><iframe src=basic/frame></iframe><script>\
         fetch('basic/data').then(r => document.title = 'fetched ' + r.status)</script>",
    );
    let went = stage.ok(&["navigate", &visit.url("page.html")]);
    assert_eq!(went["loaded"], true, "{went}");
    stage.ok(&["wait", "title=fetched 401"]);
    let with = visit.url("basic/page").replace("http://", "http://ann:very-secret@");
    let answer = stage.ask(&["navigate", &with]);
    answer.fails("denied");
    assert!(!answer.run.stdout.contains("very-secret"), "{}", answer.run);
    assert!(visit.requests().iter().all(|request| request.header("authorization").is_none()));
}

// contract: 10.8, 12.1
// report: 49
#[test]
fn credentials_go_to_their_origin_alone_by_every_way_and_are_never_shown() {
    let stage = Stage::take();
    let visit = site().visit();
    let (a, b, c) =
        (origin(&visit, "a.localhost"), origin(&visit, "b.localhost"), origin(&visit, "c.localhost"));
    let credentials = json!([
        { "origin": a, "username": "ann", "password": "very-secret" },
        { "origin": c, "username": "ann", "password": "very-wrong" },
    ]);
    fs::write(stage.path("cwd/who.json"), credentials.to_string()).expect("write it");
    let run = |arguments: &[&str]| {
        let all = [arguments, &["--session", "known", "--http-credentials", "who.json"]].concat();
        let answer = stage.ask(&all);
        assert!(!answer.run.stdout.contains("very-"), "{}", answer.run);
        answer.result().clone()
    };
    for scheme in ["basic", "digest"] {
        let went = run(&["navigate", &visit.url_at("a.localhost", &format!("{scheme}/page"))]);
        assert_eq!(
            (&went["page"]["httpStatus"], &went["page"]["title"]),
            (&json!(200), &json!("Inside")),
            "{scheme}: {went}"
        );
        for other in ["b.localhost", "c.localhost"] {
            let went = run(&["navigate", &visit.url_at(other, &format!("{scheme}/page"))]);
            assert_eq!(went["page"]["httpStatus"], 401, "{scheme} at {other}: {went}");
        }
    }
    assert_eq!(told(&visit, "b.localhost"), [""; 0]);
    assert_eq!(told(&visit, "c.localhost"), ["basic/page", "digest/page"], "what is not taken is said once");

    // A page elsewhere with parts of both, a worker, and a redirect from one to the other.
    visit.serve_with(
        "worker.js",
        "fetch('basic/worker').then(r => postMessage(r.status))",
        &[("Content-Type", "text/javascript")],
    );
    visit.serve(
        "page.html",
        &format!(
            "<!doctype html><title>Parts</title><img src={b}/{{{{visit}}}}/basic/img><iframe src={a}/{{{{visit}}}}/basic/frame></iframe>\
             <iframe src={b}/{{{{visit}}}}/basic/frame></iframe><script>window.seen = {{}};\
             new Worker('worker.js').onmessage = e => seen.worker = e.data;\
             fetch('{b}/{{{{visit}}}}/basic/data').then(r => seen.other = r.status, () => seen.other = 'failed')</script>\
             <button onclick=\"window.open('{a}/{{{{visit}}}}/basic/popup')\">Open</button>"
        ),
    );
    let went = run(&["navigate", &visit.url_at("b.localhost", "page.html")]);
    assert_eq!(went["loaded"], true, "{went}");
    run(&["wait", "js=seen.worker && seen.other"]);
    let seen = run(&["evaluate", "[seen.worker, seen.other].join()"]);
    assert_eq!(seen["value"], "401,401", "{seen}");
    // Chromium asks nobody for a frame below a page of another site; for one of the same site it does.
    let text = run(&["get-text"]);
    assert_eq!(text["text"].as_str().map(|text| text.matches("Who are you").count()), Some(2), "{text}");
    visit.serve(
        "around.html",
        "<!doctype html><title>Around</title><iframe src=basic/inner></iframe><script>\
         new Worker('worker.js').onmessage = e => document.title = 'worker ' + e.data</script>",
    );
    run(&["navigate", &visit.url_at("a.localhost", "around.html")]);
    assert_eq!(run(&["get-text"])["text"], "Inside");
    run(&["wait", "title=worker 200"]);
    run(&["navigate", &visit.url_at("b.localhost", "page.html")]);
    let opened = run(&["click", "name=Open"]);
    let popup = opened["evidence"]["popups"][0]["targetId"].as_str().expect("a popup").to_owned();
    run(&["wait", "title=Inside", "--target-id", &popup]);
    let to = format!("redirect?to={}", visit.url_at("b.localhost", "basic/redirected"));
    let went = run(&["navigate", &visit.url_at("a.localhost", &to)]);
    assert_eq!(went["page"]["httpStatus"], 401, "{went}");
    assert_eq!(told(&visit, "b.localhost"), [""; 0]);
    assert!(told(&visit, "a.localhost").iter().any(|path| path == "basic/worker"));

    // Other options than those that it runs with are refused, none at all are left as they are.
    fs::write(stage.path("cwd/other.json"), "[]").expect("write it");
    let other = ["observe", "--session", "known", "--http-credentials", "other.json"];
    let error = stage.fails("invalid_argument", &other);
    assert_eq!(
        (&error["reason"], &error["details"]["differing"]),
        (&json!("session_options"), &json!(["httpCredentials"])),
        "{error}"
    );
    stage.ok(&["observe", "--session", "known"]);
    fs::write(stage.path("cwd/broken.json"), "[{\"origin\":\"very-secret\"}]").expect("write it");
    let answer = stage.ask(&["observe", "--session", "broken", "--http-credentials", "broken.json"]);
    answer.fails("invalid_argument");
    assert!(!answer.run.stdout.contains("very-"), "{}", answer.run);
    stage.ok(&["session", "close", "known"]);
    let log = fs::read_to_string(stage.path("state/glass/logs/glassd.log")).expect("the log");
    assert!(!log.contains("very-"), "a secret is in the log");
}

// contract: 10.8, 12.5
#[test]
fn credentials_of_the_configuration_are_used_where_nothing_else_is_said_and_are_never_shown() {
    let visit = site().visit();
    let (a, b) = (origin(&visit, "a.localhost"), origin(&visit, "b.localhost"));
    let config = format!(
        "[[http_credentials]]\norigin = \"{a}\"\nusername = \"ann\"\npassword = \"very-secret\"\n\
         [[http_credentials]]\norigin = \"{b}\"\nusername = \"ann\"\npassword = \"very-wrong\"\n"
    );
    let world = glass_tests::World::new().with_config(&config);
    let file = world.path("config/glass/config.toml");
    let mode = |mode| {
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("set it")
    };
    mode(0o644);
    let open = world.glassctl(["daemon", "start"]).exits(5);
    assert!(open.stderr.contains("chmod 600") && !open.stderr.contains("very-"), "{open}");
    mode(0o600);
    let go = |more: &[&str], host: &str| {
        let url = visit.url_at(host, "basic/page");
        let answer = world.ask(&[&["navigate", &url], more].concat());
        assert!(!answer.run.stdout.contains("very-"), "{}", answer.run);
        answer.result()["page"]["httpStatus"].clone()
    };
    assert_eq!(go(&[], "a.localhost"), 200);
    assert_eq!((go(&[], "b.localhost"), go(&[], "c.localhost")), (json!(401), json!(401)));
    // What the command says goes before it, for its origin.
    fs::write(
        world.path("cwd/who.json"),
        json!([{ "origin": b, "username": "ann", "password": "very-secret" }]).to_string(),
    )
    .expect("write it");
    world.give(&world.path("cwd/who.json"));
    let own = ["--session", "own", "--http-credentials", "who.json"];
    assert_eq!((go(&own, "a.localhost"), go(&own, "b.localhost")), (json!(200), json!(200)));
    // Whose policy denies them has none.
    let before = told(&visit, "a.localhost").len();
    assert_eq!(go(&["--session", "denied", "--policy-deny", "http_credentials"], "a.localhost"), 401);
    assert_eq!(told(&visit, "a.localhost").len(), before);
    let shown = world.glassctl(["config", "show"]).success();
    assert!(
        shown.stdout.contains(&a) && !shown.stdout.contains("very-") && !shown.stdout.contains("ann"),
        "{shown}"
    );
    let log = fs::read_to_string(world.path("state/glass/logs/glassd.log")).expect("the log");
    assert!(!log.contains("very-"), "a secret is in the log");
    world.end();
}
