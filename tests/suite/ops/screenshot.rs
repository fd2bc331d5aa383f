//! `screenshot`: a picture of what is asked for, written where it is said, never over something else.

use std::fs;

use glass_tests::Stage;

fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (number(16), number(20))
}

// contract: 3.8, 12.7
#[test]
fn the_viewport_has_its_size() {
    let (stage, _visit) = Stage::open("form.html");
    let shot = stage.ok(&["screenshot", "-o", "shot.png"]);
    let bytes = fs::read(stage.path("cwd/shot.png")).expect("the picture");
    assert_eq!(png_size(&bytes), (1280, 720));
    assert_eq!((shot["width"].as_u64(), shot["height"].as_u64()), (Some(1280), Some(720)));
    assert_eq!(shot["bytes"].as_u64(), Some(bytes.len() as u64));
    assert!(shot["path"].as_str().is_some_and(|path| path.ends_with("shot.png")), "{shot}");
}

// contract: 3.8
#[test]
fn the_whole_page_and_one_element_can_be_had() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><title>Tall</title><body style=margin:0><div style='height:3000px'></div><button id=b style='width:120px;height:40px;position:absolute;top:2000px;left:20px'>Far</button>",
    );
    let before = stage.eval("scrollY");
    let shot = stage.ok(&["screenshot", "--full-page", "-o", "full.png"]);
    assert_eq!(shot["height"], 3000, "{shot}");
    let shot = stage.ok(&["screenshot", "--target", "role=button;name=Far", "-o", "one.png"]);
    assert_eq!((shot["width"].as_u64(), shot["height"].as_u64()), (Some(120), Some(40)), "{shot}");
    assert_eq!(stage.eval("scrollY"), before);
    let _visit = stage
        .show("<!doctype html><title>Taller</title><body style=margin:0><div style='height:20000px'></div>");
    let shot = stage.ok(&["screenshot", "--full-page", "-o", "cut.png"]);
    assert_eq!(
        (shot["height"].as_u64(), shot["cutHeight"].as_u64()),
        (Some(16_384), Some(20_000 - 16_384)),
        "{shot}"
    );
}

// contract: 12.6
#[test]
fn the_default_name_never_overwrites() {
    let (stage, _visit) = Stage::open("form.html");
    let paths: Vec<_> =
        (0..3).map(|_| stage.ok(&["screenshot"])["path"].as_str().unwrap_or("").to_owned()).collect();
    assert!(paths.iter().all(|path| path.contains("screenshot-")), "{paths:?}");
    assert_ne!(paths[0], paths[1]);
    assert_ne!(paths[1], paths[2]);
}

// contract: 3.8
#[test]
fn formats_are_what_they_say() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["screenshot", "--format", "jpeg", "--quality", "50", "-o", "a.jpeg"]);
    assert_eq!(&fs::read(stage.path("cwd/a.jpeg")).expect("the picture")[..2], b"\xff\xd8");
    stage.ok(&["screenshot", "--format", "webp", "-o", "a.webp"]);
    assert_eq!(&fs::read(stage.path("cwd/a.webp")).expect("the picture")[8..12], b"WEBP");
    assert_eq!(stage.glassctl(["screenshot", "--quality", "50", "-o", "b.png"]).code, Some(2));
    assert_eq!(stage.glassctl(["screenshot", "--full-page", "--target", "css=body"]).code, Some(2));
}

// contract: 3.8
#[test]
fn things_that_never_load_do_not_hold_a_picture() {
    let (stage, _visit) = Stage::open("never-loads.html");
    let shot = stage.ask(&["screenshot", "-o", "c.png"]);
    assert_eq!(shot.result()["width"], 1280);
}
