//! What a page asks a person for ends at once, is never shown, and leaves the page as usable as it was.

use std::time::Duration;

use glass_tests::{Stage, eventually};
use serde_json::json;

const ASKS: &str = r"<!doctype html><title>Asks</title><script>
  const key = { challenge: new Uint8Array(16), timeout: 60000 };
  const user = { id: new Uint8Array(4), name: 'a', displayName: 'a' };
  const algorithms = [{ type: 'public-key', alg: -7 }];
  const asks = {
    place: () => new Promise((yes, no) => navigator.geolocation.getCurrentPosition(yes, no)),
    notifications: () => Notification.requestPermission(),
    camera: () => navigator.mediaDevices.getUserMedia({ video: true }),
    screen: () => navigator.mediaDevices.getDisplayMedia(),
    clipboard: () => navigator.clipboard.readText(),
    usb: () => navigator.usb.requestDevice({ filters: [] }),
    hid: () => navigator.hid.requestDevice({ filters: [] }),
    serial: () => navigator.serial.requestPort(),
    passkey: () => navigator.credentials.get({ publicKey: key }),
    register: () => navigator.credentials.create({ publicKey: { ...key, rp: { name: 'x' }, user, pubKeyCredParams: algorithms } }),
    login: () => navigator.credentials.get({ identity: { providers: [{ configURL: location.origin + '/none.json', clientId: '1' }] } }),
    file: () => showOpenFilePicker(),
    handler: async () => navigator.registerProtocolHandler('web+glass', location.origin + '/?u=%s'),
    print: async () => window.print(),
    program: async () => { location.href = 'web+nothing:x'; },
    framed: async () => { const frame = document.createElement('iframe'); frame.src = 'zoommtg://x'; document.body.append(frame); },
    last: async () => {},
  };
  const ended = {};
  for (const name of Object.keys(asks)) {
    document.write(`<button onclick='ended[this.textContent] = null; asks[this.textContent]().then(() => 1, () => 1)` +
      `.then(() => ended[this.textContent] = true)'>${name}</button>`);
  }
</script>";

// contract: 5.5 report: 248, 249
#[test]
fn nothing_that_a_page_asks_for_waits_or_takes_its_input() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    visit.serve("page.html", ASKS);
    // Passkeys want a name, not an address.
    stage.ok(&["navigate", &visit.url_at("asks.localhost", "page.html")]);
    let from = stage.ok(&["events"])["next"].to_string();
    let names = stage.eval("Object.keys(asks)");
    for name in names.as_array().expect("names") {
        let name = name.as_str().expect("a name");
        // Each click is the proof that the one before took no input away.
        stage.ok(&["click", &format!("role=button;name={name}")]);
        eventually(&format!("{name} ends"), Duration::from_secs(20), || {
            (stage.eval(&format!("ended.{name}")) == json!(true)).then_some(())
        });
    }
    let told = stage.ok(&["events", "--after", &from, "--kind", "print", "--kind", "permission"]);
    let kinds: Vec<_> =
        told["events"].as_array().expect("events").iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, ["print", "permission", "permission"], "print is told, and what is no page: {told:#}");
    let uv = stage.eval("PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable()");
    assert_eq!(uv, false, "pages are offered no passkeys");
    let next = told["next"].to_string();
    stage.ok(&["export-page", "--format", "pdf", "-o", "asks.pdf"]);
    let told = stage.ok(&["events", "--after", &next, "--kind", "print"]);
    assert_eq!(told["events"], json!([]), "what Glass prints is no request of the page");
}

// contract: 5.5, 1.6, 12.1 report: 249
#[test]
fn what_is_granted_holds_for_its_origin_and_session_alone() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    visit.serve(
        "page.html",
        "<!doctype html><title>Granted</title><script>
         const state = async (name) => (await navigator.permissions.query({ name })).state;
         const place = () => new Promise((yes) => navigator.geolocation.getCurrentPosition((at) => yes(at.coords.latitude), (error) => yes('no ' + error.code)));
         </script><button onclick=\"navigator.clipboard.readText().then((text) => { read = text }, (error) => { read = error.name })\">Read</button>",
    );
    let origin = |host: &str| visit.url_at(host, "").split('/').take(3).collect::<Vec<_>>().join("/");
    let grant = format!("{}=geolocation,notifications,camera,clipboard-read", origin("a.localhost"));
    let run = |arguments: &[&str]| {
        stage.ok(&[arguments, &["--session", "granted", "--permission", &grant]].concat())
    };
    let eval = |script: &str| run(&["evaluate", script])["value"].clone();
    run(&["navigate", &visit.url_at("a.localhost", "page.html")]);
    let states =
        "(await Promise.all(['geolocation', 'notifications', 'camera', 'microphone'].map(state))).join()";
    let states = eval(states).to_string();
    assert!(states.starts_with("\"granted,granted,granted,") && !states.ends_with("granted\""), "{states}");
    run(&["emulate", "--geolocation", "12.5,3"]);
    assert_eq!(eval("await place()"), 12.5);
    run(&["clipboard", "write", "told"]);
    run(&["click", "name=Read"]);
    run(&["wait", "js=window.read"]);
    assert_eq!(eval("read"), "told");
    run(&["navigate", &visit.url_at("b.localhost", "page.html")]);
    assert_ne!(eval("await state('geolocation')"), "granted");
    assert_eq!(eval("await place()"), "no 1");
    stage.ok(&["navigate", &visit.url_at("a.localhost", "page.html")]);
    assert_eq!(stage.eval("await place()"), "no 1", "another session");
    let shown = stage.ok(&["session", "show", "granted"]).to_string();
    assert!(shown.contains("permissions http://a.localhost"), "{shown}");
    let other = ["observe", "--session", "granted", "--permission", "https://x.test=camera"];
    assert_eq!(stage.fails("invalid_argument", &other)["details"]["differing"], json!(["permissions"]));
    stage.ok(&["session", "close", "granted"]);
    for (more, kind) in [
        (&["--permission", "https://x.test=fly"][..], "invalid_argument"),
        (&["--permission", "x.test=camera"], "invalid_argument"),
        (&["--permission", "https://x.test=camera", "--policy-deny", "permissions"], "denied"),
        (&["--permission", "https://x.test=clipboard-read", "--policy-deny", "clipboard"], "denied"),
    ] {
        stage.fails(kind, &[&["navigate", "about:blank", "--session", "other"], more].concat());
    }
}
