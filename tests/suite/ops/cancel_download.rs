//! `cancelDownload`: a download that is in progress is given up, at once.

use glass_tests::Stage;
use glass_tests::site::site;

use super::list_downloads::row;

// contract: 7.3, 1.7
#[test]
fn one_in_progress_is_given_up_and_told_apart_from_one_that_broke_off() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("page.html", "<!doctype html><title>Files</title><a href=drip download=drip.txt>Drip</a>");
    stage.go(&visit, "page.html");
    stage.ok(&["click", "name=Drip"]);
    let id = row(&stage, "drip.txt", "in_progress")["downloadId"].as_str().expect("an id").to_owned();
    assert_eq!(stage.ok(&["cancel-download", &id])["state"], "canceled");
    row(&stage, "drip.txt", "canceled");
    let error = stage.fails("target_not_found", &["cancel-download", &id]);
    assert_eq!(error["reason"], "not_in_progress", "{error}");
    stage.fails("target_not_found", &["retry-download-capture", &id]);
    stage.fails("target_not_found", &["cancel-download", "nosuch"]);
}
