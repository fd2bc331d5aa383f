//! `health`: how a session stands, also while a page spins.

use std::time::Duration;

use glass_tests::{Stage, eventually};

// contract: 7.7 1.7
#[test]
fn it_answers_while_a_page_spins_and_says_which_operation_runs() {
    let (stage, _visit) = Stage::open("spin.html");
    // 40 ms are little on a machine that is busy.
    let is_well = || {
        let health = stage.ok(&["health"]);
        assert!(health["running"].as_array().is_some_and(Vec::is_empty), "{health:#}");
        (health["targets"][0]["responsive"] == true).then_some(health)
    };
    let well = eventually("the page answers", Duration::from_secs(20), is_well);
    let quotas: Vec<_> =
        well["quotas"].as_array().expect("quotas").iter().map(|row| row["quota"].clone()).collect();
    assert_eq!(quotas, ["targets", "spool"]);
    let spinning = stage.begin(&["evaluate", "while (true) {}", "--timeout-ms", "2500"]);
    let runs = loop {
        let health = stage.ask(&["health"]);
        assert!(health.run.took < Duration::from_secs(2), "{}", health.run);
        let row = health.result()["running"][0].clone();
        if row["dispatched"] == true && health.result()["targets"][0]["responsive"] == false {
            break row;
        }
    };
    assert!(runs["operation"] == "evaluate" && runs["targetId"] == well["targets"][0]["id"], "{runs}");
    let answer = spinning.answer_within(Duration::from_secs(20));
    assert_eq!(answer.json["executionId"], runs["executionId"]);
    eventually("the page answers again", Duration::from_secs(20), is_well);
    stage.show("<!doctype html><title>Asks</title><button onclick='alert(1)'>Ask</button>");
    stage.ok(&["click", "name=Ask"]);
    let asks = stage.ok(&["health"]);
    assert!(asks["targets"][0]["dialog"] == true && asks["targets"][0]["responsive"].is_null(), "{asks:#}");
    stage.ok(&["accept-dialog"]);
}
