//! `clickAt`: a press at a point, and what received it.

use glass_tests::Stage;

const PAGE: &str = r#"<!doctype html><title>At</title><script src="ledger.js"></script><body style="margin:0">
<canvas id="c" width="300" height="200" onclick="at=[event.offsetX,event.offsetY]" ondblclick="twice=1"></canvas>
<button id="b" style="position:absolute;left:400px;top:20px;width:100px;height:40px">There</button>"#;

// contract: 5.3, 2.4
#[test]
fn the_point_is_pressed_and_what_received_it_is_told() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    stage.ok(&["click-at", "120", "48"]);
    assert_eq!(stage.eval("at"), serde_json::json!([120, 48]));
    let result = stage.ok(&["click-at", "450", "40", "--modifiers", "Alt"]);
    assert_eq!(result["evidence"]["hitTarget"]["label"], "There", "{result}");
    assert_eq!(visit.clicks(), ["c", "b"]);
    assert_eq!(visit.events().last().map(|event| event.held.clone()).as_deref(), Some("Alt"));
    stage.ok(&["click-at", "10", "10", "--count", "2"]);
    assert_eq!(stage.eval("twice"), 1);
}

// contract: 5.3
#[test]
fn a_point_outside_the_view_is_refused() {
    let stage = Stage::take();
    let visit = stage.show(PAGE);
    for point in [["-1", "5"], ["5", "100000"]] {
        let error = stage.fails("invalid_argument", &["click-at", point[0], point[1]]);
        assert_eq!(error["dispatched"], "no", "{error}");
    }
    assert_eq!(stage.glassctl(["click-at", "5", "5", "--count", "3"]).code, Some(2));
    assert!(visit.events().is_empty());
}

const SHOTS: &str = r#"<!doctype html><title>Shots</title><script src="ledger.js"></script><body style="margin:0;height:3000px">
<button id="b" style="position:absolute;left:400px;top:300px;width:60px;height:60px">B</button>
<button id="far" style="position:absolute;left:40px;top:1500px;width:60px;height:60px">F</button>
<div id="pane" style="position:absolute;left:600px;top:10px;width:200px;height:100px;overflow:auto"><p style="height:900px">Pane</p></div>
<div id="host" style="position:absolute;left:900px;top:10px"></div><script>
host.attachShadow({mode:'open'}).innerHTML='<div id=in style="width:100px;height:80px;overflow:auto"><p style="height:900px">In</p></div>'</script>"#;

/// Takes a picture, and gives its id and the pixel that shows this point of the viewport.
fn shot(stage: &Stage, arguments: &[&str], at: [f64; 2]) -> (String, [String; 2]) {
    let shot = stage.ok(&[&["screenshot", "-o", "at.png"], arguments].concat());
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (scale, origin) = (number(&shot["scale"]), [number(&shot["origin"][0]), number(&shot["origin"][1])]);
    let pixel = [0, 1].map(|axis| ((at[axis] - origin[axis]) * scale).to_string());
    (shot["screenshotId"].as_str().expect("an id").to_owned(), pixel)
}

// contract: 3.8, 5.3 report: 264
#[test]
fn a_pixel_of_any_picture_is_the_point_that_it_shows() {
    let stage = Stage::take();
    let visit = stage.show(SHOTS);
    let pictures: &[&[&str]] = &[
        &[],
        &["--max-side", "500"],
        &["--target", "css=#b"],
        &["--clip", "390,290,200,200"],
        &["--full-page"],
    ];
    for (n, picture) in pictures.iter().enumerate() {
        let (id, [x, y]) = shot(&stage, picture, [430.0, 330.0]);
        let clicked = stage.ok(&["click-at", &x, &y, "--screenshot-id", &id]);
        assert_eq!(clicked["evidence"]["hitTarget"]["label"], "B", "{picture:?}: {clicked}");
        assert_eq!(visit.clicks().len(), n + 1, "{picture:?}");
    }
    // Of a scrolled page, by the picture of the whole of it.
    stage.eval("scrollTo(0, 1400); 1");
    let (id, [x, y]) = shot(&stage, &["--full-page", "--max-side", "1000"], [70.0, 130.0]);
    stage.ok(&["click-at", &x, &y, "--screenshot-id", &id]);
    assert_eq!(visit.clicks().last().map(String::as_str), Some("far"));
    let (id, [x, y]) = shot(&stage, &["--full-page"], [430.0, -1070.0]);
    stage.fails("invalid_argument", &["click-at", &x, &y, "--screenshot-id", &id]);
}

// contract: 3.8 report: 264
#[test]
fn a_picture_of_what_is_not_shown_any_more_is_refused_and_nothing_is_pressed() {
    let stage = Stage::take();
    let visit = stage.show(SHOTS);
    let refused = |id: &str, reason: &str| {
        let error = stage.fails("stale_reference", &["click-at", "430", "330", "--screenshot-id", id]);
        assert_eq!((&error["reason"], &error["dispatched"]), (&reason.into(), &"no".into()), "{error}");
    };
    for change in
        ["scrollTo(0, 10)", "pane.scrollTop = 40", "host.shadowRoot.getElementById('in').scrollTop = 40"]
    {
        let (id, _) = shot(&stage, &[], [0.0, 0.0]);
        stage.eval(&format!(
            "{change}; new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        ));
        refused(&id, "changed");
    }
    let (id, _) = shot(&stage, &[], [0.0, 0.0]);
    stage.ok(&["set-viewport", "900", "600"]);
    refused(&id, "changed");
    stage.ok(&["set-viewport", "--reset"]);
    let (id, _) = shot(&stage, &[], [0.0, 0.0]);
    stage.fails("invalid_argument", &["click-at", "5000", "5", "--screenshot-id", &id]);
    stage.fails("invalid_argument", &["click-at", "5", "5", "--screenshot-id", "s999999"]);
    stage.go(&visit, "page.html");
    refused(&id, "navigated");
    assert!(visit.events().iter().all(|event| event.kind != "click"), "{:?}", visit.events());
}
