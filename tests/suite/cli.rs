//! glassctl as a person, a script and an agent meet it: exit codes, one JSON object, nothing that hangs.

use std::collections::HashSet;
use std::process::Stdio;
use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{Answer, Who, World, holds};
use nix::sys::signal::Signal;

const LIMIT: Duration = Duration::from_secs(20);

/// Wrong command lines, and a word that the message has.
const WRONG: &[(&[&str], &str)] = &[
    (&["navigat", "x"], "navigate"),
    (&["clik", "Save"], "click"),
    (&["getTxt"], "get"),
    (&["screenshoot"], "screenshot"),
    (&["session", "lst"], "list"),
    (&["daemon", "strat"], "start"),
    (&["observe", "--interactiv"], "interactive"),
    (&["click", "Save", "--buton", "left"], "button"),
    (&["--sesion", "a", "observe"], "session"),
    (&["observe", "extra"], "argument"),
    (&["session", "list", "extra"], "argument"),
    (&["daemon", "stop", "extra"], "argument"),
    (&["status", "extra"], "argument"),
    (&["click", "a", "b"], "argument"),
    (&["click"], "TARGET"),
    (&["fill", "label=x"], "TEXT"),
    (&["navigate"], "URL"),
    (&["key"], "CHORD"),
    (&["nonsense", "--help"], "nonsense"),
    (&["teleport", "delete", "x"], "teleport"),
    (&[""], ""),
];

twice! {
    // contract: 12.3 report: 81
    fn a_wrong_command_line_exits_2_with_a_hint_on_stderr_and_nothing_on_stdout(who: Who) {
        let world = World::of(who);
        for (arguments, word) in WRONG {
            let run = world.glassctl(*arguments).exits(2);
            assert_eq!(run.stdout, "", "{run}");
            assert!(run.stderr.to_lowercase().contains(&word.to_lowercase()), "{word}: {run}");
            assert!(!run.stderr.contains("panicked"), "{run}");
        }
        assert!(!world.path("run/glass/glassd.sock").exists(), "no daemon was started for a wrong command line");
    }

    // contract: 12.7, 2.6 report: 81, 113
    fn with_json_a_wrong_command_line_is_one_typed_object(who: Who) {
        let world = World::of(who);
        for (arguments, _) in WRONG {
            for at_end in [true, false] {
                let mut all: Vec<&str> = arguments.to_vec();
                if at_end { all.push("--json") } else { all.insert(0, "--json") }
                let run = world.glassctl(&all).exits(2);
                let answer = Answer::read("", run);
                answer.fails("invalid_argument");
                assert_eq!(answer.error()["dispatched"], "no");
            }
        }
    }

    // report: 84
    fn the_very_first_command_returns_to_a_caller_that_reads_its_pipes(who: Who) {
        let world = World::of(who);
        let url = site().visit().url("form.html");
        let mut command = world.command("glassctl");
        command.args(["navigate", &url]);
        // Ends only when both pipes are closed by everything that holds them.
        let run = glass_tests::Running::start(command, None).within(Duration::from_secs(30)).success();
        assert!(run.stdout.contains("A form"), "{run}");
        for name in ["0", "1", "2"] {
            let daemon = world.daemon();
            let link = std::fs::read_link(format!("/proc/{daemon}/fd/{name}"));
            if let Ok(link) = link {
                assert!(!link.to_string_lossy().starts_with("pipe:"), "the daemon's fd {name} is {link:?}");
            }
        }
    }

    // contract: 12.3, 2.8
    fn ctrl_c_cancels_exits_130_and_the_daemon_goes_on(who: Who) {
        let world = World::of(who);
        let visit = site().visit();
        world.ok(&["navigate", &visit.url("form.html")]);
        let daemon = world.daemon();
        let waiting = world.begin(&["wait", "text=never", "--timeout-ms", "60000"]);
        holds("the wait is under way", LIMIT, || running(&world).contains("wait"));
        waiting.running.signal_group(Signal::SIGINT);
        let answer = waiting.answer_within(LIMIT);
        assert_eq!(answer.run.code, Some(130), "{}", answer.run);
        assert_eq!(answer.kind(), Some("cancelled"), "{}", answer.run);
        let visit = site().visit();
        let navigating = world.begin(&["navigate", &visit.url("hang"), "--timeout-ms", "60000"]);
        visit.asked_for("hang");
        navigating.running.signal_group(Signal::SIGINT);
        let answer = navigating.answer_within(LIMIT);
        assert_eq!(answer.run.code, Some(130), "{}", answer.run);
        assert_eq!(answer.kind(), Some("unknown_outcome"), "it had been sent: {}", answer.run);
        assert_eq!(answer.error()["reason"], "cancelled", "{}", answer.run);
        assert_eq!(world.daemon(), daemon);
        world.ok(&["navigate", &visit.url("form.html")]);
        assert_eq!(world.eval("document.title"), "A form");
    }

    // contract: 12.7
    fn every_command_prints_one_json_object(who: Who) {
        let world = World::of(who);
        world.ask(&["session", "list"]).result();
        world.fails("daemon_unreachable", &["daemon", "status", "--no-autostart"]);
        world.fails("daemon_unreachable", &["observe", "--no-autostart"]);
        let visit = site().visit();
        let first = world.ask(&["navigate", &visit.url("form.html")]);
        assert_eq!(first.json["session"]["name"], "default");
        assert_eq!(first.json["session"]["started"], "new");
        let second = world.ask(&["observe"]);
        assert_eq!(second.json["session"]["started"], "running");
        assert_ne!(first.json["executionId"], second.json["executionId"]);
        for command in [
            &["session", "list"][..], &["session", "show", "default"], &["daemon", "status"], &["status"],
            &["session", "close", "default"], &["daemon", "stop"],
        ] {
            world.ask(command).result();
        }
    }
}

