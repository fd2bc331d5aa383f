//! `removeRoute`: a rule for requests, or all.

use glass_tests::Stage;

// contract: 10.2
#[test]
fn one_rule_goes_and_the_others_stay() {
    let (stage, visit) = Stage::open("form.html");
    let first = stage.ok(&["route", &visit.url("a"), "--action", "abort"]);
    stage.ok(&["route", &visit.url("b"), "--action", "abort"]);
    let error = stage.fails("target_not_found", &["remove-route", "none"]);
    assert_eq!(error["reason"], "no_route");
    let id = first["route"]["routeId"].as_str().expect("an id");
    let removed = stage.ok(&["remove-route", id]);
    assert!(removed["removed"] == 1 && removed["left"] == 1, "{removed:#}");
    let reached = "Promise.all(['a', 'b'].map(one => fetch(one).then(r => r.status, () => 'aborted'))).then(all => all.join())";
    assert_eq!(stage.eval(reached), "404,aborted");
    assert_eq!(stage.ok(&["remove-route", "--all"])["removed"], 1);
    stage.fails("invalid_argument", &["remove-route"]);
}
