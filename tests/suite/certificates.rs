//! Certificates that are not valid: a typed error at once, taken only where the session was started so, and no certificate of
//! the client's is ever needed to be asked for.

use std::time::{Duration, Instant};

use glass_tests::Stage;
use glass_tests::site::{Asks, TlsSite};
use serde_json::json;

// contract: 2.6, 12.1
// report: 48, 251
#[test]
fn a_certificate_that_is_not_valid_is_a_typed_error_unless_the_session_was_started_to_take_it() {
    let stage = Stage::take();
    let own = TlsSite::start("localhost", Asks::Nothing);
    let others = TlsSite::start("elsewhere.example", Asks::Nothing);
    let visit = stage.show("<!doctype html><title>Plain</title>");
    for url in [own.url_at("localhost", "page"), others.url_at("localhost", "page")] {
        let error = stage.fails("navigation_failed", &["navigate", &url]);
        let name = error["details"]["netError"].as_str().unwrap_or_default();
        assert!(name.starts_with("net::ERR_CERT_"), "{error}");
        assert!(
            error["remedy"].as_str().is_some_and(|text| text.contains("--ignore-certificate-errors")),
            "{error}"
        );
    }
    stage.go(&visit, "page.html");
    let fetched = format!("fetch('{}').then(r => r.status, () => 'failed')", own.url_at("localhost", "data"));
    assert_eq!(stage.eval(&fetched), "failed");
    assert_eq!((own.requests(), others.requests()), (0, 0), "nothing is sent past a broken certificate");

    let error = stage.fails("invalid_argument", &["observe", "--ignore-certificate-errors"]);
    assert_eq!(
        (&error["reason"], &error["details"]["differing"]),
        (&json!("session_options"), &json!(["ignoreCertificateErrors"])),
        "a session that runs is not changed: {error}"
    );
    let lax = |arguments: &[&str]| {
        stage.ok(&[arguments, &["--session", "lax", "--ignore-certificate-errors"]].concat())
    };
    for url in [own.url_at("localhost", "page"), others.url_at("localhost", "page")] {
        let went = lax(&["navigate", &url]);
        assert_eq!(
            (&went["page"]["httpStatus"], &went["page"]["title"]),
            (&json!(200), &json!("Behind TLS")),
            "{went}"
        );
    }
    lax(&["navigate", &visit.url("page.html")]);
    assert_eq!(stage.eval_in("lax", &fetched), 200);
    let shown = stage.ok(&["session", "show", "lax"]);
    assert_eq!(shown["session"]["details"]["options"], json!(["ignoreCertificateErrors"]), "{shown}");
    stage.fails("invalid_argument", &["observe", "--session", "lax", "--ignore-certificate-errors=false"]);

    // In the same session, which needs no certificate of its own.
    let asks = TlsSite::start("localhost", Asks::Certificate);
    let went = lax(&["navigate", &asks.url_at("localhost", "page")]);
    assert_eq!(went["page"]["title"], "Behind TLS", "{went}");
    let wants = TlsSite::start("localhost", Asks::CertificateOrNothing);
    let begun = Instant::now();
    let answer = stage.ask(&["navigate", &wants.url_at("localhost", "page"), "--session", "lax"]);
    let error = answer.fails("navigation_failed");
    assert!(
        error["details"]["netError"].as_str().is_some_and(|name| name.starts_with("net::ERR_")),
        "{error}"
    );
    assert!(begun.elapsed() < Duration::from_secs(10), "it does not wait for anybody: {:?}", begun.elapsed());
    assert_eq!(wants.requests(), 0);
    // A part of a page that asks for one fails, and the page goes on.
    lax(&["navigate", &visit.url("page.html")]);
    let part = format!("fetch('{}').then(r => r.status, () => 'failed')", wants.url_at("localhost", "data"));
    assert_eq!(stage.eval_in("lax", &part), "failed");
    assert_eq!(wants.requests(), 0);
    stage.ok(&["session", "close", "lax"]);
}
