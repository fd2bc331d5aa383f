//! `emulate`: what is emulated holds in pages, frames, workers, popups and later documents from the first line on.

use glass_tests::Stage;
use glass_tests::site::site;

/// What a document or a worker is told.
const TOLD: &str = "[navigator.userAgent,navigator.language,Intl.DateTimeFormat().resolvedOptions().timeZone,\
                    Intl.NumberFormat().format(1234.5),String(new Date(0)).includes('09:00:00')].join('|')";

/// Waits until the frame and the worker said what they are told.
fn told_all(stage: &Stage) {
    glass_tests::holds("frame and worker speak", std::time::Duration::from_secs(20), || {
        stage.eval("Boolean(window.told.frame && window.told.worker)") == true
    });
}

// contract: 5.3 report: 247
#[test]
fn identity_language_and_time_zone_hold_everywhere_from_the_first_line() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve_with("worker.js", &format!("postMessage({TOLD})"), &[("Content-Type", "text/javascript")]);
    visit.serve(
        "framed.html",
        &format!("<!doctype html><title>Framed</title><script>parent.postMessage({TOLD},'*')</script>"),
    );
    visit.serve(
        "popped.html",
        &format!("<!doctype html><title>Popped</title><script>document.title={TOLD}</script>"),
    );
    visit.serve(
        "told.html",
        &format!(
            "<!doctype html><title>Told</title><script>window.told={{page:{TOLD}}};onmessage=e=>{{told.frame=e.data}};\
             new Worker('worker.js').onmessage=e=>{{told.worker=e.data}}</script>\
             <iframe src='http://b.localhost:{{{{port}}}}/{{{{visit}}}}/framed.html'></iframe>\
             <button onclick=\"window.open('popped.html')\">Open</button>"
        ),
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "framed.html")]);
    let emulated = stage.ok(&[
        "emulate",
        "--user-agent",
        "Glass test agent",
        "--locale",
        "de-DE",
        "--timezone",
        "Asia/Tokyo",
    ]);
    assert_eq!(emulated["locale"], "de-DE", "{emulated}");
    stage.ok(&["navigate", &visit.url_at("a.localhost", "told.html")]);
    told_all(&stage);
    let want = "Glass test agent|de-DE|Asia/Tokyo|1.234,5|true";
    for what in ["page", "frame", "worker"] {
        assert_eq!(stage.eval(&format!("told.{what}")), want, "{what}");
    }
    let opened = stage.ok(&["click", "name=Open"]);
    let popup = opened["evidence"]["popups"][0]["targetId"].as_str().expect("a popup").to_owned();
    let title = stage.ok(&["evaluate", "--target-id", &popup, "document.title"]);
    assert_eq!(title["value"], want);
    let request = visit.asked_for("popped.html");
    assert_eq!(request.header("user-agent"), Some("Glass test agent"));
    assert!(
        request.header("accept-language").is_some_and(|value| value.starts_with("de-DE,de")),
        "{request:?}"
    );
    let reset = stage.ok(&["emulate", "--reset"]);
    assert_eq!(reset.get("locale"), None, "{reset}");
    stage.ok(&["navigate", &visit.url_at("a.localhost", "told.html")]);
    told_all(&stage);
    for what in ["page", "frame", "worker"] {
        assert!(
            !stage
                .eval(&format!("told.{what}"))
                .as_str()
                .is_some_and(|told| told.contains("Tokyo") || told.contains("test agent"))
        );
    }
}

// contract: 5.3
#[test]
fn looks_place_and_device_are_what_pages_ask_for() {
    let stage = Stage::take();
    let _visit =
        stage.show("<!doctype html><meta name=viewport content='width=device-width'><title>Device</title>");
    let own =
        stage.eval("[innerWidth, devicePixelRatio, navigator.maxTouchPoints, navigator.userAgent].join()");
    stage.ok(&[
        "emulate",
        "--color-scheme",
        "dark",
        "--reduced-motion",
        "reduce",
        "--geolocation",
        "52.5,-13.25",
        "--device",
        "pixel",
    ]);
    let asked = "[matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('(prefers-reduced-motion: reduce)').matches,\
                 innerWidth, devicePixelRatio, navigator.maxTouchPoints, /Android.*Mobile/.test(navigator.userAgent)].join()";
    assert_eq!(stage.eval(asked), "true,true,412,2.625,5,true");
    let place = stage.eval("new Promise((told, not) => navigator.geolocation.getCurrentPosition(p => told(p.coords.latitude + ',' + p.coords.longitude), e => told('error ' + e.code)))");
    assert_eq!(place, "52.5,-13.25");
    // What is not named stays.
    let emulated = stage.ok(&["emulate", "--media", "print"]);
    assert_eq!(emulated["device"], "pixel", "{emulated}");
    assert_eq!(stage.eval("matchMedia('print').matches"), true);
    stage.ok(&["emulate", "--reset"]);
    assert_eq!(
        stage.eval("[innerWidth, devicePixelRatio, navigator.maxTouchPoints, navigator.userAgent].join()"),
        own
    );
    assert_eq!(stage.eval("matchMedia('(prefers-color-scheme: dark)').matches"), false);
}

// contract: 5.3
#[test]
fn the_network_can_be_cut_off_and_headers_are_sent_and_not_told() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Network</title>");
    stage.ok(&["emulate", "--network", "offline"]);
    let asks = "fetch('page.html').then(() => 'answered', () => 'failed')";
    assert_eq!(stage.eval(asks), "failed");
    assert_eq!(stage.eval("navigator.onLine"), false);
    let answer = stage.ask(&["emulate", "--network", "online", "--header", "X-Trace: very-secret"]);
    assert!(!answer.run.stdout.contains("very-secret"), "{}", answer.run);
    assert_eq!(answer.result()["headers"][0], "X-Trace");
    assert_eq!(stage.eval(asks), "answered");
    assert_eq!(stage.eval("navigator.onLine"), true);
    stage.go(&visit, "page.html");
    assert!(visit.requests().last().is_some_and(|request| request.header("x-trace") == Some("very-secret")));
    stage.ok(&["emulate", "--reset"]);
    stage.go(&visit, "page.html");
    assert!(visit.requests().last().is_some_and(|request| request.header("x-trace").is_none()));
}

// contract: 5.3, 2.6
#[test]
fn names_that_the_browser_does_not_know_change_nothing() {
    let (stage, _visit) = Stage::open("form.html");
    for wrong in [["--timezone", "Mars/Crater"], ["--locale", "xx-nonsense-q"]] {
        let error = stage.fails("invalid_argument", &["emulate", wrong[0], wrong[1], "--media", "print"]);
        assert_eq!(error["reason"], "unknown_name", "{error}");
        assert_eq!(stage.eval("matchMedia('print').matches"), false);
    }
    for wrong in [&["--header", "Host: a"][..], &["--cpu-throttle", "21"], &["--geolocation", "91,0"], &[]] {
        let arguments: Vec<_> = ["emulate"].iter().chain(wrong).copied().collect();
        assert_eq!(stage.glassctl(&arguments).code, Some(2), "{arguments:?}");
    }
    assert_eq!(stage.ok(&["emulate", "--cpu-throttle", "2"])["cpuThrottle"], 2);
    stage.ok(&["emulate", "--reset"]);
}
