//! `captureSecrets`: what the code sets goes into the vault and nowhere else, whatever the page does about it.

use glass_tests::World;
use glass_tests::site::site;
use serde_json::json;

const ALLOWED: &str = "allow = [\"capture_secrets\"]\n";

// contract: 10.8, 2.6
#[test]
fn what_the_code_sets_is_kept_and_never_told() {
    let world = World::new().with_policy(ALLOWED);
    let visit = site().visit();
    visit.serve(
        "page.html",
        "<!doctype html><title>Keys</title><p id=key hidden>very-secret-1</p><iframe name=inner src=inner.html></iframe>\
         <script>window.set = () => document.title = 'called'; window.mine = 'of the page';\
         Document.prototype.querySelector = () => ({ textContent: 'forged' });\
         String.prototype.trim = function () { document.title = 'read'; return 'forged' };\
         Map.prototype.set = function () { document.title = 'kept' };</script>",
    );
    visit.serve("inner.html", "<!doctype html><p id=key>very-secret-2</p>");
    world.ok(&["navigate", &visit.url("page.html")]);
    let told = |arguments: &[&str]| {
        let answer = world.ask(arguments);
        assert!(!answer.run.stdout.contains("very-secret"), "{}", answer.run);
        answer
    };
    let code = "const of = (id) => document.querySelector(id).textContent.trim();\n\
                set('TOKEN', of('#key')); set('TOKEN_2', 'x' + of('#key')); return of('#key')";
    let captured = told(&["capture-secrets", code]).result().clone();
    assert_eq!(
        (&captured["names"], &captured["expiresInMs"]),
        (&json!(["TOKEN", "TOKEN_2"]), &json!(600_000))
    );
    assert_eq!(world.ok(&["list-secrets"])["secrets"].as_array().map(Vec::len), Some(2));
    // The page saw none of it, and could change none of it: what is typed is what its document holds.
    assert_eq!(world.eval("document.title"), "Keys");
    world.eval("document.body.append(document.createElement('input')); document.querySelectorAll('input')[0].id = 'to'");
    world.ok(&["type", "--secret", "TOKEN", "--target", "css=#to"]);
    assert_eq!(world.eval("to.value.split('').reverse().join('')"), "1-terces-yrev");
    // One frame, and the one that is named.
    let inner = told(&[
        "capture-secrets",
        "set('INNER', document.querySelector('#key').textContent)",
        "--frame",
        "name=inner",
    ]);
    assert!(inner.result()["frameId"].as_str().is_some_and(|id| id.starts_with('f')), "{}", inner.run);
    told(&["type", "--secret", "INNER", "--target", "css=#to"]);
    assert_eq!(world.eval("to.value.slice(-1)"), "2");
    // Neither a world nor a variable of the page's.
    let error = told(&["capture-secrets", "\nset('MINE', mine)"]);
    assert_eq!(error.fails("evaluation_failed")["outcome"], "failed", "{}", error.run);
    assert!(
        error.error()["message"].as_str().is_some_and(|text| text.contains("ReferenceError (line 2)")),
        "{}",
        error.run
    );

    // What goes wrong keeps nothing, and tells nothing.
    for (code, kind, reason) in [
        ("set('A', 'very-secret'); throw new Error('very-secret')", "evaluation_failed", json!("threw")),
        ("set('A', 'very-secret'); await Promise.reject('very-secret')", "evaluation_failed", json!("threw")),
        (
            "set('A', 'very-secret'); throw new (class VerySecret extends Error {})",
            "evaluation_failed",
            json!("threw"),
        ),
        ("set('very-secret', 'A')", "evaluation_failed", json!("name")),
        ("try { set('A\u{200b}', 'very-secret') } catch {}", "evaluation_failed", json!("name")),
        ("try { set('A', { 'very-secret': 1 }) } catch {}", "evaluation_failed", json!("value")),
        ("try { set('A', '\\ud800very-secret') } catch {}", "evaluation_failed", json!("value")),
        ("set('A', 'very-secret'); return very secret", "evaluation_failed", json!("syntax")),
        ("try { set('A', 'x'.repeat(20000)) } catch {}", "quota_exceeded", json!(null)),
        (
            "try { for (let i = 0; i < 65; i++) set('A' + i, 'very-secret') } catch {}",
            "quota_exceeded",
            json!(null),
        ),
        ("for (let i = 0; i < 20; i++) set('A' + i, 'x'.repeat(16000))", "quota_exceeded", json!(null)),
    ] {
        let error = told(&["capture-secrets", code]);
        assert_eq!(error.fails(kind).get("reason").unwrap_or(&json!(null)), &reason, "{code}: {}", error.run);
        assert_eq!(world.ok(&["list-secrets"])["secrets"].as_array().map(Vec::len), Some(3), "{code}");
    }
    // What the code says to the console, and what it leaves unhandled, is no page's.
    told(&[
        "capture-secrets",
        "console.log('very-secret'); Promise.reject(new Error('very-secret')); set('B', 'bb')",
    ]);
    world.eval("console.log('of the page')");
    let said = told(&["diagnostics", "--kind", "console", "--kind", "error", "--values", "true"]);
    assert!(said.run.stdout.contains("of the page"), "{}", said.run);
    // Too long, nothing, or a step of a batch: wrong in itself.
    told(&["capture-secrets", &format!("//{}", "x".repeat(100_000))]).fails("invalid_argument");
    told(&["capture-secrets", " "]).fails("invalid_argument");
    let batch = world.glassctl_reading(
        ["--json", "batch", "-"],
        b"[{\"operation\":\"captureSecrets\",\"code\":\"set('A','b')\"}]",
    );
    assert_eq!(batch.code, Some(2), "{batch}");
    // A capture without end is ended by its deadline, and keeps nothing.
    told(&["capture-secrets", "set('C', 'cc'); for (;;);", "--timeout-ms", "700"]).fails("unknown_outcome");
    assert_eq!(world.ok(&["list-secrets"])["secrets"].as_array().map(Vec::len), Some(4));
}

// contract: 10.2, 10.8
#[test]
fn no_preset_lets_a_value_into_the_vault() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    for policy in
        [&[][..], &["--policy", "ci"], &["--policy", "development", "--policy-allow", "capture_secrets"]]
    {
        let call = [policy, &["capture-secrets", "set('A', 'b')"]].concat();
        let error = world.fails("denied", &call);
        assert_eq!(error["reason"], "capability", "{error}");
    }
    assert_eq!(world.ok(&["list-secrets"])["secrets"], json!([]));
    world.fails("denied", &["delete-secrets", "--all"]);
}
