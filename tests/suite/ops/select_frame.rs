//! `selectFrame` and `--frame`: looking into one frame alone.

use std::time::Duration;

use glass_tests::Stage;
use glass_tests::site::{Visit, site};

const LIMIT: Duration = Duration::from_secs(15);

/// A page with the same button in itself, in a frame of another site, and in one inside that.
fn nested(stage: &Stage) -> Visit {
    let visit = site().visit();
    let button = |id: &str| {
        format!(
            "<script src=ledger.js></script><button id={id}>Same</button><input aria-label=Field id=field-{id}>"
        )
    };
    visit.serve(
        "outer.html",
        &format!("<!doctype html><title>Outer</title>{}<iframe title=Middle width=600 height=300 src='http://b.localhost:{{{{port}}}}/{{{{visit}}}}/middle.html'></iframe>", button("outer")),
    );
    visit.serve(
        "middle.html",
        &format!("<!doctype html><title>Middle</title>{}<iframe title=Inner width=400 height=150 src='http://c.localhost:{{{{port}}}}/{{{{visit}}}}/innermost.html'></iframe>", button("middle")),
    );
    visit.serve(
        "innermost.html",
        &format!("<!doctype html><title>Innermost</title><p>Deepest text{}", button("inner")),
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "outer.html")]);
    stage.ok(&["wait", "text=Deepest text"]);
    visit
}

fn frame(stage: &Stage, page: &str) -> String {
    glass_tests::eventually("the frame is listed", LIMIT, || {
        let frames = stage.ok(&["list-frames"])["frames"].as_array().cloned().unwrap_or_default();
        let row = frames.into_iter().find(|row| row["url"].as_str().is_some_and(|url| url.contains(page)))?;
        row["id"].as_str().map(str::to_owned)
    })
}

// contract: 4.1, 4.2, 7.1 report: 28, 32
#[test]
fn every_command_looks_into_the_selected_frame_alone() {
    let stage = Stage::take();
    let visit = nested(&stage);
    stage.fails("ambiguous_target", &["click", "name=Same"]);
    let middle = frame(&stage, "middle.html");
    let selected = stage.ok(&["select-frame", &middle]);
    assert_eq!(selected["frameId"], middle.as_str());
    assert_eq!(stage.eval("document.title"), "Middle");
    assert_eq!(stage.ok(&["click", "name=Same"])["frameId"], middle.as_str());
    stage.ok(&["fill", "label=Field", "in the middle"]);
    assert_eq!(stage.eval("document.getElementById('field-middle').value"), "in the middle");
    assert_eq!(stage.ok(&["find", "name=Same"])["total"], 1);
    stage.ok(&["wait", "visible=name=Same"]);
    stage.ok(&["wait", "title=Middle"]);
    let observed = stage.ok(&["observe"]);
    assert_eq!(
        (observed["page"]["title"].clone(), observed["page"]["frameId"].clone()),
        ("Middle".into(), middle.as_str().into())
    );
    // What is read holds the frames in it as well; the page around it it does not.
    assert_eq!(glass_tests::rows(&observed, "button", "Same").len(), 2, "{observed}");
    let text = stage.ok(&["get-text"])["text"].as_str().unwrap_or_default().to_owned();
    assert!(text.contains("Deepest text"), "{text}");
    assert_eq!(visit.clicks(), ["middle"]);
    stage.ok(&["select-frame", "main"]);
    stage.fails("ambiguous_target", &["click", "name=Same"]);
    assert_eq!(stage.eval("document.title"), "Outer");
}

