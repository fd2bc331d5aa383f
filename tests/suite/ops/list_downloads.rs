//! `listDownloads`: every download is caught, whether somebody waits for it or not.

use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{Stage, World};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(15);

/// The row of the one download with this suggested name, once it is in that state.
pub(super) fn row(world: &World, name: &str, state: &str) -> Value {
    glass_tests::eventually(&format!("{name} is {state}"), LIMIT, || {
        let rows = world.ok(&["list-downloads"])["downloads"].as_array().cloned().unwrap_or_default();
        rows.into_iter().find(|row| row["pageFileName"] == name && row["state"] == state)
    })
}

// contract: 7.3 report: 262
#[test]
fn downloads_of_every_kind_are_caught_without_anybody_waiting() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("popups.html")]);
    assert_eq!(world.ok(&["list-downloads"])["downloads"].as_array().map(Vec::len), Some(0));
    let clicked = world.ok(&["click", "name=Download"]);
    let id = clicked["evidence"]["downloads"][0]["downloadId"].clone();
    let from_link = row(&world, "report.bin", "completed");
    assert_eq!(from_link["downloadId"], id);
    assert_eq!(
        (from_link["bytes"].clone(), from_link["taken"].clone()),
        (10.into(), false.into()),
        "{from_link}"
    );
    assert_eq!(from_link["pageUrl"], visit.url("attachment"));
    // Made in the page, and by an address that turns out to be a file.
    world.eval("const made = document.createElement('a'); made.download = 'made.txt'; made.href = URL.createObjectURL(new Blob(['made here'])); made.click(); 1");
    assert_eq!(row(&world, "made.txt", "completed")["bytes"], 9);
    let went = world.ok(&["navigate", &visit.url("attachment")]);
    assert_eq!(went["evidence"]["downloads"][0]["pageFileName"], "report.bin", "{went}");
    let rows = world.ok(&["list-downloads"])["downloads"].as_array().cloned().expect("rows");
    assert_eq!(rows.len(), 3, "{rows:?}");
}

// contract: 7.3
#[test]
fn what_breaks_off_is_failed_and_what_comes_is_in_progress() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("page.html", "<!doctype html><title>Files</title><a href=truncated download=cut.txt>Cut</a> <a href=slow/file download=late.txt>Late</a>");
    stage.go(&visit, "page.html");
    stage.ok(&["click", "name=Cut"]);
    row(&stage, "cut.txt", "failed");
    stage.ok(&["click", "name=Late", "--timeout-ms", "1500"]);
    visit.release("file");
    row(&stage, "late.txt", "completed");
}
