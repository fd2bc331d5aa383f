//! Policy end to end: the daemon's file as ceiling, what a client's command line narrows, host rules under everything
//! that a page sends, and denials that say who decided (contract 10.1 to 10.3, 10.6).

use std::fs;
use std::path::PathBuf;

use glass_tests::mcp::Mcp;
use glass_tests::site::{Visit, site};
use glass_tests::{GONE, World, eventually, holds};
use serde_json::{Value, json};

fn joined<'a>(one: &[&'a str], two: &[&'a str]) -> Vec<&'a str> {
    [one, two].concat()
}

fn file(world: &World) -> PathBuf {
    world.path("config/glass/policy.toml")
}

/// Puts a policy in the place of the one that is there, as an editor does that writes beside it and renames.
fn write(world: &World, text: &str) {
    let path = file(world);
    fs::create_dir_all(path.parent().expect("a directory")).expect("the configuration directory");
    let new = path.with_extension("new");
    fs::write(&new, text).expect("write the policy");
    fs::rename(new, path).expect("put it in its place");
}

fn with_policy(text: &str) -> World {
    let world = World::new();
    write(&world, text);
    world
}

/// Requests of the visit that came to the host of this name.
fn reached(visit: &Visit, host: &str) -> Vec<String> {
    let of = |request: &glass_tests::site::Request| request.host.split(':').next() == Some(host);
    visit.requests().iter().filter(|request| of(request)).map(|request| request.path.clone()).collect()
}

// contract: 10.3, 10.6 report: 46, 60, 86, 112
#[test]
fn nothing_that_a_page_sends_reaches_a_host_that_no_rule_lists() {
    let world = with_policy(
        "allow_hosts = [\"a.localhost\"]\nallow_subresource_hosts = [\"cdn.localhost\"]\ndeny_hosts = [\"ads.a.localhost\"]\n",
    );
    let visit = site().visit();
    let (b, cdn) = (visit.url_at("b.localhost", ""), visit.url_at("cdn.localhost", ""));
    let script = format!(
        "const b = '{b}', cdn = '{cdn}', say = (word) => document.title += word;
        fetch(b + 'fetched').catch(() => say(' fetch'));
        navigator.sendBeacon(b + 'beacon', 'x');
        new WebSocket(b.replace('http', 'ws') + 'socket').onerror = () => say(' socket');
        new EventSource(b + 'events');
        for (const [tag, from, path] of [['img', b, 'pixel'], ['img', cdn, 'image.svg'], ['iframe', b, 'framed'], ['script', b, 'script'], ['iframe', cdn, 'frame-text']]) {{
            const part = document.createElement(tag); part.src = from + path;
            part.onload = () => from === cdn && say(' ' + path);
            document.body.append(part);
        }}
        for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'stylesheet']) {{
            const link = document.createElement('link'); link.rel = rel; link.href = b + rel; document.head.append(link);
        }}
        const worker = new Worker(URL.createObjectURL(new Blob(['fetch(\"' + b + 'worker\").catch(() => postMessage(1))'])));
        worker.onmessage = () => say(' worker');
        window.open(b + 'popup');"
    );
    visit.serve("rules.html", &format!("<!doctype html><title>Rules</title><a href='{cdn}linked'>Linked</a><a href='{b}away'>Away</a><script>addEventListener('load', () => {{ {script} }})</script>"));
    let at_a = |page: &str| visit.url_at("a.localhost", page);
    world.ok(&["navigate", &at_a("rules.html")]);
    for word in ["fetch", "socket", "worker", "image.svg", "frame-text"] {
        world.ok(&["wait", &format!("js=document.title.includes(' {word}')")]);
    }
    // Each is told, with the rule and the page that it was part of.
    let target = world.ok(&["list-targets"])["targets"][0]["id"].clone();
    let parts = ["fetched", "events", "pixel", "framed", "script", "stylesheet", "socket", "worker"];
    holds("each denial is an event", GONE, || {
        let told = world.ok(&["events", "--kind", "denied", "--limit", "200"]);
        let told = told["events"].as_array().cloned().unwrap_or_default();
        parts.iter().all(|part| {
            let of = |event: &&Value| event["pageUrl"].as_str().is_some_and(|url| url.ends_with(part));
            told.iter()
                .any(|event| of(&event) && event["ruleId"] == "daemon/default" && event["targetId"] == target)
        })
    });
    let log = world.ok(&["diagnostics", "--kind", "request", "--failed-only"]);
    let pixel = |entry: &&Value| entry["pageUrl"].as_str().is_some_and(|url| url.ends_with("pixel"));
    let pixel = log["entries"].as_array().expect("entries").iter().find(pixel).expect("the picture");
    assert_eq!(pixel["request"]["failure"], "net::ERR_BLOCKED_BY_ADMINISTRATOR", "{pixel:#}");
    assert_eq!(pixel["request"]["ruleId"], "daemon/default", "{pixel:#}");
    let shown = world.ok(&["session", "show", "default"]);
    let traffic = &shown["session"]["details"]["traffic"];
    let count = |what: &str| traffic[what].as_u64().expect("a count");
    assert!(count("denied") >= 8 && count("requests") > count("denied"), "{traffic:#}");
    assert!(count("bytesReceived") > 0 && count("bytesSent") > 0, "{traffic:#}");
    // A service worker answers for its page, and what it asks for itself is held to the same rules.
    visit.serve_with(
        "service.js",
        &format!("oninstall = () => skipWaiting(); onactivate = event => event.waitUntil(clients.claim());
        onfetch = event => {{ if (event.request.url.endsWith('api')) event.respondWith(
            fetch('{b}by-the-worker').then(() => 'reached', () => 'denied').then(word => new Response(word))) }};"),
        &[("content-type", "text/javascript")],
    );
    visit.serve("served.html", "<!doctype html><title>Served</title><script>(async () => {
        await navigator.serviceWorker.register('service.js');
        if (!navigator.serviceWorker.controller) await new Promise(done => navigator.serviceWorker.oncontrollerchange = done);
        document.title = await (await fetch('api')).text() })()</script>");
    world.ok(&["navigate", &at_a("served.html")]);
    world.ok(&["wait", "title=denied"]);
    // Redirects, links and scripts are navigations like any other.
    let redirect = at_a(&format!("redirect?to={}", visit.url_at("b.localhost", "redirected")));
    let denied = world.fails("denied", &["navigate", &redirect]);
    assert_eq!(denied["details"]["ruleId"], "daemon/default", "{denied:#}");
    assert_eq!((&denied["phase"], &denied["outcome"]), (&json!("policy"), &json!("failed")), "{denied:#}");
    for host in ["b.localhost", "ads.a.localhost", "cdn.localhost"] {
        let denied = world.fails("denied", &["navigate", &visit.url_at(host, "form.html")]);
        assert_eq!((&denied["dispatched"], &denied["reason"]), (&json!("no"), &json!("host")), "{denied:#}");
        let rule =
            if host.starts_with("ads") { "daemon/deny_hosts/ads.a.localhost" } else { "daemon/default" };
        assert_eq!(denied["details"]["ruleId"], rule);
    }
    let onward = at_a(&format!("redirect?to={}", visit.url_at("cdn.localhost", "redirected")));
    assert_eq!(world.fails("denied", &["navigate", &onward])["details"]["ruleId"], "daemon/default");
    for link in ["Linked", "Away"] {
        world.ok(&["navigate", &at_a("rules.html")]);
        // The action is its own; what it led to is not shown.
        world.ok(&["click", link]);
    }
    for (name, how) in [
        ("refresh.html", format!("<meta http-equiv=refresh content='0;url={b}refreshed'>")),
        ("moves.html", format!("<script>location = '{b}moved'</script>")),
    ] {
        visit.serve(name, &format!("<!doctype html><title>Away</title>{how}"));
        let after = world.ok(&["events"])["next"].to_string();
        // Whether the page or what it led to is answered for is a race that the page makes.
        world.ask(&["navigate", &at_a(name)]);
        world.ok(&["events", "--after", &after, "--kind", "denied", "--timeout-ms", "20000"]);
    }
    let looped = world.fails("navigation_failed", &["navigate", &at_a("loop")]);
    assert!(looped.to_string().contains("ERR_TOO_MANY_REDIRECTS"), "{looped:#}");
    world.ok(&["navigate", &at_a("form.html")]);
    assert_eq!(reached(&visit, "b.localhost"), Vec::<String>::new());
    let parts = reached(&visit, "cdn.localhost");
    assert!(parts.iter().all(|path| path == "image.svg" || path == "frame-text"), "{parts:?}");
}

