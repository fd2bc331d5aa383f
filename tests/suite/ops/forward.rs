//! `forward`: the other way. What it shares with `back` is tested there.

use glass_tests::{Stage, World};

// contract: 5.3
#[test]
fn it_goes_where_back_came_from() {
    let (stage, visit) = Stage::open("form.html");
    stage.go(&visit, "sections.html");
    stage.ok(&["back"]);
    let result = stage.ok(&["forward"]);
    assert_eq!(result["action"], "forward");
    assert_eq!(result["page"]["url"], visit.url("sections.html"));
    assert!(result["page"]["revision"].as_u64() > result["previousRevision"].as_u64(), "{result}");
}

// contract: 5.3
#[test]
fn at_the_last_page_it_is_refused_and_nothing_is_sent() {
    let (stage, visit) = Stage::open("form.html");
    let error = stage.fails("target_not_found", &["forward"]);
    assert_eq!(error["reason"], "history_end", "{error}");
    assert_eq!(error["dispatched"], "no", "{error}");
    assert_eq!(stage.eval("location.href"), visit.url("form.html"));
}

// contract: 5.3
#[test]
fn a_server_that_has_gone_is_a_failed_navigation() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    // A port on which nothing listens any more when the page is gone back to.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    drop(listener);
    stage.fails("navigation_failed", &["navigate", &format!("http://127.0.0.1:{port}/")]);
    stage.go(&visit, "form.html");
    let error = stage.fails("navigation_failed", &["back"]);
    assert_eq!(error["details"]["netError"], "net::ERR_CONNECTION_REFUSED", "{error}");
    assert_eq!(stage.ok(&["forward"])["page"]["title"], "A form");
}

// contract: 1.4
#[test]
fn a_session_without_a_page_has_no_history() {
    let world = World::new();
    world.glassctl(["daemon", "start"]).success();
    for command in ["back", "forward", "reload"] {
        let error = world.fails("target_not_found", &[command]);
        assert_eq!(error["reason"], "session_new", "{error}");
    }
}
