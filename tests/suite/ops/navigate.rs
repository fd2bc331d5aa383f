//! `navigate`: where it went, with which status, how far it is loaded, and what it refuses.

use std::time::Duration;

use glass_tests::Stage;
use glass_tests::site::{closed_port, site};

// contract: 5.3
#[test]
fn the_answer_tells_the_page_its_status_and_that_it_is_loaded() {
    let stage = Stage::take();
    let visit = site().visit();
    let result = stage.go(&visit, "form.html");
    assert_eq!(result["page"]["url"], visit.url("form.html"));
    assert_eq!(result["page"]["title"], "A form");
    assert_eq!(result["page"]["httpStatus"], 200);
    assert_eq!(result["page"]["readyState"], "complete");
    assert_eq!(result["loaded"], true);
    assert_eq!(result["evidence"]["navigation"]["status"], 200);
    assert_eq!(visit.count("form.html"), 1);
}

// contract: 12.3
#[test]
fn a_url_without_a_scheme_gets_http_where_it_is_local() {
    let stage = Stage::take();
    let visit = site().visit();
    for host in ["127.0.0.1", "localhost"] {
        let url = visit.url_at(host, "form.html");
        let result = stage.ok(&["navigate", url.strip_prefix("http://").expect("it has this scheme")]);
        assert_eq!(result["page"]["url"], url);
    }
}

// contract: 5.3 report: 47
#[test]
fn an_http_error_is_completed_with_its_status_and_a_warning() {
    let stage = Stage::take();
    let visit = site().visit();
    for status in [404, 500, 503] {
        let result = stage.go(&visit, &format!("status/{status}"));
        assert_eq!(result["page"]["httpStatus"], status);
        assert!(
            result["warning"].as_str().is_some_and(|warning| warning.contains(&status.to_string())),
            "{result}"
        );
        let text = stage.glassctl(["navigate", &visit.url(&format!("status/{status}"))]).success();
        assert!((text.stdout + &text.stderr).contains(&status.to_string()));
    }
    let empty = stage.ask(&["navigate", &visit.url("empty/500")]);
    assert!(
        empty.json.to_string().contains("500"),
        "an empty error page still tells its status: {}",
        empty.run
    );
}

// contract: 5.3 report: 47
#[test]
fn fail_http_makes_an_http_error_a_failed_navigation() {
    let stage = Stage::take();
    let visit = site().visit();
    let error = stage.fails("navigation_failed", &["navigate", &visit.url("status/404"), "--fail-http"]);
    assert!(error.to_string().contains("404"), "{error}");
    assert_eq!(stage.ok(&["navigate", &visit.url("form.html"), "--fail-http"])["page"]["httpStatus"], 200);
}

// contract: 2.6 report: 109, 47
#[test]
fn a_closed_port_is_a_failed_navigation_with_the_browsers_name_for_it() {
    let stage = Stage::take();
    let url = format!("http://127.0.0.1:{}/", closed_port());
    let error = stage.fails("navigation_failed", &["navigate", &url]);
    assert!(error.to_string().contains("net::ERR_CONNECTION_REFUSED"), "{error}");
    assert!(!error["message"].as_str().unwrap_or_default().contains("chrome-error"), "{error}");
    assert_eq!(stage.glassctl(["navigate", &url]).code, Some(8));
    let visit = stage.visit("form.html");
    assert_eq!(visit.count("form.html"), 1);
}

// contract: 2.6 report: 47
#[test]
fn a_name_that_does_not_resolve_is_a_failed_navigation() {
    let stage = Stage::take();
    let error = stage.fails("navigation_failed", &["navigate", "http://nowhere.invalid/"]);
    assert!(error.to_string().contains("net::ERR_NAME_NOT_RESOLVED"), "{error}");
}