// contract: 10.1, 10.2 report: 86
#[test]
fn the_policy_is_read_anew_and_a_broken_one_changes_nothing() {
    let world = with_policy("deny = [\"evaluat\"]\nallow_hosts = [\"*\"]\n");
    let error = world.fails("invalid_configuration", &["daemon", "start"]);
    assert!(error["message"].as_str().is_some_and(|text| text.contains("policy.toml:1:9")), "{error:#}");
    let told = world.fails("invalid_configuration", &["policy", "check"]);
    assert_eq!(told["details"]["mistakes"].as_array().map(Vec::len), Some(2), "{told:#}");
    write(&world, "deny = [\"evaluate\"]\n");
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let denied = world.fails("denied", &["evaluate", "1"]);
    let details = &denied["details"];
    assert_eq!(
        (&details["operation"], &details["ruleId"], &details["overridePossible"]),
        (&json!("evaluate"), &json!("daemon/deny/evaluate"), &json!(false)),
        "{denied:#}"
    );
    assert!(denied["remedy"].as_str().is_some_and(|text| text.contains("policy.toml")));
    // Whoever starts a client can give back nothing of that.
    world.fails("denied", &["evaluate", "1", "--policy-allow", "evaluate"]);
    world.fails("denied", &["wait", "js=true"]);
    write(&world, "deny = [");
    let told = world.fails("invalid_configuration", &["policy", "show"]);
    assert_eq!(told["reason"], "policy_file", "{told:#}");
    world.fails("denied", &["evaluate", "1"]);
    write(&world, "deny_hosts = [\"127.0.0.1\"]\n");
    holds("the new policy", GONE, || world.ask(&["evaluate", "1"]).kind().is_none());
    eventually("the proxy goes by it", GONE, || {
        (world.eval("fetch('image.svg').then(() => 1, () => 0)") == 0).then_some(())
    });
    // Under whatever name and address: it is the same machine.
    let before = visit.requests().len();
    for host in
        ["127.0.0.1", "localhost", "x.localhost", "0.0.0.0", "[::]", "[::1]", "[::ffff:7f00:1]", "127.9.9.9"]
    {
        let denied = world.fails("denied", &["navigate", &visit.url_at(host, "form.html")]);
        assert_eq!(denied["details"]["ruleId"], "daemon/deny_hosts/127.0.0.1", "{host}: {denied:#}");
        let image = visit.url_at(host, "image.svg");
        assert_eq!(
            world.eval(&format!("fetch('{image}', {{mode: 'no-cors'}}).then(() => 1, () => 0)")),
            0,
            "{host}"
        );
    }
    assert_eq!(visit.requests().len(), before);
}

