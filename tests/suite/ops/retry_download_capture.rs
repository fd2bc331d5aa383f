//! `retryDownloadCapture`: from the kept file, never from the site.

use glass_tests::World;
use glass_tests::site::site;

// contract: 7.3
#[test]
fn a_kept_file_is_handed_out_again_without_asking_the_site() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("popups.html")]);
    world.ok(&["click", "name=Download"]);
    let taken = world.ok(&["download"]);
    let (path, id) = (taken["path"].as_str().expect("a path"), taken["downloadId"].as_str().expect("an id"));
    std::fs::remove_file(path).expect("it is there");
    let again = world.ok(&["retry-download-capture", id]);
    assert_eq!(again["sha256"], taken["sha256"]);
    assert_eq!(std::fs::read(path).expect("it is there again"), b"some bytes");
    assert_eq!(visit.count("attachment"), 1);
    world.fails("target_not_found", &["retry-download-capture", "nosuch"]);
    world.fails("denied", &["retry-download-capture", id, ".."]);
}
