//! glassd's life: started by whoever comes first, one a user, stopped whole, sessions that begin anew and say so.

use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{World, eventually, gone, holds, process};

const LIMIT: Duration = Duration::from_secs(20);

// contract: 12.1, 12.2
#[test]
fn it_starts_with_the_first_command_and_stops_with_everything_of_it() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let all = world.remember();
    assert!(all.len() > 4, "daemon, egress, worker and browser: {all:#?}");
    let stopped = world.ask(&["daemon", "stop"]);
    stopped.result();
    gone("everything of a stopped daemon", &all);
    assert_eq!(world.session_directories(), Vec::<String>::new());
    world.ok(&["daemon", "stop"]);
    world.assert_nothing_left();
}

// contract: 12.2
#[test]
fn sigterm_stops_it_as_well() {
    let world = World::new();
    world.ok(&["navigate", &site().visit().url("form.html")]);
    let all = world.remember();
    let daemon = process::read(world.daemon()).expect("the daemon runs");
    daemon.signal(nix::sys::signal::Signal::SIGTERM);
    gone("everything of a stopped daemon", &all);
    assert_eq!(world.session_directories(), Vec::<String>::new());
}

// contract: 12.2
#[test]
fn a_stop_waits_for_what_runs_and_ends_it_in_time() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let waiting = world.begin(&["wait", "text=never", "--timeout-ms", "120000"]);
    holds("the wait runs", LIMIT, || {
        world.ask(&["session", "show", "default"]).json.to_string().contains("wait")
    });
    let stopped = world.ask(&["daemon", "stop"]);
    stopped.result();
    assert!(stopped.run.took < Duration::from_secs(15), "{}", stopped.run);
    let answer = waiting.answer_within(LIMIT);
    assert!(answer.kind().is_some(), "{}", answer.run);
}

// contract: 12.1 report: 68
#[test]
fn twenty_clients_at_once_get_one_daemon() {
    let world = World::new();
    let runs: Vec<_> = (0..20).map(|_| world.begin(&["daemon", "start"])).collect();
    for run in runs {
        run.answer_within(Duration::from_secs(40)).result();
    }
    let daemons: Vec<_> = process::marked(&world.mark())
        .into_iter()
        .filter(|process| process.arguments.first().is_some_and(|name| name.ends_with("glassd")))
        .collect();
    assert!(daemons.len() <= 1, "{daemons:#?}");
    world.daemon();
}

// contract: 1.3, 11
#[test]
fn listing_and_status_start_no_browser() {
    let world = World::new();
    world.ok(&["daemon", "start"]);
    for command in [&["session", "list"][..], &["daemon", "status"], &["status"]] {
        world.ok(command);
    }
    assert_eq!(glass_tests::session_tree::sessions(world.daemon()).len(), 0);
    world.fails("target_not_found", &["session", "show", "nobody"]);
    world.fails("target_not_found", &["session", "close", "nobody"]);
    world.fails("invalid_argument", &["navigate", "http://"]);
    assert_eq!(
        glass_tests::session_tree::sessions(world.daemon()).len(),
        0,
        "a wrong call starts no browser"
    );
}

// contract: 1.4
#[test]
fn a_page_operation_never_runs_on_a_blank_page() {
    let world = World::new();
    for operation in
        [&["observe"][..], &["click", "Save"], &["evaluate", "1"], &["get-text"], &["screenshot"]]
    {
        let error = world.fails("target_not_found", operation);
        assert_eq!(error["reason"], "session_new", "{error}");
        assert_eq!((error["outcome"].as_str(), error["dispatched"].as_str()), (Some("rejected"), Some("no")));
    }
    let visit = site().visit();
    let first = world.ask(&["navigate", &visit.url("form.html")]);
    assert_eq!(first.json["session"]["started"], "new");
    world.ok(&["session", "close", "default"]);
    assert_eq!(world.fails("target_not_found", &["observe"])["reason"], "session_new");
    let again = world.ask(&["navigate", &visit.url("form.html")]);
    assert_eq!(again.json["session"]["started"], "new");
}