// contract: 4.1, 7.1
#[test]
fn a_frame_is_named_by_its_id_by_main_or_by_the_elements_that_hold_it() {
    let stage = Stage::take();
    let visit = nested(&stage);
    let inner = frame(&stage, "innermost.html");
    let ways: [(&[&str], &str); 6] = [
        (&["--frame", "main"], "outer"),
        (&["--frame-id", "main"], "outer"),
        (&["--frame", "title=Middle"], "middle"),
        (&["--frame", "css=iframe", "--frame", "title=Inner"], "inner"),
        (&["--frame", &inner], "inner"),
        (&["--frame-id", &inner], "inner"),
    ];
    for (at, (way, id)) in ways.into_iter().enumerate() {
        stage.ok(&[&["click", "name=Same"][..], way].concat());
        assert_eq!(visit.clicks().get(at).map(String::as_str), Some(id), "{way:?}");
        let script = format!("!!document.getElementById('{id}')");
        assert_eq!(stage.ok(&[&["evaluate", &script][..], way].concat())["value"], true, "{way:?}");
    }
    // A name in the call wins over the selection.
    let middle = frame(&stage, "middle.html");
    stage.ok(&["select-frame", &middle]);
    stage.ok(&["click", "name=Same", "--frame", "main"]);
    assert_eq!(visit.clicks().last().map(String::as_str), Some("outer"));
    stage.ok(&["select-frame", "main"]);
}

// contract: 4.1, 2.6
#[test]
fn frames_that_are_not_there_and_calls_that_take_none_are_refused() {
    let stage = Stage::take();
    let visit = nested(&stage);
    for way in [
        &["--frame", "f99"][..],
        &["--frame-id", "f99"],
        &["--frame", "title=Nowhere"],
        &["--frame", "name=Same"],
    ] {
        let error = stage.fails("target_not_found", &[&["click", "name=Same"][..], way].concat());
        assert_eq!(error["dispatched"], "no", "{error}");
    }
    for wrong in [
        &["navigate", "about:blank", "--frame", "main"][..],
        &["list-frames", "--frame", "main"],
        &["click", "name=Same", "--frame", "main", "--frame-id", "main"],
        &["click", "name=Same", "--frame", "f1", "--frame", "css=iframe"],
        &["click", "name=Same", "--frame-id", "css=iframe"],
    ] {
        assert_eq!(stage.glassctl(wrong).code, Some(2), "{wrong:?}");
    }
    assert!(visit.clicks().is_empty());
}

// contract: 7.1 report: 28
#[test]
fn the_selection_ends_with_the_frames_document_and_says_so() {
    let stage = Stage::take();
    let visit = nested(&stage);
    let middle = frame(&stage, "middle.html");
    stage.ok(&["select-frame", &middle]);
    stage.ok(&["evaluate", "document.querySelector('iframe').src += '?again'; 1", "--frame", "main"]);
    glass_tests::holds("the frame's document is gone", LIMIT, || {
        frame(&stage, "middle.html?again") != middle
    });
    for command in
        [&["click", "name=Same"][..], &["observe"], &["evaluate", "1"], &["get-text"], &["find", "name=Same"]]
    {
        let error = stage.fails("no_target_selected", command);
        assert_eq!(error["reason"], "frame_gone", "{error}");
        assert_eq!(error["dispatched"], "no", "{error}");
    }
    assert!(visit.clicks().is_empty());
    // What concerns the page as a whole goes on.
    stage.ok(&["list-frames"]);
    stage.ok(&["reload"]);
    stage.fails("no_target_selected", &["observe"]);
    stage.ok(&["select-frame", "main"]);
    stage.ok(&["observe"]);
}

// contract: 8.1
#[test]
fn a_frame_that_is_not_there_yet_is_waited_for() {
    let (stage, _visit) = Stage::open("form.html");
    let waiting =
        stage.begin(&["wait", "visible=name=Inner button", "--frame", "title=Late", "--timeout-ms", "20000"]);
    stage.eval("const late = document.createElement('iframe'); late.title = 'Late'; late.src = 'inner.html'; document.body.append(late); 1");
    waiting.answer_within(Duration::from_secs(30)).result();
}

// contract: 3.5, 4.1
#[test]
fn a_ref_names_its_frame_and_another_one_beside_it_is_a_wrong_call() {
    let stage = Stage::take();
    let visit = nested(&stage);
    let middle = frame(&stage, "middle.html");
    let observed = stage.ok(&["observe", "--frame", &middle]);
    let same = glass_tests::rows(&observed, "button", "Same")[0]["ref"].as_str().expect("a ref").to_owned();
    stage.ok(&["click", &same]);
    stage.ok(&["click", &same, "--frame", &middle]);
    stage.fails("invalid_argument", &["click", &same, "--frame", "main"]);
    assert_eq!(visit.clicks(), ["middle", "middle"]);
}