// contract: 10.1, 10.2, 12.1 report: 86
#[test]
fn a_command_line_narrows_and_says_what_it_may_do() {
    let world = World::new();
    let visit = site().visit();
    let rule = format!("127.0.0.1:{}", site().port());
    let narrow = ["--policy", "hardened", "--policy-allow-host", &rule];
    let url = visit.url("form.html");
    let bare = world.fails("invalid_configuration", &["navigate", &url, "--policy", "hardened"]);
    assert!(bare["remedy"].as_str().is_some_and(|text| text.contains("--policy-allow-host")), "{bare:#}");
    world.ok(&joined(&["navigate", &url], &narrow));
    let denied = world.fails("denied", &joined(&["screenshot"], &narrow));
    assert_eq!(denied["details"]["overridePossible"], true, "{denied:#}");
    world.fails("denied", &joined(&["click-at", "5", "5"], &narrow));
    // What fields hold is not told either way.
    let filled = world.ok(&joined(&["fill", "label=Name", "Ann"], &narrow));
    assert!(filled["evidence"].get("valueMatches").is_none(), "{filled:#}");
    let revision = world.ok(&joined(&["observe"], &narrow))["page"]["revision"].to_string();
    world.ok(&joined(&["fill", "label=Name", "Ann-Mari"], &narrow));
    for reading in
        [&["observe"][..], &["observe", "--include-dom"], &["get-dom"], &["observe-delta", &revision]]
    {
        let read = world.ok(&joined(reading, &narrow)).to_string();
        assert!(!read.contains("Ann"), "{reading:?}: {read}");
    }
    world.fails("denied", &joined(&["get-dom", "--values"], &narrow));
    assert!(world.ok(&["observe"]).to_string().contains("Ann"), "a client that is not narrowed reads it");
    world.fails("denied", &joined(&["verify", "--value-equals", "label=Name", "Ann"], &narrow));
    // Its session is bound to its rules, and other rules do not fit it.
    let other = world.fails("invalid_configuration", &["observe", "--policy-allow-host", "example.com"]);
    assert_eq!(other["reason"], "session_policy", "{other:#}");
    world.fails("denied", &joined(&["navigate", &format!("http://localhost:{}/", site().port())], &narrow));
    // Questions need no session and no daemon.
    let told = world.fails(
        "denied",
        &joined(&["policy", "check", "click", "evaluate", "https://example.com/x?y"], &narrow),
    );
    let rows = told["details"]["answers"].as_array().expect("answers");
    let says: Vec<_> = rows.iter().map(|row| row["says"].as_str().unwrap_or_default()).collect();
    assert_eq!(says, ["allow", "deny", "deny"], "{told:#}");
    world.ok(&["policy", "check", "evaluate", "https://example.com/"]);
    let explained = world.glassctl(joined(&["policy", "explain", "evaluate"], &narrow)).success();
    assert!(
        explained.stdout.contains("to change it: ") && explained.stdout.contains("--policy-allow evaluate"),
        "{explained}"
    );
    world.fails("invalid_argument", &["policy", "check", "fly"]);
    world.fails("invalid_argument", &["status", "--policy", "hardened"]);
    let both = ["observe", "--policy-allow", "upload", "--policy-deny", "upload"];
    world.fails("invalid_configuration", &both);
}

