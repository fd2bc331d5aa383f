//! `createTarget`: a page beside the others, which nobody is moved to.

use glass_tests::site::site;
use glass_tests::{Stage, World};
use serde_json::Value;

fn rows(world: &World) -> Vec<Value> {
    world.ok(&["list-targets"])["targets"].as_array().cloned().expect("rows")
}

// contract: 7.1, 5.1
#[test]
fn it_is_not_selected_and_works_in_the_background_like_one_in_front() {
    let (stage, visit) = Stage::open("form.html");
    let made = stage.ok(&["create-target", &visit.url("form.html")]);
    let id = made["targetId"].as_str().expect("an id").to_owned();
    assert_eq!(made["selected"], false);
    assert_eq!(made["page"]["title"], "A form");
    assert_eq!(made["page"]["httpStatus"], 200);
    assert_eq!(made["page"]["targetId"], id.as_str());
    stage.eval("document.title = 'First'");
    let one = rows(&stage).into_iter().find(|row| row["id"] == id.as_str()).expect("it is listed");
    assert_eq!((one["selected"].clone(), one["owner"].clone()), (false.into(), "glass".into()), "{one}");
    for (target, field) in [(None, "front"), (Some(&id), "back"), (None, "front again")] {
        let at = target.map_or_else(Vec::new, |id| vec!["--target-id", id]);
        let with = |args: &[&'static str]| [args, &at[..]].concat();
        stage.ok(&with(&["click", "name=Save"]));
        stage.ok(&[&["fill", "label=Name", field][..], &at[..]].concat());
        // Frames, observers and visibility are those of a page in front.
        let script = "const frames = await new Promise((done) => { let n = 0; const one = () => (++n === 5 ? done(n) : requestAnimationFrame(one)); one(); setTimeout(() => done('only ' + n), 5000) });
            const seen = await new Promise((done) => { new IntersectionObserver(() => done('seen')).observe(document.body); setTimeout(() => done('not seen'), 5000) });
            return [frames, seen, document.visibilityState, document.hasFocus()];";
        let value = stage.ok(&[&["evaluate", script][..], &at[..]].concat())["value"].clone();
        assert_eq!(value, serde_json::json!([5, "seen", "visible", true]), "{field}");
    }
    assert_eq!(visit.clicks(), ["save", "save", "save"]);
    stage.ok(&["close-target", &id]);
    assert_eq!(stage.eval("document.title"), "First");
}

// contract: 7.1
#[test]
fn without_an_address_it_is_blank_and_can_be_gone_on_with() {
    let (stage, visit) = Stage::open("form.html");
    let made = stage.ok(&["create-target"]);
    let id = made["targetId"].as_str().expect("an id").to_owned();
    assert_eq!(made["page"]["url"], "about:blank");
    stage.ok(&["navigate", &visit.url("sections.html"), "--target-id", &id]);
    assert_eq!(stage.eval("location.href"), visit.url("form.html"), "the selected one stayed");
    stage.ok(&["close-target", &id]);
}

// contract: 2.1 report: 42
#[test]
fn a_page_that_cannot_be_loaded_leaves_no_target_behind() {
    let (stage, visit) = Stage::open("form.html");
    let before = rows(&stage).len();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    drop(listener);
    stage.fails("navigation_failed", &["create-target", &format!("http://127.0.0.1:{port}/")]);
    stage.fails("navigation_failed", &["create-target", &visit.url("hang"), "--timeout-ms", "1500"]);
    stage.fails("denied", &["create-target", "file:///etc/passwd"]);
    // A page that was reached stays, and the error names it.
    let error = stage.fails("navigation_failed", &["create-target", &visit.url("status/404"), "--fail-http"]);
    assert_eq!(error["outcome"], "completed", "{error}");
    stage.ok(&["close-target", error["details"]["targetId"].as_str().expect("an id")]);
    glass_tests::holds("no target is left", std::time::Duration::from_secs(10), || {
        rows(&stage).len() == before
    });
}

// contract: 1.4, 7.1
#[test]
fn it_begins_a_session_whose_first_page_stays_selected() {
    let world = World::new();
    let visit = site().visit();
    let answer = world.ask(&["create-target", &visit.url("form.html")]);
    assert_eq!(answer.json["session"]["started"], "new", "{}", answer.run);
    let id = answer.result()["targetId"].as_str().expect("an id").to_owned();
    assert_eq!(world.eval("location.href"), "about:blank");
    world.ok(&["select-target", &id]);
    assert_eq!(world.eval("document.title"), "A form");
}

// contract: 7.1, 11
#[test]
fn there_are_at_most_32_and_one_more_is_refused() {
    let world = World::new();
    world.ok(&["navigate", "about:blank"]);
    for _ in 1..32 {
        world.ok(&["create-target"]);
    }
    let error = world.fails("quota_exceeded", &["create-target"]);
    assert_eq!((error["details"]["limit"].clone(), error["details"]["used"].clone()), (32.into(), 32.into()));
    assert_eq!(rows(&world).len(), 32);
    // A page that opens one more has it closed, and that is told.
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("popups.html")]);
    let clicked = world.ok(&["click", "name=Window open"]);
    let popup = &clicked["evidence"]["popups"][0];
    assert_eq!(
        (popup["closed"].clone(), popup["reason"].clone()),
        (true.into(), "target_limit".into()),
        "{clicked}"
    );
    assert_eq!(rows(&world).len(), 32);
    let last = rows(&world)[31]["id"].as_str().expect("an id").to_owned();
    world.ok(&["close-target", &last]);
    world.ok(&["create-target"]);
}
