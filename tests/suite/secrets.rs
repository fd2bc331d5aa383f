//! Secrets end to end: what is in a vault is typed and stands nowhere else, and a person alone takes it out (contract
//! 10.8, 7.5, 2.6).

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use glass_tests::mcp::Mcp;
use glass_tests::site::site;
use glass_tests::{World, process};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

const ALLOWED: &str = "allow = [\"capture_secrets\"]\n";

/// Everything that was printed.
#[derive(Default)]
struct Seen(Vec<String>);

impl Seen {
    fn run(&mut self, world: &World, arguments: &[&str]) -> serde_json::Value {
        let answer = world.ask(arguments);
        self.0.push(answer.run.stdout.clone() + &answer.run.stderr);
        answer.json
    }
}

/// Files below a directory that hold one of these.
fn holding(directory: &Path, canaries: &[&str], found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            holding(&path, canaries, found);
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            let has = |canary: &&&str| bytes.windows(canary.len()).any(|part| part == canary.as_bytes());
            found.extend(canaries.iter().filter(has).map(|canary| format!("{canary} in {}", path.display())));
        }
    }
}

// contract: 10.8, 7.5, 2.6, 3.1 report: 49
#[test]
fn no_secret_stands_in_any_answer_file_log_argument_or_dump() {
    let world = World::new().with_policy(ALLOWED).with("GLASS_LOG", "trace");
    let (token, password, cookie) = ("canary-Token-8461", "canary-Word-3117", "canary-Crumb-2290");
    let canaries = [token, password, cookie];
    let start = world.command("glassctl");
    let mut shell = world.command_at(Path::new("/bin/sh"));
    shell.args(["-c", "ulimit -c unlimited 2>/dev/null; exec \"$0\" daemon start"]).arg(start.get_program());
    assert!(shell.stdout(Stdio::null()).status().expect("start the daemon").success());
    let daemon = world.daemon();
    let visit = site().visit();
    visit.serve_with(
        "key.txt",
        token,
        &[("Content-Type", "text/plain"), ("Set-Cookie", &format!("crumb={cookie}"))],
    );
    // A page that passes on all it gets.
    visit.serve(
        "page.html",
        "<!doctype html><title>Mirror</title><label>Secret <input id=to></label><label>Area <textarea id=area></textarea></label>\
         <div id=rich contenteditable role=textbox aria-label=Rich></div><p id=said></p><button>Go</button><script>\
         const tell = (value) => { said.textContent = 'You typed ' + value; document.title = value; to.setAttribute('value', value);\
         console.log(value, { value }); history.replaceState(0, '', '?typed=' + encodeURIComponent(value));\
         fetch('seen?key=' + value, { headers: { 'X-Key': value } }); setTimeout(() => { throw new Error('bad ' + value) }) };\
         to.oninput = () => tell(to.value); area.oninput = () => tell(area.value);</script>",
    );
    let mut seen = Seen::default();
    let who = json!([{ "origin": visit.url("").split('/').take(3).collect::<Vec<_>>().join("/"), "username": "ann", "password": password }]);
    fs::write(world.path("cwd/who.json"), who.to_string()).expect("write it");
    let page = visit.url("page.html");
    seen.run(&world, &["navigate", &page, "--http-credentials", "who.json"]);
    seen.run(&world, &["navigate", &visit.url("basic/page")]);
    seen.run(&world, &["navigate", &page]);
    let set =
        world.glassctl_reading(["--json", "cookies", "set", "sid", "-", "--url", &page], cookie.as_bytes());
    seen.0.push(set.stdout.clone() + &set.stderr);
    let capture = "set('TOKEN', await (await fetch('key.txt')).text())";
    assert_eq!(seen.run(&world, &["capture-secrets", capture])["ok"], true);
    let fails = "set('X', 'x'); throw new Error(await (await fetch('key.txt')).text())";
    assert_eq!(seen.run(&world, &["capture-secrets", fails])["ok"], false);

    for arguments in [
        &["type", "--secret", "TOKEN", "--target", "label=Secret", "--observe", "full"][..],
        &["type", "--secret", "TOKEN", "--mode", "keys", "--delay-ms", "0", "--target", "label=Area"],
        &["clear", "label=Secret"],
        &["click", "label=Secret"],
        &[
            "type",
            "--secret",
            "TOKEN",
            "--expect",
            r#"{"valueEquals":{"target":"label=Secret","value":"no"}}"#,
        ],
    ] {
        seen.run(&world, arguments);
    }
    assert_eq!(
        world.eval("[to.value, area.value].map(value => value.split('').reverse().join('')).join()"),
        "1648-nekoT-yranac,1648-nekoT-yranac"
    );
    let error = world.fails("not_actionable", &["type", "--secret", "TOKEN", "--target", "name=Rich"]);
    assert_eq!(error["reason"], "not_a_field", "{error}");
    assert_eq!(world.eval("rich.textContent"), "");
    for arguments in [
        &["observe", "--values", "--include-dom"][..],
        &["observe-delta", "1"],
        &["get-text"],
        &["get-dom"],
        &["get-dom", "--format", "tree"],
        &["inspect", "label=Secret"],
        &["find", "text=~You typed"],
        &["verify", "title-contains=nothing of it"],
        &["verify", r#"{"valueEquals":{"target":"label=Secret","value":"other"}}"#],
        &["wait", "text=never there", "--timeout-ms", "300"],
        &["list-targets"],
        &["list-frames"],
        &["health"],
        &["events"],
        &["diagnostics", "--values", "true"],
        &["click", "name=Nothing", "--timeout-ms", "200", "--trace-on-error"],
        &["evaluate", "throw new Error(to.value)"],
        &["evaluate", "to.value"],
        &["list-secrets"],
        &["cookies", "set", "a", "b", "--url", &page],
        &["secret", "export"],
        &["secret", "export", "--out", "stolen.json"],
        &["export-page", "--format", "har", "-o", "page.har"],
        &["reload"],
        &["session", "list"],
        &["status"],
        &["policy", "show"],
        &["logs", "-n", "10000"],
    ] {
        seen.run(&world, arguments);
    }
    assert!(!world.path("cwd/stolen.json").exists(), "nobody sits at a terminal here");
    let text = world.glassctl(["observe", "--values"]);
    assert!(text.stdout.contains("[secret:TOKEN]"), "what the page shows is told by its name: {text}");
    seen.0.push(text.stdout.clone() + &text.stderr);
    // The title of a page is what the page says; the requests are what is redacted.
    let har = fs::read(world.path("cwd/page.har")).expect("the archive");
    let har: serde_json::Value = serde_json::from_slice(&har).expect("an archive is JSON");
    assert!(har["log"]["entries"].as_array().is_some_and(|entries| entries.len() > 3), "{har}");
    seen.0.push(har["log"]["entries"].to_string());
    fs::remove_file(world.path("cwd/page.har")).expect("the file of the test's own");
    // What the world's processes were started with, and what they may leave behind.
    let processes = process::tree(daemon);
    for one in &processes {
        for file in ["environ", "cmdline"] {
            seen.0.push(
                String::from_utf8_lossy(&fs::read(format!("/proc/{}/{file}", one.pid)).unwrap_or_default())
                    .into_owned(),
            );
        }
        let limits = fs::read_to_string(format!("/proc/{}/limits", one.pid)).unwrap_or_default();
        let core = limits.lines().find(|line| line.starts_with("Max core file size"));
        assert!(
            core.is_none_or(|line| line.split_whitespace().nth(4) == Some("0")),
            "pid {}: {core:?}",
            one.pid
        );
    }
    for (at, text) in seen.0.iter().enumerate() {
        for canary in canaries {
            assert!(!text.contains(canary), "{canary} in output {at}: {text}");
        }
    }
    // Ended by what has others write their memory to a file.
    let session = world.session();
    let before = |directory: &str| -> Vec<_> {
        fs::read_dir(directory)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .collect()
    };
    let roots = (before("/"), before(world.path("cwd").to_str().expect("a path")));
    // The first process of a pid namespace takes no such signal; its browser does, and with it the session ends.
    session.worker.signal(Signal::SIGABRT);
    session.browser.signal(Signal::SIGABRT);
    glass_tests::gone("the session", &session.all);
    kill(Pid::from_raw(daemon), Signal::SIGABRT).expect("end the daemon");
    glass_tests::gone("the daemon", &processes);
    assert_eq!(roots, (before("/"), before(world.path("cwd").to_str().expect("a path"))), "a dump");
    fs::remove_file(world.path("cwd/who.json")).expect("the file of the test's own");
    let mut found = Vec::new();
    for directory in ["home", "run", "state", "config", "cwd"] {
        holding(&world.path(directory), &canaries, &mut found);
    }
    found.retain(|place| !place.contains("/state/glass/sessions/"));
    assert_eq!(found, [""; 0]);
    world.glassctl(["daemon", "start"]).success();
    holding(&world.path("state"), &canaries, &mut found);
    assert_eq!(found, [""; 0], "what a daemon that was killed left of its sessions is removed");
}

/// A command of glassctl at a terminal of its own: its exit code and what it showed.
fn at_terminal(world: &World, arguments: &[&str]) -> (Option<i32>, String) {
    let pty = nix::pty::openpty(None, None).expect("a terminal");
    let command = world.command("glassctl");
    let mut at = Command::new("setsid");
    at.arg("--ctty").arg("--wait").arg(command.get_program()).args(arguments);
    at.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    at.current_dir(world.path("cwd"));
    let end = || pty.slave.try_clone().expect("another end of it");
    let mut child = at.stdin(end()).stdout(end()).stderr(end()).spawn().expect("start it");
    drop((at, pty.slave));
    let mut shown = Vec::new();
    // The other end reports an error once nobody has it any more.
    let _ = fs::File::from(pty.master).read_to_end(&mut shown);
    let ended = child.wait().expect("its end");
    (ended.code(), String::from_utf8_lossy(&shown).replace("\r\n", "\n"))
}

// contract: 10.8, 10.4
#[test]
fn a_person_at_a_terminal_exports_and_nobody_else_does() {
    let world = World::new().with_policy(ALLOWED);
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    world.ok(&["capture-secrets", "set('A', 'very-secret $HOME'); set('B', \"it's\\u202e \\\\ \")"]);
    let (code, shown) = at_terminal(&world, &["secret", "export"]);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&shown).ok(),
        Some(json!({ "A": "very-secret $HOME", "B": "it's\u{202e} \\ " })),
        "{shown}"
    );
    assert!(shown.contains("\\u202e"), "nothing hides on a terminal: {shown}");
    let (code, shown) = at_terminal(&world, &["secret", "export", "A", "--format", "dotenv"]);
    assert_eq!((code, shown.trim()), (Some(0), "A='very-secret $HOME'"));
    let (code, shown) = at_terminal(&world, &["secret", "export", "--format", "dotenv"]);
    assert!(code == Some(2) && shown.contains("--format json") && !shown.contains("very-secret"), "{shown}");
    let (code, shown) = at_terminal(&world, &["secret", "export", "C"]);
    assert!(code == Some(2) && shown.contains("holds no secret C"), "{shown}");
    // A file for its owner alone, which takes the place of nothing.
    let (code, shown) = at_terminal(&world, &["secret", "export", "--out", "out.json"]);
    assert_eq!(code, Some(0), "{shown}");
    let file = world.path("cwd/out.json");
    assert_eq!(fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
    assert!(
        fs::read_to_string(&file).expect("its text").contains("very-secret")
            && !shown.contains("very-secret")
    );
    let (code, _) = at_terminal(&world, &["secret", "export", "--out", "out.json"]);
    assert_eq!(code, Some(2));
    let (code, _) = at_terminal(&world, &["secret", "export", "--out", "../out.json"]);
    assert_eq!(code, Some(5));
    // Without a terminal, or where policy says no.
    let refused = world.ask(&["secret", "export", "--out", "other.json"]);
    assert_eq!(refused.fails("denied")["reason"], "no_terminal", "{}", refused.run);
    assert!(!world.path("cwd/other.json").exists());
    let (code, shown) = at_terminal(&world, &["secret", "export", "--policy", "ci"]);
    assert!(code == Some(5) && !shown.contains("very-secret"), "{shown}");
    let (code, _) = at_terminal(&world, &["secret", "export", "--session", "other"]);
    assert_eq!(code, Some(3));
}

