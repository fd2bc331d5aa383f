//! `setViewport`: the size that the page really gets, for this page only, until it is given back.

use glass_tests::Stage;

// contract: 5.3
#[test]
fn the_page_has_the_size_that_the_answer_tells_until_it_is_given_back() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><meta name=viewport content='width=device-width'><title>Size</title><p id=p>x</p><script>window.sizes=[];onresize=()=>sizes.push(innerWidth)</script>");
    let before = stage.eval("[innerWidth, innerHeight].join()");
    let set = stage.ok(&["set-viewport", "800", "600"]);
    assert_eq!((set["width"].as_u64(), set["height"].as_u64()), (Some(800), Some(600)), "{set}");
    assert_eq!(stage.eval("[innerWidth, innerHeight].join()"), "800,600");
    assert_eq!(stage.eval("sizes.join()"), "800");
    // It stays for later documents.
    stage.go(&visit, "page.html");
    assert_eq!(stage.eval("[innerWidth, innerHeight].join()"), "800,600");
    let set = stage.ok(&["set-viewport", "--reset"]);
    assert_eq!(stage.eval("[innerWidth, innerHeight].join()"), before);
    assert_eq!(format!("{},{}", set["width"], set["height"]), before.as_str().unwrap_or(""));
}

// contract: 5.3
#[test]
fn sizes_beyond_the_bounds_are_refused() {
    let (stage, _visit) = Stage::open("form.html");
    for wrong in [&["0", "600"][..], &["800", "4097"], &["800"], &["800", "600", "--reset"], &[]] {
        let arguments: Vec<_> = ["set-viewport"].iter().chain(wrong).copied().collect();
        assert_eq!(stage.glassctl(&arguments).code, Some(2), "{arguments:?}");
    }
}
