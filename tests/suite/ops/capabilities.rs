//! `capabilities`: what a target shows, from what is known of it.

use glass_tests::Stage;
use glass_tests::site::closed_port;

// contract: 7.7
#[test]
fn kinds_of_documents_are_told_apart_and_what_nobody_tried_is_null() {
    let (stage, visit) = Stage::open("form.html");
    let page = stage.ok(&["capabilities"]);
    assert_eq!((page["kind"].as_str(), page["pageMediaType"].as_str()), (Some("page"), Some("text/html")));
    assert!(page["operations"]["click"] == true && page["exports"]["html"] == true, "{page:#}");
    visit.serve_with("data.json", "{}", &[("Content-Type", "application/json")]);
    stage.go(&visit, "data.json");
    assert_eq!(stage.ok(&["capabilities"])["kind"], "viewer");
    stage.go(&visit, "image.svg");
    assert_eq!(stage.ok(&["capabilities"])["kind"], "image");
    stage.fails("navigation_failed", &["navigate", &format!("http://127.0.0.1:{}/", closed_port())]);
    let error = stage.ok(&["capabilities"]);
    assert_eq!(error["kind"], "error", "{error:#}");
    assert!(error["operations"]["click"].is_null() && error["operations"]["navigate"] == true, "{error:#}");
    assert!(error["exports"]["pdf"].is_null() && error["exports"]["har"] == true, "{error:#}");
}