// contract: 1.5
#[test]
fn closing_a_session_leaves_nothing_of_it() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    world.ok(&["navigate", &visit.url("form.html"), "--session", "other"]);
    let daemon = world.daemon();
    let trees = glass_tests::session_tree::sessions(daemon);
    assert_eq!(trees.len(), 2);
    let closed = world.ask(&["session", "close", "default"]);
    closed.result();
    let left = glass_tests::session_tree::sessions(daemon);
    assert_eq!(left.len(), 1, "the other lives");
    let dead: Vec<_> = trees
        .into_iter()
        .filter(|tree| tree.stub.pid != left[0].stub.pid)
        .flat_map(|tree| tree.all)
        .collect();
    gone("the closed session", &dead);
    assert_eq!(world.session_directories().len(), 1);
    assert_eq!(world.ok(&["evaluate", "document.title", "--session", "other"])["value"], "A form");
    world.ok(&["session", "close", "--all"]);
    holds("no session directory is left", LIMIT, || world.session_directories().is_empty());
}

// contract: 1.6
#[test]
fn sessions_share_no_cookies_and_no_storage() {
    let world = World::new();
    let visit = site().visit();
    for session in ["one", "two"] {
        world.ok(&["navigate", &visit.url("form.html"), "--session", session]);
    }
    world.ok(&["evaluate", "document.cookie = 'a=1'; localStorage.setItem('a', '1'); 1", "--session", "one"]);
    let seen = |session: &str| {
        world.ok(&["evaluate", "document.cookie + '|' + localStorage.getItem('a')", "--session", session])["value"].clone()
    };
    assert_eq!(seen("one"), "a=1|1");
    assert_eq!(seen("two"), "|null");
}

// contract: 12.1
#[test]
fn a_daemon_that_nobody_uses_ends_by_itself() {
    let world = World::new().with_config("[daemon]\nidle_exit = \"1s\"\n");
    world.ok(&["session", "list"]);
    let started = world.ask(&["observe"]);
    assert_eq!(started.kind(), Some("target_not_found"));
    let daemon = eventually("the daemon runs or has ended", LIMIT, || Some(world.ask(&["daemon", "status"])));
    if let Some(pid) = daemon.json["result"]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()) {
        holds("the idle daemon ends", LIMIT, || process::read(pid).is_none());
    }
    world.assert_nothing_left();
}

// contract: 1.4
#[test]
fn an_idle_session_closes_and_begins_anew() {
    let world = World::new().with_config("[sessions]\nidle_timeout = \"1s\"\n");
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let tree = world.session();
    gone("the idle session", &tree.all);
    assert_eq!(world.fails("target_not_found", &["observe"])["reason"], "session_new");
    assert_eq!(world.ask(&["navigate", &visit.url("form.html")]).json["session"]["started"], "new");
}

// contract: 2.6
#[test]
fn a_broken_configuration_stops_the_start_with_its_place() {
    let world = World::new().with_config("[daemon]\nidle_exit = 10\nnonsense = true\n");
    let error = world.fails("invalid_configuration", &["daemon", "start"]);
    assert!(error.to_string().contains("config.toml"), "{error}");
    world.fails("invalid_configuration", &["navigate", "about:blank"]);
}

// contract: 11
#[test]
fn more_sessions_than_allowed_are_refused_with_the_limit() {
    let world = World::new().with_config("[sessions]\nmax = 1\n");
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let error = world.fails("quota_exceeded", &["navigate", &visit.url("form.html"), "--session", "second"]);
    assert_eq!(error["details"]["limit"], 1, "{error}");
    assert_eq!(error["dispatched"], "no");
}

// contract: 12.1
#[test]
fn nobody_else_can_read_what_is_its_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    world.ok(&["navigate", &site().visit().url("form.html")]);
    for (path, mode) in [
        ("run/glass", 0o700),
        ("run/glass/glassd.sock", 0o600),
        ("run/glass/glassd.lock", 0o600),
        ("state/glass", 0o700),
        ("state/glass/sessions", 0o700),
        ("state/glass/logs/glassd.log", 0o600),
    ] {
        let meta =
            std::fs::symlink_metadata(world.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(meta.permissions().mode() & 0o777, mode, "{path}");
    }
}

// contract: 12.1
#[test]
fn the_log_has_no_query_and_no_page_text() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html?token=geheim")]);
    world.ok(&["fill", "label=Name", "typed-geheim"]);
    world.ok(&["evaluate", "document.title = 'title-geheim'; console.log('console-geheim'); 1"]);
    let log = std::fs::read_to_string(world.path("state/glass/logs/glassd.log")).expect("the log");
    assert!(!log.is_empty());
    assert!(!log.contains("geheim"), "{log}");
}
