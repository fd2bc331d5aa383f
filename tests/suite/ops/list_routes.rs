//! `listRoutes`: the rules for requests, and how often each was used.

use glass_tests::Stage;

// contract: 10.2
#[test]
fn the_rule_made_last_counts_alone_and_its_uses_are_told() {
    let (stage, visit) = Stage::open("form.html");
    stage.ok(&["route", &visit.url("**"), "--action", "fulfill", "--body", "first"]);
    stage.ok(&["route", &visit.url("once"), "--action", "fulfill", "--body", "second", "--times", "1"]);
    let both =
        "fetch('once').then(r => r.text()).then(async one => one + await fetch('once').then(r => r.text()))";
    assert_eq!(stage.eval(both), "secondfirst");
    let listed = stage.ok(&["list-routes"]);
    let rows = listed["routes"].as_array().expect("rules");
    assert_eq!((rows.len(), rows[0]["used"].as_u64()), (1, Some(1)), "{listed:#}");
    assert!(!listed.to_string().contains("second"), "bodies are not shown");
    stage.ok(&["remove-route", "--all"]);
}
