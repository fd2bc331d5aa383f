//! `listFrames`: the documents that a page is made of.

use std::time::Duration;

use glass_tests::Stage;
use glass_tests::site::site;

const LIMIT: Duration = Duration::from_secs(15);

// contract: 7.1 report: 26
#[test]
fn frames_of_every_depth_and_process_are_listed_with_what_they_lie_in() {
    let stage = Stage::take();
    let visit = site().visit();
    stage.ok(&["navigate", &visit.url_at("a.localhost", "cross.html")]);
    stage.ok(&["wait", "visible=role=button;name=Deep cross button"]);
    let frames = stage.ok(&["list-frames"])["frames"].as_array().cloned().expect("rows");
    assert_eq!((frames[0]["id"].clone(), frames[0]["selected"].clone()), ("main".into(), true.into()));
    assert_eq!(frames[0]["url"], visit.url_at("a.localhost", "cross.html"));
    let row = |page: &str| {
        let found = frames.iter().find(|row| row["url"].as_str().is_some_and(|url| url.contains(page)));
        found.unwrap_or_else(|| panic!("{page} in {frames:?}")).clone()
    };
    let (inner, deep) = (row("cross-inner.html"), row("cross-deep.html"));
    assert_eq!((inner["parent"].clone(), deep["parent"].clone()), ("main".into(), inner["id"].clone()));
    assert_eq!((inner["otherProcess"].clone(), deep["otherProcess"].clone()), (true.into(), true.into()));
    // The ids are those of refs.
    let observed = stage.ok(&["observe"]);
    let reference = glass_tests::rows(&observed, "button", "Deep cross button")[0]["ref"].clone();
    let prefix = format!("{}e", deep["id"].as_str().unwrap_or_default());
    assert!(reference.as_str().is_some_and(|reference| reference.starts_with(&prefix)), "{reference} {deep}");
}

// contract: 7.1 report: 28
#[test]
fn a_new_document_in_a_frame_has_a_new_id() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>F</title><iframe name=inside src=inner.html></iframe>");
    stage.ok(&["wait", "visible=name=Inner button"]);
    let before = stage.ok(&["list-frames"])["frames"][1].clone();
    assert_eq!(before["name"], "inside");
    assert_eq!(before["readyState"], "complete");
    stage.eval("frames[0].location = 'inner-2.html'; 1");
    visit.asked_for("inner-2.html");
    let after = glass_tests::eventually("the new document", LIMIT, || {
        let row = stage.ok(&["list-frames"])["frames"][1].clone();
        row["url"].as_str().is_some_and(|url| url.ends_with("inner-2.html")).then_some(row)
    });
    assert_ne!(before["id"], after["id"]);
    stage.eval("document.querySelector('iframe').remove(); 1");
    assert_eq!(stage.ok(&["list-frames"])["frames"].as_array().map(Vec::len), Some(1));
}

// contract: 7.1
#[test]
fn frames_over_the_bound_are_counted() {
    let stage = Stage::take();
    stage.show("<!doctype html><title>Many</title><body><script>for (let n = 0; n < 150; n += 1) document.body.append(document.createElement('iframe'))</script>");
    let frames = stage.ok(&["list-frames"]);
    assert_eq!(frames["frames"].as_array().map(Vec::len), Some(128));
    assert_eq!(frames["leftOut"], 23);
}