// contract: 10.8, 9.5
#[test]
fn an_mcp_client_types_a_secret_that_it_never_sees() {
    let world = World::new().with_policy(ALLOWED);
    let server = Mcp::greeted(&world, &["--tools", "core,state"], "2025-11-25");
    let visit = site().visit();
    server.ok("navigate", &json!({ "url": visit.url("form.html") }));
    let listed = server.ask("tools/list", &json!({})).to_string();
    assert!(listed.contains("captureSecrets") && listed.contains("listSecrets"), "{listed}");
    let code = "set('TOKEN', 'canary-' + 'Token-1234')";
    let told = [
        server.ok("captureSecrets", &json!({ "code": code })),
        server.ok("type", &json!({ "secret": "TOKEN", "target": "label=Name", "observe": "full" })),
        server.ok("observe", &json!({})),
        server.ok("listSecrets", &json!({})),
    ];
    for text in told {
        assert!(!text.contains("canary-Token-1234"), "{text}");
    }
    let typed =
        server.ok("evaluate", &json!({ "expression": "document.getElementById('name').value.slice(-4)" }));
    assert!(typed.contains("1234"), "{typed}");
    // A preset denies what the daemon allows; the tool is not even listed.
    let narrow = Mcp::greeted(&world, &["--tools", "all", "--policy", "ci"], "2025-11-25");
    let listed = narrow.ask("tools/list", &json!({})).to_string();
    assert!(!listed.contains("captureSecrets") && listed.contains("listSecrets"), "{listed}");
    assert!(narrow.call("captureSecrets", &json!({ "code": code })).json["isError"] == true);
}