fn running(world: &World) -> String {
    world.ask(&["session", "show", "default"]).json.to_string()
}

// contract: 2.6
#[test]
fn exit_codes_are_those_of_the_table() {
    let world = World::new();
    let visit = site().visit();
    assert_eq!(world.glassctl(["observe", "--no-autostart"]).code, Some(10));
    world.ok(&["navigate", &visit.url("twins.html")]);
    for (arguments, code) in [
        (&["observe"][..], 0),
        (&["click", "role=button;name=Delete"], 3),
        (&["click", "e12345"], 3),
        (&["navigate", "file:///etc/passwd"], 5),
        (&["wait", "text=never", "--timeout-ms", "300"], 6),
        (&["evaluate", "new Promise(() => {})", "--timeout-ms", "300"], 7),
        (&["navigate", "http://127.0.0.1:1/"], 8),
        (&["evaluate", "throw 1"], 1),
        (&["accept-dialog"], 1),
    ] {
        let run = world.glassctl(arguments);
        // Which kind an answer to no dialog is, the contract leaves open; that it fails, it does not.
        let right =
            if arguments[0] == "accept-dialog" { run.code != Some(0) } else { run.code == Some(code) };
        assert!(right, "{code}: {run}");
        assert_eq!(run.stdout.is_empty(), code != 0, "{run}");
    }
}

// contract: 2.3
#[test]
fn an_idempotency_key_is_refused_and_never_ignored() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    world.fails("unsupported", &["click", "Save", "--idempotency-key", "k"]);
    assert!(visit.events().is_empty());
}

// contract: 12.3
#[test]
fn a_closed_output_and_no_colour_are_respected() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let run = world.glassctl(["observe"]).success();
    assert!(!run.stdout.contains('\u{1b}'));
    let run = world.glassctl(["click", "Nothing", "--timeout-ms", "300"]);
    assert!(!run.stderr.contains('\u{1b}'));
    let mut command = world.command("glassctl");
    let mut child = command
        .arg("observe")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("glassctl starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("it ends");
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("panicked"), "{ended:?}");
}

// contract: 1.1 report: 69
#[test]
fn session_names_are_what_the_contract_allows_and_touch_no_other_file() {
    let world = World::new();
    let long = "x".repeat(200);
    for name in ["../../x", "a/b", "A", "", "a b", "é", "😀", "a\nb", ".", "-x", &long] {
        let run = world.glassctl(["--session", name, "observe"]);
        assert!(matches!(run.code, Some(2)) || (name.is_empty() && run.code.is_some()), "{name:?}: {run}");
    }
    let visit = site().visit();
    let (one, two) = (format!("{}1", "n".repeat(62)), format!("{}2", "n".repeat(62)));
    for name in [&one, &two] {
        world.ok(&["navigate", &visit.url("form.html"), "--session", name]);
    }
    let listed = world.ok(&["session", "list"]);
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(2), "{listed}");
    world.ok(&["session", "close", "--all"]);
}

// contract: 1.1
#[test]
fn a_one_off_session_is_gone_when_its_command_ends() {
    let world = World::new();
    let visit = site().visit();
    let answer = world.ask(&["navigate", &visit.url("form.html"), "--session", "new"]);
    assert_eq!(answer.json["session"]["started"], "new", "{}", answer.run);
    assert!(answer.json["session"]["name"].as_str().is_some_and(|name| name != "default"), "{}", answer.run);
    holds("the one-off session is gone", LIMIT, || {
        world.ok(&["session", "list"])["sessions"].as_array().is_some_and(Vec::is_empty)
            && world.session_directories().is_empty()
    });
}

// contract: 1.1
#[test]
fn auto_and_the_environment_name_the_session() {
    let world = World::new().with("GLASS_SESSION", "from-env");
    let visit = site().visit();
    let answer = world.ask(&["navigate", &visit.url("form.html")]);
    assert_eq!(answer.json["session"]["name"], "from-env", "{}", answer.run);
    let auto = world.ask(&["navigate", &visit.url("form.html"), "--session", "auto"]);
    let name = auto.json["session"]["name"].as_str().expect("a name");
    assert!(name.starts_with("cwd"), "made from the working directory: {name}");
}

