//! `clickExpectPopup`: exactly one page comes of the click, or it says so.

use glass_tests::Stage;
use glass_tests::site::site;
use serde_json::Value;

fn close(stage: &Stage, popups: &Value) {
    for popup in popups.as_array().map(Vec::as_slice).unwrap_or_default() {
        stage.ask(&["close-target", popup["targetId"].as_str().expect("an id")]);
    }
}

// contract: 7.2 report: 38, 106
#[test]
fn the_page_that_opened_is_named_and_not_selected() {
    let (stage, visit) = Stage::open("popups.html");
    for name in ["Blank target", "No opener", "Window open"] {
        let result = stage.ok(&["click-expect-popup", &format!("name={name}")]);
        let popups = &result["evidence"]["popups"];
        let id = popups[0]["targetId"].as_str().expect("an id");
        assert_eq!(popups.as_array().map(Vec::len), Some(1), "{name}: {result}");
        assert_eq!(popups[0]["pageUrl"], visit.url("form.html"), "{name}: {result}");
        assert_eq!(stage.eval("location.href"), visit.url("popups.html"));
        stage.ok(&["click", "name=Save", "--target-id", id]);
        close(&stage, popups);
    }
    assert_eq!(visit.clicks(), ["blank", "save", "noopener", "save", "open", "save"]);
}

// contract: 7.2
#[test]
fn one_that_opens_later_is_waited_for() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Late</title><button onclick=\"fetch('slow/answer').then(() => window.open('form.html'))\">Later</button>");
    let asked = stage.begin(&["click-expect-popup", "name=Later", "--timeout-ms", "20000"]);
    visit.asked_for("slow/answer");
    visit.release("answer");
    let answer = asked.answer_within(std::time::Duration::from_secs(30));
    close(&stage, &answer.result()["evidence"]["popups"]);
}

// contract: 7.2
#[test]
fn none_and_several_are_told_apart_and_the_click_is_not_denied() {
    let (stage, visit) = Stage::open("form.html");
    let error = stage.fails("popup_missing", &["click-expect-popup", "name=Save", "--timeout-ms", "1500"]);
    assert_eq!((error["outcome"].clone(), error["dispatched"].clone()), ("completed".into(), "yes".into()));
    assert_eq!(visit.clicks(), ["save"]);
    stage.show("<!doctype html><title>Two</title><button onclick=\"window.open('form.html'); window.open('form.html?2')\">Both</button>");
    let error = stage.fails("popup_ambiguous", &["click-expect-popup", "name=Both"]);
    assert_eq!(error["details"]["popups"].as_array().map(Vec::len), Some(2), "{error}");
    close(&stage, &error["details"]["popups"]);
}

// contract: 7.2, 7.1 report: 245
#[test]
fn a_popup_of_a_popup_that_went_away_is_still_this_clicks() {
    let stage = Stage::take();
    for wait in [0, 20, 200] {
        let visit = site().visit();
        visit.serve("helper.html", &format!("<!doctype html><title>Helper</title><button onclick=\"const w = window.open('about:blank'); w.document.write('<script>open(\\'form.html\\'); setTimeout(() => window.close(), {wait})<\\/script>')\">Help</button>"));
        stage.go(&visit, "helper.html");
        let clicked = stage.ok(&["click", "name=Help"]);
        let rows =
            glass_tests::eventually("the real page is listed", std::time::Duration::from_secs(15), || {
                let rows = stage.ok(&["list-targets"])["targets"].as_array().cloned().unwrap_or_default();
                let real = rows.iter().any(|row| {
                    row["url"].as_str().is_some_and(|url| url.contains("form.html"))
                        && row["openerClosed"] == true
                });
                real.then_some(rows)
            });
        assert!(clicked["evidence"]["popups"].is_array(), "{clicked}");
        for row in rows.iter().filter(|row| row["opener"].is_string()) {
            stage.ok(&["close-target", row["id"].as_str().expect("an id")]);
        }
    }
}

// contract: 5.3, 2.1 report: 243
#[test]
fn a_click_that_closes_its_own_window_is_completed_with_that_evidence() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve(
        "opener.html",
        "<!doctype html><title>Opener</title><button onclick=\"window.open('asks.html')\">Ask</button>",
    );
    let how = ["onmousedown", "onclick"]
        .map(|on| format!("<button {on}=\"opener.done = 1; window.close()\">{on}</button>"));
    let later =
        "<button onclick=\"setTimeout(() => { opener.done = 1; window.close() }, 30)\">later</button>";
    visit.serve("asks.html", &format!("<!doctype html><title>Asks</title>{}{later}", how.concat()));
    stage.go(&visit, "opener.html");
    for round in 0..9 {
        let name = ["onmousedown", "onclick", "later"][round % 3];
        stage.eval("window.done = 0");
        let popups = stage.ok(&["click-expect-popup", "name=Ask"])["evidence"]["popups"].clone();
        let id = popups[0]["targetId"].as_str().expect("an id");
        let answer = stage.ask(&["click", &format!("name={name}"), "--target-id", id]);
        let result = answer.result();
        glass_tests::holds("it is closed", std::time::Duration::from_secs(10), || {
            !stage.ok(&["list-targets"]).to_string().contains(id)
        });
        assert!(name == "later" || result["evidence"]["targetClosed"] == true, "{}", answer.run);
        assert_eq!(stage.eval("window.done"), 1, "{name}");
    }
}
