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

// contract: 3.8 report: 58
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
    // Where only a pane scrolls, the whole page is what is in view; the pane stands where it stood.
    stage.show("<!doctype html><title>Shell</title><body style='margin:0;height:100vh;overflow:hidden'><div id=pane style='height:100vh;overflow:auto'><p style=height:5000px></div>");
    stage.eval("pane.scrollTop = 700");
    let shot = stage.ok(&["screenshot", "--full-page", "-o", "shell.png"]);
    assert_eq!((&shot["height"], &shot["cutHeight"]), (&720.into(), &serde_json::Value::Null), "{shot}");
    assert_eq!(stage.eval("pane.scrollTop"), 700);
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

// contract: 3.8
#[test]
fn a_part_of_the_viewport_and_a_longest_side_are_honoured() {
    let stage = Stage::take();
    let _visit = stage.show("<!doctype html><title>Parts</title><body style=margin:0;height:3000px>");
    stage.eval("scrollTo(0, 500); 1");
    let shot = stage.ok(&["screenshot", "--clip", "100,50,300,200", "-o", "clip.png"]);
    assert_eq!((shot["width"].as_u64(), shot["height"].as_u64()), (Some(300), Some(200)), "{shot}");
    assert_eq!((shot["origin"][0].as_f64(), shot["origin"][1].as_f64()), (Some(100.0), Some(50.0)), "{shot}");
    let shot = stage.ok(&["screenshot", "--max-side", "640", "-o", "small.png"]);
    assert_eq!((shot["width"].as_u64(), shot["height"].as_u64()), (Some(640), Some(360)), "{shot}");
    assert_eq!(shot["scale"].as_f64(), Some(0.5), "{shot}");
    let shot =
        stage.ok(&["screenshot", "--full-page", "--max-side", "600", "-o", "page.jpeg", "--format", "jpeg"]);
    assert_eq!(shot["height"], 600, "{shot}");
    assert_eq!(stage.eval("scrollY"), 500);
    for wrong in [
        &["--clip", "0,0,5000,10"][..],
        &["--clip", "1,2,3"],
        &["--clip", "0,0,10,10", "--full-page"],
        &["--max-side", "1"],
    ] {
        let arguments: Vec<_> = ["screenshot"].iter().chain(wrong).copied().collect();
        assert_eq!(stage.glassctl(&arguments).code, Some(2), "{arguments:?}");
    }
}

// contract: 3.8
#[test]
fn refs_are_drawn_into_the_picture_and_the_page_is_not_touched() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    visit.serve("in.html", "<!doctype html><title>In</title><body style=margin:0><button style=width:80px;height:30px>In frame</button>");
    visit.serve(
        "marks.html",
        "<!doctype html><title>Marks</title><body style=margin:0><button style=position:absolute;left:200px;top:100px;width:100px;height:40px>Here</button>\
         <p>Words</p><iframe src='http://b.localhost:{{port}}/{{visit}}/in.html' style=position:absolute;left:400px;top:300px;border:0></iframe>\
         <button style=position:absolute;top:3000px>Far</button><script>window.seen=0;new MutationObserver(()=>{seen+=1}).observe(document,{subtree:true,childList:true,attributes:true})</script>",
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "marks.html")]);
    let here = stage.reference("button", "Here");
    for (format, name) in [("png", "marks.png"), ("jpeg", "marks.jpeg"), ("webp", "marks.webp")] {
        let shot = stage.ok(&["screenshot", "--annotate", "--format", format, "-o", name]);
        let marks = shot["marks"].as_array().expect("marks");
        let area = |name: &str| {
            let mark =
                marks.iter().find(|mark| mark["name"] == name).unwrap_or_else(|| panic!("{name}: {shot}"));
            mark["area"]
                .as_array()
                .expect("a box")
                .iter()
                .map(|side| side.as_u64().unwrap_or(0))
                .collect::<Vec<_>>()
        };
        assert_eq!(area("Here"), [200, 100, 100, 40]);
        assert_eq!(area("In frame"), [400, 300, 80, 30]);
        assert!(marks.iter().all(|mark| mark["name"] != "Far"), "{shot}");
        assert!(marks.iter().any(|mark| mark["ref"] == here.as_str()), "{shot}");
        let bytes = fs::read(stage.path(&format!("cwd/{name}"))).expect("the picture");
        assert_eq!(shot["bytes"].as_u64(), Some(bytes.len() as u64));
    }
    assert_eq!(stage.eval("seen"), 0);
}

