//! `storageState`: what one session kept is there in another before its first page, no site hears of it, and what was not
//! taken is said.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use glass_tests::Stage;
use glass_tests::site::site;
use serde_json::{Value, json};

/// Fills every kind of storage.
const FILL: &str = "(async () => {
  localStorage.setItem('theme', 'dark \u{1f311}');
  localStorage.setItem('length', 'a key like a property');
  sessionStorage.setItem('step', '2');
  const opening = indexedDB.open('shop', 3);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore('cart', { keyPath: 'id' }).createIndex('by_name', 'name', { unique: true });
    opening.result.createObjectStore('loose');
  };
  const db = await new Promise(done => { opening.onsuccess = () => done(opening.result) });
  const transaction = db.transaction(['cart', 'loose'], 'readwrite');
  transaction.objectStore('cart').add({ id: 1, name: 'Tea', at: new Date(86400000), tags: [undefined, 1n, -0] });
  transaction.objectStore('loose').add(new Uint8Array([1, 2, 255]), ['k', 2]);
  transaction.objectStore('loose').add('plain', 'p');
  transaction.objectStore('loose').add(new Blob(['x']), 'blob');
  await new Promise(done => { transaction.oncomplete = done });
  db.close();
  return 'filled';
})()";

/// What a page finds of it.
const FOUND: &str = "(async () => {
  const opening = indexedDB.open('shop');
  const db = await new Promise(done => { opening.onsuccess = () => done(opening.result) });
  const get = request => new Promise(done => { request.onsuccess = () => done(request.result) });
  const cart = db.transaction('cart').objectStore('cart');
  const tea = await get(cart.index('by_name').get('Tea'));
  const bytes = await get(db.transaction('loose').objectStore('loose').get(['k', 2]));
  const plain = await get(db.transaction('loose').objectStore('loose').get('p'));
  const out = [localStorage.theme, localStorage.getItem('length'), sessionStorage.step, db.version, tea.at.getTime(),
    tea.tags[0] === undefined, typeof tea.tags[1], Object.is(tea.tags[2], -0), bytes.constructor.name, [...bytes].join(),
    plain, document.cookie].join('|');
  db.close();
  return out;
})()";

// contract: 7.8
#[test]
fn what_was_saved_is_there_in_another_session_before_its_first_page_and_no_site_hears_of_it() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve_with(
        "page.html",
        "<!doctype html><title>Kept</title>",
        &[("Set-Cookie", "sid=very-secret; Path=/")],
    );
    let url = visit.url_at("kept.localhost", "page.html");
    stage.ok(&["cookies", "clear"]);
    stage.ok(&["navigate", &url]);
    assert_eq!(stage.eval(FILL), "filled");
    let answer = stage.ask(&["storage-state", "save", "state.json"]);
    assert!(!answer.run.stdout.contains("very-secret"), "{}", answer.run);
    let saved = answer.result().clone();
    let path = stage.path("cwd/state.json");
    assert_eq!(fs::metadata(&path).expect("the file").permissions().mode() & 0o777, 0o600);
    assert_eq!(saved["cookies"], 1, "{saved}");
    let refused = saved["refused"].as_array().expect("what was not saved");
    assert_eq!((refused.len(), &refused[0]["reason"]), (1, &json!("no_such_form")), "{saved}");
    let file: Value = serde_json::from_slice(&fs::read(&path).expect("the file")).expect("JSON");
    assert_eq!(file["cookies"][0]["value"], "very-secret");
    stage.ok(&["session", "close"]);

    let requests = visit.requests().len();
    let loaded = stage.ok(&["storage-state", "load", "state.json", "--session", "fresh"]);
    assert_eq!(loaded["cookies"], 1, "{loaded}");
    assert_eq!(loaded.get("refused"), None, "{loaded}");
    let origin = loaded["origins"].as_array().and_then(|all| all.iter().find(|one| one["localStorage"] == 2));
    let origin = origin.unwrap_or_else(|| panic!("{loaded}"));
    assert_eq!((&origin["sessionStorage"], &origin["indexedDb"]), (&json!(1), &json!(3)), "{loaded}");
    assert_eq!(visit.requests().len(), requests, "no site is visited");
    let targets = stage.ok(&["list-targets", "--session", "fresh"]);
    let targets = targets["targets"].as_array().expect("targets");
    assert_eq!((targets.len(), &targets[0]["url"]), (1, &json!("about:blank")), "{targets:?}");
    let back = stage.ask(&["back", "--session", "fresh"]);
    assert_eq!(back.error()["outcome"], "rejected", "nobody was there before: {}", back.run);
    stage.ok(&["navigate", &url, "--session", "fresh"]);
    let sent = visit.requests().last().and_then(|request| request.header("cookie").map(str::to_owned));
    assert_eq!(sent.as_deref(), Some("sid=very-secret"));
    assert_eq!(
        stage.eval_in("fresh", FOUND),
        "dark \u{1f311}|a key like a property|2|3|86400000|true|bigint|true|Uint8Array|1,2,255|plain|sid=very-secret"
    );
    stage.ok(&["session", "close", "fresh"]);
}

