//! Sessions that are attached to somebody else's browser (contract 1.2, 7.1, 10.3, 13.9): what they see and drive there, that
//! they leave it as it was, and what they refuse.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use glass_tests::site::{closed_port, names, site};
use glass_tests::{Chrome, World, eventually, holds, process};
use serde_json::{Value, json};

/// How long what two browsers on two cores do may take.
const SOON: Duration = Duration::from_secs(15);

fn world() -> World {
    World::new().with_config(
        "[limits]\noperations_per_second = 1000\noperations_at_once = 1000\nnavigations_per_second = 1000\n",
    )
}

/// A session that is attached to a browser.
struct Attached<'a> {
    world: &'a World,
    name: &'a str,
    endpoint: String,
}

impl Attached<'_> {
    fn all<'b>(&'b self, arguments: &[&'b str]) -> Vec<&'b str> {
        let own = ["--session", self.name, "--attach", &self.endpoint];
        let at = arguments.iter().position(|one| *one == "--").unwrap_or(arguments.len());
        [&arguments[..at], &own, &arguments[at..]].concat()
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> Value {
        self.world.ok(&self.all(arguments))
    }

    #[track_caller]
    fn fails(&self, kind: &str, arguments: &[&str]) -> Value {
        self.world.fails(kind, &self.all(arguments))
    }

    #[track_caller]
    fn eval(&self, expression: &str) -> Value {
        self.ok(&["evaluate", "--", expression])["value"].clone()
    }

    /// What list-targets says of a page.
    #[track_caller]
    fn row(&self, id: &str) -> Value {
        let listed = self.ok(&["list-targets"]);
        let rows = listed["targets"].as_array().expect("rows").clone();
        rows.into_iter().find(|row| row["id"] == id).unwrap_or(Value::Null)
    }
}

fn attached<'a>(world: &'a World, name: &'a str, chrome: &Chrome) -> Attached<'a> {
    Attached { world, name, endpoint: chrome.endpoint() }
}

// contract: 1.2, 7.1, 13.9 report: 74, 271
#[test]
fn pages_of_somebody_elses_browser_are_driven_once_claimed_and_left_as_they_were() {
    let world = world();
    // What the environment says of proxies is about others (report 271).
    let chrome = Chrome::start(&[]);
    let visit = site().visit();
    let form = chrome.open(&visit.url("form.html"));
    let dialogs = chrome.open(&visit.url("dialogs.html"));
    let popups = chrome.open(&visit.url("popups.html"));
    let framed = chrome.open(&visit.url("frames.html"));
    let internal = chrome.open("chrome://version/");
    let before = chrome.pages().len();
    let session = attached(&world, "own", &chrome);

    // Listed, and nothing taken.
    let row = session.row(&form);
    assert_eq!((&row["owner"], &row["retention"]), (&json!("user"), &json!("retain")), "{row}");
    assert_eq!((&row["claimed"], &row["kind"]), (&json!(false), &json!("page")), "{row}");
    assert_eq!(session.row(&internal)["kind"], "internal");
    let error = session.fails("no_target_selected", &["observe"]);
    assert!(error["details"]["targets"].as_array().is_some_and(|rows| !rows.is_empty()), "{error}");
    let error = session.fails("denied", &["select-target", &internal]);
    assert_eq!(error["reason"], "internal_page");

    let asked = "[innerWidth, innerHeight, devicePixelRatio, navigator.userAgent, navigator.webdriver, navigator.language]";
    session.ok(&["select-target", &form]);
    assert_eq!(session.row(&form)["claimed"], true);
    let surroundings = session.eval(asked);
    assert_eq!(surroundings[0], 1200, "no viewport is forced upon it: {surroundings}");
    let observed = session.ok(&["observe"]);
    assert!(observed["outline"].as_str().is_some_and(|text| text.contains("textbox \"Name\"")), "{observed}");
    let filled = session.ok(&["fill", "label=Notes", "by Glass"]);
    assert_eq!(filled["evidence"]["valueMatches"], true, "{filled}");
    session.ok(&["click", "role=button;name=Save"]);
    assert_eq!(visit.clicks(), ["save"]);

    // Frames that were there before.
    let observed = session.ok(&["observe", "--target-id", &framed]);
    let opened = session.ok(&["create-target", &visit.url("frames.html")])["targetId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let afresh = session.ok(&["observe", "--target-id", &opened]);
    // Numbers of frames, and with them the order of their texts, are those in which they were met.
    assert_eq!(told(&observed)["nodes"], told(&afresh)["nodes"]);
    assert!(observed["outline"].as_str().is_some_and(|text| text.contains("[f")), "{observed}");

    let clicked = session.ok(&["click", "role=button;name=Confirm", "--target-id", &dialogs]);
    assert_eq!(clicked["evidence"]["dialog"]["type"], "confirm", "{clicked}");
    session.ok(&["accept-dialog", "--target-id", &dialogs]);
    let answers = session.ok(&["evaluate", "--target-id", &dialogs, "--", "answers"]);
    assert_eq!(answers["value"], json!([true]));

    let clicked = session.ok(&["click", "role=button;name=\"Window open\"", "--target-id", &popups]);
    let popup = clicked["evidence"]["popups"][0]["targetId"].as_str().expect("a popup is told").to_owned();
    assert_eq!(session.row(&popup)["opener"].as_str(), Some(&*popups));
    session.ok(&["observe", "--target-id", &popup]);

    let made = session.ok(&["create-target", &visit.url("names.html")]);
    let made = made["targetId"].as_str().expect("an id").to_owned();
    assert_eq!(session.row(&made)["owner"], "glass");
    session.ok(&["navigate", &visit.url("regions.html"), "--target-id", &made]);
    let error = session.fails("denied", &["close-target", &form]);
    assert_eq!(error["reason"], "not_ours");
    let second = session.ok(&["create-target"])["targetId"].as_str().expect("an id").to_owned();
    session.ok(&["close-target", &second]);

    let shown = world.ok(&["session", "show", "own"]);
    assert_eq!(
        (&shown["session"]["kind"], &shown["session"]["details"]["egress"]),
        (&json!("attached"), &json!("advisory"))
    );
    world.ok(&["session", "close", "own"]);
    holds("what Glass opened is gone and the rest is there", SOON, || {
        let pages = chrome.pages();
        let has = |id: &String| pages.iter().any(|(open, _)| open == id);
        !has(&made) && [&form, &dialogs, &popups, &internal, &popup].into_iter().all(has)
    });
    assert_eq!(chrome.pages().len(), before + 1, "the popup is the page's own");
    assert_eq!(
        chrome.pages().iter().find(|(id, _)| *id == form).map(|(_, url)| url.clone()),
        Some(visit.url("form.html"))
    );

    // Its socket by itself, and the page as it was left.
    let again = Attached { world: &world, name: "again", endpoint: chrome.socket() };
    let seen = again.ok(&["evaluate", "--target-id", &form, "--", asked]);
    assert_eq!(seen["value"], surroundings);
    let notes = again.ok(&["evaluate", "--target-id", &form, "--", "notes.value"]);
    assert_eq!(notes["value"], "by Glass");
    world.end();
}

// contract: 1.2 report: 254
#[test]
fn a_page_that_was_prerendered_is_driven_like_any_other() {
    let world = world();
    let chrome = Chrome::start(&[]);
    let visit = site().visit();
    visit.serve("next.html", "<!doctype html><title>Next</title><iframe srcdoc='<button>Inner</button>'></iframe><button>Here</button><script>document.title += performance.getEntriesByType('navigation')[0].activationStart > 0 ? ' prerendered' : ' loaded'</script>");
    visit.serve(
        "first.html",
        "<!doctype html><title>First</title><script type=speculationrules>{\"prerender\": [{\"urls\": [\"next.html\"], \"eagerness\": \"immediate\"}]}</script>
        <script>onload = () => setInterval(() => fetch('asked').then(() => location.href = 'next.html'), 1500)</script>",
    );
    let page = chrome.open(&visit.url("first.html"));
    holds("the page has gone on", SOON, || {
        chrome.pages().iter().any(|(id, url)| *id == page && url.ends_with("next.html"))
    });
    let session = attached(&world, "own", &chrome);
    let title = session.ok(&["evaluate", "--target-id", &page, "--", "document.title"])["value"].clone();
    assert!(title.as_str().is_some_and(|title| title.starts_with("Next ")), "{title}");
    session.ok(&["click", "role=button;name=Inner", "--target-id", &page]);
    session.ok(&["click", "role=button;name=Here", "--target-id", &page]);
    session.ok(&["navigate", &visit.url("form.html"), "--target-id", &page]);
    session.ok(&["click", "role=button;name=Save", "--target-id", &page]);
    assert_eq!(visit.clicks(), ["save"]);
    world.end();
}

// contract: 1.2, 2.6, 10.2, 10.3, 12.1
#[test]
fn what_cannot_be_attached_to_or_done_there_is_refused_with_its_reason() {
    let world = world();
    let chrome = Chrome::start(&[]);
    let visit = site().visit();
    let page = chrome.open(&visit.url("form.html"));
    let at = |endpoint: String| Attached { world: &world, name: "wrong", endpoint };
    let reason = |error: &Value| error["reason"].as_str().unwrap_or_default().to_owned();
    let error = at(format!("http://127.0.0.1:{}", closed_port())).fails("session_failed", &["list-targets"]);
    assert_eq!(reason(&error), "attach_unreachable", "{error}");
    let error = at(format!("http://localhost:{}", site().port())).fails("session_failed", &["list-targets"]);
    assert_eq!(reason(&error), "attach_no_devtools", "{error}");
    let error = at(nobody_enters()).fails("session_failed", &["list-targets"]);
    assert_eq!(reason(&error), "attach_refused", "{error}");
    for endpoint in
        ["http://192.0.2.1:9222", "https://127.0.0.1:9222", "ws://127.0.0.1:9222/devtools/page/1", "x y"]
    {
        at(endpoint.to_owned()).fails("invalid_argument", &["list-targets"]);
    }
    let wrong = at(chrome.endpoint());
    wrong.fails("invalid_argument", &["list-targets", "--ignore-certificate-errors"]);
    wrong.fails("target_not_found", &["observe", "--target-id", "0123456789ABCDEF"]);
    world.ok(&["session", "close", "wrong"]);

    // Policy: the capability, and rules that nobody can enforce there.
    let error = wrong.fails("denied", &["list-targets", "--policy", "hardened"]);
    assert!(error["details"]["ruleId"].is_string(), "{error}");
    let allowing = [
        "list-targets",
        "--policy",
        "hardened",
        "--policy-allow",
        "attach",
        "--policy-allow-host",
        "localhost",
    ];
    assert_eq!(reason(&wrong.fails("invalid_configuration", &allowing)), "egress_advisory");
    fn ruled<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
        [arguments, &["--policy-allow-host", "127.0.0.1", "--policy-deny-host", "b.localhost"]].concat()
    }
    let session = attached(&world, "ruled", &chrome);
    session.ok(&ruled(&["select-target", &page]));
    session.fails("denied", &ruled(&["navigate", &visit.url_at("b.localhost", "form.html")]));
    let fetched = format!(
        "fetch('{}', {{mode: 'no-cors'}}).then(() => 'came', () => 'denied')",
        visit.url_at("b.localhost", "x")
    );
    let seen = session.ok(&[
        "evaluate",
        "--policy-allow-host",
        "127.0.0.1",
        "--policy-deny-host",
        "b.localhost",
        "--",
        &fetched,
    ]);
    assert_eq!(seen["value"], "denied");
    let error = world
        .fails("invalid_argument", &["list-targets", "--session", "ruled", "--attach", "http://127.0.0.1:1"]);
    assert_eq!(error["details"]["differing"], json!(["attach"]), "{error}");

    // What would stay in it, or end it.
    for arguments in [
        &["clipboard", "read"][..],
        &["cookies", "clear"],
        &["emulate", "--geolocation", "1,2"],
        &["download", ".", "--next"],
    ] {
        let error = session.fails("unsupported", arguments);
        assert_eq!(reason(&error), "attached", "{arguments:?}");
    }
    world.end();
}

// contract: 1.2 report: 74
#[test]
fn two_sessions_do_not_see_each_others_pages_and_what_ends_one_leaves_the_other() {
    let world = world();
    let chrome = Chrome::start(&[]);
    let visit = site().visit();
    let page = chrome.open(&visit.url("form.html"));
    let (one, two) = (attached(&world, "one", &chrome), attached(&world, "two", &chrome));
    one.ok(&["select-target", &page]);
    let own =
        one.ok(&["create-target", &visit.url("names.html")])["targetId"].as_str().expect("an id").to_owned();
    assert_eq!((two.row(&page), two.row(&own)), (Value::Null, Value::Null));
    let error = two.fails("target_not_found", &["select-target", &page]);
    assert_eq!(error["reason"], "claimed", "{error}");
    two.fails("target_not_found", &["observe", "--target-id", &own]);
    two.fails("target_not_found", &["close-target", &own]);
    let other = two.ok(&["create-target", &visit.url("regions.html")])["targetId"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(one.row(&other), Value::Null);

    // A worker that is killed takes nothing of the browser with it, and frees what it had.
    let tree = process::tree(world.daemon());
    let own = |process: &&process::Process| process.arguments.iter().any(|argument| argument == "one");
    tree.iter().find(own).expect("the worker of the session").signal(nix::sys::signal::Signal::SIGKILL);
    let error = eventually("the session has failed", SOON, || {
        let answer = world.ask(&["observe", "--session", "one"]);
        (answer.kind() == Some("session_failed")).then(|| answer.error().clone())
    });
    assert_eq!(error["reason"], "worker_lost", "{error}");
    assert!(chrome.pages().iter().any(|(id, _)| *id == page));
    holds("what it had is nobody's", SOON, || two.row(&page)["claimed"] == false);
    two.ok(&["click", "role=button;name=Save", "--target-id", &page]);
    assert_eq!(visit.clicks(), ["save"]);

    // The browser goes.
    chrome.kill();
    let error = eventually("the session has failed", SOON, || {
        let answer = world.ask(&["list-frames", "--session", "two", "--target-id", &page]);
        let lost = ["browser_crashed", "session_failed"].contains(&answer.kind().unwrap_or_default());
        lost.then(|| answer.error().clone())
    });
    assert!(error["message"].as_str().is_some_and(|text| text.contains("attached to")), "{error}");
    let begun = two.fails("session_failed", &["list-targets"]);
    assert!(
        ["attach_unreachable", "browser_left"].contains(&begun["reason"].as_str().unwrap_or_default()),
        "{begun}"
    );
    world.end();
}

/// An endpoint that answers whoever comes first that it lets nobody in.
fn nobody_enters() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody comes");
        let mut request = [0; 1024];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    format!("http://{address}")
}

/// What an observation says but for what differs from one browser to another.
fn told(observed: &Value) -> Value {
    let nodes = observed["nodes"].as_array().cloned().unwrap_or_default();
    let plain = |node: Value| match node {
        Value::Object(mut row) => {
            row.retain(|key, _| {
                ["role", "name", "states", "value", "level", "depth"].contains(&key.as_str())
            });
            Value::Object(row)
        }
        other => other,
    };
    // The texts of frames stand in the order in which the frames were met.
    let mut text: Vec<_> = observed["text"].as_str().unwrap_or_default().lines().collect();
    text.sort_unstable();
    json!({ "nodes": nodes.into_iter().map(plain).collect::<Vec<_>>(), "text": text })
}

// contract: 1.2, 3.1
#[test]
fn a_browser_without_the_getters_has_the_same_outline_on_every_page() {
    let world = world();
    let (plain, with) =
        (Chrome::start(&[]), Chrome::start(&["--enable-blink-features=ComputedAccessibilityInfo"]));
    let sessions = [attached(&world, "plain", &plain), attached(&world, "with", &with)];
    let visit = site().visit();
    let mut targets = Vec::new();
    for session in &sessions {
        targets.push(session.ok(&["create-target"])["targetId"].as_str().expect("an id").to_owned());
        let getters = session.ok(&[
            "evaluate",
            "--target-id",
            &targets[targets.len() - 1],
            "--",
            "'computedRole' in Element.prototype",
        ]);
        assert_eq!(getters["value"], session.name == "with");
    }
    let mut rows = 0;
    // These two never come to rest, in any browser.
    for page in names().filter(|page| !["spin.html", "never-loads.html", "alert-on-load.html"].contains(page))
    {
        for (session, target) in sessions.iter().zip(&targets) {
            session.ok(&["navigate", &visit.url(page), "--target-id", target]);
        }
        let look = || -> Vec<Value> {
            let each = sessions.iter().zip(&targets);
            each.map(|(session, target)| {
                told(&session.ok(&["observe", "--max-bytes", "200000", "--target-id", target]))
            })
            .collect()
        };
        // Frames of other sites come when they come.
        let seen = eventually(&format!("the same outline of {page}: {:?}", look()), SOON, || {
            let seen = look();
            (seen[0] == seen[1]).then_some(seen)
        });
        rows += seen[0]["nodes"].as_array().map_or(0, Vec::len);
    }
    assert!(rows > 200, "the pages have rows: {rows}");
    world.end();
}
