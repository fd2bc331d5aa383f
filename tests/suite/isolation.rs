//! Two sessions at one site: nothing that the one keeps is there for the other (contract 1.6).

use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{World, eventually};
use serde_json::{Value, json};

/// Writes `word` into everything that a page can keep.
fn keep(word: &str) -> String {
    format!(
        "document.cookie = 'word={word}; max-age=9999'; localStorage.word = '{word}'; sessionStorage.word = '{word}';
        await (await caches.open('c')).put('kept', new Response('{word}'));
        const root = await navigator.storage.getDirectory();
        const file = await (await root.getFileHandle('kept', {{create: true}})).createWritable();
        await file.write('{word}'); await file.close();
        const db = await new Promise((done) => {{
            const open = indexedDB.open('d'); open.onupgradeneeded = () => open.result.createObjectStore('s');
            open.onsuccess = () => done(open.result);
        }});
        await new Promise((done) => {{ const t = db.transaction('s', 'readwrite'); t.objectStore('s').put('{word}', 'word'); t.oncomplete = done; }});
        await navigator.serviceWorker.register('sw.js'); await navigator.serviceWorker.ready;
        new BroadcastChannel('b').postMessage('{word}');
        return 1"
    )
}

/// Reads all of it.
const READ: &str = "const out = {cookie: document.cookie, local: localStorage.word ?? null, tab: sessionStorage.word ?? null};
    out.cache = await caches.match('kept').then((found) => found?.text() ?? null);
    const root = await navigator.storage.getDirectory();
    out.file = await root.getFileHandle('kept').then((handle) => handle.getFile()).then((file) => file.text()).catch(() => null);
    const dbs = await indexedDB.databases(); out.databases = dbs.length;
    out.worker = (await navigator.serviceWorker.getRegistrations()).length;
    out.heard = window.heard ?? null;
    return out";

// contract: 1.6 report: 74
#[test]
fn what_one_session_keeps_no_other_sees() {
    let world = World::new();
    let visit = site().visit();
    visit.serve_with("sw.js", "self.onfetch = () => {};", &[("Content-Type", "text/javascript")]);
    visit.serve("page.html", "<!doctype html><title>Kept</title><script>new BroadcastChannel('b').onmessage = (e) => window.heard = e.data</script>");
    let url = visit.url("page.html");
    for session in ["one", "two"] {
        world.ok(&["navigate", &url, "--session", session]);
    }
    let read = |session: &str| -> Value {
        world.ok(&["evaluate", READ, "--session", session, "--timeout-ms", "20000"])["value"].clone()
    };
    world.ok(&["evaluate", &keep("first"), "--session", "one", "--timeout-ms", "20000"]);
    let nothing = json!({ "cookie": "", "local": null, "tab": null, "cache": null, "file": null, "databases": 0, "worker": 0, "heard": null });
    assert_eq!(read("two"), nothing);
    world.ok(&["evaluate", &keep("second"), "--session", "two", "--timeout-ms", "20000"]);
    let one = eventually("what the first kept", Duration::from_secs(20), || {
        let one = read("one");
        (one["cache"] == "first").then_some(one)
    });
    for kept in ["local", "tab", "file"] {
        assert_eq!(one[kept], "first", "{one:#}");
    }
    assert_eq!(one["cookie"], "word=first", "{one:#}");
    assert_eq!(one["heard"], "first", "a message of another session came: {one:#}");
    // A new one under a name that was closed begins with nothing.
    world.ok(&["session", "close", "one"]);
    world.ok(&["navigate", &url, "--session", "one"]);
    assert_eq!(read("one"), nothing);
}