// contract: 7.8
#[test]
fn a_file_of_playwright_is_taken_and_what_is_not_taken_is_named() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Now</title>");
    let far = 4_000_000_000_u64;
    let own = visit.url("").split('/').take(3).collect::<Vec<_>>().join("/");
    let cookie = |name: &str, domain: &str, expires: i64| {
        json!({ "name": name, "value": "v", "domain": domain, "path": "/", "expires": expires, "httpOnly": true,
                "secure": false, "sameSite": "Lax" })
    };
    let state = json!({
        "cookies": [
            cookie("good", "127.0.0.1", far as i64), cookie("ended", "a.example", 1000), cookie("bad", ".co.uk", -1),
            cookie("sub", ".a.example", -1),
        ],
        "origins": [
            { "origin": own, "localStorage": [{ "name": "k", "value": "from file" }],
              "sessionStorage": [{ "name": "s", "value": "from file" }] },
            { "origin": "http://other.localhost", "localStorage": [{ "name": "a", "value": "1" }, { "name": "b", "value": "2" }],
              "sessionStorage": [{ "name": "s", "value": "elsewhere" }] },
            { "origin": "file:///etc", "localStorage": [{ "name": "a", "value": "1" }] },
        ],
    });
    fs::write(stage.path("cwd/theirs.json"), state.to_string()).expect("write it");
    stage.ok(&["cookies", "clear"]);
    let loaded = stage.ok(&["storage-state", "load", "theirs.json"]);
    assert_eq!(loaded["cookies"], 2, "{loaded}");
    let refused: Vec<_> = loaded["refused"]
        .as_array()
        .expect("what was not taken")
        .iter()
        .map(|one| format!("{} {} {}", one["what"], one["place"], one["reason"]).replace('"', ""))
        .collect();
    assert_eq!(
        refused,
        [
            "cookie a.example expired",
            "cookie .co.uk refused_by_browser",
            "origin file:///etc not_an_origin",
            "sessionStorage http://other.localhost other_page",
        ],
        "{loaded}"
    );
    assert_eq!(loaded["refusedTotal"], 4, "{loaded}");
    assert_eq!(
        stage.eval("[localStorage.k, sessionStorage.s, document.title].join()"),
        "from file,from file,Now"
    );
    let saved = stage.ok(&["storage-state", "save", "again.json"]);
    let other = saved["origins"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["origin"] == "http://other.localhost"));
    assert_eq!(
        other.map(|one| &one["localStorage"]),
        Some(&json!(2)),
        "what was loaded is saved again: {saved}"
    );
    stage.ok(&["cookies", "clear"]);
}

// contract: 7.8, 10.5
#[test]
fn files_stay_inside_the_root_and_a_broken_one_is_refused_without_its_content() {
    let stage = Stage::take();
    let _visit = stage.show("<!doctype html><title>Root</title>");
    for (action, path) in [("save", "../out.json"), ("save", "/etc/out.json"), ("load", "/etc/passwd")] {
        let error = stage.fails("denied", &["storage-state", action, path]);
        assert_eq!(
            (&error["reason"], &error["outcome"]),
            (&"outside_file_root".into(), &"rejected".into()),
            "{error}"
        );
    }
    fs::write(stage.path("cwd/broken.json"), "{\"cookies\":[{\"name\":\"very-secret\"}]}").expect("write it");
    let answer = stage.ask(&["storage-state", "load", "broken.json"]);
    answer.fails("invalid_argument");
    assert!(!answer.run.stdout.contains("very-secret"), "{}", answer.run);
    stage.fails("invalid_argument", &["storage-state", "load", "missing.json"]);
    stage.fails("invalid_argument", &["storage-state", "save", "."]);
    let error = stage.fails("target_not_found", &["storage-state", "save", "x.json", "--session", "none"]);
    assert_eq!(error["reason"], "session_new", "{error}");
    assert!(!stage.path("cwd/x.json").exists());
    let left = fs::read_dir(stage.path("cwd")).expect("the directory").filter_map(Result::ok);
    assert!(left.into_iter().all(|file| !file.file_name().to_string_lossy().ends_with(".part")));
}