// contract: 2.6, 12.6
#[test]
fn no_error_message_holds_what_was_typed_or_evaluated() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    for arguments in [
        &["fill", "label=Fixed", "hush-hush", "--timeout-ms", "400"][..],
        &["fill", "label=Short", "hush-hush"],
        &["click", "name=hush-hush", "--timeout-ms", "400"],
        &["click", "css=#hush-hush", "--timeout-ms", "400"],
        &["evaluate", "throw new Error('hush-hush')"],
        &["wait", "text=hush-hush", "--timeout-ms", "300"],
        &["key", "hush-hush"],
    ] {
        let answer = world.ask(arguments);
        let error = answer.error();
        let told = format!("{}{}{}", error["message"], error["remedy"], error["details"]);
        assert!(!told.contains("hush-hush"), "{}", answer.run);
    }
    let log = std::fs::read_to_string(world.path("state/glass/logs/glassd.log")).unwrap_or_default();
    assert!(!log.contains("hush-hush"), "the log holds what was typed");
}

// contract: 12.3
#[test]
fn the_help_tells_what_each_operation_does() {
    let world = World::new();
    let help = world.glassctl(["--help"]).success().stdout;
    let told = |name: &str| {
        let line = help.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(' '));
        line.map(|line| line.trim().to_owned()).unwrap_or_else(|| panic!("{name} is not in\n{help}"))
    };
    let texts: HashSet<_> =
        ["navigate", "observe", "click", "fill", "wait", "find"].map(told).into_iter().collect();
    assert_eq!(texts.len(), 6, "each has a text of its own: {texts:?}");
}

// contract: 12.1
#[test]
fn help_and_version_are_there() {
    let world = World::new();
    for arguments in
        [&["--help"][..], &["click", "--help"], &["session", "--help"], &["--version"], &["help"]]
    {
        let run = world.glassctl(arguments).success();
        assert!(!run.stdout.is_empty(), "{run}");
    }
}

// contract: 12.5
#[test]
fn bash_completes_commands_and_options_with_the_printed_script() {
    let world = World::new();
    let script = world.glassctl(["completions", "bash"]).success().stdout;
    let path = world.path("completion.bash");
    std::fs::write(&path, script).expect("the script can be kept");
    let complete = |words: &[&str]| {
        let line = format!(
            "source {}; COMP_WORDS=({}); COMP_CWORD={}; _glassctl glassctl {last} {before}; echo \"${{COMPREPLY[*]}}\"",
            path.display(),
            words.join(" "),
            words.len() - 1,
            last = words[words.len() - 1],
            before = words[words.len() - 2],
        );
        let output =
            std::process::Command::new("bash").args(["--norc", "-c", &line]).output().expect("bash runs");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(complete(&["glassctl", "navi"]), "navigate");
    assert_eq!(complete(&["glassctl", "navigate", "--wait-u"]), "--wait-until");
    assert_eq!(complete(&["glassctl", "session", "li"]), "list");
    let first = complete(&["glassctl", "click", "--button", "mid"]);
    assert_eq!(first, "middle");
}

// contract: 12.5, 12.7
#[test]
fn what_glassctl_knows_by_itself_starts_no_daemon_and_reads_nothing() {
    let world = World::new().with_config("this is no configuration");
    world.glassctl(["man", "click"]).success();
    let known = Answer::read("schema", world.glassctl(["schema", "click", "--json"]).success());
    assert_eq!(known.json["result"]["operation"], "click");
    assert!(known.json["result"]["result"]["properties"]["evidence"].is_object());
    let wrong = Answer::read("schema", world.glassctl(["schema", "fly", "--json"]).exits(2));
    wrong.fails("invalid_argument");
    assert!(!world.path("run/glass/glassd.sock").exists());
}

// contract: 12.5
#[test]
fn the_configuration_is_shown_checked_and_described_without_a_daemon() {
    let world = World::new().with_config("[sessions]\nmax = 3\n");
    let ask = |arguments: &[&str], code| Answer::read("config", world.glassctl(arguments).exits(code));
    let shown = ask(&["config", "show", "--json"], 0);
    let settings = shown.result()["settings"].as_array().expect("a list of settings").clone();
    let find = |key: &str| settings.iter().find(|one| one["key"] == key).expect("the setting").clone();
    assert_eq!((&find("sessions.max")["value"], &find("sessions.max")["from"]), (&3.into(), &"file".into()));
    assert_eq!(find("sessions.starting")["from"], "default");
    let schema = ask(&["config", "schema", "--json"], 0);
    assert_eq!(schema.result()["properties"]["sessions"]["properties"]["max"]["maximum"], 64);
    ask(&["config", "check", "--json"], 0);
    let other = world.path("other.toml");
    std::fs::write(&other, "[sessions]\nmax = 0\n").expect("another file");
    let other = other.to_string_lossy().into_owned();
    let wrong = ask(&["config", "check", &other, "--json"], 5);
    let error = wrong.fails("invalid_configuration");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("other.toml:2:7")), "{error}");
    ask(&["config", "check", "/nowhere.toml", "--json"], 2).fails("invalid_argument");
    assert!(!world.path("run/glass/glassd.sock").exists());
}