// contract: 3.8 report: 264
#[test]
fn an_element_in_a_frame_is_pictured_where_it_is() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    stage.ok(&["navigate", &visit.url_at("a.localhost", "cross.html")]);
    stage.ok(&["wait", "visible=role=button;name=Cross button"]);
    let inner = stage.ok(&["screenshot", "--target", "name=Cross button", "-o", "inner.png"]);
    let annotated = stage.ok(&["screenshot", "--annotate", "-o", "all.png"]);
    let marks = annotated["marks"].as_array().expect("marks");
    let mark = marks.iter().find(|mark| mark["name"] == "Cross button").expect("the button is marked");
    for (side, at) in [("width", 2), ("height", 3)] {
        let (shot, drawn) = (inner[side].as_f64().unwrap_or(0.0), mark["area"][at].as_f64().unwrap_or(-9.0));
        assert!((shot - drawn).abs() <= 2.0, "{side}: {shot} and {drawn}");
    }
}

// contract: 3.8
#[test]
fn the_answer_says_where_the_pointer_is() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Pointer</title><body style=margin:0><button style=width:100px;height:40px>Here</button>");
    stage.ok(&["click", "name=Here"]);
    assert_eq!(visit.clicks().len(), 0, "this page has no ledger");
    let shot = stage.ok(&["screenshot", "-o", "pointer.png"]);
    assert_eq!(shot["pointer"], "50,20", "{shot}");
    let shot = stage.ok(&["screenshot", "--max-side", "640", "-o", "pointer-small.png"]);
    assert_eq!(shot["pointer"], "25,10", "{shot}");
    assert_ne!(shot["screenshotId"], "", "{shot}");
    // Each operation that moves it is followed, those that do not leave it where it is.
    let pointer = || stage.ok(&["screenshot", "-o", "pointer.png"])["pointer"].clone();
    stage.ok(&["move-mouse", "200", "90"]);
    stage.ok(&["scroll", "--dy", "0", "--dx", "100", "--at", "500,300"]);
    assert_eq!(pointer(), "200,90", "the wheel turns over a place without the pointer");
    stage.ok(&["drag", "name=Here", "300,200"]);
    assert_eq!(pointer(), "300,200");
    stage.ok(&["hover", "name=Here"]);
    assert_eq!(pointer(), "50,20");
    stage.ok(&["tap", "name=Here"]);
    assert_eq!(pointer(), "unknown", "a finger is no pointer, and pages see one all the same");
}

// contract: 3.8 report: 263
#[test]
fn a_font_that_never_comes_is_waited_for_within_the_bound_and_told() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    let page = |font: &str| {
        format!(
            "<!doctype html><title>Font</title><style>@font-face{{font-family:F;src:url({font})}}p{{font-family:F}}</style><p>Words</p>\
             <script>document.fonts.load('16px F').catch(()=>{{}})</script>"
        )
    };
    visit.serve("hangs.html", &page("hang"));
    visit.serve("late.html", &page("slow/font?type=font/woff2"));
    stage.go(&visit, "hangs.html");
    let shot = stage.ok(&["screenshot", "-o", "hangs.png"]);
    assert_eq!(shot["fontsPending"], true, "{shot}");
    let shot = stage.ok(&["screenshot", "--wait-fonts-ms", "0", "-o", "at-once.png"]);
    assert_eq!(shot["fontsPending"], true, "{shot}");
    stage.go(&visit, "late.html");
    let waiting =
        stage.begin(&["screenshot", "--wait-fonts-ms", "10000", "--timeout-ms", "30000", "-o", "late.png"]);
    visit.asked_for("slow/font");
    visit.release("font");
    let shot = waiting.answer().result().clone();
    assert_eq!(shot.get("fontsPending"), None, "{shot}");
}

// contract: 7.1, 3.8
#[test]
fn a_page_behind_another_is_pictured_again_and_again() {
    let (stage, visit) = Stage::open("form.html");
    let own = stage.ok(&["list-targets"])["targets"][0]["id"].as_str().expect("a target").to_owned();
    let front = stage.ok(&["create-target", &visit.url("names.html")]);
    for n in 0..4 {
        let shot = stage.ok(&["screenshot", "--target-id", &own, "-o", &format!("behind-{n}.png")]);
        assert_eq!(shot["page"]["title"], "A form", "{shot}");
    }
    stage.ok(&["close-target", front["targetId"].as_str().expect("a target")]);
}
