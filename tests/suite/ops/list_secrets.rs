//! `listSecrets`: names and times, of this session alone, and of nothing once it has closed.

use glass_tests::World;
use glass_tests::site::site;
use serde_json::json;

// contract: 10.8, 1.6, 1.7, 12.2
#[test]
fn a_vault_is_its_sessions_own_and_ends_with_it() {
    let world = World::new().with_policy("allow = [\"capture_secrets\"]\n");
    let visit = site().visit();
    let error = world.fails("target_not_found", &["list-secrets", "--session", "one"]);
    assert_eq!(error["reason"], "session_new", "{error}");
    for session in ["one", "two"] {
        world.ok(&["navigate", &visit.url("form.html"), "--session", session]);
    }
    world.ok(&["capture-secrets", "set('B', 'very-secret'); set('A', 'very-secret')", "--session", "one"]);
    let listed = world.ask(&["list-secrets", "--session", "one"]);
    let rows = listed.result()["secrets"].as_array().expect("rows");
    assert_eq!(rows.iter().map(|row| &row["name"]).collect::<Vec<_>>(), [&json!("A"), &json!("B")]);
    assert!(
        rows.iter().all(|row| row["expiresInMs"].as_u64().is_some_and(|left| (1..=600_000).contains(&left)))
    );
    assert!(!listed.run.stdout.contains("very-secret"), "{}", listed.run);
    let text = world.glassctl(["secret", "list", "--session", "one"]).success();
    assert!(text.stdout.starts_with("A · kept for ") && !text.stdout.contains("very"), "{text}");
    assert_eq!(world.ok(&["list-secrets", "--session", "two"])["secrets"], json!([]));
    let error = world
        .fails("invalid_argument", &["type", "--secret", "A", "--target", "label=Name", "--session", "two"]);
    assert_eq!((&error["reason"], &error["dispatched"]), (&json!("no_such_secret"), &json!("no")), "{error}");
    // The control lane answers while a page spins.
    let spins = world.begin(&["evaluate", "for (;;);", "--timeout-ms", "2000", "--session", "one"]);
    world.ok(&["list-secrets", "--session", "one"]);
    spins.answer().fails("unknown_outcome");
    world.ok(&["session", "close", "one"]);
    world.ok(&["navigate", &visit.url("form.html"), "--session", "one"]);
    assert_eq!(world.ok(&["list-secrets", "--session", "one"])["secrets"], json!([]));
}
