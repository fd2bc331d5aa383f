//! `cookies`: what is set is sent, what is deleted is gone, values are told by get alone, and sessions keep apart.

use glass_tests::Stage;
use glass_tests::site::{Visit, site};
use serde_json::Value;

fn names(answer: &Value) -> Vec<&str> {
    let cookies = answer["cookies"].as_array().expect("a list of cookies");
    cookies.iter().map(|cookie| cookie["name"].as_str().expect("a cookie has a name")).collect()
}

fn header(visit: &Visit, path: &str) -> String {
    let requests = visit.requests();
    let last = requests.iter().rev().find(|request| request.path == path).expect("the page was asked for");
    last.header("cookie").unwrap_or_default().to_owned()
}

// contract: 7.8, 1.6, 1.4
#[test]
fn a_cookie_is_set_before_the_first_page_sent_with_it_and_seen_by_no_other_session() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("page.html", "<!doctype html><title>Jar</title>");
    let error = stage.fails("target_not_found", &["cookies", "get", "--session", "jar"]);
    assert_eq!(error["reason"], "session_new", "there is nothing to read: {error}");
    let url = visit.url("page.html");
    let set = ["cookies", "set", "sid", "very-secret", "--url", &url, "--http-only", "--session", "jar"];
    let answer = stage.ask(&set);
    assert!(!answer.run.stdout.contains("very-secret"), "only get shows values: {}", answer.run);
    let cookie = &answer.result()["cookies"][0];
    assert_eq!((&cookie["domain"], &cookie["httpOnly"]), (&"127.0.0.1".into(), &true.into()), "{cookie}");
    stage.ok(&["navigate", &url, "--session", "jar"]);
    assert_eq!(header(&visit, "page.html"), "sid=very-secret");
    assert_eq!(stage.eval_in("jar", "document.cookie"), "");
    let got = stage.ok(&["cookies", "get", "sid", "--session", "jar"]);
    assert_eq!(got["cookies"][0]["value"], "very-secret", "{got}");
    // By standard input, so that it stands in no list of processes.
    let input = ["--json", "--session", "jar", "cookies", "set", "sid", "-", "--url", &url];
    stage.glassctl_reading(input, b"from stdin").success();
    let got = stage.ok(&["cookies", "get", "sid", "--session", "jar"]);
    assert_eq!(
        (&got["cookies"][0]["value"], got["cookies"].as_array().map(Vec::len)),
        (&"from stdin".into(), Some(1))
    );
    stage.ok(&["session", "close", "jar"]);
    stage.ok(&["navigate", &url]);
    assert_eq!(header(&visit, "page.html"), "");
}

// contract: 7.8
#[test]
fn every_attribute_that_a_site_gave_is_told_and_can_be_given() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve_with(
        "page.html",
        "<!doctype html><title>Attributes</title>",
        &[("Set-Cookie", "of_site=1; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=1000")],
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "page.html")]);
    let got = stage.ok(&["cookies", "get", "--domain", "a.localhost"]);
    let cookie = &got["cookies"][0];
    assert_eq!(cookie["name"], "of_site", "{got}");
    for (attribute, want) in [
        ("httpOnly", Value::from(true)),
        ("secure", true.into()),
        ("sameSite", "Strict".into()),
        ("path", "/".into()),
        ("domain", "a.localhost".into()),
    ] {
        assert_eq!(cookie[attribute], want, "{attribute} of {cookie}");
    }
    assert!(cookie["expires"].as_f64().is_some_and(|at| at > 1.6e9), "{cookie}");
    stage.ok(&[
        "cookies",
        "set",
        "parted",
        "2",
        "--url",
        "https://inner.example/x",
        "--path",
        "/x",
        "--secure",
        "--same-site",
        "None",
        "--expires",
        "4000000000",
        "--partition-key",
        "https://top.example",
    ]);
    let got = stage.ok(&["cookies", "get", "parted"]);
    let cookie = &got["cookies"][0];
    assert_eq!(cookie["partition"]["topLevelSite"], "https://top.example", "{cookie}");
    assert_eq!(cookie["partition"]["hasCrossSiteAncestor"], true, "{cookie}");
    assert_eq!((&cookie["sameSite"], &cookie["path"]), (&"None".into(), &"/x".into()), "{cookie}");
    assert!(
        cookie["expires"].as_f64().is_some_and(|at| at > 1.7e9),
        "the browser keeps none for ever: {cookie}"
    );
    stage.ok(&["cookies", "clear"]);
    assert_eq!(names(&stage.ok(&["cookies", "get"])), [""; 0]);
}

// contract: 7.8, 2.4
#[test]
fn deleting_takes_what_is_named_and_nothing_else_and_says_so_when_there_is_nothing() {
    let stage = Stage::take();
    stage.ok(&["cookies", "clear"]);
    for (name, place) in [
        ("one", ["--url", "https://a.example/"]),
        ("one", ["--url", "https://b.example/"]),
        ("two", ["--domain", "a.example"]),
        ("two", ["--url", "https://deep.a.example/"]),
        ("three", ["--url", "https://a.example/"]),
    ] {
        stage.ok(&["cookies", "set", name, "x", place[0], place[1]]);
    }
    assert_eq!(names(&stage.ok(&["cookies", "get", "--url", "https://deep.a.example/"])), ["two", "two"]);
    let gone = stage.ok(&["cookies", "delete", "one", "--url", "https://a.example/"]);
    assert_eq!((names(&gone), &gone["cookies"][0]["domain"]), (vec!["one"], &"a.example".into()), "{gone}");
    assert_eq!(gone["cookies"][0].get("value"), None);
    assert_eq!(names(&stage.ok(&["cookies", "get", "one"])), ["one"]);
    let error = stage.fails("target_not_found", &["cookies", "delete", "one", "--url", "https://a.example/"]);
    assert_eq!(error["reason"], "no_such_cookie", "{error}");
    assert_eq!(error["outcome"], "rejected", "{error}");
    assert_eq!(names(&stage.ok(&["cookies", "clear", "--domain", "a.example"])).len(), 3);
    assert_eq!(names(&stage.ok(&["cookies", "get"])), ["one"]);
    assert_eq!(names(&stage.ok(&["cookies", "clear"])), ["one"]);
    assert_eq!(names(&stage.ok(&["cookies", "clear"])), [""; 0]);
}

// contract: 7.8, 2.6
#[test]
fn what_the_browser_does_not_keep_is_an_error_without_the_value() {
    let stage = Stage::take();
    for (name, more) in [
        ("__Host-a", &["--domain", "a.example"][..]),
        ("a", &["--domain", "co.uk"]),
        ("a", &["--url", "https://a.example/", "--expires", "1000"]),
    ] {
        let set = [&["cookies", "set", name, "very-secret"], more].concat();
        let answer = stage.ask(&set);
        let error = answer.fails("invalid_argument");
        assert_eq!(
            (&error["outcome"], &error["reason"]),
            (&"failed".into(), &"refused_by_browser".into()),
            "{error}"
        );
        assert!(!answer.run.stdout.contains("very-secret"), "{}", answer.run);
    }
    for usage in [&["get", "--secure"][..], &["clear", "a"], &["delete"], &["set", "a", "b"]] {
        stage.fails("invalid_argument", &[&["cookies"], usage].concat());
    }
    assert_eq!(names(&stage.ok(&["cookies", "get", "a"])), [""; 0]);
}
