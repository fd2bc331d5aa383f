//! `deleteSecrets`: what is named goes, nothing else does, and what was not there is told.

use glass_tests::World;
use glass_tests::site::site;
use serde_json::json;

// contract: 10.8
#[test]
fn what_is_named_goes_and_what_was_not_there_is_told() {
    let world = World::new().with_policy("allow = [\"capture_secrets\"]\n");
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    world.ok(&["capture-secrets", "for (const name of ['A', 'B', 'C', 'D']) set(name, 'very-secret')"]);
    let gone = world.ok(&["delete-secrets", "B", "X"]);
    assert_eq!((&gone["deleted"], &gone["absent"]), (&json!(["B"]), &json!(["X"])), "{gone}");
    let error = world.fails("invalid_argument", &["type", "--secret", "B", "--target", "label=Name"]);
    assert_eq!(error["reason"], "no_such_secret", "{error}");
    assert_eq!(world.eval("document.getElementById('name').value"), "Ann");
    world.fails("invalid_argument", &["delete-secrets"]);
    world.fails("invalid_argument", &["delete-secrets", "B", "--all"]);
    world.fails("invalid_argument", &["delete-secrets", "B-C"]);
    world.glassctl(["secret", "delete", "A"]).success();
    assert_eq!(world.ok(&["delete-secrets", "--all"])["deleted"], json!(["C", "D"]));
    assert_eq!(world.ok(&["list-secrets"])["secrets"], json!([]));
}