// report: 47
#[test]
fn a_204_keeps_the_page_and_says_so() {
    let (stage, visit) = Stage::open("form.html");
    let answer = stage.ask(&["navigate", &visit.url("empty/204")]);
    assert!(answer.json.to_string().contains("204"), "{}", answer.run);
    assert_eq!(stage.eval("document.title"), "A form");
    if answer.kind().is_none() {
        assert_eq!(answer.result()["page"]["url"], visit.url("form.html"), "{}", answer.run);
    }
}

// report: 47
#[test]
fn a_cut_body_is_never_a_plain_success() {
    let stage = Stage::take();
    let visit = site().visit();
    let answer = stage.ask(&["navigate", &visit.url("truncated")]);
    match answer.kind() {
        Some(kind) => assert_eq!(kind, "navigation_failed", "{}", answer.run),
        None => assert!(answer.result()["warning"].is_string(), "{}", answer.run),
    }
}

// contract: 5.3 report: 41
#[test]
fn a_page_that_never_loads_is_usable_after_a_short_time() {
    let stage = Stage::take();
    let visit = site().visit();
    let answer = stage.ask(&["navigate", &visit.url("never-loads.html")]);
    let result = answer.result();
    assert_eq!(result["loaded"], false);
    assert!(result["pending"].as_u64().is_some_and(|pending| pending >= 1), "{result}");
    assert!(answer.run.took < Duration::from_secs(8), "{}", answer.run);
    stage.ok(&["click", "role=button;name=Work"]);
    assert_eq!(visit.clicks(), ["work"]);
}

// contract: 5.3, 2.7 report: 41
#[test]
fn wait_until_says_when_a_page_counts_as_there() {
    let stage = Stage::take();
    let visit = site().visit();
    let url = visit.url("never-loads.html");
    for until in ["commit", "domcontentloaded"] {
        let answer = stage.ask(&["navigate", &url, "--wait-until", until]);
        assert_eq!(answer.result()["page"]["url"], url);
        assert!(answer.run.took < Duration::from_secs(4), "{}", answer.run);
    }
    for until in ["load", "networkidle"] {
        let answer = stage.ask(&["navigate", &url, "--wait-until", until, "--timeout-ms", "1200"]);
        assert!(
            matches!(answer.kind(), Some("timeout" | "unknown_outcome" | "verification_failed")),
            "{}",
            answer.run
        );
        assert!(answer.run.took < Duration::from_secs(5), "{}", answer.run);
    }
    let visit = site().visit();
    for until in ["load", "networkidle"] {
        assert_eq!(stage.ok(&["navigate", &visit.url("form.html"), "--wait-until", until])["loaded"], true);
    }
}

// contract: 2.7 report: 42
#[test]
fn a_server_that_never_answers_ends_in_time_and_costs_no_page() {
    let stage = Stage::take();
    let visit = site().visit();
    for path in ["hang", "head-only", "drip"] {
        let answer =
            stage.ask(&["navigate", &visit.url(path), "--timeout-ms", "1500", "--wait-until", "load"]);
        assert!(answer.kind().is_some(), "{path}: {}", answer.run);
        assert!(answer.run.took < Duration::from_secs(6), "{path}: {}", answer.run);
        assert_eq!(stage.ok(&["list-targets"])["targets"].as_array().map(Vec::len), Some(1), "{path}");
    }
    assert_eq!(stage.go(&visit, "form.html")["page"]["title"], "A form");
}

// contract: 5.3 report: 45
#[test]
fn a_fragment_of_the_same_page_returns_at_once() {
    let (stage, visit) = Stage::open("sections.html");
    let answer = stage.ask(&["navigate", &visit.url("sections.html#two")]);
    let result = answer.result();
    assert_eq!(result["evidence"]["navigation"]["sameDocument"], true, "{result}");
    assert_eq!(result["page"]["url"], visit.url("sections.html#two"));
    assert!(answer.run.took < Duration::from_secs(2), "{}", answer.run);
    assert_eq!(visit.count("sections.html"), 1, "the document stayed");
}