// contract: 9.5, 10.2
#[test]
fn an_untrusted_client_has_one_private_session_and_lists_what_it_may() {
    let world = World::new();
    let visit = site().visit();
    let rule = format!("127.0.0.1:{}", site().port());
    world.ok(&["navigate", &visit.url("form.html")]);
    let flags = ["--policy", "untrusted-mcp", "--tools", "all"];
    let bare = Mcp::greeted(&world, &flags, "2025-11-25");
    let listed = bare.ask("tools/list", &json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for name in ["navigate", "observe", "click", "fill"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for name in ["evaluate", "screenshot", "upload", "download", "clickAt", "inspect"] {
        assert!(!names.contains(&name), "{name}");
    }
    let error =
        bare.call("navigate", &json!({ "url": visit.url("form.html") })).fails("invalid_configuration");
    assert!(error["remedy"].as_str().is_some_and(|text| text.contains("--policy-allow-host")), "{error}");
    let server = Mcp::greeted(&world, &[&flags[..], &["--policy-allow-host", &rule]].concat(), "2025-11-25");
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
    server.call("evaluate", &json!({ "expression": "1" })).fails("denied");
    let sessions = server.ok("listSessions", &json!({}));
    assert!(sessions.starts_with("1 sessions") && !sessions.contains("default"), "{sessions}");
    server.call("observe", &json!({ "session": "default" })).fails("denied");
    let named = Mcp::start(&world, &["--policy", "untrusted-mcp", "--session", "default"]);
    assert_eq!(named.ended(GONE).code(), Some(5));
    assert!(named.errors().contains("--session"), "it says what to leave out");
    // Whatever names a session by itself is held by the daemon.
    let denied = world.fails("denied", &["observe", "--policy", "untrusted-mcp"]);
    assert_eq!(denied["details"]["ruleId"], "client/preset/untrusted-mcp/named_sessions", "{denied:#}");
    let _: Value = world.ok(&["observe"]);
}

// contract: 10.3 report: 252
#[test]
fn what_a_page_of_the_internet_asks_of_this_machine_goes_by_the_policy_and_is_told() {
    let world = World::new();
    let visit = site().visit();
    let public = [("Content-Security-Policy", "treat-as-public-address")];
    visit.serve_with("public.html", "<!doctype html><title>Public</title>", &public);
    world.ok(&["navigate", &visit.url("public.html")]);
    let same = "fetch('image.svg', {headers: {'X-Asked': '1'}}).then((r) => r.status, () => 'failed')";
    assert_eq!(world.eval(same), 200, "nothing waits for a prompt");
    let narrow = ["--session", "narrow", "--policy-allow-host", "a.localhost"];
    let other = site().visit();
    other.serve_with("public.html", "<!doctype html><title>Public</title>", &public);
    world.ok(&joined(&["navigate", &other.url_at("a.localhost", "public.html")], &narrow));
    let script = format!(
        "const asked = await fetch('{0}', {{headers: {{'X-Asked': '1'}}}}).then(() => 'came', () => 'failed');
        const socket = await new Promise((done) => {{ const s = new WebSocket('{1}'); s.onerror = () => done('failed'); s.onopen = () => done('came'); }});
        const image = await new Promise((done) => {{ const i = new Image(); i.onerror = () => done('failed'); i.onload = () => done('came'); i.src = '{0}'; }});
        return [asked, socket, image].join()",
        other.url("image.svg"),
        other.url("socket").replace("http", "ws"),
    );
    let asked = world.ok(&joined(&["evaluate", &script], &narrow));
    assert_eq!(asked["value"], "failed,failed,failed", "{asked:#}");
    assert_eq!(reached(&other, "127.0.0.1"), Vec::<String>::new(), "not even a question beforehand");
    let told = world.ok(&joined(&["diagnostics", "--failed-only"], &narrow));
    assert!(told.to_string().contains("127.0.0.1"), "{told:#}");
}
