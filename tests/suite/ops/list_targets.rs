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
