//! `listTargets`: the pages of the session, and which one operations go to.

use glass_tests::Stage;

// contract: 7.1
#[test]
fn the_page_that_a_session_starts_with_is_listed_and_selected() {
    let (stage, visit) = Stage::open("form.html");
    let rows = stage.ok(&["list-targets"])["targets"].clone();
    let rows = rows.as_array().expect("rows");
    let selected: Vec<_> = rows.iter().filter(|row| row["selected"] == true).collect();
    assert_eq!(selected.len(), 1, "{rows:?}");
    assert_eq!(selected[0]["url"], visit.url("form.html"));
    assert_eq!(selected[0]["title"], "A form");
    assert_eq!(selected[0]["kind"], "page");
}

// contract: 7.1
#[test]
fn an_unknown_target_is_refused() {
    let (stage, _visit) = Stage::open("form.html");
    stage.fails("target_not_found", &["get-text", "--target-id", "nosuchtarget"]);
    assert_eq!(stage.glassctl(["get-text", "--target-id", "no such"]).code, Some(2));
}

// contract: 1.7
#[test]
fn it_answers_while_the_page_spins() {
    let (stage, _visit) = Stage::open("spin.html");
    let spinning = stage.begin(&["click", "name=Spin", "--timeout-ms", "4000"]);
    let answer = stage.ask(&["list-targets"]);
    assert_eq!(answer.result()["targets"].as_array().map(Vec::len), Some(1));
    spinning.answer_within(std::time::Duration::from_secs(20));
}

// contract: 7.1 report: 39
#[test]
fn pages_that_the_page_opens_and_closes_are_listed_as_they_are() {
    let (stage, visit) = Stage::open("popups.html");
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let result = stage.ok(&["click", "name=Window open"]);
        let id = result["evidence"]["popups"][0]["targetId"].as_str().expect("an id").to_owned();
        let rows = stage.ok(&["list-targets"])["targets"].as_array().cloned().expect("rows");
        let row = rows.iter().find(|row| row["id"] == id.as_str()).expect("it is listed at once");
        assert_eq!(row["opener"], rows[0]["id"], "{row}");
        assert!(seen.insert(id), "an id was used again");
    }
    for id in &seen {
        stage.ask(&["evaluate", "setTimeout(() => window.close(), 0); 1", "--target-id", id]).result();
        glass_tests::holds("it is gone from the list", std::time::Duration::from_secs(10), || {
            !stage.ok(&["list-targets"]).to_string().contains(id.as_str())
        });
    }
    assert_eq!(stage.eval("location.href"), visit.url("popups.html"));
}

// contract: 7.1, 1.7 report: 40
#[test]
fn a_page_that_hangs_is_told_as_such_and_the_others_can_be_used() {
    let (stage, visit) = Stage::open("form.html");
    visit.serve(
        "hangs.html",
        "<!doctype html><title>Hangs</title><script>setTimeout(() => { for (;;); }, 300)</script>",
    );
    let made = stage.ok(&["create-target", &visit.url_at("b.localhost", "hangs.html")]);
    let id = made["targetId"].as_str().expect("an id").to_owned();
    let rows = glass_tests::eventually("it hangs", std::time::Duration::from_secs(15), || {
        let rows = stage.ok(&["list-targets"])["targets"].as_array().cloned().expect("rows");
        rows.iter().any(|row| row["id"] == id.as_str() && row["responsive"] == false).then_some(rows)
    });
    assert!(rows.iter().filter(|row| row["responsive"] == false).count() == 1, "{rows:?}");
    let answer = stage.ask(&["click", "name=Save"]);
    answer.result();
    assert!(answer.run.took < std::time::Duration::from_secs(3), "{}", answer.run);
    assert_eq!(visit.clicks(), ["save"]);
    stage.ok(&["close-target", &id]);
}