// contract: 2.4
#[test]
fn redirects_are_followed_and_counted() {
    let stage = Stage::take();
    let visit = site().visit();
    let result = stage.ok(&["navigate", &visit.url("redirect?to=redirect%3Fto=form.html")]);
    let navigation = &result["evidence"]["navigation"];
    assert_eq!(navigation["finalUrl"], visit.url("form.html"));
    assert_eq!(navigation["redirects"], 2);
    assert_eq!(navigation["status"], 200);
    let error = stage.fails("navigation_failed", &["navigate", &visit.url("loop")]);
    assert!(error.to_string().contains("net::ERR_TOO_MANY_REDIRECTS"), "{error}");
}

// report: 51
#[test]
fn blank_and_data_pages_are_fine() {
    let stage = Stage::take();
    assert_eq!(stage.ok(&["navigate", "about:blank"])["page"]["url"], "about:blank");
    let result = stage.ok(&["navigate", "data:text/html,<title>Data</title><h1>Hi</h1>"]);
    assert_eq!(result["page"]["title"], "Data");
}

// report: 51
#[test]
fn files_internal_pages_and_scripts_are_refused_before_anything_is_sent() {
    let (stage, visit) = Stage::open("form.html");
    for url in [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        " file:///etc/passwd",
        "view-source:file:///etc/passwd",
        "chrome://version",
        "chrome://crash",
        "javascript:document.title='x'",
        "filesystem:http://127.0.0.1/temporary/x",
    ] {
        let answer = stage.ask(&["navigate", url]);
        assert!(matches!(answer.kind(), Some("denied" | "invalid_argument")), "{url}: {}", answer.run);
        assert_eq!(answer.error()["dispatched"], "no", "{url}: {}", answer.run);
    }
    assert_eq!(stage.eval("document.title"), "A form");
    assert_eq!(stage.eval("location.href"), visit.url("form.html"));
}

// report: 51
#[test]
fn no_redirect_link_or_frame_reaches_a_file() {
    let stage = Stage::take();
    let visit = site().visit();
    let answer = stage.ask(&["navigate", &visit.url("redirect?to=file:///etc/passwd")]);
    assert!(matches!(answer.kind(), Some("denied" | "navigation_failed")), "{}", answer.run);
    let visit = stage.visit("to-files.html");
    stage.ok(&["click", "role=link;name=Passwords"]);
    assert_eq!(stage.eval("location.href"), visit.url("to-files.html"));
    let observed = stage.ok(&["observe"]);
    assert!(!observed.to_string().contains("root:"), "{observed}");
}

// contract: 5.5 report: 34
#[test]
fn an_alert_during_load_ends_the_navigation_with_the_dialog() {
    let stage = Stage::take();
    let visit = site().visit();
    let result = stage.go(&visit, "alert-on-load.html");
    assert_eq!(result["evidence"]["dialog"]["type"], "alert");
    assert_eq!(result["evidence"]["dialog"]["pageMessage"], "Welcome");
    stage.ok(&["accept-dialog"]);
    stage.ok(&["wait", "text=After the alert"]);
}

// contract: 2.6
#[test]
fn a_text_that_is_no_url_is_a_wrong_call() {
    let stage = Stage::take();
    for url in ["", "http://", "http://a b/", "http://[::1", "https://host:99999/"] {
        let error = stage.fails("invalid_argument", &["navigate", url]);
        assert_eq!(error["outcome"], "rejected");
    }
}

// contract: 2.7
#[test]
fn every_deadline_out_of_range_is_a_wrong_call() {
    let stage = Stage::take();
    for ms in ["0", "300001", "-1", "x"] {
        assert_eq!(stage.glassctl(["navigate", "about:blank", "--timeout-ms", ms]).code, Some(2), "{ms}");
    }
}

// contract: 3.4
#[test]
fn a_new_document_moves_the_revision() {
    let (stage, visit) = Stage::open("form.html");
    let before = stage.revision();
    let result = stage.go(&visit, "form.html");
    assert!(result["page"]["revision"].as_u64() > Some(before), "{result}");
    assert!(result["previousRevision"].as_u64() >= Some(before), "{result}");
}
